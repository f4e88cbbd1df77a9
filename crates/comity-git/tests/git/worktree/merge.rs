//! Merging without a checkout.

use std::fs;
use std::path::Path;

use comity_git::worktree::{FailureKind, KeepCause, MergeChange, MergePlan, Merged, Person};

use super::states::{commit, write};
use super::yard::{Yard, branch};

fn ann() -> Person {
    Person { name: "Ann".into(), email: "ann@example.org".into() }
}

fn plan(yard: &Yard, source: &str, target: &str) -> MergePlan {
    yard.driver.plan_merge(&branch(source), &branch(target)).expect("planned")
}

fn merge(yard: &Yard, plan: &MergePlan) -> Result<Merged, FailureKind> {
    let turn = yard.driver.turn_to_merge(&plan.target).expect("its turn");
    yard.driver.merge(turn, plan, &ann(), "Merge it\n", &mut |_| true).map_err(|failure| failure.kind())
}

fn rev(yard: &Yard, name: &str) -> String {
    yard.sandbox.git("main", &["rev-parse", name]).trim_end().to_owned()
}

/// A worktree `ann` with a commit that changes, adds and deletes; and a branch `release` that nobody has checked out.
fn worked() -> Yard {
    let yard = Yard::new();
    yard.sandbox.git("main", &["branch", "release"]);
    let ann = yard.ann();
    write(&yard, &ann, "src/a.rs", "by ann\n");
    write(&yard, &ann, "src/new.rs", "new\n");
    yard.sandbox.git(&ann, &["rm", "-q", "docs/c.md"]);
    yard.sandbox.git(&ann, &["add", "--all"]);
    yard.sandbox.git(&ann, &["commit", "-q", "-m", "Work of ann"]);
    yard
}

#[test]
fn a_worktree_that_is_being_made_meanwhile_is_in_nobodys_way() {
    let yard = worked();
    let entry = yard.path("main/.git/worktrees/half");
    fs::create_dir(&entry).expect("made");
    fs::write(entry.join("gitdir"), "/nowhere/.git\n").expect("written");
    fs::write(entry.join("HEAD"), "ref: refs/heads/half\n").expect("written");
    // Git finds nothing in it yet, as in the entry of one that another git is just making.
    let fifo = entry.join("commondir");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    let made = std::thread::spawn(move || {
        let being_read = fs::File::options().write(true).open(&fifo).expect("git reads it");
        fs::remove_dir_all(&entry).expect("removed");
        drop(being_read);
    });
    let plan = plan(&yard, "comity/ann", "release");
    assert!(matches!(merge(&yard, &plan), Ok(Merged::Done { .. })));
    made.join().expect("git has read it");
}

/// Commits to a branch that nobody has checked out.
fn commit_to(yard: &Yard, name: &str, file: &str, text: &str, message: &str) {
    yard.sandbox.git("main", &["worktree", "add", "-q", "--detach", "../scratch", name]);
    write(yard, "scratch", file, text);
    yard.sandbox.git("scratch", &["add", "--all"]);
    yard.sandbox.git("scratch", &["commit", "-q", "-m", message]);
    let head = rev_in(yard, "scratch");
    yard.sandbox.git("main", &["worktree", "remove", "--force", "../scratch"]);
    yard.sandbox.git("main", &["update-ref", &format!("refs/heads/{name}"), &head]);
}

fn rev_in(yard: &Yard, dir: &str) -> String {
    yard.sandbox.git(dir, &["rev-parse", "HEAD"]).trim_end().to_owned()
}

#[test]
fn a_plan_names_every_path_that_changes() {
    let yard = worked();
    commit_to(&yard, "release", "other.txt", "other\n", "Other work");
    let plan = plan(&yard, "comity/ann", "release");
    let expected = [
        MergeChange::Deleted("docs/c.md".into()),
        MergeChange::Modified("src/a.rs".into()),
        MergeChange::Added("src/new.rs".into()),
    ];
    assert_eq!(plan.changes, expected);
    assert_eq!(plan.changes.iter().map(MergeChange::path).collect::<Vec<_>>()[0], Path::new("docs/c.md"));
    assert_eq!(plan.conflicts, []);
    assert_eq!(plan.source_commit.as_str(), rev(&yard, "comity/ann"));
}

