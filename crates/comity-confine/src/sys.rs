//! The calls that no safe library offers.
#![expect(unsafe_code, reason = "fork, signals, mount_setattr and ioctls, which rustix does not have")]

use std::ffi::{CStr, CString};
use std::io;
#[cfg(target_os = "linux")]
use std::mem::size_of;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Which of the two processes goes on here.
#[cfg(target_os = "linux")]
pub(crate) enum Fork {
    Child,
    Parent(libc::pid_t),
}

/// Splits the process. Both go on with everything that they have, so they must have a single thread.
#[cfg(target_os = "linux")]
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: callers have a single thread, so no lock can be left taken in the child.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid)),
    }
}

/// The same, and the child is the first process in namespaces of its own.
#[cfg(target_os = "linux")]
pub(crate) fn fork_into_namespaces() -> io::Result<Fork> {
    let spaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    // SAFETY: without a stack of its own and without shared memory this is a fork, for which callers have a single thread.
    match unsafe { libc::syscall(libc::SYS_clone, spaces | libc::SIGCHLD, 0, 0, 0, 0) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid as libc::pid_t)),
    }
}

/// Sends a signal to a child that was not waited for.
#[cfg(target_os = "linux")]
pub(crate) fn signal(pid: libc::pid_t, signal: libc::c_int) {
    // SAFETY: it takes two numbers.
    unsafe { libc::kill(pid, signal) };
}

/// The signals that a process waits for instead of being ended or interrupted by them.
#[cfg(target_os = "linux")]
pub(crate) struct Signals(libc::sigset_t);

/// Keeps signals until they are waited for.
#[cfg(target_os = "linux")]
pub(crate) fn block_signals() -> Signals {
    // SAFETY: the set is made before it is used, and outlives the calls.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in [libc::SIGCHLD, libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGQUIT] {
            libc::sigaddset(&raw mut set, signal);
            // What its parent did with it is none of its business.
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        Signals(set)
    }
}

/// Waits for the next of them.
#[cfg(target_os = "linux")]
pub(crate) fn next_signal(signals: &Signals) -> libc::c_int {
    let mut signal = 0;
    // SAFETY: both outlive the call.
    unsafe { libc::sigwait(&raw const signals.0, &raw mut signal) };
    signal
}

/// Starts a program in a process group of its own, the one in front of the terminal if there is one.
#[cfg(target_os = "linux")]
pub(crate) fn in_its_own_group(program: &mut std::process::Command, has_terminal: bool) {
    use std::os::unix::process::CommandExt;

    program.process_group(0);
    if has_terminal {
        let to_front = || {
            // SAFETY: these are safe to call between fork and exec, and take numbers.
            unsafe {
                libc::signal(libc::SIGTTOU, libc::SIG_IGN);
                let done = libc::tcsetpgrp(0, libc::getpid());
                libc::signal(libc::SIGTTOU, libc::SIG_DFL);
                if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
            }
        };
        // SAFETY: it allocates nothing and takes no lock.
        unsafe { program.pre_exec(to_front) };
    }
}

/// Ends the process at once: nothing is flushed or freed that the other process has, too.
#[cfg(target_os = "linux")]
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(code) }
}

#[cfg(target_os = "linux")]
pub(crate) fn wait_for(pid: libc::pid_t) {
    let mut status = 0;
    // SAFETY: `status` lives as long as the call.
    while unsafe { libc::waitpid(pid, &raw mut status, 0) } == -1
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Lets children go when they end: nobody waits for them.
#[cfg(target_os = "linux")]
pub(crate) fn forget_children() {
    // SAFETY: to ignore a signal needs no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Ends this process after a time, whatever it does then.
#[cfg(target_os = "linux")]
pub(crate) fn end_after(seconds: u32) {
    // SAFETY: the default action needs no handler, and the set is made before it is used and outlives the calls.
    unsafe {
        let mut alarm: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut alarm);
        libc::sigaddset(&raw mut alarm, libc::SIGALRM);
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const alarm, std::ptr::null_mut());
        libc::alarm(seconds);
    }
}

/// The user namespace that a namespace belongs to, if it is this process's own or one below.
#[cfg(target_os = "linux")]
pub(crate) fn owner_of_namespace(namespace: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    /// `NS_GET_USERNS` in the kernel's `nsfs.h`.
    const GET_OWNER: libc::c_ulong = 0xb701;
    // SAFETY: the call takes nothing else.
    match unsafe { libc::ioctl(namespace.as_raw_fd(), GET_OWNER as _) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: it was just opened, and nobody else knows of it.
        owner => Ok(unsafe { OwnedFd::from_raw_fd(owner) }),
    }
}

/// Makes a mount read-only; with `recursive`, those below it, too. An empty path means the mount that `fd` is.
#[cfg(target_os = "linux")]
pub(crate) fn make_read_only(fd: BorrowedFd<'_>, path: &CStr, recursive: bool) -> io::Result<()> {
    let attr =
        libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let empty = if path.is_empty() { libc::AT_EMPTY_PATH } else { 0 };
    let flags = empty | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the pointers are to values that live as long as the call, and the size is theirs.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes everything above standard error except for these, which are in order.
#[cfg(target_os = "linux")]
pub(crate) fn close_all_but(kept: &[BorrowedFd<'_>]) {
    close_all_but_numbers(kept.iter().map(AsRawFd::as_raw_fd));
}

/// The same by their numbers.
#[cfg(target_os = "linux")]
pub(crate) fn close_all_but_numbers(kept: impl Iterator<Item = RawFd>) {
    let mut first = libc::STDERR_FILENO as u32 + 1;
    let mut ends: Vec<u32> = kept.map(|fd| fd as u32).collect();
    ends.sort_unstable();
    for end in ends.into_iter().chain([u32::MAX]) {
        if end > first {
            let last = if end == u32::MAX { end } else { end - 1 };
            // SAFETY: who calls never uses or drops again what owned these.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
        first = end.saturating_add(1);
    }
}

/// Starts the loopback of a network namespace that was just made.
#[cfg(target_os = "linux")]
pub(crate) fn start_loopback(socket: impl AsFd) -> io::Result<()> {
    // SAFETY: all zeros are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request lives as long as the call, which only reads it.
    let done =
        unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Becomes another program. Unlike the standard library's way this leaves ignored and blocked signals as they are.
pub(crate) fn exec(program: &CStr, args: &[CString], env: &[CString]) -> io::Error {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (args, env) = (pointers(args), pointers(env));
    // SAFETY: both lists end with a null, and what they point to outlives the call.
    unsafe { libc::execve(program.as_ptr(), args.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

pub(crate) fn restore_broken_pipe() {
    // SAFETY: the default action needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
