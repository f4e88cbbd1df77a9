//! Where files can be found, as the kernel lists the mounts of a namespace.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The mounts of a namespace, those on top last.
pub(crate) struct Mounts(Vec<Mount>);

struct Mount {
    /// The file system, by its device number.
    device: Vec<u8>,
    root: PathBuf,
    at: PathBuf,
}

/// A file or directory by its file system and its path in there, whatever it is called in some namespace.
pub(crate) struct DevicePath {
    device: Vec<u8>,
    path: PathBuf,
}

impl Mounts {
    /// Reads `/proc/<pid>/mountinfo`; lines that make no sense are left out.
    pub(crate) fn parse(listed: &[u8]) -> Mounts {
        let mount = |line: &[u8]| {
            let mut fields = line.split(|byte| *byte == b' ').skip(2);
            let device = fields.next()?.to_vec();
            Some(Mount { device, root: unescaped(fields.next()?), at: unescaped(fields.next()?) })
        };
        Mounts(listed.split(|byte| *byte == b'\n').filter_map(mount).collect())
    }

    /// What a path means here, whether it exists or not.
    pub(crate) fn place_of(&self, path: &Path) -> Option<DevicePath> {
        let (dir, name) = (path.parent()?, path.file_name()?);
        let above = self.0.iter().filter(|mount| dir.starts_with(&mount.at));
        // Of several at the same path the last one covers the others.
        let mount = above.max_by_key(|mount| mount.at.components().count())?;
        let below = dir.strip_prefix(&mount.at).ok()?;
        Some(DevicePath { device: mount.device.clone(), path: mount.root.join(below).join(name) })
    }

    /// All paths here by which a place can be reached, each with the mount point that it is below.
    pub(crate) fn names_of(&self, place: &DevicePath) -> BTreeMap<PathBuf, PathBuf> {
        let mut names: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
        for mount in self.0.iter().filter(|mount| mount.device == place.device) {
            let Ok(below) = place.path.strip_prefix(&mount.root) else { continue };
            // What is mounted on the place itself is what holds it.
            if below.as_os_str().is_empty() && names.contains_key(&mount.at) {
                continue;
            }
            let name = if below.as_os_str().is_empty() { mount.at.clone() } else { mount.at.join(below) };
            names.entry(name).or_insert_with(|| mount.at.clone());
        }
        names
    }
}

/// A field as it was before the kernel wrote blanks, line ends and backslashes as numbers of base 8.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..3).filter(|_| *first == b'\\');
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        plain.push(code.unwrap_or(*first));
        rest = if code.is_some() { &behind[3..] } else { behind };
    }
    PathBuf::from(OsString::from_vec(plain))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    const LISTED: &str = r"21 1 254:1 / / rw - ext4 /dev/vda rw
22 21 0:20 / /tmp rw - tmpfs none rw
23 21 254:1 /srv/my\040repo /srv/my\040repo rw - ext4 /dev/vda rw
24 23 254:1 /srv/my\040repo/a.rs /srv/my\040repo/a.rs ro - ext4 /dev/vda rw
25 22 254:1 /srv /tmp/w rw - ext4 /dev/vda rw
26 22 254:1 /srv/my\040repo/src /tmp/s rw - ext4 /dev/vda rw
27 22 0:20 /srv /tmp/other rw - tmpfs none rw
";

    #[track_caller]
    fn check(path: &str, names: &[&str]) {
        let mounts = Mounts::parse(LISTED.as_bytes());
        let place = mounts.place_of(Path::new(path)).expect("a place");
        let found: Vec<PathBuf> = mounts.names_of(&place).into_keys().collect();
        assert_eq!(found, names.iter().map(PathBuf::from).collect::<Vec<_>>(), "{path}");
    }

    #[test]
    fn all_names_of_a_place_are_found() {
        check("/srv/my repo/a.rs", &["/srv/my repo/a.rs", "/tmp/w/my repo/a.rs"]);
        check("/tmp/w/my repo/a.rs", &["/srv/my repo/a.rs", "/tmp/w/my repo/a.rs"]);
        check("/srv/my repo/src/x.rs", &["/srv/my repo/src/x.rs", "/tmp/s/x.rs", "/tmp/w/my repo/src/x.rs"]);
        check("/srv/my repo/src", &["/srv/my repo/src", "/tmp/s", "/tmp/w/my repo/src"]);
        check("/etc/passwd", &["/etc/passwd"]);
        check("/tmp/x", &["/tmp/x"]);
    }

    #[test]
    fn what_the_kernel_escapes_is_read_back() {
        for (field, plain) in
            [("/a", "/a"), (r"/a\040b\134", r"/a b\"), (r"/a\0", r"/a\0"), (r"/\999", r"/\999")]
        {
            assert_eq!(unescaped(field.as_bytes()).as_os_str().as_bytes(), plain.as_bytes(), "{field}");
        }
    }
}
