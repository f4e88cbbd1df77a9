//! Unix sockets in the profile: only those who can enter the directory can reach them.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::deadline::Deadline;

/// Bytes of a socket's path that every system accepts.
const PATH_BYTES_MAX: usize = 100;
/// How long to wait between two tries: a socket exists a moment before somebody listens on it.
const RETRY: Duration = Duration::from_millis(5);

/// Firefox's path of a socket in its profile. That is relative, so it is short however long the profile's path is.
pub(crate) fn named_by_firefox(profile: &Path, name: &str) -> PathBuf {
    match cfg!(target_os = "linux") {
        true => Path::new("/proc/self/cwd").join(name),
        false => profile.join(name),
    }
}

/// Connects to a socket in the profile; waits for somebody to listen on it.
pub(crate) fn connect(profile: &Path, name: &str, deadline: &Deadline) -> io::Result<UnixStream> {
    loop {
        match connect_once(profile, name) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && !deadline.left().is_zero() => {
                std::thread::sleep(RETRY);
            }
            other => return other,
        }
    }
}

/// Removes a socket from the profile, or the remains of one.
pub(crate) fn remove(profile: &Path, name: &str) {
    let _was_none = std::fs::remove_file(profile.join(name));
}

fn connect_once(profile: &Path, name: &str) -> io::Result<UnixStream> {
    let path = profile.join(name);
    if path.as_os_str().len() <= PATH_BYTES_MAX || cfg!(not(target_os = "linux")) {
        return UnixStream::connect(path);
    }
    let directory = std::fs::File::open(profile)?;
    let short = format!("/proc/self/fd/{}/{name}", std::os::fd::AsRawFd::as_raw_fd(&directory));
    UnixStream::connect(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    #[cfg(target_os = "linux")]
    fn sockets_are_reached_however_long_their_path_is() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("a".repeat(200));
        std::fs::create_dir(&long).unwrap();
        let deadline = Deadline::after(Duration::from_secs(10));
        for profile in [dir.path(), &long] {
            assert_eq!(connect(profile, "s", &deadline).unwrap_err().kind(), io::ErrorKind::NotFound);
            let directory = std::fs::File::open(profile).unwrap();
            let short = format!("/proc/self/fd/{}/s", std::os::fd::AsRawFd::as_raw_fd(&directory));
            let _listener = UnixListener::bind(short).unwrap();
            connect(profile, "s", &deadline).unwrap();
            remove(profile, "s");
            assert_eq!(connect(profile, "s", &deadline).unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }
}
