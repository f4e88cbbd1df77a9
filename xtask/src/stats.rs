//! `cargo xtask stats`: how much there is to read, and how large what is built from it is.

use std::collections::BTreeMap;
use std::fs;

use crate::build::target_dir;
use crate::process::{Failure, no_arguments, root};
use crate::tidy::{Tree, reused_type_names, worst_names};

/// Crates that are no part of the product.
const BESIDE: [&str; 6] = [
    "crates/comity-bench/",
    "crates/comity-fuzz/",
    "crates/comity-sim/",
    "crates/comity-skip/",
    "crates/comity-soak/",
    "xtask/",
];
/// The programs that are shipped.
const PROGRAMS: [(&str, &str); 3] =
    [("comity", ", 17 MB at most"), ("comity-hook", ""), ("comity-confine", "")];
/// What has to be run for the other figures.
const MEASURED: [(&str, &str); 6] = [
    ("memory of comity mcp", "cargo xtask bench mcp"),
    ("a command as a process", "cargo xtask bench command"),
    ("checks, locks, 100,000 of them", "cargo xtask bench check lock"),
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
    no_arguments("stats", arguments)?;
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
    let is_product = |name: &&&str| !BESIDE.iter().any(|beside| format!("{name}/") == *beside);
    let product = crates.iter().filter(|(name, _)| is_product(name)).map(|(_, lines)| lines);
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

    println!("\nmeasured by");
    for (figure, command) in MEASURED {
        println!("  {figure:<32} {command}");
    }
    Ok(())
}

/// The crate that a file belongs to.
fn crate_of(path: &str) -> &str {
    let depth = if path.starts_with("crates/") { 2 } else { 1 };
    path.match_indices('/').nth(depth - 1).map_or(path, |(end, _)| &path[..end])
}
