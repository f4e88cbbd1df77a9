//! Repositories that try to make a commit run a program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::committing::{commit_below, shown};
use crate::sandbox::Sandbox;

/// Every hook that git knows.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// Sets a trap, springs it with plain git to know that it works, then commits, and nothing may have run.
fn check(set: impl Fn(&Sandbox, &str), expected: &[&str]) {
    // With something foreign staged, and without: the tree is built in different ways.
    for noise in ["staged\n", "first\n"] {
        let sandbox = Sandbox::with(&["src/a.rs", "docs/d.md"]);
        let canary = sandbox.path("canary");
        sandbox.write("trap", &format!("#!/bin/sh\necho ran \"$0\" \"$@\" >> '{}'\ncat\n", canary.display()));
        fs::set_permissions(sandbox.path("trap"), fs::Permissions::from_mode(0o755)).expect("executable");
        set(&sandbox, sandbox.path("trap").to_str().expect("text"));
        sandbox.write("main/docs/d.md", noise);
        sandbox.write("main/src/a.rs", "by plain git\n");
        sandbox.try_git("main", &["add", "docs/d.md", "src/a.rs"]);
        // The sandbox switches signing off, and a trap may need it.
        let sign = ["-c", "commit.gpgSign=true"];
        sandbox.try_git("main", &[&sign[..], &["commit", "-q", "-m", "x", "--", "src/a.rs"]].concat());
        fs::remove_file(&canary).expect("the trap springs for plain git");
        sandbox.write("main/src/a.rs", "by us\n");
        sandbox.write("main/src/new.rs", "by us\n");
        let committed = commit_below(&sandbox, &["src"]);
        assert_eq!((shown(&committed.changes), ran(&canary)), (owned(expected), String::new()), "{noise}");
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn ran(canary: &Path) -> String {
    fs::read_to_string(canary).unwrap_or_default()
}

const BOTH: &[&str] = &["M src/a.rs", "A src/new.rs"];

#[test]
fn hooks() {
    let install = |it: &Sandbox, trap: &str, dir: &str| {
        it.make_dir(dir);
        for hook in HOOKS {
            fs::copy(trap, it.path(dir).join(hook)).expect("a hook");
        }
    };
    check(|it, trap| install(it, trap, "main/.git/hooks"), BOTH);
    let elsewhere = |it: &Sandbox, trap: &str| {
        install(it, trap, "elsewhere");
        it.git("main", &["config", "core.hooksPath", it.path("elsewhere").to_str().expect("text")]);
    };
    check(elsewhere, BOTH);
}

#[test]
fn a_file_system_monitor() {
    check(|it, trap| drop(it.git("main", &["config", "core.fsmonitor", trap])), BOTH);
}

#[test]
fn filters() {
    let attributes = |it: &Sandbox| it.write("main/.git/info/attributes", "a.rs filter=evil\n");
    for key in ["clean", "process"] {
        let filter = |it: &Sandbox, trap: &str| {
            attributes(it);
            it.git("main", &["config", &format!("filter.evil.{key}"), trap]);
        };
        check(filter, &["A src/new.rs"]);
    }
    let included = |it: &Sandbox, trap: &str| {
        attributes(it);
        it.write("main/.git/more", &format!("[filter \"evil\"]\n\tclean = {trap}\n"));
        it.git("main", &["config", "include.path", "more"]);
    };
    check(included, &["A src/new.rs"]);
}

#[test]
fn programs_for_signing() {
    for format in ["openpgp", "ssh", "x509"] {
        let sign = |it: &Sandbox, trap: &str| {
            it.git("main", &["config", "commit.gpgSign", "true"]);
            it.git("main", &["config", "gpg.format", format]);
            it.git("main", &["config", "user.signingKey", "somebody"]);
            let program =
                if format == "openpgp" { "gpg.program".into() } else { format!("gpg.{format}.program") };
            it.git("main", &["config", &program, trap]);
        };
        check(sign, BOTH);
    }
}

#[test]
fn aliases_editors_pagers_and_the_rest() {
    let set = |it: &Sandbox, trap: &str| {
        for verb in
            ["status", "update-index", "write-tree", "commit-tree", "update-ref", "diff-tree", "commit"]
        {
            it.git("main", &["config", &format!("alias.{verb}"), &format!("!{trap}")]);
            it.git("main", &["config", &format!("pager.{verb}"), trap]);
        }
        for key in ["core.editor", "core.pager", "sequence.editor", "diff.external", "core.sshCommand"] {
            it.git("main", &["config", key, trap]);
        }
        for key in ["diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "core.askPass"] {
            it.git("main", &["config", key, trap]);
        }
        it.git("main", &["config", "log.showSignature", "true"]);
        it.write("main/.git/info/attributes", "* diff=evil merge=evil\n");
        // One of them has to spring for plain git.
        it.git("main", &["config", "core.fsmonitor", trap]);
    };
    check(set, BOTH);
}
