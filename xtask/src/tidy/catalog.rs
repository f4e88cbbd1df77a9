//! Every operation is registered in the catalog, and has a file of its own.

use super::Finding;
use super::source::{Source, has_word};
use super::tree::Tree;

const CATALOG: &str = "crates/comity-app/src/catalog.rs";
const OPERATIONS: &str = "crates/comity-app/src/operations/";

/// An operation that the catalog does not list has no door.
pub(super) fn catalog(tree: &Tree) -> Vec<Finding> {
    let Some(catalog) = tree.file(CATALOG).and_then(|file| file.source.as_ref()) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let files = tree.sources().filter(|(path, _)| path.starts_with(OPERATIONS) && !path.ends_with("/mod.rs"));
    for (path, source) in files {
        for (index, (line, operation)) in operations(source).into_iter().enumerate() {
            if index > 0 {
                let says = format!("`{operation}` is the second operation of this file");
                findings.push(Finding::new(path, line, says, "move it to a file named like its verb"));
            }
            if !catalog.lines.iter().any(|line| has_word(&line.code, &operation)) {
                let says = format!("`{operation}` is missing in catalog.rs");
                findings.push(Finding::new(
                    path,
                    line,
                    says,
                    "add it to the list in crates/comity-app/src/catalog.rs; all doors follow from it",
                ));
            }
        }
    }
    findings
}

/// The types that implement `Operation`, tests aside, with their lines.
fn operations(source: &Source) -> Vec<(usize, String)> {
    let product = source.lines.iter().filter(|line| !line.in_test);
    let implementations = product.filter_map(|line| {
        let (before, after) = line.code.split_once("Operation for ")?;
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let name: String = after.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        (has_word(before, "impl") && is_word && !name.is_empty()).then_some((line.number, name))
    });
    implementations.collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn operations_are_registered_one_by_one() {
        let claim = "== crates/comity-app/src/operations/locks/claim.rs\nimpl Operation for ClaimLock {}\n\
                     #[cfg(test)]\nmod tests {\n impl Operation for Fake {}\n}";
        let register = |names: &str| format!("{claim}\n== crates/comity-app/src/catalog.rs\nlist![{names}];");
        check("catalog", claim, expect![""]);
        check("catalog", &register("ClaimLock"), expect![""]);
        check(
            "catalog",
            &register("ClaimLocks, /* ClaimLock */"),
            expect![
                "crates/comity-app/src/operations/locks/claim.rs:1: `ClaimLock` is missing in catalog.rs [catalog]"
            ],
        );
        check(
            "catalog",
            "
            == crates/comity-app/src/operations/a.rs
            impl Operation for A {}
            impl crate::Operation for B {}
            == crates/comity-app/src/operations/mod.rs
            impl Operation for C {}
            impl UndoOperation for C {}
            == crates/comity-app/src/catalog.rs
            list![A, B];",
            expect![
                "crates/comity-app/src/operations/a.rs:2: `B` is the second operation of this file [catalog]"
            ],
        );
    }
}