#[test]
fn a_branch_that_nobody_has_checked_out_moves() {
    let yard = worked();
    commit_to(&yard, "release", "other.txt", "other\n", "Other work");
    let (release, source) = (rev(&yard, "release"), rev(&yard, "comity/ann"));
    let plan = plan(&yard, "comity/ann", "release");
    let Ok(Merged::Done { commit }) = merge(&yard, &plan) else { panic!("not merged") };
    assert_eq!(rev(&yard, "release"), commit.as_str());
    assert_eq!(rev(&yard, "release^1"), release);
    assert_eq!(rev(&yard, "release^2"), source);
    let shown = yard.sandbox.git("main", &["log", "-1", "--format=%an %ae %cn|%s", "release"]);
    assert_eq!(shown, "Ann ann@example.org Ann|Merge it\n");
    assert_eq!(yard.sandbox.git("main", &["show", "release:src/a.rs"]), "by ann\n");
    assert_eq!(yard.sandbox.git("main", &["show", "release:other.txt"]), "other\n");
    assert_eq!(yard.whys("trees/worktrees/ann"), [], "what is merged is not lost any more");
    yard.sandbox.git("main", &["fsck", "--strict"]);
}

#[test]
fn a_branch_is_moved_forward_where_that_is_all() {
    let yard = worked();
    let plan_one = plan(&yard, "comity/ann", "release");
    assert_eq!(plan_one.changes.len(), 3);
    let Ok(Merged::Done { commit }) = merge(&yard, &plan_one) else { panic!("not merged") };
    assert_eq!(commit.as_str(), rev(&yard, "comity/ann"));
    let again = plan(&yard, "comity/ann", "release");
    assert_eq!(again.changes, []);
    assert_eq!(merge(&yard, &again), Ok(Merged::Already));
}

#[test]
fn conflicts_are_predicted_with_both_sides() {
    let yard = worked();
    commit_to(&yard, "release", "src/a.rs", "by bob\n", "Work of bob");
    commit_to(&yard, "release", "docs/c.md", "by bob\n", "Docs of bob");
    commit_to(&yard, "release", "unrelated.txt", "x\n", "Unrelated");
    let release = rev(&yard, "release");
    let plan = plan(&yard, "comity/ann", "release");
    let shown: Vec<String> = plan.conflicts.iter().map(ToString::to_string).collect();
    let expected = [
        r#"docs/c.md was changed by ann ("Docs of bob") and by ann ("Work of ann")"#,
        r#"src/a.rs was changed by ann ("Work of bob") and by ann ("Work of ann")"#,
    ];
    assert_eq!(shown, expected);
    assert!(plan.conflicts[0].what.contains("modify/delete"), "{:?}", plan.conflicts[0]);
    assert_eq!(merge(&yard, &plan), Err(FailureKind::Conflicts));
    assert_eq!(rev(&yard, "release"), release);
}

#[test]
fn a_checkout_is_never_touched() {
    let yard = worked();
    // The user works on trunk: something staged, something changed, something new.
    write(&yard, "main", "src/a.rs", "the user's own change\n");
    write(&yard, "main", "src/b.rs", "staged by the user\n");
    yard.sandbox.git("main", &["add", "src/b.rs"]);
    write(&yard, "main", "src/new.rs", "the user's own file\n");
    let before = (yard.snapshot("main/src"), fs::read(yard.path("main/.git/index")).expect("an index"));
    let (trunk, status) = (rev(&yard, "trunk"), yard.sandbox.git("main", &["status", "--porcelain"]));
    let plan = plan(&yard, "comity/ann", "trunk");
    let Ok(Merged::Waiting { commit, name, checked_out, command }) = merge(&yard, &plan) else {
        panic!("moved")
    };
    assert_eq!(checked_out, [yard.path("main")]);
    assert_eq!(rev(&yard, "trunk"), trunk);
    assert_eq!(rev(&yard, &name), commit.as_str());
    assert_eq!(yard.sandbox.git("main", &["status", "--porcelain"]), status);
    let index = fs::read(yard.path("main/.git/index")).expect("an index");
    assert_eq!((yard.snapshot("main/src"), index), before);
    // The user takes it when it suits them.
    yard.sandbox.git("main", &["stash", "-q", "--include-untracked"]);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    yard.sandbox.git("main", &words);
    assert_eq!(rev(&yard, "trunk"), commit.as_str());
}

