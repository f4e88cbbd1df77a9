//! The files of the repository, read once for all rules.

use super::source::Source;
use crate::process::Failure;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// One file that git tracks or would track.
pub(crate) struct File {
    /// From the root, with `/` between folders.
    pub(crate) path: String,
    pub(crate) size_bytes: u64,
    /// Nothing if it is not UTF-8.
    pub(crate) text: Option<String>,
    /// Only for Rust files.
    pub(crate) source: Option<Source>,
}

/// All files, and the folders that follow from them.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    paths: BTreeSet<String>,
}

impl Tree {
    pub(crate) fn load(root: &Path) -> Result<Self, Failure> {
        // CI may run as another user than the one who cloned.
        let trusted = format!("safe.directory={}", root.display());
        let listed = Command::new("git")
            .args(["-c", &trusted, "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .map_err(|error| Failure::new(format!("git did not start: {error}")))?;
        if !listed.status.success() {
            let reason = String::from_utf8_lossy(&listed.stderr).trim().to_owned();
            return Err(Failure::new(format!("git could not list the files: {reason}")));
        }
        let paths: BTreeSet<String> =
            String::from_utf8_lossy(&listed.stdout).split_terminator('\0').map(String::from).collect();
        // What cannot be read was deleted and not committed yet, or is a link to nowhere.
        let read = |path: String| fs::read(root.join(&path)).ok().map(|bytes| (path, bytes));
        Ok(Self::from_files(paths.into_iter().filter_map(read)))
    }

    fn from_files(files: impl Iterator<Item = (String, Vec<u8>)>) -> Self {
        let mut files: Vec<File> = files.map(|(path, bytes)| File::new(path, bytes)).collect();
        mark_test_modules(&mut files);
        let mut paths = BTreeSet::new();
        for file in &files {
            paths.insert(file.path.clone());
            paths.extend(file.path.match_indices('/').map(|(end, _)| file.path[..end].to_owned()));
        }
        Self { files, paths }
    }

    /// Whether this is a file or a folder of the repository.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.paths.contains(path.trim_end_matches('/'))
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, &Source)> {
        self.files.iter().filter_map(|file| Some((file.path.as_str(), file.source.as_ref()?)))
    }

    /// The files that are text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// A tree written as text: a line `== path` begins a file. The indent of the first line is taken off all.
    #[cfg(test)]
    pub(crate) fn from_fixture(files: &str) -> Self {
        let files = files.trim_start_matches('\n');
        let indent = &files[..files.find('=').unwrap_or(0)];
        let parts: String =
            files.lines().map(|line| format!("\n{}", line.strip_prefix(indent).unwrap_or(line))).collect();
        let files = parts.split("\n== ").skip(1).map(|part| {
            let (path, text) = part.split_once('\n').unwrap_or((part, ""));
            (path.to_owned(), text.as_bytes().to_vec())
        });
        Self::from_files(files)
    }
}

impl File {
    fn new(path: String, bytes: Vec<u8>) -> Self {
        let size_bytes = bytes.len() as u64;
        let text = String::from_utf8(bytes).ok();
        let source = text.as_ref().filter(|_| path.ends_with(".rs")).map(|text| Source::parse(&path, text));
        Self { path, size_bytes, text, source }
    }
}

/// Follows `#[cfg(test)] mod name;` to the files it names.
fn mark_test_modules(files: &mut [File]) {
    let mut modules = Vec::new();
    for file in files.iter() {
        let stem = file.path.trim_end_matches(".rs");
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        let children = if matches!(name, "lib" | "main" | "mod") { folder } else { stem };
        let declared = file.source.iter().flat_map(|source| &source.test_modules);
        modules.extend(declared.map(|module| format!("{children}/{module}")));
    }
    for file in files.iter_mut() {
        let below = |module: &String| {
            let rest = file.path.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        if modules.iter().any(below) {
            let lines = file.source.iter_mut().flat_map(|source| &mut source.lines);
            lines.for_each(|line| line.in_test = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_modules_are_followed_into_their_files() {
        let tree = Tree::from_fixture(
            "
            == src/lib.rs
            #[cfg(test)]
            mod made;
            == src/made.rs
            fn a() {}
            == src/made/b.rs
            fn a() {}
            == src/other.rs
            #[cfg(test)]
            mod made;
            == src/other/made.rs
            fn a() {}
            == src/made_up.rs
            fn a() {}",
        );
        let first_is_test = |(path, source): (&str, &Source)| {
            source.lines.first().filter(|line| line.in_test).map(|_| path.to_owned())
        };
        let found: Vec<String> = tree.sources().filter_map(first_is_test).collect();
        let expected = ["src/lib.rs", "src/made.rs", "src/made/b.rs", "src/other.rs", "src/other/made.rs"];
        assert_eq!(found, expected);
    }

    #[test]
    fn folders_exist_because_of_their_files() {
        let tree = Tree::from_fixture("== docs/guide/locks.md\n");
        for (path, expected) in [("docs", true), ("docs/guide/", true), ("docs/gui", false)] {
            assert_eq!(tree.exists(path), expected, "{path}");
        }
    }
}
