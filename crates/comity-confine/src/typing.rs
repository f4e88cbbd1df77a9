//! Nobody who is confined types for others: a process can put keys into its own terminal (`TIOCSTI`), and what reads them
//! next, the shell of the person who started the agent there, takes them for the person's.

use std::io;

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};

/// Where a call is described to a filter.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The lower half of the second argument, which is all that the kernel looks at.
const REQUEST: u32 = 24;

/// The architectures whose programs this kernel may run, by their number, with their numbers of `ioctl`.
#[cfg(target_arch = "x86_64")]
const IOCTLS: [(u32, u32); 3] = [(0xc000_003e, 16), (0xc000_003e, 0x4000_0000 | 514), (0x4000_0003, 54)];
#[cfg(target_arch = "aarch64")]
const IOCTLS: [(u32, u32); 2] = [(0xc000_00b7, 29), (0x4000_0028, 54)];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const IOCTLS: [(u32, u32); 0] = [];

/// Puts a key into a terminal, and pastes what is selected there.
const REQUESTS: [u32; 2] = [libc::TIOCSTI as u32, 0x541c];

/// Forbids it for this process and all that it starts, as kernels do that forbid it to everybody (`dev.tty.legacy_tiocsti`).
/// It takes the right to administer this namespace.
pub(crate) fn forbid() -> io::Result<()> {
    let mut filter = filter();
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    #[expect(
        unsafe_code,
        reason = "no library sets filters; the kernel copies the program, which lives as long as the call"
    )]
    let set = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, std::ptr::from_ref(&program))
    };
    match io::Error::last_os_error() {
        _ if set != -1 => Ok(()),
        // The kernel was built without filters.
        error if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) => Ok(()),
        error => Err(error),
    }
}

fn filter() -> Vec<sock_filter> {
    let step = |code: u32, k: u32, jt: u8, jf: u8| sock_filter { code: code as u16, jt, jf, k };
    let load = |at: u32| step(BPF_LD | BPF_W | BPF_ABS, at, 0, 0);
    let unless = |value: u32, skipped: u8| step(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
    let end = |outcome: u32| step(BPF_RET | BPF_K, outcome, 0, 0);
    let mut steps = Vec::new();
    for (architecture, number) in IOCTLS {
        let requests = REQUESTS
            .iter()
            .flat_map(|request| [unless(*request, 1), end(libc::SECCOMP_RET_ERRNO | libc::EIO as u32)]);
        let requests: Vec<sock_filter> = [load(REQUEST)].into_iter().chain(requests).collect();
        let rest = requests.len() as u8;
        steps.extend([
            load(ARCHITECTURE),
            unless(architecture, rest + 2),
            load(NUMBER),
            unless(number, rest),
        ]);
        steps.extend(requests);
    }
    steps.push(end(libc::SECCOMP_RET_ALLOW));
    steps
}
