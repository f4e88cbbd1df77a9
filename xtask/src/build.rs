//! `cargo xtask build`: the programs as they are shipped, linked statically where that works.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, Failure, cargo, no_arguments, root};

/// Where a dynamic program is found, mapped and linked at each start, a static one just starts: half the time for a hook, and
/// less memory for each `comity mcp`.
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";
const TARGET: &str = "x86_64-unknown-linux-gnu";
const EMPTY: &str = "crates/comity-bench/src/bin/comity-empty.rs";
const IS_STATIC: bool = cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"));
const BUILD: &[&str] = &["build", "--release", "-p", "comity", "-p", "comity-hook"];
const PROGRAMS: [&str; 3] = ["comity", "comity-hook", "comity-confine"];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments("build", arguments)?;
    let release = target_dir().join("release");
    if !IS_STATIC {
        process::run(&mut cargo(BUILD))?;
    } else if let Err(failure) = build_statically(&release) {
        // Without the C library's static part they work all the same, and start more slowly.
        eprintln!("xtask: the programs are linked dynamically: {}", failure.says);
        process::run(&mut cargo(BUILD))?;
    }
    println!("built {}, with comity-hook and comity-confine beside it", release.join("comity").display());
    Ok(())
}

/// Builds them, and puts them where cargo puts dynamic ones.
fn build_statically(release: &Path) -> Result<(), Failure> {
    let own = target_dir().join("static");
    // A directory of its own: other flags would build everything anew each time.
    let mut build = cargo(BUILD);
    build.args(["--target", TARGET]).env("RUSTFLAGS", STATIC).env("CARGO_TARGET_DIR", &own);
    process::run(&mut build)?;
    fs::create_dir_all(release).map_err(|error| Failure::new(format!("{}: {error}", release.display())))?;
    for name in PROGRAMS {
        let from = own.join(TARGET).join("release").join(name);
        // Replaced by a rename: a program that runs right now keeps its file.
        let (to, new) = (release.join(name), release.join(format!("{name}.new")));
        fs::copy(&from, &new)
            .and_then(|_| fs::rename(&new, &to))
            .map_err(|error| Failure::new(format!("{}: {error}", to.display())))?;
    }
    Ok(())
}

/// The program that does nothing, linked like the others, which are measured against it.
pub(crate) fn empty() -> Result<(), Failure> {
    let mut rustc = Command::new("rustc");
    rustc.current_dir(root()).args(["--edition=2024", "-O", "-Cstrip=symbols", EMPTY]);
    if IS_STATIC {
        rustc.args(STATIC.split_whitespace());
    }
    process::run(rustc.arg("-o").arg(target_dir().join("release/comity-empty")))
}

pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
