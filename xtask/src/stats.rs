//! `cargo xtask stats`: how much there is to read, and how large what is built from it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::build::target_dir;
use crate::process::{Failure, root};
use crate::tidy::{Tree, reused_type_names, worst_names};

/// The crates of the programs that are shipped; what they depend on is the product.
const SHIPPED: [&str; 2] = ["comity", "comity-hook"];
/// The programs that are shipped.
const PROGRAMS: [(&str, &str); 3] =
    [("comity", ", 17 MB at most"), ("comity-hook", ""), ("comity-confine", "")];
/// What `--measure` runs: the memory of `comity mcp`, a command as a process, checks, locks, and 100,000 of them.
const MEASURED: [&str; 4] = ["mcp", "command", "check", "lock"];
/// What has to be run for the other figures.
const OTHERS: [(&str, &str); 3] = [
    ("all other promises", "cargo xtask bench"),
    ("CPU seconds of a cold build", "time cargo build --release --target-dir EMPTY"),
    ("time of the tests", "time cargo xtask test"),
];

/// What is counted of one crate.
#[derive(Clone, Copy, Default)]
struct Lines {
    source: usize,
    tests: usize,
    files: usize,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let measures = match arguments {
        [] => false,
        [only] if only == "--measure" => true,
        _ => return Err(Failure::usage("`cargo xtask stats` takes `--measure`, or nothing")),
    };
    let tree = Tree::load(&root())?;
    let mut crates: BTreeMap<&str, Lines> = BTreeMap::new();
    for (path, source) in tree.sources() {
        let lines = crates.entry(crate_of(path)).or_default();
        let tests = source.lines.iter().filter(|line| line.in_test).count();
        lines.tests += tests;
        lines.source += source.lines.len() - tests;
        lines.files += usize::from(tests < source.lines.len());
    }
    println!("{:<24} {:>8} {:>8} {:>6}", "lines of Rust", "source", "tests", "files");
    for (name, lines) in &crates {
        println!("{name:<24} {:>8} {:>8} {:>6}", lines.source, lines.tests, lines.files);
    }
    let in_product = product(&tree);
    let product = crates.iter().filter(|(name, _)| in_product.contains(**name)).map(|(_, lines)| lines);
    let product = product.fold(Lines::default(), |sum, lines| Lines {
        source: sum.source + lines.source,
        tests: sum.tests + lines.tests,
        files: sum.files + lines.files,
    });
    println!("{:<24} {:>8} {:>8} {:>6}", "the product", product.source, product.tests, product.files);

    let reused = reused_type_names(&tree);
    println!(
        "\ntype names that several types have, fewer than 30: {}\n  {}",
        reused.len(),
        worst_names(&reused)
    );

    println!();
    for (program, goal) in PROGRAMS {
        match fs::metadata(target_dir().join("release").join(program)) {
            Ok(file) => {
                println!("{program:<24} {:>8.1} MB{goal}", file.len() as f64 / (1024.0 * 1024.0));
            }
            Err(_) => println!("{program:<24} not built: cargo xtask build"),
        }
    }

    println!();
    match measures {
        true => crate::bench::run(&MEASURED.map(str::to_owned))?,
        false => println!("  {:<32} cargo xtask stats --measure", "memory, commands, locks"),
    }
    for (figure, command) in OTHERS {
        println!("  {figure:<32} {command}");
    }
    Ok(())
}

/// The folders of the crates that are in the programs.
fn product(tree: &Tree) -> BTreeSet<String> {
    let (mut found, mut left) = (BTreeSet::new(), SHIPPED.map(str::to_owned).to_vec());
    while let Some(name) = left.pop() {
        let manifest = tree.file(&format!("crates/{name}/Cargo.toml")).and_then(|file| file.text.as_deref());
        if found.insert(format!("crates/{name}")) {
            left.extend(own_dependencies(manifest.unwrap_or_default()));
        }
    }
    found
}

/// The crates of ours that a manifest names, tests aside.
fn own_dependencies(manifest: &str) -> Vec<String> {
    let mut is_there = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_there = line.ends_with("dependencies]") && !line.contains("dev-");
        }
        let name = line.split(['.', ' ', '=']).next().filter(|name| is_there && name.starts_with("comity-"));
        found.extend(name.map(str::to_owned));
    }
    found
}

/// The crate that a file belongs to.
fn crate_of(path: &str) -> &str {
    let depth = if path.starts_with("crates/") { 2 } else { 1 };
    path.match_indices('/').nth(depth - 1).map_or(path, |(end, _)| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_is_what_is_shipped_and_what_that_needs() {
        let tree = Tree::from_fixture(
            "
            == crates/comity/Cargo.toml
            [dependencies]
            comity-app.workspace = true
            serde.workspace = true
            [dev-dependencies]
            comity-soak.workspace = true
            == crates/comity-app/Cargo.toml
            [target.'cfg(unix)'.dependencies]
            comity-git = { workspace = true }
            == crates/comity-runner/Cargo.toml
            [dependencies]
            comity-core.workspace = true",
        );
        let product: Vec<String> = product(&tree).into_iter().collect();
        assert_eq!(
            product,
            ["crates/comity", "crates/comity-app", "crates/comity-git", "crates/comity-hook"]
        );
    }
}
