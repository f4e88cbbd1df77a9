//! A filter of system calls, by which the kernel stops a process before a call that may do more than read, and asks.
//!
//! What opens a file to read it is let pass in the kernel, so that programs run as fast as ever.

use std::io;
use std::mem::{offset_of, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_long, seccomp_data, seccomp_notif, seccomp_notif_resp, sock_filter};

/// What a file is opened with that is not only read.
pub(crate) const WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;
/// The flag of a number that belongs to another kind of system call.
#[cfg(target_arch = "x86_64")]
const OTHER_ABI: u32 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

/// Calls that change something, run something or connect. Signals are not among them: shells and `timeout` send some.
const ASKED: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_openat2,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_mkdirat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_mknodat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_ptrace,
    libc::SYS_process_vm_writev,
    libc::SYS_io_uring_setup,
    libc::SYS_mq_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    libc::SYS_renameat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
];

/// Calls that are only asked about if one of these bits is set in this argument.
const BY_BITS: &[(c_long, usize, u32)] = &[
    (libc::SYS_openat, 2, WRITING),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, WRITING),
    // To somewhere: without an address it goes to who is connected, which was asked about.
    (libc::SYS_sendto, 5, u32::MAX),
];

/// A request to a terminal that types into it.
const TYPES: (c_long, usize, u32) = (libc::SYS_ioctl, 1, libc::TIOCSTI as u32);

/// What is asked about one thread and all that it starts.
pub(crate) struct FilterListener(OwnedFd);

/// A call that waits for an answer.
pub(crate) struct Asked {
    id: u64,
    pub(crate) process: u32,
    pub(crate) number: c_long,
    pub(crate) arguments: [u64; 6],
}

/// Filters this thread and all that it starts from now on.
#[expect(unsafe_code, reason = "there is no safe way to set a filter of system calls")]
pub(crate) fn install() -> io::Result<FilterListener> {
    rustix::thread::set_no_new_privs(true)?;
    let code = program();
    let program = libc::sock_fprog { len: code.len() as u16, filter: code.as_ptr().cast_mut() };
    let set = |flags: libc::c_ulong| {
        // SAFETY: the program outlives the call, which only reads it.
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) }
    };
    // A signal does not take a question back, where the kernel knows that.
    let given =
        match set(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
            -1 => set(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER),
            given => given,
        };
    if given == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given it, to nobody else.
    Ok(FilterListener(unsafe { OwnedFd::from_raw_fd(given as i32) }))
}

impl FilterListener {
    /// The next call; nothing, if its process has ended meanwhile.
    #[expect(unsafe_code, reason = "there is no safe way to ask the kernel")]
    pub(crate) fn next(&self) -> Option<Asked> {
        // SAFETY: it is plain numbers, and the kernel wants them to be zero.
        let mut asked: seccomp_notif = unsafe { zeroed() };
        // SAFETY: the kernel writes one such structure.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
        let number = c_long::from(asked.data.nr);
        (done == 0).then_some(Asked {
            id: asked.id,
            process: asked.pid,
            number: if asked.data.arch == ARCH { number } else { -1 },
            arguments: asked.data.args,
        })
    }

    /// Lets a call happen, or makes it fail with an error.
    #[expect(unsafe_code, reason = "there is no safe way to answer the kernel")]
    pub(crate) fn answer(&self, asked: &Asked, error: Option<i32>) {
        let mut answer = seccomp_notif_resp {
            id: asked.id,
            val: 0,
            error: error.map_or(0, |error| -error),
            flags: if error.is_none() { libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32 } else { 0 },
        };
        // SAFETY: the kernel reads one such structure. That the process has ended is no problem.
        unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
    }
}

impl AsFd for FilterListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn program() -> Vec<sock_filter> {
    let asks = || step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF, 0, 0);
    let passes = || step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0);
    let mut code = vec![load(offset_of!(seccomp_data, arch)), is(ARCH, 1, 0), asks()];
    code.push(load(offset_of!(seccomp_data, nr)));
    #[cfg(target_arch = "x86_64")]
    code.extend([step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, OTHER_ABI, 0, 1), asks()]);
    for number in ASKED {
        code.extend([is(*number as u32, 0, 1), asks()]);
    }
    for (number, argument, bits) in BY_BITS {
        let has = step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, *bits, 0, 1);
        code.extend([is(*number as u32, 0, 4), load(of_argument(*argument)), has, asks(), passes()]);
    }
    let (number, argument, request) = TYPES;
    code.extend([is(number as u32, 0, 3), load(of_argument(argument)), is(request, 0, 1), asks()]);
    code.push(passes());
    code
}

/// Where the lower half of an argument is.
fn of_argument(argument: usize) -> usize {
    offset_of!(seccomp_data, args)
        + argument * size_of::<u64>()
        + if cfg!(target_endian = "big") { 4 } else { 0 }
}

fn load(offset: usize) -> sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32, 0, 0)
}

fn is(value: u32, then: u8, otherwise: u8) -> sock_filter {
    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, then, otherwise)
}

fn step(code: u32, value: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { code: code as u16, jt: then, jf: otherwise, k: value }
}
