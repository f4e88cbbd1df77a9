//! Work that is put aside: all of it is kept, nothing else is touched.

use std::fs;
use std::time::Duration;

use comity_core::{CaseRule, PathPattern};
use comity_git::{LeftWork, RescuedWork, WorktreeFilter, free_name, has_uncommitted_work};

use crate::sandbox::Sandbox;

const PATIENCE: Duration = Duration::from_secs(60);

fn pattern(text: &str) -> PathPattern {
    PathPattern::parse(text, CaseRule::Exact).expect("a pattern")
}

fn rescue(sandbox: &Sandbox, text: &str) -> Result<Vec<RescuedWork>, String> {
    let (common_dir, pattern, within) = (&sandbox.path("main/.git"), &pattern(text), &WorktreeFilter::all());
    let name = free_name(common_dir, "ann", &[], PATIENCE).map_err(|unknown| unknown.to_string())?;
    let left = LeftWork { common_dir, pattern, case: CaseRule::Exact, within, may_be_in: within };
    left.put_aside("ann", &name, PATIENCE).map_err(|unknown| unknown.to_string())
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
