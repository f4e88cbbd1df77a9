//! The list of threads in ARCHITECTURE.md is complete, and names no thread that is gone.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Threads of a server";
/// Programs that are no part of the product.
const BESIDES: &[&str] =
    &["crates/comity-bench/", "crates/comity-fuzz/", "crates/comity-sim/", "crates/comity-soak/"];
/// What stands before the name of a thread.
const NAMING: &[&str] =
    &["thread::Builder::new().name(\"", "reconciler::run(&engine, \"", "reconciler::run(engine, \""];

/// What starts a thread without one. Scoped threads need none: they end with the call that starts them.
const UNNAMED: &[&str] = &["thread::spawn(", "thread::Builder::new().spawn("];

/// Every named thread of the product is in the list, in italics, and nothing else is.
pub(super) fn threads(tree: &Tree) -> Vec<Finding> {
    let Some((_, page)) = tree.texts().find(|(path, _)| *path == PAGE) else { return Vec::new() };
    let mut started: BTreeMap<String, (String, usize)> = BTreeMap::new();
    let is_product = |path: &str| {
        path.starts_with("crates/")
            && path.contains("/src/")
            && !BESIDES.iter().any(|besides| path.starts_with(besides))
    };
    for (path, text) in tree.texts().filter(|(path, _)| is_product(path) && path.ends_with(".rs")) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        // As rustfmt would write it on one line.
        let code: String = code.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".");
        for naming in NAMING {
            for name in code.split(naming).skip(1).filter_map(|rest| rest.split('"').next()) {
                let line =
                    text.lines().position(|line| line.contains(&format!("\"{name}\""))).unwrap_or_default();
                started.insert(name.to_owned(), (path.to_owned(), line + 1));
            }
        }
    }
    let product = tree.sources().filter(|(path, _)| is_product(path));
    let lines = product.flat_map(|(path, source)| source.lines.iter().map(move |line| (path, line)));
    let unnamed = lines
        .filter(|(_, line)| !line.in_test && UNNAMED.iter().any(|start| line.code.contains(start)))
        .map(|(path, line)| {
            let next = "give it one: thread::Builder::new().name(…)";
            Finding::new(path, line.number, "a thread without a name", next)
        });
    let listed: BTreeMap<&str, usize> = page
        .lines()
        .enumerate()
        .skip_while(|(_, line)| *line != HEADING)
        .skip(1)
        .take_while(|(_, line)| !line.starts_with("## "))
        .filter_map(|(index, line)| Some((line.strip_prefix("- *")?.split('*').next()?, index + 1)))
        .collect();
    let missing =
        started.iter().filter(|(name, _)| !listed.contains_key(name.as_str())).map(|(name, (path, line))| {
            let says = format!("the thread \"{name}\" is not in the list of {PAGE}");
            Finding::new(path, *line, says, "add it there: what it sleeps for, and what it keeps true")
        });
    // The first thread of a process has no name of its own.
    let gone = listed.iter().filter(|(name, _)| **name != "the loop" && !started.contains_key(**name)).map(
        |(name, line)| {
            Finding::new(
                PAGE,
                *line,
                format!("no thread is called \"{name}\""),
                "correct the name, or remove the line",
            )
        },
    );
    unnamed.chain(missing).chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use expect_test::expect;

    #[test]
    fn the_list_of_threads_is_complete() {
        check(
            "threads",
            "
            == ARCHITECTURE.md
            ## Threads of a server
            - *the loop* (a): all.
            - *engine* (b): sleeps.
            - *gone* (c): does nothing.
            ## Next
            - *other* (d): isn't a thread.
            == crates/a/src/b.rs
            fn run() { std::thread::Builder::new().name(\"engine\".into()).spawn(run) }
            fn walk() { std::thread::Builder::new()
                .name(\"walker\".into()).spawn(run) }
            == crates/a/src/c.rs
            fn run() { reconciler::run(&engine, \"reaper\", bell) }
            == crates/a/src/d.rs
            fn run() { std::thread::spawn(run); std::thread::scope(|scope| scope.spawn(run)) }
            #[cfg(test)]
            mod tests { fn run() { std::thread::spawn(run) } }
            == crates/comity-bench/src/c.rs
            fn run() { std::thread::Builder::new().name(\"bench\".into()).spawn(run) }",
            expect![[r#"
                crates/a/src/d.rs:1: a thread without a name [threads]
                crates/a/src/c.rs:1: the thread "reaper" is not in the list of ARCHITECTURE.md [threads]
                crates/a/src/b.rs:3: the thread "walker" is not in the list of ARCHITECTURE.md [threads]
                ARCHITECTURE.md:4: no thread is called "gone" [threads]"#]],
        );
    }
}
