//! How a file begins, how long it may be, and what it may be called.

use std::collections::BTreeMap;

use super::tree::Tree;
use super::{Finding, Weight};

const LINES_MAX: usize = 400;
const LINES_NOTED: usize = 250;
const REUSED_NAMES_MAX: usize = 29;
const REUSED_NAMES_SHOWN: usize = 12;
/// Words that say nothing beside a name; an `s` at their end is cut off.
const EMPTY_WORDS: &[&str] =
    &["a", "an", "the", "it", "i", "thi", "that", "of", "for", "to", "in", "on", "which", "and", "or"];
const KEYWORDS: &[&str] = &[
    "const", "static", "async", "unsafe", "fn", "struct", "enum", "trait", "union", "type", "mod", "crate)",
];
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

/// What others may use says what it is for, unless it is a field or a variant whose name does.
pub(super) fn docs(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, source) in tree.sources().filter(|(path, _)| in_product(path)) {
        let Some((_, text)) = tree.texts().find(|(other, _)| *other == path) else { continue };
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (at, line) in source.lines.iter().enumerate().filter(|(_, line)| !line.in_test) {
            if public_item(line.code.trim()) && !is_documented(&lines[..at]) {
                let next = "say above it, in a `///` line, what its name does not";
                found.push(Finding::new(path, at + 1, "a public item without a doc comment", next));
            }
            let is_alone = |other: Option<&&str>| !other.is_some_and(|other| other.starts_with("///"));
            let word = lines
                .get(at)
                .and_then(|line| line.strip_prefix("/// "))
                .filter(|doc| !doc.contains([' ', '`']));
            if word.is_some() && is_alone(lines.get(at + 1)) && (at == 0 || is_alone(lines.get(at - 1))) {
                let next = "a doc comment tells what the name does not, or is left out";
                found.push(Finding::new(path, at + 1, "a doc comment of one word", next));
            }
            let doc = lines.get(at).and_then(|line| line.strip_prefix("/// "));
            let mut below = source.lines[at + 1..].iter().map(|line| line.code.trim());
            let item = below.find(|code| !code.starts_with("#[")).unwrap_or_default();
            let stands_alone = is_alone(lines.get(at + 1)) && (at == 0 || is_alone(lines.get(at - 1)));
            // What people read as help of a field has to be there.
            let is_help = text.contains("JsonSchema") && item.ends_with(',');
            if word.is_none() && stands_alone && !is_help && doc.is_some_and(|doc| repeats(doc, item)) {
                let next = "leave it out, or say what the name does not";
                found.push(Finding::new(path, at + 1, "a doc comment that repeats the name", next));
            }
        }
    }
    found
}

/// Whether a doc comment has no word that the name of its item does not have.
fn repeats(doc: &str, item: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let (mut spaced, mut last) = (String::new(), ' ');
        for c in text.chars() {
            if c.is_uppercase() && last.is_lowercase() {
                spaced.push(' ');
            }
            spaced.extend(c.to_lowercase());
            last = c;
        }
        let words =
            spaced.split(|c: char| !c.is_alphanumeric()).map(|word| word.trim_end_matches('s').to_owned());
        words.filter(|word| !word.is_empty() && !EMPTY_WORDS.contains(&word.as_str())).collect()
    };
    let name = item.split_whitespace().find(|word| !word.starts_with("pub") && !KEYWORDS.contains(word));
    let name = name.and_then(|name| name.split(|c: char| !c.is_alphanumeric() && c != '_').next());
    let name = words(name.unwrap_or_default());
    let said = words(doc);
    !doc.contains('`') && !name.is_empty() && said.iter().all(|word| name.contains(word))
}

/// Whether a line begins a type or a function that other crates may use.
fn public_item(code: &str) -> bool {
    let Some(rest) = code.strip_prefix("pub ") else { return false };
    let mut words = rest.split_whitespace().skip_while(|word| ["const", "async", "unsafe"].contains(word));
    // What is asked for something by its name alone gives that.
    if ["(&self) ->", "(self) ->"].iter().any(|asks| rest.contains(asks)) {
        return false;
    }
    words.next().is_some_and(|kind| ["fn", "struct", "enum", "trait", "union", "type"].contains(&kind))
}

/// Whether the lines above an item end in a doc comment and its attributes.
fn is_documented(above: &[&str]) -> bool {
    let is_over =
        |line: &&&str| line.is_empty() || line.ends_with(['{', '}', ';']) || line.starts_with("///");
    above.iter().rev().find(is_over).is_some_and(|line| line.starts_with("///"))
}

