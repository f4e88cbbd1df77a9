//! `cargo xtask build`: the programs as they are shipped, the hook linked statically.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, Failure, cargo, no_arguments, root};

/// Where a dynamic program is found, mapped and linked at each start, a static one just starts: half the time.
const STATIC: &str = "-C target-feature=+crt-static -C relocation-model=static";
const TARGET: &str = "x86_64-unknown-linux-gnu";
const EMPTY: &str = "crates/comity-bench/src/bin/comity-empty.rs";
const IS_STATIC: bool = cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"));
/// What builds them dynamically.
const DYNAMIC: &[&str] = &["build", "--release", "-p", "comity-hook"];
/// The programs that are linked statically.
const SMALL: [&str; 2] = ["comity-hook", "comity-confine"];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments("build", arguments)?;
    process::run(&mut cargo(&["build", "--release", "-p", "comity"]))?;
    let release = target_dir().join("release");
    if !IS_STATIC {
        process::run(&mut cargo(DYNAMIC))?;
    } else if let Err(failure) = small_ones(&release) {
        // Without the C library's static part the hook works all the same, and starts more slowly.
        eprintln!("xtask: the hook is linked dynamically: {}", failure.says);
        process::run(&mut cargo(DYNAMIC))?;
    }
    println!("built {}, with comity-hook and comity-confine beside it", release.join("comity").display());
    Ok(())
}

/// Builds the small programs statically, and puts them beside the large one.
fn small_ones(release: &Path) -> Result<(), Failure> {
    let own = target_dir().join("static");
    // A directory of its own: other flags would build everything anew each time.
    let mut build = cargo(&["build", "--release", "-p", "comity-hook", "--target", TARGET]);
    process::run(build.env("RUSTFLAGS", STATIC).env("CARGO_TARGET_DIR", &own))?;
    for name in SMALL {
        let from = own.join(TARGET).join("release").join(name);
        // Replaced by a rename: a hook that runs right now keeps its file.
        let (to, new) = (release.join(name), release.join(format!("{name}.new")));
        fs::copy(&from, &new)
            .and_then(|_| fs::rename(&new, &to))
            .map_err(|error| Failure::new(format!("{}: {error}", to.display())))?;
    }
    Ok(())
}

/// The program that does nothing, linked like the hook, which is measured against it.
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
