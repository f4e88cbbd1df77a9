//! Who is at the other end of a local connection, as the kernel told it when the connection was made.

use std::os::fd::AsFd;

use comity_app::lineage::Lineage;

/// The process at the other end.
#[derive(Clone, Copy, Debug)]
struct PeerProcess {
    pid: u32,
    uid: u32,
}

/// Asks the kernel who connected: the user, and the process with those above it. What comes later changes nothing.
pub(super) fn of(socket: &impl AsFd) -> std::io::Result<(u32, Lineage)> {
    let peer = peer(socket)?;
    Ok((peer.uid, lineage(socket, peer)))
}

#[cfg(target_os = "linux")]
fn peer(socket: &impl AsFd) -> std::io::Result<PeerProcess> {
    let credentials = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(PeerProcess { pid: credentials.pid.as_raw_nonzero().get() as u32, uid: credentials.uid.as_raw() })
}

/// Other platforms tell only the user; agents are known by their tokens there.
#[cfg(not(target_os = "linux"))]
fn peer(_: &impl AsFd) -> std::io::Result<PeerProcess> {
    Ok(PeerProcess { pid: 0, uid: rustix::process::geteuid().as_raw() })
}

/// The lineage of the very process that connected. Its number may belong to another one by now; a descriptor of the
/// process cannot.
#[cfg(target_os = "linux")]
fn lineage(socket: &impl AsFd, peer: PeerProcess) -> Lineage {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    let (mut raw, mut size) = (-1_i32, size_of::<i32>() as libc::socklen_t);
    let fd = socket.as_fd().as_raw_fd();
    #[expect(
        unsafe_code,
        reason = "no library has SO_PEERPIDFD; the kernel writes one integer, for which there is room"
    )]
    let result = unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERPIDFD, (&raw mut raw).cast(), &raw mut size)
    };
    if result != 0 {
        let error = std::io::Error::last_os_error();
        // Before Linux 6.5 there is only the number, read at once.
        return match error.raw_os_error() == Some(libc::ENOPROTOOPT) {
            true => Lineage::of(peer.pid),
            false => Lineage::gone(),
        };
    }
    #[expect(unsafe_code, reason = "the kernel has just made this descriptor, for us alone")]
    let process = unsafe { OwnedFd::from_raw_fd(raw) };
    let found = Lineage::of(peer.pid);
    // Alive after its lineage was read, it was alive while that was read.
    match is_alive(&process) {
        true => found,
        false => Lineage::gone(),
    }
}

#[cfg(target_os = "linux")]
fn is_alive(process: &impl AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut ended = [PollFd::new(process, PollFlags::IN)];
    matches!(poll(&mut ended, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
}

#[cfg(not(target_os = "linux"))]
fn lineage(_: &impl AsFd, peer: PeerProcess) -> Lineage {
    Lineage::of(peer.pid)
}
