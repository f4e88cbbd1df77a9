//! Every operation is listed by its feature, and has a file of its own.

use super::Finding;
use super::source::{Source, has_word};
use super::tree::Tree;

const OPERATIONS: &str = "crates/comity-app/src/operations/";

/// An operation that its feature does not list has no door.
pub(super) fn catalog(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files = tree.sources().filter(|(path, _)| path.starts_with(OPERATIONS) && !path.ends_with("/mod.rs"));
    for (path, source) in files {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let list = tree.file(&format!("{folder}/mod.rs")).and_then(|file| file.source.as_ref());
        let lines = || list.into_iter().flat_map(|list| &list.lines);
        for (index, (line, operation)) in operations(source).into_iter().enumerate() {
            if index > 0 {
                let says = format!("`{operation}` is the second operation of this file");
                findings.push(Finding::new(path, line, says, "move it to a file named like its verb"));
            }
            let is_listed = |code: &str| code.contains("CatalogEntry::of::<") && has_word(code, &operation);
            if !lines().any(|line| is_listed(&line.code)) {
                let says = format!("`{operation}` is in no table");
                let next = "add it to OPERATIONS in the mod.rs of its folder; all doors follow from it";
                findings.push(Finding::new(path, line, says, next));
            }
        }
    }
    findings
}

/// What stands before the name of an operation that somebody asks by a string.
const ASKING: [&str; 5] = ["ask(\"", "op: \"", ".name == \"", "find(\"", "Borrowed(\""];
/// What stands before the name of an operation that a text names.
const NAMING: [&str; 3] = ["call(\"", "of(\"", "of_path(\""];
/// Every crate that is a door, or asks one.
const DOORS: [&str; 4] =
    ["crates/comity/src/", "crates/comity-app/src/", "crates/comity-hook/src/", "crates/comity-mcp/src/"];
/// Crates that are no part of the product.
const BESIDE: [&str; 5] = [
    "crates/comity-bench/",
    "crates/comity-fuzz/",
    "crates/comity-sim/",
    "crates/comity-skip/",
    "crates/comity-soak/",
];
/// The names that the core and its drivers know.
const CALLS: &str = "crates/comity-core/src/calls.rs";
/// The hook has no catalog: what it asks stands here, and nothing else does.
const HOOK_QUESTIONS: &str = "crates/comity-hook/src/question.rs";

/// A name that stands in two places is changed in one: doors ask by the type, `name_of::<Lock>()`.
pub(super) fn names(tree: &Tree) -> Vec<Finding> {
    let is_table = |path: &str| path.starts_with(OPERATIONS) && path.ends_with("/mod.rs");
    let tables = tree.texts().filter(|(path, _)| is_table(path));
    let listed: Vec<&str> = tables.flat_map(|(_, table)| table.lines().filter_map(listed_name)).collect();
    let calls =
        tree.texts().filter(|(path, _)| *path == CALLS).flat_map(|(_, text)| text.lines().enumerate());
    let known: Vec<(usize, (&str, &str))> =
        calls.filter_map(|(index, line)| Some((index + 1, known_name(line)?))).collect();
    let value_of =
        |listed: &&str| known.iter().find(|(_, (constant, _))| constant == listed).map(|known| known.1.1);
    let names: Vec<&str> = listed.iter().map(|listed| value_of(listed).unwrap_or(listed)).collect();
    if names.is_empty() {
        let next = "teach this rule how a table begins its lines";
        return vec![Finding::new(OPERATIONS, 1, "no operation is listed below it", next)];
    }
    let is_product = |path: &str| {
        let in_crate = path.starts_with("crates/") && path.contains("/src/");
        in_crate && path != CALLS && !BESIDE.iter().any(|beside| path.starts_with(beside))
    };
    let unlisted = known.iter().filter(|(_, (constant, _))| !listed.contains(constant));
    let mut findings: Vec<Finding> = unlisted
        .map(|(line, (_, name))| {
            let says = format!("no table takes the name \"{name}\" from here");
            Finding::new(CALLS, *line, says, "write calls::NAME in the table, or remove it")
        })
        .collect();
    for (path, source) in tree.sources().filter(|(path, _)| is_product(path) && !is_table(path)) {
        let Some((_, text)) = tree.texts().find(|(other, _)| *other == path) else { continue };
        for (line, text) in source.lines.iter().zip(text.lines()).filter(|(line, _)| !line.in_test) {
            if path == HOOK_QUESTIONS {
                let asked = line.literal.split('"').skip(1).step_by(2).find(|asked| !names.contains(asked));
                findings.extend(asked.map(|asked| {
                    let says = format!("the hook asks \"{asked}\", which no feature lists");
                    Finding::new(path, line.number, says, "write the name as its feature's mod.rs does")
                }));
                continue;
            }
            // In the core and its drivers, such words mean events and commands of git, too.
            let is_door = DOORS.iter().any(|door| path.starts_with(door));
            let is_named = |name: &&&str| {
                let asked = ASKING.iter().any(|asking| text.contains(&format!("{asking}{name}\"")));
                let called = NAMING.iter().any(|naming| begins_word(text, &format!("{naming}{name}\"")));
                let written = || name.contains('_') && text.contains(&format!("\"{name}\""));
                called || (is_door && (asked || written()))
            };
            if let Some(name) = names.iter().find(is_named) {
                let says = format!("the operation \"{name}\" is named outside of its table");
                findings.push(Finding::new(
                    path,
                    line.number,
                    says,
                    "name its type: name_of::<…>(); in the core, calls::NAME",
                ));
            }
        }
    }
    findings
}

