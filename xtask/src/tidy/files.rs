//! Files that nobody uses: sources that no module names, and files of kinds that the repository has no use for.

use std::collections::BTreeSet;

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// How the names of files end that belong here.
const KINDS: [&str; 17] = [
    "rs",
    "md",
    "toml",
    "lock",
    "txt",
    "json",
    "jsonl",
    "js",
    "mjs",
    "ts",
    "html",
    "py",
    "sh",
    "zsh",
    "svg",
    "tsv",
    "gitignore",
];
/// Files without such an end.
const NAMED: [&str; 3] = [".ci/run", "LICENSE-APACHE", "LICENSE-MIT"];
/// Logs of earlier releases are kept whole, whatever they are made of.
const KEPT_LOGS: &str = "crates/comity/tests/old_logs/";

/// Every Rust file is part of a program, a library or a test.
pub(super) fn compiled(tree: &Tree) -> Vec<Finding> {
    let mut reached: BTreeSet<String> =
        tree.sources().map(|(path, _)| path).filter(|path| is_root(path)).map(str::to_owned).collect();
    let mut open: Vec<String> = reached.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let Some(source) = tree.file(&path).and_then(|file| file.source.as_ref()) else { continue };
        let named = modules(&path, source).into_iter().filter(|candidate| tree.exists(candidate));
        for module in named {
            if reached.insert(module.clone()) {
                open.push(module);
            }
        }
    }
    let left = tree.sources().filter(|(path, _)| !reached.contains(*path));
    left.map(|(path, _)| Finding::new(path, 1, "no module names this file", "name it, or remove it"))
        .collect()
}

/// Every file is of a kind that belongs here.
pub(super) fn kinds(tree: &Tree) -> Vec<Finding> {
    let is_known = |path: &str| {
        let end = path.rsplit(['.', '/']).next().unwrap_or_default();
        KINDS.contains(&end) || NAMED.contains(&path) || path.starts_with(KEPT_LOGS)
    };
    let unknown = tree.files.iter().map(|file| &*file.path).filter(|path| !is_known(path));
    let next = "remove what a program left behind, or name its kind in xtask/src/tidy/files.rs";
    unknown.map(|path| Finding::new(path, 1, "a file of this kind does not belong here", next)).collect()
}

/// Whether cargo compiles this file by itself.
fn is_root(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else { return path == "build.rs" };
    let is_in = |place: &str| folder == place || folder.ends_with(&format!("/{place}"));
    let in_test_folder = folder.rsplit_once('/').is_some_and(|(above, _)| above.ends_with("/tests"));
    match name {
        "lib.rs" | "main.rs" if is_in("src") => true,
        "main.rs" => in_test_folder,
        "build.rs" => !is_in("src") && !folder.contains("/src/"),
        _ => {
            let is_beside = |place: &&str| is_in(place) && !folder.contains("/src/");
            is_in("src/bin") || ["tests", "benches", "examples"].iter().any(is_beside)
        }
    }
}

/// The files that the modules of a file may be in.
fn modules(path: &str, source: &Source) -> Vec<String> {
    let stem = path.trim_end_matches(".rs");
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let below = if is_root(path) || name == "mod" { folder } else { stem };
    let mut found = Vec::new();
    let mut given: Option<String> = None;
    for line in &source.lines {
        let code = line.code.trim();
        if code.starts_with("#[path") {
            given = line.literal.trim().trim_matches('"').to_owned().into();
        } else if let Some(module) = declared(code) {
            match given.take() {
                Some(file) => found.push(normal(&format!("{folder}/{file}"))),
                None => found.extend([format!("{below}/{module}.rs"), format!("{below}/{module}/mod.rs")]),
            }
        }
    }
    found
}

/// The module that a line such as `pub mod name;` declares.
fn declared(code: &str) -> Option<&str> {
    let words = code.strip_suffix(';')?;
    let (before, name) = words.rsplit_once(' ')?;
    let is_module = before == "mod" || before.ends_with(" mod");
    (is_module && name.chars().all(|c| c.is_alphanumeric() || c == '_')).then_some(name)
}

/// A path without `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn every_source_is_part_of_something() {
        check(
            "compiled",
            "
            == crates/a/src/lib.rs
            pub mod one;
            #[cfg(test)]
            #[path = \"../shared/two.rs\"]
            mod two;
            == crates/a/src/one.rs
            mod deep;
            == crates/a/src/one/deep.rs
            == crates/a/src/one/forgotten.rs
            == crates/a/shared/two.rs
            == crates/a/src/three.rs
            == crates/a/tests/all.rs
            #[path = \"all/part.rs\"]
            mod part;
            mod support;
            == crates/a/tests/all/part.rs
            == crates/a/tests/support/mod.rs
            == crates/a/tests/left.rs
            == crates/a/tests/dir/main.rs
            mod inner;
            == crates/a/tests/dir/inner.rs
            == crates/a/tests/dir/outer.rs
            ",
            expect![[r#"
                crates/a/src/one/forgotten.rs:1: no module names this file [compiled]
                crates/a/src/three.rs:1: no module names this file [compiled]
                crates/a/tests/dir/outer.rs:1: no module names this file [compiled]"#]],
        );
    }

    #[test]
    fn files_of_unknown_kinds_are_found() {
        check(
            "kinds",
            "
            == README.md
            == .ci/run
            == .gitignore
            == crates/comity/mail-index.db
            == crates/comity/tests/old_logs/0.1.0/log.db
            == scripts/run
            ",
            expect![[r#"
                crates/comity/mail-index.db:1: a file of this kind does not belong here [kinds]
                scripts/run:1: a file of this kind does not belong here [kinds]"#]],
        );
    }
}
