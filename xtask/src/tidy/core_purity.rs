//! The core decides from values alone: no clock, no disk, no network, no threads, no random order.

use super::Finding;
use super::source::has_word;
use super::tree::Tree;

const CORE: &str = "crates/comity-core/src/";

struct Impurity {
    /// A word, or the path of a module of `std`.
    name: &'static str,
    next: &'static str,
}

const IMPURITIES: &[Impurity] = &[
    Impurity { name: "SystemTime", next: "time enters as `now`" },
    Impurity { name: "Instant", next: "time enters as `now`" },
    Impurity {
        name: "std::fs",
        next: "files are read and written by comity-app or a driver; pass in what they hold",
    },
    Impurity { name: "std::net", next: "the network belongs to the doors; pass in what arrived" },
    Impurity {
        name: "std::thread",
        next: "decide in one call; who calls, and from where, is not the core's business",
    },
    Impurity { name: "std::env", next: "settings enter as values" },
    Impurity { name: "std::process", next: "programs are started by a driver; return what should happen" },
    Impurity { name: "HashMap", next: "iteration order would differ between machines: use BTreeMap" },
    Impurity { name: "HashSet", next: "iteration order would differ between machines: use BTreeSet" },
];

/// The sources of the core, tests aside, name nothing that differs between two runs.
pub(super) fn core_purity(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in tree.sources().filter(|(path, _)| path.starts_with(CORE)) {
        let mut in_std_list = false;
        for line in source.lines.iter().filter(|line| !line.in_test) {
            in_std_list |= line.code.contains("use std::{");
            for impurity in IMPURITIES {
                let module = impurity.name.strip_prefix("std::");
                let imported = in_std_list && module.is_some_and(|module| has_word(&line.code, module));
                if imported || has_word(&line.code, impurity.name) {
                    let says = format!("the core names `{}`", impurity.name);
                    findings.push(Finding::new(path, line.number, says, impurity.next));
                }
            }
            in_std_list &= !line.code.contains(';');
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn the_core_is_pure() {
        check(
            "core-purity",
            r#"
            == crates/comity-core/src/a.rs
            use std::collections::BTreeMap; // not HashMap
            let net = "std::fs";
            #[cfg(test)]
            mod tests {
             use std::fs;
            }
            == crates/comity-app/src/a.rs
            use std::fs;"#,
            expect![""],
        );
        check(
            "core-purity",
            "
            == crates/comity-core/src/a.rs
            use std::{
              collections::HashMap,
              fs,
            };
            use std::time::Instant;
            std::env::var(a); std::thread::spawn(b);
            let fs = 1;",
            expect![[r#"
                crates/comity-core/src/a.rs:2: the core names `HashMap` [core-purity]
                crates/comity-core/src/a.rs:3: the core names `std::fs` [core-purity]
                crates/comity-core/src/a.rs:5: the core names `Instant` [core-purity]
                crates/comity-core/src/a.rs:6: the core names `std::thread` [core-purity]
                crates/comity-core/src/a.rs:6: the core names `std::env` [core-purity]"#]],
        );
    }
}
