//! Work that is put aside: all of it is kept, nothing else is touched.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use comity_core::{CaseRule, PathPattern};
use comity_git::{LeftWork, RescuedWork, WorktreeFilter, free_name, has_uncommitted_work};

use crate::committing::commit_below;
use crate::sandbox::Sandbox;

const PATIENCE: Duration = Duration::from_secs(60);

fn pattern(text: &str) -> PathPattern {
    PathPattern::parse(text, CaseRule::Exact).expect("a pattern")
}

fn rescue(sandbox: &Sandbox, text: &str) -> Result<Vec<RescuedWork>, String> {
    rescue_within(sandbox, text, PATIENCE)
}

fn rescue_within(sandbox: &Sandbox, text: &str, patience: Duration) -> Result<Vec<RescuedWork>, String> {
    let (common_dir, pattern, within) = (&sandbox.path("main/.git"), &pattern(text), &WorktreeFilter::all());
    let name = free_name(common_dir, "ann", &[], PATIENCE).map_err(|unknown| unknown.to_string())?;
    let left = LeftWork { common_dir, pattern, case: CaseRule::Exact, within, may_be_in: within };
    left.put_aside("ann", &name, patience).map_err(|unknown| unknown.to_string())
}

fn text(sandbox: &Sandbox, file: &str) -> Option<String> {
    fs::read_to_string(sandbox.path(file)).ok()
}

#[test]
fn work_of_every_kind_is_put_aside_and_comes_back() {
    let files = ["src/changed", "src/staged", "src/gone", "src/rm", "src/[odd] name", "docs/other"];
    let sandbox = Sandbox::with(&files);
    sandbox.write("main/.git/info/exclude", "*.log\n");
    sandbox.write("main/src/changed", "changed\n");
    sandbox.write("main/src/staged", "staged\n");
    sandbox.git("main", &["add", "src/staged"]);
    sandbox.write("main/src/staged", "and changed again\n");
    fs::remove_file(sandbox.path("main/src/gone")).expect("gone");
    sandbox.git("main", &["rm", "-q", "src/rm"]);
    sandbox.write("main/src/[odd] name", "odd\n");
    sandbox.write("main/src/new/deep", "new\n");
    sandbox.write("main/src/build.log", "ignored\n");
    sandbox.write("main/docs/other", "somebody else's\n");
    let rescued = rescue(&sandbox, "src/").expect("put aside");
    let [one] = &rescued[..] else { panic!("{rescued:?}") };
    assert_eq!(one.name, "refs/comity/rescue/ann");
    assert_eq!(one.files.len(), 6, "{one:?}");
    let has_work =
        has_uncommitted_work(&sandbox.path("main/.git"), &pattern("src/"), CaseRule::Exact, PATIENCE);
    assert_eq!(has_work, Ok(false));
    for file in &files[..5] {
        assert_eq!(text(&sandbox, &format!("main/{file}")).as_deref(), Some("first\n"), "{file}");
    }
    assert_eq!(text(&sandbox, "main/src/new/deep"), None);
    assert_eq!(text(&sandbox, "main/src/build.log").as_deref(), Some("ignored\n"));
    assert_eq!(text(&sandbox, "main/docs/other").as_deref(), Some("somebody else's\n"));
    sandbox.git("main", &["stash", "clear"]);
    sandbox.git("main", &["stash", "apply", "-q", &one.name]);
    let back = |file: &str| text(&sandbox, &format!("main/src/{file}"));
    assert_eq!(back("changed").as_deref(), Some("changed\n"));
    assert_eq!(back("staged").as_deref(), Some("and changed again\n"));
    assert_eq!((back("gone"), back("rm")), (None, None));
    assert_eq!(back("[odd] name").as_deref(), Some("odd\n"));
    assert_eq!(back("new/deep").as_deref(), Some("new\n"));
}

#[test]
fn each_worktree_has_its_own_ref() {
    let sandbox = Sandbox::with(&["src/a"]);
    sandbox.git("main", &["worktree", "add", "-q", "../side", "-b", "side"]);
    sandbox.write("main/src/a", "here\n");
    sandbox.write("side/src/a", "there\n");
    let rescued = rescue(&sandbox, "src/a").expect("put aside");
    for one in &rescued {
        let told = comity_git::rescued(&sandbox.path("main/.git"), &one.name, PATIENCE);
        assert_eq!(told, Ok(("ann".into(), one.clone())), "what is told again");
    }
    let names: Vec<&str> = rescued.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["refs/comity/rescue/ann", "refs/comity/rescue/ann.2"]);
    for (one, expected) in rescued.iter().zip(["here\n", "there\n"]) {
        assert_eq!(sandbox.git("main", &["show", &format!("{}:src/a", one.name)]), expected);
    }
}

#[test]
fn nothing_to_put_aside_is_nothing_done() {
    let sandbox = Sandbox::with(&["src/a"]);
    assert_eq!(rescue(&sandbox, "src/a"), Ok(vec![]));
}