/// A type name means one thing, with few exceptions.
pub(super) fn type_names(tree: &Tree) -> Vec<Finding> {
    let reused = reused_type_names(tree);
    if reused.len() <= REUSED_NAMES_MAX {
        return Vec::new();
    }
    let says = format!(
        "{} type names are used for several types, more than {REUSED_NAMES_MAX}: {}, …",
        reused.len(),
        worst_names(&reused)
    );
    vec![Finding::new("crates", 1, says, "name each type by what it is, in a word or two of the field")]
}

/// The names that most types have, in a line.
pub(crate) fn worst_names(reused: &[(String, usize)]) -> String {
    let shown = reused.iter().take(REUSED_NAMES_SHOWN).map(|(name, count)| format!("{name} {count}"));
    shown.collect::<Vec<_>>().join(", ")
}

/// The names that several types have and how many do, the worst first.
pub(crate) fn reused_type_names(tree: &Tree) -> Vec<(String, usize)> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (_, source) in tree.sources().filter(|(path, _)| in_product(path)) {
        let code = source.lines.iter().filter(|line| !line.in_test).map(|line| line.code.as_str());
        code.filter_map(defined_type).for_each(|name| *names.entry(name.to_owned()).or_default() += 1);
    }
    let mut reused: Vec<_> = names.into_iter().filter(|(_, count)| *count > 1).collect();
    reused.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    reused
}

/// The type that a line such as `pub struct Name {` begins; an alias inside of something else is a trait's.
fn defined_type(code: &str) -> Option<&str> {
    let is_inner = code.starts_with(' ');
    let mut words = code.split_whitespace();
    let kind = words.find(|word| !word.starts_with("pub") && *word != "in" && !word.ends_with(')'))?;
    let name = words
        .next()
        .filter(|_| ["struct", "enum", "trait", "union"].contains(&kind) || (kind == "type" && !is_inner))?;
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
    fn public_items_say_what_they_are_for() {
        check(
            "docs",
            "
            == crates/a/src/a.rs
            /// A lock on a path.
            #[derive(
                Debug,
            )]
            pub struct Lock {
                pub path: Path,
                /// `None` while it waits.
                pub since: Option<Time>,
            }
            pub(crate) fn inner() {}
            impl Lock {
                /// Whether it covers a path.
                pub const fn covers(&self) {}
                pub fn path(&self) -> &Path {}
            }",
            expect![""],
        );
        check(
            "docs",
            "
            == crates/a/src/a.rs
            pub struct Lock {
                /// Which.
                pub path: Path,
            }

            /// The locks.
            pub struct Locks {}

            pub fn covers() {}",
            expect![[r#"
                crates/a/src/a.rs:1: a public item without a doc comment [docs]
                crates/a/src/a.rs:2: a doc comment of one word [docs]
                crates/a/src/a.rs:6: a doc comment that repeats the name [docs]
                crates/a/src/a.rs:9: a public item without a doc comment [docs]"#]],
        );
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
    #[test]
    fn docs_that_repeat_the_name_are_refused() {
        check(
            "docs",
            "
            == crates/a/src/a.rs
            //! Locks.
            struct Lock {
                /// Its name, which is in no other lock.
                name: String,
                /// The name.
                name: String,
                /// Bytes of a title.
                #[serde(default)]
                title_bytes: usize,
                /// `&&`
                and: bool,
            }
            /// The bytes of a title.
            const TITLE_BYTES_MAX: usize = 3;
            == crates/a/src/b.rs
            #[derive(JsonSchema)]
            pub(crate) struct Input {
                /// The name.
                name: String,
            }",
            expect![[r#"
                crates/a/src/a.rs:5: a doc comment that repeats the name [docs]
                crates/a/src/a.rs:7: a doc comment that repeats the name [docs]
                crates/a/src/a.rs:13: a doc comment that repeats the name [docs]"#]],
        );
    }

    #[test]
    fn a_type_name_means_one_thing() {
        let types = |names: usize| -> String {
            let file = |number: usize| {
                let types: String = (0..names).map(|name| format!("struct T{name:02};\n")).collect();
                format!("== crates/a/src/a{number}.rs\n{types}enum Once{number} {{}}\n")
            };
            format!("{}{}== crates/a/src/b.rs\npub(crate) trait T07 {{}}\n", file(1), file(2))
        };
        check("type-names", &types(29), expect![""]);
        check(
            "type-names",
            &types(30),
            expect![
                "crates:1: 30 type names are used for several types, more than 29: T07 3, T00 2, T01 2, T02 2, T03 2, T04 2, T05 2, T06 2, T08 2, T09 2, T10 2, T11 2, … [type-names]"
            ],
        );
    }
}
