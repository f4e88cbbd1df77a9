//! Which files a held glob currently matches.

use std::fs::DirEntry;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use comity_core::paths::{Alternative, covers, fold, overlaps};
use comity_core::{CaseRule, PathPattern};

/// Directory entries that are checked. Directories that are left then are protected as a whole.
const ENTRIES_MAX: usize = 20_000;

/// Where patterns are relative to.
#[derive(Clone, Copy)]
pub(super) struct SearchRoot<'a> {
    pub(super) root: &'a Path,
    pub(super) case: CaseRule,
}

/// Adds the existing matches of a glob, beginning at the directory of its literal part.
///
/// What cannot be read is protected as a whole: it may match.
pub(super) fn expand(worktree: SearchRoot<'_>, from: &Path, pattern: &PathPattern, paths: &mut Vec<PathBuf>) {
    GlobWalk { worktree, pattern, trees: trees(pattern), entries_left: ENTRIES_MAX, paths }.run(from);
}

/// What is at the top of a worktree, without git's own; the whole worktree, if that cannot be read.
pub(super) fn top_level(root: &Path) -> Vec<PathBuf> {
    match entries(root, &mut { ENTRIES_MAX }) {
        Ok(entries) => {
            let others = entries.iter().filter(|entry| entry.file_name() != ".git");
            others.map(DirEntry::path).collect()
        }
        Err(error) if is_nothing(&error) => Vec::new(),
        Err(_) => vec![root.to_owned()],
    }
}

struct GlobWalk<'a> {
    worktree: SearchRoot<'a>,
    pattern: &'a PathPattern,
    /// What a directory has to match so that everything below it is protected.
    trees: Vec<PathPattern>,
    entries_left: usize,
    paths: &'a mut Vec<PathBuf>,
}

impl GlobWalk<'_> {
    fn run(&mut self, from: &Path) {
        let mut dirs = vec![from.to_owned()];
        while let Some(dir) = dirs.pop() {
            match entries(&dir, &mut self.entries_left) {
                Ok(entries) => dirs.extend(entries.iter().filter_map(|entry| self.look(entry))),
                Err(error) if is_nothing(&error) => {}
                Err(_) => self.paths.push(dir),
            }
        }
    }

    /// Protects an entry if it matches; returns it if something below it may.
    fn look(&mut self, entry: &DirEntry) -> Option<PathBuf> {
        let path = entry.path();
        let names = self.worktree.names_below(&path);
        let named = |is_tree| Some(PathPattern::of(vec![Alternative::new(&names, &[], is_tree).ok()?]));
        let (Ok(kind), Some(name), Some(tree)) = (entry.file_type(), named(false), named(true)) else {
            self.paths.push(path);
            return None;
        };
        match kind.is_dir() {
            true if names == [".git"] => None,
            true if self.trees.iter().any(|tree| covers(tree, &name)) => {
                self.paths.push(path);
                None
            }
            true => overlaps(self.pattern, &tree).then_some(path),
            false if !covers(self.pattern, &name) => None,
            false => {
                let real = if kind.is_symlink() { path.canonicalize().ok() } else { Some(path) };
                self.paths.extend(real.filter(|real| real.is_file()));
                None
            }
        }
    }
}

/// The entries of a directory, if all can be read and there are not too many.
fn entries(dir: &Path, left: &mut usize) -> io::Result<Vec<DirEntry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        *left = left.checked_sub(1).ok_or(ErrorKind::QuotaExceeded)?;
        entries.push(entry?);
    }
    Ok(entries)
}

/// Whether the directory does not exist, so that nothing in it is to be protected.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// What a directory has to match so that everything below it is protected.
fn trees(pattern: &PathPattern) -> Vec<PathPattern> {
    let tree = |alternative: &Alternative| {
        let text = alternative.to_string();
        PathPattern::parse(text.strip_suffix("/**")?, CaseRule::Exact).ok()
    };
    pattern.alternatives().iter().filter_map(tree).collect()
}

