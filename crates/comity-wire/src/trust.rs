//! Whether the other end can only be this user's: checked before anything is sent.
//!
//! Whoever could plant a socket where ours is expected would receive tokens and tool calls, and could answer that
//! everything is allowed.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::home::Home;

impl Home {
    /// Checks that the state directory, the socket and its directory are this user's alone, as far as they exist.
    pub fn check(&self) -> io::Result<()> {
        let socket = self.socket();
        let above = socket.parent().filter(|dir| *dir != self.path());
        [Some(self.path()), above].into_iter().flatten().try_for_each(private_dir)?;
        match fs::symlink_metadata(&socket) {
            Ok(found) => own_socket(&found, &socket),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn own_socket(found: &Metadata, socket: &Path) -> io::Result<()> {
    if !found.file_type().is_socket() {
        return Err(refused(socket, "isn't a socket", "remove it, and try again"));
    }
    if found.uid() != own_uid() {
        let hint = "remove it, or set COMITY_HOME to another directory";
        return Err(refused(socket, "belongs to another user", hint));
    }
    Ok(())
}

/// Connects to the server of a state directory, and to nobody else's.
pub(crate) fn connect(home: &Home) -> io::Result<UnixStream> {
    let socket = home.socket();
    // If nobody listens a server is started, which makes the directory private.
    fs::symlink_metadata(&socket)?;
    home.check()?;
    let stream = UnixStream::connect(&socket)?;
    check_peer(&stream, &socket)?;
    Ok(stream)
}

fn private_dir(dir: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(dir) {
        Ok(found) => found,
        // Whoever creates it makes it private.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    match problem(&found, own_uid()) {
        None => Ok(()),
        // A file of one's own in the way is a mistake, and not an attack.
        Some(DirProblem::NoDirectory) if found.is_file() && found.uid() == own_uid() => {
            let said = format!("{} is not a directory; remove it, or set COMITY_HOME", dir.display());
            Err(io::Error::new(io::ErrorKind::NotADirectory, said))
        }
        Some(DirProblem::NoDirectory) => {
            Err(refused(dir, "is not a directory", "remove it, or set COMITY_HOME"))
        }
        Some(DirProblem::Foreign) => {
            let hint = "set COMITY_HOME to a directory you own";
            Err(refused(dir, "belongs to somebody else", hint))
        }
        Some(DirProblem::Open(mode)) => {
            let problem = format!("is open to other users (mode {mode:03o})");
            Err(refused(dir, &problem, &format!("close it with: chmod 700 {}", dir.display())))
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DirProblem {
    NoDirectory,
    Foreign,
    Open(u32),
}

fn problem(found: &Metadata, uid: u32) -> Option<DirProblem> {
    let mode = found.mode() & 0o777;
    match () {
        () if !found.is_dir() => Some(DirProblem::NoDirectory),
        () if found.uid() != uid => Some(DirProblem::Foreign),
        () if mode & 0o077 != 0 => Some(DirProblem::Open(mode)),
        () => None,
    }
}

/// The kernel says who listens, whatever became of the path meanwhile.
#[cfg(target_os = "linux")]
fn check_peer(stream: &UnixStream, socket: &Path) -> io::Result<()> {
    let peer = match rustix::net::sockopt::socket_peercred(stream) {
        // A process that is invisible from here has the pid 0.
        Err(error) if error.raw_os_error() == 0 => {
            let hint =
                "run it where the server runs, or set COMITY_HOME to a directory for a server of its own";
            return Err(refused(socket, "is answered from another container", hint));
        }
        other => other?,
    };
    match peer.uid.as_raw() == own_uid() {
        true => Ok(()),
        false => {
            let problem = format!("is answered by another user ({})", peer.uid.as_raw());
            Err(refused(socket, &problem, "remove it, and start your own server with: comity up"))
        }
    }
}

/// The process that listens at the other end, if the system tells.
#[cfg(target_os = "linux")]
pub fn listener_of(stream: &UnixStream) -> Option<i32> {
    rustix::net::sockopt::socket_peercred(stream).ok().map(|peer| peer.pid.as_raw_pid())
}

/// The process that listens at the other end, if the system tells.
#[cfg(not(target_os = "linux"))]
pub fn listener_of(_: &UnixStream) -> Option<i32> {
    None
}

#[cfg(not(target_os = "linux"))]
fn check_peer(_: &UnixStream, _: &Path) -> io::Result<()> {
    Ok(())
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn refused(path: &Path, problem: &str, hint: &str) -> io::Error {
    let said = format!("{} {problem}, so nothing was sent there; {hint}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, said)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use super::*;

    struct Yard {
        dir: tempfile::TempDir,
        home: PathBuf,
    }

    /// A state directory of this mode with somebody listening in it.
    fn yard(mode: u32) -> (Yard, UnixListener) {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path().join("state");
        fs::create_dir(&home).expect("made");
        let listener = UnixListener::bind(Home::at(&home).socket()).expect("listens");
        fs::set_permissions(&home, fs::Permissions::from_mode(mode)).expect("set");
        (Yard { dir, home }, listener)
    }

    fn said(home: &Path) -> Result<(), String> {
        connect(&Home::at(home)).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn only_a_directory_that_nobody_else_can_enter_is_used() {
        for mode in [0o700, 0o500] {
            let (yard, _listener) = yard(mode);
            assert_eq!(said(&yard.home), Ok(()), "{mode:o}");
        }
        for mode in [0o777, 0o755, 0o750, 0o710, 0o701, 0o720, 0o702, 0o740, 0o1777] {
            let (yard, listener) = yard(mode);
            let said = said(&yard.home).expect_err("refused");
            assert!(said.contains("chmod 700"), "{mode:o}: {said}");
            listener.set_nonblocking(true).expect("set");
            assert!(listener.accept().is_err(), "{mode:o}: nobody was called");
        }
    }

    #[test]
    fn links_and_other_things_in_place_of_it_are_refused() {
        let (yard, _listener) = yard(0o700);
        let link = yard.dir.path().join("link");
        symlink(&yard.home, &link).expect("linked");
        assert!(said(&link).expect_err("refused").contains("is not a directory"));
        let other = yard.dir.path().join("other");
        fs::create_dir(&other).expect("made");
        fs::set_permissions(&other, fs::Permissions::from_mode(0o700)).expect("set");
        symlink(Home::at(&yard.home).socket(), Home::at(&other).socket()).expect("linked");
        assert!(said(&other).expect_err("refused").contains("isn't a socket"));
        fs::remove_file(Home::at(&other).socket()).expect("removed");
        fs::write(Home::at(&other).socket(), "").expect("written");
        assert!(said(&other).expect_err("refused").contains("isn't a socket"));
    }

    #[test]
    fn what_is_not_there_is_not_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let missing = connect(&Home::at(dir.path().join("state"))).expect_err("nobody listens");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        // The server closes it when it starts.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).expect("set");
        assert_eq!(connect(&Home::at(dir.path())).expect_err("nobody").kind(), io::ErrorKind::NotFound);
    }
}
