//! `cargo xtask tidy`: the rules of the house that no compiler checks.

mod catalog;
mod core_purity;
mod doc_paths;
mod files;
mod hops;
mod lexer;
mod machine;
mod one_place;
mod phrases;
mod rings;
mod shape;
mod shell;
mod source;
mod test_habits;
mod threads;
mod tree;
mod words;

use crate::process::{Failure, no_arguments, root};
pub(crate) use shape::{reused_type_names, worst_names};
pub(crate) use tree::Tree;

/// One place that breaks a rule.
struct Finding {
    path: String,
    line: usize,
    weight: Weight,
    says: String,
    next: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Weight {
    Refused,
    /// Worth knowing, but no reason to stop.
    Note,
}

impl Finding {
    fn new(path: &str, line: usize, says: impl Into<String>, next: &'static str) -> Self {
        Self { path: path.to_owned(), line, weight: Weight::Refused, says: says.into(), next }
    }

    fn note(path: &str, line: usize, says: impl Into<String>, next: &'static str) -> Self {
        Self { weight: Weight::Note, ..Self::new(path, line, says, next) }
    }
}

struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Finding>,
}

/// Every rule; a new one is a function in one of the files here, and a line in this list.
const RULES: &[Rule] = &[
    Rule { name: "heading", check: shape::heading },
    Rule { name: "docs", check: shape::docs },
    Rule { name: "length", check: shape::length },
    Rule { name: "names", check: shape::names },
    Rule { name: "type-names", check: shape::type_names },
    Rule { name: "allow", check: words::allow },
    Rule { name: "placeholders", check: words::placeholders },
    Rule { name: "markers", check: words::markers },
    Rule { name: "phrases", check: phrases::phrases },
    Rule { name: "sleeps", check: test_habits::sleeps },
    Rule { name: "clocks", check: test_habits::clocks },
    Rule { name: "ports", check: test_habits::ports },
    Rule { name: "shell", check: shell::shell },
    Rule { name: "rings", check: rings::rings },
    Rule { name: "core-purity", check: core_purity::core_purity },
    Rule { name: "doc-paths", check: doc_paths::doc_paths },
    Rule { name: "hops", check: hops::hops },
    Rule { name: "threads", check: threads::threads },
    Rule { name: "catalog", check: catalog::catalog },
    Rule { name: "operation-names", check: catalog::names },
    Rule { name: "machine-paths", check: machine::paths },
    Rule { name: "one-place", check: one_place::one_place },
    Rule { name: "file-size", check: machine::sizes },
    Rule { name: "compiled", check: files::compiled },
    Rule { name: "kinds", check: files::kinds },
];

/// Checks the files that git tracks or would track, and prints each finding with the next step.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments("tidy", arguments)?;
    let tree = Tree::load(&root())?;
    let mut refused = 0;
    for rule in RULES {
        for finding in (rule.check)(&tree) {
            refused += usize::from(finding.weight == Weight::Refused);
            println!("{}", shown(rule, &finding));
        }
    }
    let files = tree.files.len();
    if refused > 0 {
        return Err(Failure::new(format!("tidy: {refused} findings in {files} files")));
    }
    println!("tidy: {} rules hold in {files} files", RULES.len());
    Ok(())
}

fn shown(rule: &Rule, finding: &Finding) -> String {
    let Finding { path, line, weight, says, next } = finding;
    match weight {
        Weight::Refused => format!("{path}:{line}: {says} [{}]\n    next: {next}", rule.name),
        Weight::Note => format!("note: {path}:{line}: {says} [{}]", rule.name),
    }
}

/// Runs one rule over a tree written as text (`== path` begins a file) and compares the first lines
/// of what it finds.
#[cfg(test)]
fn check(rule: &str, files: &str, expect: expect_test::Expect) {
    let rule = RULES.iter().find(|known| known.name == rule).expect("a rule of this name");
    let tree = Tree::from_fixture(files);
    assert!(!tree.files.is_empty(), "a rule that sees no file finds nothing");
    let found: Vec<String> = (rule.check)(&tree)
        .iter()
        .map(|finding| shown(rule, finding).lines().next().unwrap_or_default().to_owned())
        .collect();
    expect.assert_eq(&found.join("\n"));
}