#[test]
fn what_git_would_not_keep_as_it_is_stays() {
    let sandbox = Sandbox::with(&["a", "b"]);
    sandbox.git("main", &["config", "filter.shout.clean", "tr a-z A-Z"]);
    sandbox.write("main/.git/info/attributes", "a filter=shout\n");
    sandbox.write("main/a", "work\n");
    let refused = rescue(&sandbox, "a").expect_err("a filter");
    assert!(refused.contains("a in ") && refused.contains("goes through a filter"), "{refused}");
    sandbox.git("main", &["update-index", "--skip-worktree", "b"]);
    sandbox.write("main/b", "work\n");
    let refused = rescue(&sandbox, "b").expect_err("a flag");
    assert!(refused.contains("hidden by a flag"), "{refused}");
    assert_eq!(text(&sandbox, "main/a").as_deref(), Some("work\n"));
    assert_eq!(text(&sandbox, "main/b").as_deref(), Some("work\n"));
}

#[test]
fn work_in_the_middle_of_a_merge_stays() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.git("main", &["checkout", "-q", "-b", "side"]);
    sandbox.write("main/a", "side\n");
    sandbox.git("main", &["commit", "-qam", "side"]);
    sandbox.git("main", &["checkout", "-q", "trunk"]);
    sandbox.write("main/a", "trunk\n");
    sandbox.git("main", &["commit", "-qam", "trunk"]);
    let _conflict = sandbox.try_git("main", &["merge", "-q", "side"]);
    let before = text(&sandbox, "main/a");
    let refused = rescue(&sandbox, "a").expect_err("a merge");
    assert!(refused.contains("middle of a merge"), "{refused}");
    assert_eq!(text(&sandbox, "main/a"), before);
}

#[test]
fn another_git_that_has_the_index_is_waited_for() {
    let sandbox = Sandbox::with(&["src/a"]);
    sandbox.write("main/src/a", "half done\n");
    let lock = sandbox.path("main/.git/index.lock");
    fs::write(&lock, "").expect("a lock");
    let rescued = std::thread::scope(|threads| {
        threads.spawn(|| {
            // sleeps: the lock has to be there for a while
            std::thread::sleep(Duration::from_millis(200));
            fs::remove_file(&lock).expect("removed");
        });
        rescue(&sandbox, "src/")
    });
    assert_eq!(rescued.expect("put aside").len(), 1);
    assert_eq!(text(&sandbox, "main/src/a").as_deref(), Some("first\n"));
}

#[test]
fn a_lock_that_nobody_gives_back_is_named_and_not_removed() {
    let sandbox = Sandbox::with(&["src/a"]);
    sandbox.write("main/src/a", "half done\n");
    let lock = sandbox.path("main/.git/index.lock");
    fs::write(&lock, "").expect("a lock");
    // Shorter than the wait for a lock, but long enough for git to come that far, if need be in a later round.
    let rounds = [1, 4, 60].into_iter().map(Duration::from_secs);
    let mut rounds = rounds.map(|patience| rescue_within(&sandbox, "src/", patience));
    let named = |not: &str| not.contains(lock.to_str().expect("text"));
    assert!(rounds.any(|round| named(&round.expect_err("locked"))));
    assert!(lock.exists());
    assert_eq!(text(&sandbox, "main/src/a").as_deref(), Some("half done\n"));
}

#[test]
fn work_is_put_aside_beside_commits() {
    let sandbox = Sandbox::with(&["first"]);
    let is_done = AtomicBool::new(false);
    let rescued = std::thread::scope(|threads| {
        for number in 0..4 {
            let (sandbox, is_done) = (&sandbox, &is_done);
            threads.spawn(move || {
                let dir = format!("of{number}");
                for round in 0.. {
                    if is_done.load(Ordering::Relaxed) {
                        return;
                    }
                    sandbox.write(&format!("main/{dir}/x"), &format!("{round}\n"));
                    commit_below(sandbox, &[&dir]);
                }
            });
        }
        let rescued: Vec<_> = (0..10)
            .map(|round| {
                sandbox.write("main/src/left", &format!("half done {round}\n"));
                rescue(&sandbox, "src/")
            })
            .collect();
        is_done.store(true, Ordering::Relaxed);
        rescued
    });
    for (round, rescued) in rescued.into_iter().enumerate() {
        let [one] = &rescued.expect("put aside")[..] else { panic!("{round}: not one") };
        let kept = sandbox.git("main", &["show", &format!("{}^3:src/left", one.name)]);
        assert_eq!(kept, format!("half done {round}\n"));
    }
    assert_eq!(sandbox.git("main", &["status", "--porcelain"]), "");
}

#[test]
fn work_is_found_and_put_aside_while_worktrees_move() {
    let sandbox = Sandbox::with(&["src/a"]);
    sandbox.git("main", &["worktree", "add", "-q", "../side", "-b", "side"]);
    let is_done = AtomicBool::new(false);
    let seen = std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut place = "../side".to_owned();
            for number in 0.. {
                if is_done.load(Ordering::Relaxed) {
                    return;
                }
                let next = format!("../side{number}");
                sandbox.git("main", &["worktree", "move", &place, &next]);
                place = next;
            }
        });
        let seen: Vec<_> = (0..20)
            .map(|round| {
                sandbox.write("main/src/a", &format!("half done {round}\n"));
                let common_dir = sandbox.path("main/.git");
                let found = has_uncommitted_work(&common_dir, &pattern("src/"), CaseRule::Exact, PATIENCE);
                (found, rescue(&sandbox, "src/").map(|rescued| rescued.len()))
            })
            .collect();
        is_done.store(true, Ordering::Relaxed);
        seen
    });
    assert_eq!(seen, vec![(Ok(true), Ok(1)); 20]);
}
