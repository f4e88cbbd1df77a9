//! Which files a held glob stands for at this moment.

use std::path::{Path, PathBuf};

use comity_core::paths::{Alternative, covers, fold};
use comity_core::{CaseRule, PathPattern};

/// Entries of directories that are looked at; what is found later is not held, and is noticed by the watcher.
const ENTRIES_MAX: usize = 20_000;

/// Where patterns are looked for.
#[derive(Clone, Copy)]
pub(super) struct Worktree<'a> {
    pub(super) root: &'a Path,
    /// How names in patterns are spelled.
    pub(super) case: CaseRule,
}

/// Adds what exists of a glob, beginning at the directory that its literal part names.
pub(super) fn expand(worktree: Worktree<'_>, from: &Path, pattern: &PathPattern, paths: &mut Vec<PathBuf>) {
    let trees = trees(pattern);
    let (mut left, mut looked) = (vec![from.to_owned()], 0);
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            looked += 1;
            if looked > ENTRIES_MAX {
                return;
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let Some(names) = worktree.names_below(&path) else { continue };
            let Ok(name) = Alternative::new(&names, &[], false) else { continue };
            let name = PathPattern::of(vec![name]);
            match kind.is_dir() {
                true if names == [".git"] => {}
                true if trees.iter().any(|tree| covers(tree, &name)) => paths.push(path),
                true => left.push(path),
                false if kind.is_file() && covers(pattern, &name) => paths.push(path),
                false => {}
            }
        }
    }
}

/// What is at the top of a worktree, except for git's own.
pub(super) fn top_level(root: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name() != ".git").take(ENTRIES_MAX).map(|entry| entry.path())
}

/// What a directory has to match so that all below it is held.
fn trees(pattern: &PathPattern) -> Vec<PathPattern> {
    let tree = |alternative: &Alternative| {
        let text = alternative.to_string();
        PathPattern::parse(text.strip_suffix("/**")?, CaseRule::Exact).ok()
    };
    pattern.alternatives().iter().filter_map(tree).collect()
}

impl Worktree<'_> {
    fn names_below(self, path: &Path) -> Option<Vec<String>> {
        let below = path.strip_prefix(self.root).ok()?;
        below.iter().map(|name| Some(fold(name.to_str()?, self.case).into_owned())).collect()
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
        expand(Worktree { root: dir.path(), case }, dir.path(), &pattern, &mut paths);
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
}