/// The name in a line of a table: `CatalogEntry::of::<Lock>("lock", …)`, or the constant that has it.
fn listed_name(line: &str) -> Option<&str> {
    let (_, given) = line.trim_start().strip_prefix("CatalogEntry::of::<")?.split_once('(')?;
    let given = given.split(',').next()?.trim();
    given.strip_prefix("calls::").or_else(|| given.strip_prefix('"')?.strip_suffix('"'))
}

/// A constant and the name that it has.
fn known_name(line: &str) -> Option<(&str, &str)> {
    let (constant, value) = line.strip_prefix("pub const ")?.split_once(": &str = \"")?;
    Some((constant, value.strip_suffix("\";")?))
}

/// Whether a text stands in another one, and not behind a dot or at the end of another word.
fn begins_word(text: &str, part: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || "_.".contains(c);
    text.match_indices(part).any(|(at, _)| !text[..at].ends_with(in_word))
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
        let list = "== crates/comity-app/src/operations/locks/mod.rs";
        let register = |name: &str| format!("{claim}\n{list}\nCatalogEntry::of::<{name}>(\"claim\"),");
        check("catalog", &register("ClaimLock"), expect![""]);
        for missing in [claim.to_owned(), register("ClaimLocks"), format!("{claim}\n{list}\nmod ClaimLock;")]
        {
            check(
                "catalog",
                &missing,
                expect![
                    "crates/comity-app/src/operations/locks/claim.rs:1: `ClaimLock` is in no table [catalog]"
                ],
            );
        }
        check(
            "catalog",
            "
            == crates/comity-app/src/operations/x/a.rs
            impl Operation for A {}
            impl crate::Operation for B {}
            == crates/comity-app/src/operations/x/mod.rs
            CatalogEntry::of::<A>(), CatalogEntry::of::<B>(),
            impl Operation for C {}
            impl UndoOperation for C {}",
            expect![
                "crates/comity-app/src/operations/x/a.rs:2: `B` is the second operation of this file [catalog]"
            ],
        );
    }

    #[test]
    fn operations_are_named_in_their_tables_alone() {
        check(
            "operation-names",
            "
            == crates/comity-app/src/operations/x/mod.rs
            CatalogEntry::of::<Log>(   \"log\",      \"log\", GET, \"/api/log\"),
            CatalogEntry::of::<TakeIt>(\"take_it\",  \"\",    POST, \"/api/take\"),
            CatalogEntry::of::<Locks>( calls::LOCKS, \"locks\", GET, \"/api/locks\"),
            == crates/comity/src/cli/a.rs
            match word { \"log\" => a, _ => b }
            session.ask(name_of::<Log>(), input);
            session.ask(\"log\", input);
            let op = if ours { \"take_it\" } else { \"leave\" };
            #[cfg(test)]
            mod tests { fn a() { session.ask(\"log\", input); } }
            == crates/comity-hook/src/a.rs
            server.ask(\"log\")
            == crates/comity-hook/src/question.rs
            Question::Log => \"log\",
            Question::Take => \"take_them\",
            == crates/comity-bench/src/a.rs
            server.ask(\"log\")
            == crates/comity-core/src/calls.rs
            pub const GONE: &str = \"gone\";
            pub const LOCKS: &str = \"locks\";
            == crates/comity-core/src/a.rs
            call(calls::LOCKS, []); git.call(\"log\"); recall(\"log\");
            call(\"locks\", []);
            NextCall::of(\"log\", []);",
            expect![[r#"
                crates/comity-core/src/calls.rs:1: no table takes the name "gone" from here [operation-names]
                crates/comity/src/cli/a.rs:3: the operation "log" is named outside of its table [operation-names]
                crates/comity/src/cli/a.rs:4: the operation "take_it" is named outside of its table [operation-names]
                crates/comity-hook/src/a.rs:1: the operation "log" is named outside of its table [operation-names]
                crates/comity-hook/src/question.rs:2: the hook asks "take_them", which no feature lists [operation-names]
                crates/comity-core/src/a.rs:2: the operation "locks" is named outside of its table [operation-names]
                crates/comity-core/src/a.rs:3: the operation "log" is named outside of its table [operation-names]"#]],
        );
        check(
            "operation-names",
            "== crates/comity-app/src/operations/x/mod.rs\nEntry::of::<Log>(\"log\", \"log\", GET, \"/api/log\"),",
            expect!["crates/comity-app/src/operations/:1: no operation is listed below it [operation-names]"],
        );
    }
}
