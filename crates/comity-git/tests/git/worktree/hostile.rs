//! Repositories that try to make us run their programs, through every act on a worktree.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use comity_git::worktree::{KeepCause, NewWorktree, Person, Setup, Slug};

use super::states::{commit, try_git, write};
use super::yard::{Yard, branch};

/// A project with a program in it that leaves a file behind when somebody runs it.
fn trapped() -> (Yard, String) {
    let yard = Yard::new();
    let canary = yard.path("canary");
    yard.sandbox.write("trap", &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display()));
    fs::set_permissions(yard.path("trap"), fs::Permissions::from_mode(0o755)).expect("executable");
    let trap = yard.path("trap").display().to_string();
    (yard, trap)
}

fn has_run(yard: &Yard) -> bool {
    fs::remove_file(yard.path("canary")).is_ok()
}

/// Every act that there is, in a project that is set up by `set`; nothing of the repository may run.
fn check(set: impl Fn(&Yard, &str)) {
    let (yard, trap) = trapped();
    set(&yard, &trap);
    // The trap works: plain git runs it on some of the same acts.
    try_git(&yard, "main", &["worktree", "add", "-q", "-b", "comity/plain", "../plain"]);
    write(&yard, "plain", "src/a.rs", "touched\n");
    try_git(&yard, "plain", &["add", "--all"]);
    try_git(&yard, "plain", &["status"]);
    try_git(&yard, "plain", &["commit", "-q", "-m", "plain"]);
    try_git(&yard, "main", &["worktree", "remove", "--force", "../plain"]);
    assert!(has_run(&yard), "the trap springs for plain git");

    let (slug, setup) = (Slug::parse("ann").expect("a slug"), Setup::default());
    let new = NewWorktree { slug: &slug, branch: None, base: "trunk", setup: &setup, reserved: None };
    yard.driver.create(&new).expect("made");
    yard.driver.fill("trunk", 1).expect("filled");
    let slug = Slug::parse("bob").expect("a slug");
    yard.driver.claim(&NewWorktree { slug: &slug, base: "trunk~1", ..new }).expect("claimed");
    let bob = "trees/worktrees/bob";
    write(&yard, bob, "src/b.rs", "fir5t\n");
    assert!(!yard.whys(bob).is_empty());
    yard.driver.save_commits(&yard.path(bob)).expect("saved");
    let plan = yard.driver.plan_merge(&branch("comity/plain"), &branch("comity/ann")).expect("planned");
    let person = Person { name: "Ann".into(), email: "ann@example.org".into() };
    let turn = yard.driver.turn_to_merge(&plan.target).expect("its turn");
    yard.driver.merge(turn, &plan, &person, "Merge\n", &mut |_| true).expect("merged");
    let proof = yard.prove("trees/worktrees/ann");
    if let Ok(proof) = proof {
        let trashed = yard.driver.remove(proof).expect("removed");
        yard.driver.restore(&trashed.id).expect("restored");
    }
    yard.driver.leftovers().expect("looked");
    assert!(!has_run(&yard), "a program of the repository was run");
}

#[test]
fn hooks_are_not_run() {
    check(|yard, trap| {
        yard.sandbox.make_dir("main/.git/hooks");
        for hook in
            ["post-checkout", "post-index-change", "reference-transaction", "pre-merge-commit", "post-commit"]
        {
            fs::copy(trap, yard.path("main/.git/hooks").join(hook)).expect("a hook");
        }
    });
    check(|yard, trap| {
        yard.sandbox.make_dir("evil");
        fs::copy(trap, yard.path("evil/post-checkout")).expect("a hook");
        yard.sandbox.git("main", &["config", "core.hooksPath", yard.path("evil").to_str().expect("text")]);
    });
}

#[test]
fn a_file_system_monitor_is_not_run() {
    check(|yard, trap| drop(yard.sandbox.git("main", &["config", "core.fsmonitor", trap])));
}

fn attributes(yard: &Yard, line: &str) {
    write(yard, "main", ".gitattributes", &format!("{line}\n"));
    yard.sandbox.git("main", &["add", ".gitattributes"]);
    yard.sandbox.git("main", &["commit", "-q", "-m", "attributes"]);
}

