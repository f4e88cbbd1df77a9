//! How a file begins, how long it may be, and what it may be called.

use std::collections::BTreeMap;

use super::tree::Tree;
use super::{Finding, Weight};

const LINES_MAX: usize = 400;
const LINES_NOTED: usize = 250;
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "manager", "common", "misc"];

/// Every Rust file begins with a line that says what it is about.
pub(super) fn heading(tree: &Tree) -> Vec<Finding> {
    let texts = tree.texts().filter(|(path, _)| path.ends_with(".rs"));
    texts
        .filter(|(_, text)| text.strip_prefix("//!").is_none_or(|rest| first_line(rest).trim().is_empty()))
        .map(|(path, _)| {
            let next = "begin the file with `//! What this file is about.`";
            Finding::new(path, 1, "the file does not begin with a `//!` line", next)
        })
        .collect()
}

/// No file that a reader has to scroll for a minute.
pub(super) fn length(tree: &Tree) -> Vec<Finding> {
    let next = "split it by idea: one file, one thing a newcomer would search for";
    let texts = tree.texts().filter(|(path, _)| path.ends_with(".rs"));
    texts
        .filter_map(|(path, text)| {
            let lines = text.lines().count();
            let weight = if lines > LINES_MAX { Weight::Refused } else { Weight::Note };
            let says = match weight {
                Weight::Refused => format!("{lines} lines, more than {LINES_MAX}"),
                Weight::Note => format!("{lines} lines; most files are under {LINES_NOTED}"),
            };
            let finding = Finding { weight, ..Finding::note(path, lines, says, next) };
            (lines > LINES_NOTED).then_some(finding)
        })
        .collect()
}

/// No file named after nothing.
pub(super) fn names(tree: &Tree) -> Vec<Finding> {
    let next = "name it by what it holds, in the words of the domain";
    let product = tree.sources().filter(|(path, _)| in_product(path));
    product
        .filter_map(|(path, _)| {
            let name = path.trim_end_matches(".rs").split('/').find(|name| EMPTY_NAMES.contains(name))?;
            Some(Finding::new(path, 1, format!("`{name}` says nothing about what is in the file"), next))
        })
        .collect()
}

/// How many types of the product have each name.
pub(crate) fn type_names(tree: &Tree) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for (_, source) in tree.sources().filter(|(path, _)| in_product(path)) {
        let code = source.lines.iter().filter(|line| !line.in_test).map(|line| line.code.trim());
        code.filter_map(defined_type).for_each(|name| *names.entry(name.to_owned()).or_insert(0) += 1);
    }
    names
}

/// The type that a line such as `pub struct Name {` begins.
fn defined_type(code: &str) -> Option<&str> {
    let mut words = code.split_whitespace();
    let kind = words.find(|word| !word.starts_with("pub") && *word != "in" && !word.ends_with(')'))?;
    let name = words.next().filter(|_| ["struct", "enum", "trait", "union"].contains(&kind))?;
    Some(name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(name))
}

/// Whether a path lies in the sources of a crate that we ship.
pub(super) fn in_product(path: &str) -> bool {
    let mut folders = path.split('/');
    folders.next() == Some("crates") && folders.nth(1) == Some("src")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn files_begin_with_what_they_are_about() {
        check("heading", "== a.rs\n//! Locks.\nfn a() {}", expect![""]);
        check("heading", "== a.md\n# Locks", expect![""]);
        check(
            "heading",
            "
            == a.rs
            use std::io;
            == b.rs
            // Locks.
            == c.rs
            //!
            == d.rs",
            expect![[r#"
                a.rs:1: the file does not begin with a `//!` line [heading]
                b.rs:1: the file does not begin with a `//!` line [heading]
                c.rs:1: the file does not begin with a `//!` line [heading]
                d.rs:1: the file does not begin with a `//!` line [heading]"#]],
        );
    }

    #[test]
    fn long_files_are_noted_and_then_refused() {
        let file = |lines: usize| format!("== a.rs\n{}", "a\n".repeat(lines));
        check("length", &file(250), expect![""]);
        check("length", &file(251), expect!["note: a.rs:251: 251 lines; most files are under 250 [length]"]);
        check("length", &file(401), expect!["a.rs:401: 401 lines, more than 400 [length]"]);
    }

    #[test]
    fn names_say_something() {
        check(
            "names",
            "
            == crates/a/src/locks.rs
            == crates/a/tests/common.rs
            == xtask/src/misc.rs",
            expect![""],
        );
        check(
            "names",
            "
            == crates/a/src/utils.rs
            == crates/a/src/web/helpers.rs
            == crates/a/src/common/a.rs",
            expect![[r#"
                crates/a/src/utils.rs:1: `utils` says nothing about what is in the file [names]
                crates/a/src/web/helpers.rs:1: `helpers` says nothing about what is in the file [names]
                crates/a/src/common/a.rs:1: `common` says nothing about what is in the file [names]"#]],
        );
    }
}
