//! What is really at a path of the working tree, without following symlinks on the way.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::dot_git::{found, open_plain};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Presence {
    File,
    Link,
    Gone,
    Directory,
    /// A directory on the way is a symlink, so what is there belongs to another path.
    BehindLink,
    /// A pipe, a socket or a device.
    Other,
    Unreadable(String),
}

/// A working tree, with what is known of its directories.
pub(super) struct PresenceCache<'a> {
    root: &'a Path,
    /// Whether a directory, or one above it, is a symlink.
    links: BTreeMap<PathBuf, bool>,
}

impl<'a> PresenceCache<'a> {
    pub(super) fn at(root: &'a Path) -> PresenceCache<'a> {
        PresenceCache { root, links: BTreeMap::new() }
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    pub(super) fn presence(&mut self, path: &Path) -> Presence {
        if path.parent().is_some_and(|dir| self.leads_through_link(dir)) {
            return Presence::BehindLink;
        }
        self.look(path).unwrap_or_else(|error| Presence::Unreadable(error.to_string()))
    }

    fn look(&self, path: &Path) -> io::Result<Presence> {
        let full = self.root.join(path);
        let Some(metadata) = found(full.symlink_metadata())? else { return Ok(Presence::Gone) };
        let kind = metadata.file_type();
        if kind.is_symlink() {
            return Ok(Presence::Link);
        }
        if kind.is_dir() {
            return Ok(Presence::Directory);
        }
        if !kind.is_file() {
            return Ok(Presence::Other);
        }
        // It may be gone by now; then its absence is committed.
        Ok(open_plain(&full)?.map_or(Presence::Gone, |_| Presence::File))
    }

    fn leads_through_link(&mut self, dir: &Path) -> bool {
        if dir.as_os_str().is_empty() {
            return false;
        }
        if let Some(known) = self.links.get(dir) {
            return *known;
        }
        let is_link = |path: PathBuf| path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        let answer =
            dir.parent().is_some_and(|above| self.leads_through_link(above)) || is_link(self.root.join(dir));
        self.links.insert(dir.to_owned(), answer);
        answer
    }
}