impl SearchRoot<'_> {
    /// The names that lead to a path. Bytes that are not text become a character that only wildcards match.
    fn names_below(self, path: &Path) -> Vec<String> {
        let below = path.strip_prefix(self.root).unwrap_or(path);
        below.iter().map(|name| fold(&name.to_string_lossy(), self.case).into_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(glob: &str, case: CaseRule, expected: &[&str]) {
        let dir = tempfile::tempdir().expect("a directory");
        for file in [
            "src/a.rs",
            "src/b.md",
            "src/deep/c.rs",
            "gen/x/1.txt",
            "gen/y/2.txt",
            ".git/a.rs",
            "top.rs",
            "Top.RS",
        ] {
            let file = dir.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a directory")).expect("made");
            std::fs::write(file, "").expect("written");
        }
        let pattern = PathPattern::parse(glob, case).expect("a glob");
        let mut paths = Vec::new();
        expand(SearchRoot { root: dir.path(), case }, dir.path(), &pattern, &mut paths);
        paths.sort();
        let found: Vec<&str> =
            paths.iter().filter_map(|path| path.strip_prefix(dir.path()).ok()?.to_str()).collect();
        assert_eq!(found, expected, "{glob}");
    }

    #[test]
    fn a_glob_stands_for_the_files_that_are_there() {
        use CaseRule::{Exact, Folded};
        check("src/*.rs", Exact, &["src/a.rs"]);
        check("**/*.rs", Exact, &["src/a.rs", "src/deep/c.rs", "top.rs"]);
        check("gen/*/", Exact, &["gen/x", "gen/y"]);
        check("{src/b.md,gen/?/1.txt}", Exact, &["gen/x/1.txt", "src/b.md"]);
        check("*.rs", Folded, &["Top.RS", "top.rs"]);
    }

    /// What is held of a directory with a few files, if so many entries may be looked at.
    fn held(glob: &str, entries_left: usize, make: impl Fn(&Path)) -> Vec<PathBuf> {
        let dir = tempfile::tempdir().expect("a directory");
        for file in ["a/1.rs", "a/2.rs", "b/3.rs", "other/4.md", "other/5.md", "other/6.md"] {
            let file = dir.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a directory")).expect("made");
            std::fs::write(file, "").expect("written");
        }
        make(dir.path());
        let (pattern, mut paths) = (PathPattern::parse(glob, CaseRule::Exact).expect("a glob"), Vec::new());
        let worktree = SearchRoot { root: dir.path(), case: CaseRule::Exact };
        GlobWalk { worktree, pattern: &pattern, trees: trees(&pattern), entries_left, paths: &mut paths }
            .run(dir.path());
        paths.sort();
        paths.iter().filter_map(|path| Some(path.strip_prefix(dir.path()).ok()?.to_owned())).collect()
    }

    #[test]
    fn what_is_not_looked_at_is_held_as_a_whole() {
        let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect::<Vec<PathBuf>>();
        let nothing = |_: &Path| {};
        assert_eq!(held("{a,b}/*.rs", 6, nothing), paths(&["a/1.rs", "a/2.rs", "b/3.rs"]), "not the others");
        assert_eq!(held("**/*.rs", 3, nothing), paths(&["a", "b", "other"]), "three at the top");
        assert_eq!(held("**/*.rs", 2, nothing), paths(&[""]), "not even those");
        let in_circles = |dir: &Path| {
            std::fs::remove_dir_all(dir.join("a")).expect("removed");
            std::fs::create_dir(dir.join("a")).expect("made");
            std::os::unix::fs::symlink("x.rs", dir.join("a/x.rs")).expect("a link");
        };
        assert_eq!(held("a/*.rs", 100, in_circles), paths(&[]), "a link that leads nowhere");
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_held() {
        let dir = tempfile::tempdir().expect("a directory");
        let circle = dir.path().join("src");
        std::os::unix::fs::symlink("src", &circle).expect("a link to itself");
        let pattern = PathPattern::parse("src/*.rs", CaseRule::Exact).expect("a glob");
        let worktree = SearchRoot { root: dir.path(), case: CaseRule::Exact };
        let mut paths = Vec::new();
        expand(worktree, &circle, &pattern, &mut paths);
        assert_eq!(paths, [circle]);
        assert!(top_level(&dir.path().join("gone")).is_empty());
        assert_eq!(top_level(&dir.path().join("src")), [dir.path().join("src")]);
    }

    #[test]
    fn a_name_that_is_no_text_is_meant_by_wildcards() {
        use std::os::unix::ffi::OsStrExt;
        let odd = |dir: &Path| {
            std::fs::write(dir.join(std::ffi::OsStr::from_bytes(b"b/\xff.rs")), "").expect("written");
        };
        for (glob, expected) in [("b/*", 2), ("b/?.rs", 2), ("b/*.rs", 2), ("b/*.md", 0), ("b/[a-z].rs", 0)] {
            assert_eq!(held(glob, 100, odd).len(), expected, "{glob}");
        }
    }
}
