//! Symbolic links in a git directory: git follows them, and whoever may write there would have it write, or tell, what is elsewhere.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// What git only reads, or what belongs to others: people keep these elsewhere.
const FREE: [&str; 8] =
    ["annex", "config", "config.worktree", "description", "hooks", "info", "lfs", "modules"];
/// What may have links anywhere below.
const DEEP: [&str; 2] = ["logs", "refs"];
/// What may have links in it.
const SHALLOW: [&str; 2] = ["objects", "worktrees"];
/// Entries that are looked at.
const ENTRIES_MAX: usize = 200_000;

/// Where git writes that works on this git directory: there, and in the common one. An error if links lead it elsewhere, but
/// for those into other git directories, as tools that share objects make them.
pub(crate) fn places(git_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut dirs: BTreeSet<PathBuf> = [git_dir.to_owned()].into();
    // A worktree's own directory is `worktrees/NAME` in the common one.
    let above = git_dir.parent().filter(|above| above.ends_with("worktrees")).and_then(Path::parent);
    dirs.extend(above.map(Path::to_owned));
    let real: Vec<PathBuf> = dirs.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
    let mut scan = Scan { own: &real, elsewhere: Vec::new(), left: ENTRIES_MAX };
    for dir in &dirs {
        scan.top(dir)?;
    }
    let elsewhere = scan.elsewhere;
    Ok(real.into_iter().chain(elsewhere).collect())
}

struct Scan<'a> {
    own: &'a [PathBuf],
    elsewhere: Vec<PathBuf>,
    left: usize,
}

impl Scan<'_> {
    fn top(&mut self, dir: &Path) -> io::Result<()> {
        for entry in self.entries(dir)? {
            let name = entry.file_name();
            let is = |names: &[&str]| names.iter().any(|known| *known == name);
            if is(&FREE) {
                continue;
            }
            self.check(&entry)?;
            if is(&DEEP) {
                self.below(&entry.path(), true)?;
            } else if is(&SHALLOW) {
                self.below(&entry.path(), false)?;
            }
        }
        Ok(())
    }

    fn below(&mut self, dir: &Path, is_deep: bool) -> io::Result<()> {
        let mut left = vec![dir.to_owned()];
        while let Some(dir) = left.pop() {
            for entry in self.entries(&dir)? {
                self.check(&entry)?;
                if is_deep && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    left.push(entry.path());
                }
            }
        }
        Ok(())
    }

    fn entries(&mut self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        // What is not there, or goes meanwhile, leads nowhere; git says what is wrong with all else.
        let entries: Vec<DirEntry> = fs::read_dir(dir).into_iter().flatten().flatten().collect();
        let left = self.left.checked_sub(entries.len());
        self.left =
            left.ok_or_else(|| io::Error::other("there are too many loose refs; run: git pack-refs --all"))?;
        Ok(entries)
    }

    fn check(&mut self, entry: &DirEntry) -> io::Result<()> {
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            return Ok(());
        }
        let path = entry.path();
        let is_git_dir = |dir: &Path| {
            dir.ancestors()
                .any(|above| above.extension().is_some_and(|end| end == "git") || above.ends_with(".git"))
        };
        match path.canonicalize() {
            Ok(real) if self.own.iter().any(|own| real.starts_with(own)) => Ok(()),
            Ok(real) if is_git_dir(&real) => {
                let dir = if real.is_dir() { Some(&*real) } else { real.parent() };
                self.elsewhere.extend(dir.map(Path::to_owned));
                Ok(())
            }
            Ok(_) | Err(_) => Err(io::Error::other(format!(
                "{} is a symbolic link that leads out of the git directory; remove it",
                path.display()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn check(make: impl FnOnce(&Path, &Path), is_fine: bool) {
        let dir = tempfile::tempdir().expect("a directory");
        let (git_dir, outside) = (dir.path().join(".git"), dir.path().join("docs"));
        for made in ["refs/heads", "logs/refs/heads", "objects/ab", "worktrees/one/logs", "info"] {
            fs::create_dir_all(git_dir.join(made)).expect("made");
        }
        fs::create_dir_all(dir.path().join("other.git/objects")).expect("made");
        fs::create_dir(&outside).expect("made");
        fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").expect("written");
        make(&git_dir, &outside);
        let found = places(&git_dir.join("worktrees/one")).and_then(|_| places(&git_dir));
        assert_eq!(found.is_ok(), is_fine, "{found:?}");
    }

    #[test]
    fn links_lead_nowhere_but_into_git_directories() {
        let link = |at: &'static str, to: &'static str| {
            move |git_dir: &Path, _: &Path| {
                let at = git_dir.join(at);
                let _was_there = fs::remove_dir_all(&at);
                symlink(to, at).expect("a link");
            }
        };
        check(|_, _| {}, true);
        check(link("refs/heads", "../../docs"), false);
        check(link("logs/refs/heads/main", "/etc/passwd"), false);
        check(link("logs/refs/heads/deep", "/not/there"), false);
        check(link("objects/ab", "../../docs"), false);
        check(link("worktrees/one/logs", "/tmp"), false);
        check(link("worktrees", "../docs"), false);
        check(link("MERGE_HEAD", "../docs"), false);
        check(link("packed-refs", "/etc/passwd"), false);
        check(link("hooks", "../docs"), true);
        check(link("info", "../docs"), true);
        check(link("ORIG_HEAD", "HEAD"), true);
        check(link("objects", "../other.git/objects"), true);
    }
}
