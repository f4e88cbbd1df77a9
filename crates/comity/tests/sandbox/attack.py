"""Attacks that no program of the shell has: each ends with 0 if it worked."""
import ctypes
import fcntl
import os
import socket
import sys
import termios
import urllib.request

what, arguments = sys.argv[1], sys.argv[2:]
libc = ctypes.CDLL(None, use_errno=True)


def unix(address):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)


def proxied(target):
    """A tunnel to a target, by the proxy of the sandbox."""
    connection = socket.create_connection(("127.0.0.1", 3128), 20)
    connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    return b" 200 " in connection.recv(4096).split(b"\r\n")[0]


if what == "unix":
    unix(arguments[0])
elif what == "abstract":
    unix("\0" + arguments[0])
elif what == "tcp":
    socket.create_connection((arguments[0], int(arguments[1])), 5)
elif what == "udp":
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.connect((arguments[0], int(arguments[1])))
elif what == "packet":
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
elif what == "raw":
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
elif what == "proxied":
    sys.exit(0 if proxied(arguments[0]) else 1)
elif what == "forwarded":
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:3128"}))
    opener.open(arguments[0], timeout=20)
elif what == "trace":
    # PTRACE_SEIZE, which stops nobody.
    sys.exit(0 if libc.ptrace(0x4206, int(arguments[0]), 0, 0) == 0 else 1)
elif what == "pidfd":
    os.pidfd_open(int(arguments[0]))
elif what == "read_memory":
    buffer = ctypes.create_string_buffer(1)
    open(f"/proc/{arguments[0]}/mem", "rb").close()
elif what == "type":
    fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCSTI, b"x")
elif what == "inherited":
    # Anything that is open besides the usual, and leads out.
    numbers = [number for number in os.listdir("/proc/self/fd") if int(number) > 2]
    names = []
    for number in numbers:
        try:
            names.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            pass
    leading_out = [name for name in names if name.startswith(("/", "socket:", "pipe:")) and "/fd" not in name]
    sys.exit(0 if leading_out else 1)
elif what == "mknod":
    os.mknod("/tmp/disk", 0o600 | 0o060000, os.makedev(254, 0))
    os.remove("/tmp/disk")
elif what == "number":
    # Takes the number of another process for itself.
    wanted = int(arguments[0])
    with open("/proc/sys/kernel/ns_last_pid", "r+") as last:
        last.write(str(wanted + 100000))
elif what == "chroot":
    os.chroot("/tmp")
elif what == "namespace":
    # Joins the namespaces of a process that it can see from outside.
    sys.exit(0 if libc.setns(os.open(f"/proc/{arguments[0]}/ns/mnt", os.O_RDONLY), 0) == 0 else 1)
else:
    sys.exit(f"no attack {what}")