#[test]
fn merges_wait_on_top_of_each_other() {
    let yard = worked();
    yard.make("bob");
    commit(&yard, "trees/worktrees/bob", "work of bob");
    let first = merge(&yard, &plan(&yard, "comity/ann", "trunk")).expect("waits");
    let second = merge(&yard, &plan(&yard, "comity/bob", "trunk")).expect("waits");
    let (Merged::Waiting { commit: first, .. }, Merged::Waiting { commit: second, name, .. }) =
        (first, second)
    else {
        panic!("moved")
    };
    assert_eq!(rev(&yard, &format!("{name}^1")), first.as_str());
    assert_eq!(yard.whys("trees/worktrees/ann"), []);
    assert_eq!(yard.whys("trees/worktrees/bob"), []);
    // The user takes both at once; then the branch itself is where the next one begins.
    yard.sandbox.git("main", &["merge", "-q", "--ff-only", &name]);
    assert_eq!(rev(&yard, "trunk"), second.as_str());
    yard.make("eve");
    commit(&yard, "trees/worktrees/eve", "work of eve");
    let third = merge(&yard, &plan(&yard, "comity/eve", "trunk")).expect("waits");
    let Merged::Waiting { commit: third, .. } = third else { panic!("moved") };
    assert_eq!(third.as_str(), rev(&yard, "comity/eve"));
}

#[test]
fn commits_of_the_user_do_not_block_what_waits() {
    let yard = worked();
    let first = merge(&yard, &plan(&yard, "comity/ann", "trunk")).expect("waits");
    let Merged::Waiting { commit: first, name, .. } = first else { panic!("moved") };
    commit_to(&yard, "trunk", "user.txt", "user\n", "of the user");
    let user = rev(&yard, "trunk");
    yard.make("bob");
    commit(&yard, "trees/worktrees/bob", "work of bob");
    let second = merge(&yard, &plan(&yard, "comity/bob", "trunk")).expect("waits");
    let Merged::Waiting { commit: second, command, .. } = second else { panic!("moved") };
    for before in [user.as_str(), first.as_str()] {
        yard.sandbox.git("main", &["merge-base", "--is-ancestor", before, second.as_str()]);
    }
    assert_eq!(rev(&yard, "trunk"), user);
    assert_eq!(rev(&yard, &name), second.as_str());
    // It is one step forward again.
    yard.sandbox.git("main", &["stash", "-q", "--include-untracked"]);
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    yard.sandbox.git("main", &words);
    assert_eq!(rev(&yard, "trunk"), second.as_str());
}

#[test]
fn what_waits_and_a_commit_of_the_user_that_conflict() {
    let yard = worked();
    let first = merge(&yard, &plan(&yard, "comity/ann", "trunk")).expect("waits");
    let Merged::Waiting { commit: first, name, .. } = first else { panic!("moved") };
    commit_to(&yard, "trunk", "src/a.rs", "by the user\n", "of the user");
    yard.make("bob");
    commit(&yard, "trees/worktrees/bob", "work of bob");
    let no = yard.driver.plan_merge(&branch("comity/bob"), &branch("trunk")).expect_err("apart");
    assert_eq!(no.kind(), FailureKind::Changed);
    assert!(no.to_string().contains("src/a.rs"), "{no}");
    assert_eq!(rev(&yard, &name), first.as_str());
}

