//! Translates paths of one worktree into another.

use std::path::{Component, Path, PathBuf};

/// The same file in another worktree: what a forked worker has to read in place of what it remembers.
///
/// Relative paths, and those already in the new worktree, stay. `None` for a path outside of the old worktree, in
/// git's directory, or with `..`: it means the same file everywhere, or cannot be told.
pub fn translate(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    if path.components().any(|component| component == Component::ParentDir) {
        return None;
    }
    // The new worktree may be inside the old one.
    if path.is_relative() || path.starts_with(to) {
        return Some(path.to_owned());
    }
    let below = path.strip_prefix(from).ok()?;
    match below.components().next() {
        None => Some(to.to_owned()),
        Some(Component::Normal(first)) if first == ".git" => None,
        Some(_) => Some(to.join(below)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_another_worktree() {
        let check = |path: &str, expected: Option<&str>| {
            let translated = translate(Path::new(path), Path::new("/p"), Path::new("/p/.git/trees/ann"));
            assert_eq!(translated.as_deref(), expected.map(Path::new), "{path}");
        };
        check("/p/src/a.rs", Some("/p/.git/trees/ann/src/a.rs"));
        check("/p", Some("/p/.git/trees/ann"));
        check("/p/", Some("/p/.git/trees/ann"));
        check("/p/.git/trees/ann/src/a.rs", Some("/p/.git/trees/ann/src/a.rs"));
        check("src/a.rs", Some("src/a.rs"));
        check("/p/.git/config", None);
        check("/p/.gitignore", Some("/p/.git/trees/ann/.gitignore"));
        check("/other/src/a.rs", None);
        check("/pp/src/a.rs", None);
        check("/p/src/../../etc/x", None);
        check("../x", None);
    }
}