#[test]
fn filters_are_not_run() {
    for key in ["smudge", "clean", "process"] {
        check(|yard, trap| {
            attributes(yard, "*.rs filter=evil");
            yard.sandbox.git("main", &["config", &format!("filter.evil.{key}"), trap]);
            if key != "clean" {
                yard.sandbox.git("main", &["config", "filter.evil.required", "true"]);
            }
        });
    }
}

#[test]
fn filters_that_exist_on_our_branches_only_are_not_run() {
    check(|yard, trap| {
        attributes(yard, "*.rs filter=evil");
        yard.sandbox
            .write("main/.git/more", &format!("[filter \"evil\"]\n\tsmudge = {trap}\n\tclean = {trap}\n"));
        yard.sandbox.git("main", &["config", "includeIf.onbranch:comity/**.path", "more"]);
    });
    check(|yard, trap| {
        attributes(yard, "*.rs filter=evil");
        yard.sandbox
            .write("main/.git/more", &format!("[filter \"evil\"]\n\tsmudge = {trap}\n\tclean = {trap}\n"));
        yard.sandbox.git("main", &["config", "includeIf.gitdir:**/worktrees/**.path", "more"]);
    });
}

#[test]
fn merge_drivers_are_not_run_and_decide_nothing() {
    for name in ["evil", "text"] {
        let (yard, trap) = trapped();
        attributes(&yard, &format!("*.rs merge={name}"));
        yard.sandbox.git("main", &["config", &format!("merge.{name}.driver"), &format!("{trap} %A")]);
        yard.sandbox.git("main", &["config", "merge.default", name]);
        let base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        write(&yard, "main", "src/a.rs", base);
        yard.sandbox.git("main", &["commit", "-q", "-am", "base"]);
        yard.sandbox.git("main", &["branch", "release"]);
        let ann = yard.ann();
        write(&yard, &ann, "src/a.rs", &base.replace('1', "one"));
        yard.sandbox.git(&ann, &["commit", "-q", "-am", "one"]);
        yard.sandbox.git("main", &["checkout", "-q", "release"]);
        write(&yard, "main", "src/a.rs", &base.replace('9', "nine"));
        yard.sandbox.git("main", &["commit", "-q", "-am", "nine"]);
        yard.sandbox.git("main", &["checkout", "-q", "trunk"]);
        try_git(&yard, "main", &["merge-tree", "--write-tree", "release", "comity/ann"]);
        assert!(has_run(&yard), "the trap springs for plain git");
        let plan = yard.driver.plan_merge(&branch("comity/ann"), &branch("release")).expect("planned");
        assert!(!has_run(&yard), "a merge driver was run");
        // What only the driver could merge is not merged in another way behind the repository's back.
        assert_eq!(plan.conflicts.len(), 1, "{name}");
    }
}

#[test]
fn settings_do_not_lead_elsewhere() {
    let (yard, _) = trapped();
    yard.sandbox.git("", &["clone", "-q", "main", "decoy"]);
    let decoy = yard.path("decoy").display().to_string();
    yard.sandbox.git("main", &["config", "extensions.worktreeConfig", "true"]);
    let ann = yard.ann();
    yard.sandbox.git(&ann, &["config", "--worktree", "core.worktree", &decoy]);
    write(&yard, &ann, "work.txt", "work\n");
    assert!(yard.prove(&ann).is_err());
    assert_eq!(fs::read_dir(yard.path("decoy/src")).expect("there").count(), 2);
}

#[test]
fn grafted_commits_prove_nothing() {
    let (yard, _) = trapped();
    let ann = yard.ann();
    commit(&yard, &ann, "work");
    let rev = |name: &str| yard.sandbox.git("main", &["rev-parse", name]).trim_end().to_owned();
    // A file says that trunk comes after the work, and no ref holds it.
    let graft = format!("{} {}\n", rev("trunk"), rev("comity/ann"));
    write(&yard, "main", ".git/info/grafts", &graft);
    assert!(yard.sandbox.git("main", &["rev-list", "trunk"]).contains(&rev("comity/ann")), "the trap is set");
    assert!(yard.whys(&ann).contains(&KeepCause::Commits));
}