#[test]
fn what_waits_is_taken_when_the_branch_is_free() {
    let yard = worked();
    let first = merge(&yard, &plan(&yard, "comity/ann", "trunk")).expect("waits");
    let Merged::Waiting { name, .. } = first else { panic!("moved") };
    yard.sandbox.git("main", &["checkout", "-q", "--detach"]);
    yard.make("bob");
    commit(&yard, "trees/worktrees/bob", "work of bob");
    let Ok(Merged::Done { commit }) = merge(&yard, &plan(&yard, "comity/bob", "trunk")) else {
        panic!("waits")
    };
    assert_eq!(rev(&yard, "trunk"), commit.as_str());
    assert!(!yard.exists(&name));
    assert_eq!(yard.sandbox.git("main", &["show", "trunk:src/a.rs"]), "by ann\n");
}

#[test]
fn a_branch_that_a_rebase_will_come_back_to_is_checked_out() {
    let yard = worked();
    super::states::try_git(&yard, "main", &["rebase", "-q", "--exec", "false", "HEAD~1"]);
    let trunk = rev(&yard, "trunk");
    assert!(matches!(merge(&yard, &plan(&yard, "comity/ann", "trunk")), Ok(Merged::Waiting { .. })));
    assert_eq!(rev(&yard, "trunk"), trunk);
}

#[test]
fn a_plan_is_void_when_a_branch_has_moved() {
    let yard = worked();
    let old = plan(&yard, "comity/ann", "release");
    commit_to(&yard, "release", "other.txt", "other\n", "Other work");
    let release = rev(&yard, "release");
    assert_eq!(merge(&yard, &old), Err(FailureKind::Changed));
    let old = plan(&yard, "comity/ann", "release");
    commit(&yard, "trees/worktrees/ann", "more");
    assert_eq!(merge(&yard, &old), Err(FailureKind::Changed));
    assert_eq!(rev(&yard, "release"), release);
}

#[test]
fn merges_at_once_come_one_after_the_other() {
    let yard = worked();
    let sources = ["one", "two", "three", "four"];
    for name in sources {
        yard.make(name);
        commit(&yard, &format!("trees/worktrees/{name}"), name);
    }
    std::thread::scope(|scope| {
        for name in sources {
            let yard = &yard;
            scope.spawn(move || {
                // A plan that is void is made again.
                for _ in 0..100 {
                    match merge(yard, &plan(yard, &format!("comity/{name}"), "release")) {
                        Ok(Merged::Done { .. }) => return,
                        Err(FailureKind::Changed) => {}
                        other => panic!("{other:?}"),
                    }
                }
                panic!("never its turn");
            });
        }
    });
    for name in sources {
        yard.sandbox.git("main", &["merge-base", "--is-ancestor", &format!("comity/{name}"), "release"]);
        assert_eq!(yard.whys(&format!("trees/worktrees/{name}")), Vec::<KeepCause>::new());
    }
    yard.sandbox.git("main", &["fsck", "--strict"]);
}

#[test]
fn branches_that_are_not_there() {
    let yard = worked();
    for (source, target) in [("nothing", "release"), ("comity/ann", "nothing")] {
        let no = yard.driver.plan_merge(&branch(source), &branch(target)).expect_err("missing");
        assert_eq!(no.kind(), FailureKind::NotFound);
    }
    let turn = yard.driver.turn_to_merge(&branch("release")).expect("its turn");
    let no = yard
        .driver
        .merge(turn, &plan(&yard, "comity/ann", "release"), &ann(), " \n", &mut |_| true)
        .expect_err("no message");
    assert_eq!(no.kind(), FailureKind::BadName);
    yard.sandbox.git("main", &["checkout", "-q", "--orphan", "alone"]);
    yard.sandbox.git("main", &["commit", "-q", "-m", "alone"]);
    let no = yard.driver.plan_merge(&branch("alone"), &branch("release")).expect_err("unrelated");
    assert_eq!(no.kind(), FailureKind::Git);
}
