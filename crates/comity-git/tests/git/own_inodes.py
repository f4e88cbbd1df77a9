"""A file system that takes `A` and `a` for one name and gives each spelling an inode of its own, as exFAT can.

It shows a directory read-only: own_inodes.py SOURCE MOUNTPOINT. It prints a line once it is mounted.
"""

import ctypes
import errno
import os
import struct
import sys

source, mountpoint = sys.argv[1:]
device = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
if libc.mount(b"own_inodes", mountpoint.encode(), b"fuse", 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print("mounted", flush=True)

# By inode: how it was spelled, and where it really is.
nodes = {1: ("", source)}
numbers = {"": 1}


def node(spelled, real):
    number = numbers.setdefault(spelled, len(numbers) + 1)
    nodes[number] = (spelled, real)
    return number


def attributes(number):
    stat = os.lstat(nodes[number][1])
    times = [int(stat.st_atime), int(stat.st_mtime), int(stat.st_ctime)]
    rest = [0, 0, 0, stat.st_mode, stat.st_nlink, 0, 0, 0, 4096, 0]
    return struct.pack("<QQQQQQ10I", number, stat.st_size, stat.st_blocks, *times, *rest)


def lookup(parent, name):
    spelled, real = nodes[parent]
    for entry in os.listdir(real):
        if entry.lower() == name.lower():
            number = node(f"{spelled}/{name}", os.path.join(real, entry))
            return struct.pack("<QQQQII", number, 0, 0, 0, 0, 0) + attributes(number)
    raise FileNotFoundError(errno.ENOENT, name)


def entries(number, offset):
    spelled, real = nodes[number]
    listed = b""
    for at, name in list(enumerate(sorted(os.listdir(real))))[offset:]:
        bytes_ = name.encode()
        inode = node(f"{spelled}/{name}", os.path.join(real, name))
        listed += struct.pack("<QQII", inode, at + 1, len(bytes_), 0) + bytes_ + b"\0" * (-len(bytes_) % 8)
    return listed


def contents(number, offset, size):
    with open(nodes[number][1], "rb") as file:
        file.seek(offset)
        return file.read(size)


def answer(verb, number, body):
    match verb:
        case 1:
            return lookup(number, body.rstrip(b"\0").decode())
        case 3:
            return struct.pack("<QII", 0, 0, 0) + attributes(number)
        case 5:
            return os.readlink(nodes[number][1]).encode()
        case 14 | 27:
            return struct.pack("<QII", 0, 0, 0)
        case 15:
            return contents(number, *struct.unpack_from("<8xQI", body))
        case 28:
            return entries(number, struct.unpack_from("<8xQ", body)[0])
        case 17:
            return struct.pack("<QQQQQIIII24x", 0, 0, 0, 0, 0, 512, 255, 512, 0)
        case 18 | 25 | 29:
            return b""
        case 26:
            return struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 16, 12, 65536, 1, 16, 0, 0)
    raise OSError(errno.ENOSYS, "")


while True:
    try:
        request = os.read(device, 1 << 20)
    except OSError as error:
        if error.errno in (errno.EINTR, errno.ENOENT):
            continue
        break
    length, verb, unique, number = struct.unpack_from("<IIQQ", request)
    if verb in (2, 36, 42):
        continue
    try:
        error, reply = 0, answer(verb, number, request[40:length])
    except OSError as problem:
        error, reply = -problem.errno, b""
    os.write(device, struct.pack("<IiQ", 16 + len(reply), error, unique) + reply)
