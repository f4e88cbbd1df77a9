//! Who is at the other end of a local connection, as the kernel knew it when the connection was made.

use std::os::fd::AsFd;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;

use comity_app::lineage::Lineage;
#[cfg(target_os = "linux")]
use comity_app::lineage::LineageEnd;

/// How often an incomplete lineage is read again.
#[cfg(target_os = "linux")]
const READS_MAX: usize = 4;

#[derive(Clone, Copy, Debug)]
struct PeerProcess {
    pid: u32,
    uid: u32,
}

/// Asks the kernel who connected: the user, and the process with its ancestors. Later changes have no effect.
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

/// The lineage of the process that connected. Its pid may belong to another one by now, but a pidfd cannot.
#[cfg(target_os = "linux")]
fn lineage(socket: &impl AsFd, peer: PeerProcess) -> Lineage {
    lineage_by(descriptor(socket), peer)
}

/// A pidfd of the process that connected.
#[cfg(target_os = "linux")]
fn descriptor(socket: &impl AsFd) -> std::io::Result<OwnedFd> {
    use std::os::fd::{AsRawFd, FromRawFd};

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
        return Err(std::io::Error::last_os_error());
    }
    #[expect(unsafe_code, reason = "the kernel has just made this descriptor, for us alone")]
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

#[cfg(target_os = "linux")]
fn lineage_by(process: std::io::Result<OwnedFd>, peer: PeerProcess) -> Lineage {
    match process {
        Ok(process) => {
            let mut found = Lineage::of(peer.pid);
            // An ancestor may end meanwhile; then it has another parent.
            for _ in 1..READS_MAX {
                if found.end != LineageEnd::Gone || !is_alive(&process) {
                    break;
                }
                found = Lineage::of(peer.pid);
            }
            // If it is alive after its lineage was read, it was alive all the time.
            if is_alive(&process) { found } else { Lineage::gone() }
        }
        // Before Linux 6.5 there is only the pid, read at once.
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Lineage::of(peer.pid),
        Err(_) => Lineage::gone(),
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Error;
    use std::process::{Command, Stdio};

    use super::*;

    fn peer_of(pid: u32) -> PeerProcess {
        PeerProcess { pid, uid: 0 }
    }

    #[test]
    fn without_descriptors_of_processes_the_number_and_its_start_are_taken() {
        let without = |pid| lineage_by(Err(Error::from_raw_os_error(libc::ENOPROTOOPT)), peer_of(pid));
        let own = comity_app::processes::identify(std::process::id()).expect("this process");
        let found = without(own.pid);
        assert_eq!(found.links.first().map(|link| link.process), Some(own));
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("cat"); // shell: it waits
        let process = comity_app::processes::identify(child.id()).expect("it is there");
        assert_eq!(without(child.id()).links.first().map(|link| link.process), Some(process));
        drop(child.stdin.take());
        child.wait().expect("an end");
        assert_eq!(without(process.pid).links, [], "who has ended is nobody");
    }

    #[test]
    fn any_other_error_proves_nothing() {
        let other = lineage_by(Err(Error::from_raw_os_error(libc::EMFILE)), peer_of(std::process::id()));
        assert_eq!(other.links, []);
    }
}
