//! What is mounted inside a directory, including bind mounts: those files are somebody else's.

use std::ffi::{CStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Mount points below a directory; an error if that cannot be told.
#[cfg(target_os = "linux")]
pub(super) fn below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mounts = std::fs::read("/proc/self/mountinfo")?;
    // 36 35 98:0 /root /mount\040point rw ...
    let points =
        mounts.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    let points = points.map(|point| PathBuf::from(OsString::from_vec(unescaped(point))));
    Ok(points.filter(|point| point.starts_with(dir)).collect())
}

/// Elsewhere only the device tells, which [`open_on_same_mount`] checks.
#[cfg(not(target_os = "linux"))]
pub(super) fn below(_: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(Vec::new())
}

/// Opens a directory inside another one, unless something is mounted there.
pub(super) fn open_on_same_mount(parent: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let mounted = || io::Error::other(format!("something is mounted at {}", name.to_string_lossy()));
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        use rustix::io::Errno;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&parent, name, DIRECTORY, Mode::empty(), resolve) {
            Err(Errno::XDEV) => return Err(mounted()),
            // Old kernels do not have it, and some containers block it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
    }
    let opened = rustix::fs::openat(&parent, name, DIRECTORY, Mode::empty())?;
    if mount_of(&parent)? == mount_of(&opened)? { Ok(opened) } else { Err(mounted()) }
}

/// Identifies the mount of an open directory.
#[cfg(target_os = "linux")]
fn mount_of(dir: impl AsFd) -> io::Result<u64> {
    use std::os::fd::AsRawFd;
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", dir.as_fd().as_raw_fd()))?;
    let id = info.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    id.ok_or_else(|| io::Error::other("the system does not tell what is mounted in it"))
}

#[cfg(not(target_os = "linux"))]
fn mount_of(dir: impl AsFd) -> io::Result<u64> {
    Ok(rustix::fs::fstat(dir)?.st_dev as u64)
}

/// A path in the kernel's list, with blanks and the like as octal numbers.
#[cfg(target_os = "linux")]
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::new(), text);
    while let [first, after @ ..] = rest {
        let digits =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &after[3..];
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_list_of_mounts() {
        assert_eq!(unescaped(b"/a\\040b\\134c"), b"/a b\\c");
        assert!(below(Path::new("/")).expect("a list").contains(&PathBuf::from("/proc")));
    }

    #[test]
    fn mounts_are_told_apart() {
        let root = rustix::fs::open("/", DIRECTORY, Mode::empty()).expect("opened");
        let proc = rustix::fs::open("/proc", DIRECTORY, Mode::empty()).expect("opened");
        assert_ne!(mount_of(&root).expect("a number"), mount_of(&proc).expect("a number"));
        assert!(open_on_same_mount(&root, c"proc").is_err());
    }
}
