//! Repositories that try to make git run a program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use comity_core::{CaseRule, PathPattern};
use comity_git::has_uncommitted_work;
use rustix::fs::{FileType, Mode};

use crate::sandbox::Sandbox;

/// A sandbox with a program in it that leaves a file behind when somebody runs it.
fn trapped() -> Sandbox {
    let sandbox = Sandbox::with(&["src/a.rs", "src/b.rs"]);
    let canary = sandbox.path("canary");
    sandbox.write("trap", &format!("#!/bin/sh\necho ran >> '{}'\ncat\n", canary.display()));
    fs::set_permissions(sandbox.path("trap"), fs::Permissions::from_mode(0o755)).expect("executable");
    sandbox
}

fn look(sandbox: &Sandbox) -> Result<bool, String> {
    let pattern = PathPattern::parse("src/", CaseRule::Exact).expect("a path");
    let common_dir = sandbox.path("main/.git");
    has_uncommitted_work(&common_dir, &pattern, CaseRule::Exact, Duration::from_secs(60))
        .map_err(|unknown| unknown.to_string())
}

/// Springs the trap with plain git, to know that it works; then asks, and nothing may have run.
fn check(set: impl Fn(&Sandbox, &str)) {
    let sandbox = trapped();
    let trap = sandbox.path("trap").display().to_string();
    set(&sandbox, &trap);
    // One file with other contents of the same size, and one with the same contents and another time: git has to
    // look into both, and wants to note the new time in its index.
    let touch = |text: &str, seconds: u64| {
        sandbox.write("main/src/a.rs", text);
        let file = fs::File::options().write(true).open(sandbox.path("main/src/b.rs")).expect("a file");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("another time");
    };
    touch("fir5t\n", 1_000_000_000);
    sandbox.git("main", &["status", "--porcelain"]);
    fs::remove_file(sandbox.path("canary")).expect("the trap springs for plain git");
    touch("f1rst\n", 1_100_000_000);
    let found = look(&sandbox);
    assert!(!sandbox.path("canary").exists(), "a program of the repository was run");
    assert_eq!(found, Ok(true));
}

fn attribute_filter(sandbox: &Sandbox, name: &str) {
    sandbox.write("main/.gitattributes", &format!("*.rs filter={name}\n"));
}

#[test]
fn a_file_system_monitor_is_not_run() {
    check(|it, trap| drop(it.git("main", &["config", "core.fsmonitor", trap])));
}

#[test]
fn filters_are_not_run() {
    check(|it, trap| {
        attribute_filter(it, "evil");
        it.git("main", &["config", "filter.evil.clean", trap]);
    });
    check(|it, trap| {
        attribute_filter(it, "e=v.il");
        it.git("main", &["config", "filter.e=v.il.clean", trap]);
        it.git("main", &["config", "filter.e=v.il.required", "true"]);
    });
}

#[test]
fn filter_processes_are_not_run() {
    check(|it, trap| {
        attribute_filter(it, "evil");
        it.git("main", &["config", "filter.evil.process", trap]);
    });
}

#[test]
fn filters_of_an_included_file_are_not_run() {
    check(|it, trap| {
        attribute_filter(it, "evil");
        it.write("main/.git/more", &format!("[filter \"evil\"]\n\tclean = {trap}\n"));
        it.git("main", &["config", "include.path", "more"]);
    });
}

#[test]
fn filters_of_one_worktree_are_not_run() {
    check(|it, trap| {
        attribute_filter(it, "evil");
        it.git("main", &["config", "extensions.worktreeConfig", "true"]);
        it.git("main", &["config", "--worktree", "filter.evil.clean", trap]);
    });
}

#[test]
fn hooks_are_not_run() {
    check(|it, trap| {
        it.make_dir("main/.git/hooks");
        fs::copy(trap, it.path("main/.git/hooks/post-index-change")).expect("a hook");
    });
}

#[test]
fn settings_do_not_lead_git_to_other_files() {
    let sandbox = trapped();
    sandbox.write("main/src/a.rs", "work that is not committed\n");
    sandbox.git("", &["clone", "-q", "main", "decoy"]);
    sandbox.git("main", &["config", "core.worktree", sandbox.path("decoy").to_str().expect("a path")]);
    assert_eq!(look(&sandbox), Ok(true));
    sandbox.git("", &["--git-dir", "main/.git", "config", "--unset", "core.worktree"]);
    sandbox.git("", &["--git-dir", "main/.git", "config", "core.bare", "true"]);
    assert_eq!(look(&sandbox), Ok(true));
}

#[test]
fn pipes_in_the_place_of_files_do_not_make_us_wait() {
    let sandbox = Sandbox::with(&["src/a.rs"]);
    sandbox.git("", &["clone", "-q", "main", "main/inner"]);
    let pipe = sandbox.path("main/inner/.git/commondir");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
    let no = sandbox.repository("main").resolve(&sandbox.main(), "inner/src/a.rs").expect_err("nested");
    assert_eq!(no.code(), "bad_input");
    assert_eq!(sandbox.repository("main/inner").root(), sandbox.path("main/inner"));
}

#[test]
fn a_submodule_is_not_entered() {
    let sandbox = trapped();
    sandbox.git("", &["clone", "-q", "main", "library"]);
    sandbox.git("main", &["submodule", "--quiet", "add", "../library", "src/sub"]);
    sandbox.git("main", &["commit", "-q", "-m", "sub"]);
    let trap = sandbox.path("trap").display().to_string();
    sandbox.git("main/src/sub", &["config", "core.fsmonitor", &trap]);
    sandbox.write("main/src/sub/src/a.rs", "changed in the submodule\n");
    sandbox.git("main", &["status", "--porcelain"]);
    fs::remove_file(sandbox.path("canary")).expect("the trap springs for plain git");
    let pattern = PathPattern::parse("src/", CaseRule::Exact).expect("a path");
    let found =
        has_uncommitted_work(&sandbox.path("main/.git"), &pattern, CaseRule::Exact, Duration::from_secs(60));
    assert_eq!(found, Ok(false));
    assert!(!sandbox.path("canary").exists(), "a program of the submodule was run");
}
