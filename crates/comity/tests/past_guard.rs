//! Commits that go past the guard are noticed, however they are made; those that Comity knows and the holder's own are not.
#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};
use support::files::files_below;
use support::wire::Follower;
use support::{Agent, Place, eventually};

/// Ann has locked `src/a.rs` and is known by her hooks; bob has nothing. The log is followed from here on.
struct Yard {
    place: Place,
    ann: Agent,
    bob: Agent,
    log: Follower,
    count: usize,
}

impl Yard {
    fn new() -> Yard {
        Yard::of(Place::new())
    }

    fn of(place: Place) -> Yard {
        let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
        place.json_as(&ann, &["lock", "src/a.rs"]);
        eventually("the repository is watched", || place.json(&["status"])["watch"]["trees"] == 1);
        let log = place.follow_on();
        Yard { place, ann, bob, log, count: 0 }
    }

    /// Changes a file and stages it.
    fn stage(&mut self, path: &str) {
        self.count += 1;
        fs::write(self.place.repo.join(path), format!("fn changed{}() {{}}\n", self.count)).expect("written");
        self.place.git(&["add", path]);
    }

    /// Runs a line of shell in the repository.
    fn shell(&self, line: &str) {
        let ran = self.place.program("sh").args(["-ec", line]).output().expect("sh runs");
        assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    }

    /// Waits until the watcher has looked at the last commit.
    fn settled(&self) {
        let head = self.head();
        let is_in =
            |file: &std::path::PathBuf| fs::read_to_string(file).is_ok_and(|kept| kept.contains(&head));
        eventually("it was looked at", || files_below(&self.place.home.join("tips")).iter().any(is_in));
    }

    fn head(&self) -> String {
        let head = self.place.program("git").args(["rev-parse", "HEAD"]).output().expect("git runs");
        String::from_utf8_lossy(&head.stdout).trim().to_owned()
    }

    /// The next report.
    fn report(&mut self) -> Value {
        self.log.until_action("commit_unguarded")
    }

    /// Nothing was reported up to now: the first report is about one of the commits that are made here.
    fn nothing(&mut self, what: &str) {
        let mut made = Vec::new();
        // A call of the holder's that has just ended may be the author of the first of them.
        eventually("a report", || {
            self.stage("src/a.rs");
            self.place.git(&["commit", "--quiet", "--no-verify", "--message=sentinel"]);
            made.push(self.head());
            self.place.json(&["log", "--type", "commit_unguarded"])["entries"] != json!([])
        });
        let report = self.report();
        let commit = report["details"]["commit"].as_str().expect("an id");
        assert!(made.iter().any(|made| made == commit), "{what} was reported: {report}");
    }

    /// Lets git ask before each commit.
    fn guard_git(&self) {
        let guard = self.place.repo.join(".git/hooks/pre-commit");
        fs::create_dir_all(guard.parent().expect("a directory")).expect("made");
        let script = format!("#!/bin/sh\nexec '{}' hook pre-commit\n", support::BINARY);
        fs::write(&guard, script).expect("written");
        fs::set_permissions(&guard, fs::Permissions::from_mode(0o755)).expect("set");
    }

    /// Commits what is staged as an agent.
    fn commit(&self, agent: &Agent) {
        let mut commit = self.place.program("git");
        commit.args(["commit", "--quiet", "--message=judged"]).env("COMITY_TOKEN", &agent.token);
        assert!(commit.status().expect("git runs").success());
    }

    /// Calls the hook of Claude Code as an agent.
    fn hook(&self, agent: &Agent, event: &str) {
        self.hook_about(agent, event, "make");
    }

    fn hook_about(&self, agent: &Agent, event: &str, command: &str) {
        let payload = json!({
            "session_id": agent.id, "cwd": self.place.repo, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": { "command": command },
        });
        let mut hook = self.place.comity_as(agent, &["hook", "claude"]);
        let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the hook runs");
        child.stdin.take().expect("an input").write_all(payload.to_string().as_bytes()).expect("written");
        assert!(child.wait().expect("it ends").success());
    }
}

/// Ways of moving a branch to a commit of what is staged, all of which git's own guard does not see.
const WAYS: &[&str] = &[
    "git commit -q --no-verify -m x",
    "git -c core.hooksPath=/dev/null commit -q -m x",
    "git commit -q --no-verify --amend -m x",
    "c=$(git commit-tree -p HEAD -m x $(git write-tree)); git update-ref refs/heads/main $c",
    "c=$(git commit-tree -p HEAD -m x $(git write-tree)); git update-ref refs/heads/deep/er/new $c",
    "c=$(git commit-tree -p HEAD -m x $(git write-tree)); git branch other $c",
    "git pack-refs --all; git commit -q --no-verify -m x; git pack-refs --all",
    "git pack-refs --all --prune; c=$(git commit-tree -p HEAD -m x $(git write-tree)); git reset -q --soft $c",
    "git checkout -q --detach; git commit -q --no-verify -m x",
    "git commit -q --no-verify -m x; git checkout -q -b two/three HEAD~1; git cherry-pick main > /dev/null; git checkout -q main",
    "echo $(git commit-tree -p HEAD -m x $(git write-tree)) > .git/refs/heads/main",
    "git stash -q; git checkout -q -b side; git stash pop -q --index; git commit -q --no-verify -m x; git checkout -q main; git merge -q side",
];

#[test]
fn every_way_past_the_guard_is_noticed() {
    for way in WAYS {
        let mut yard = Yard::new();
        yard.stage("src/a.rs");
        yard.shell(way);
        let report = yard.report();
        let summary = report["summary"].as_str().expect("a text");
        assert!(
            summary.starts_with("src/a.rs, locked by ann, went past the guard into commit"),
            "{way}: {report}"
        );
        assert_eq!(report["concerns"][0]["name"], "ann", "{way}: {report}");
        let told = yard.place.run_as(&yard.ann, &["next"]);
        let said = format!("{}{}", told.out, told.err);
        assert!(said.contains("which you have locked, went past the guard"), "{way}: {said}");
    }
}

#[test]
fn a_branch_that_is_a_symbolic_ref_is_watched_where_it_leads() {
    for at in ["refs/x/deep/m", "refs/tags/m", "refs/worktree/m", "ORIG_HEAD"] {
        let mut yard = Yard::new();
        // By hand: git itself makes no symbolic ref to some of these, but follows each.
        yard.shell(&format!("git update-ref {at} HEAD; echo 'ref: {at}' > .git/refs/heads/main"));
        yard.stage("src/b.rs");
        yard.shell("git commit -q --no-verify -m free");
        yard.settled();
        yard.stage("src/a.rs");
        yard.shell(&format!(
            "c=$(git commit-tree -p HEAD -m x $(git write-tree)); echo $c > new; mv new .git/{at}"
        ));
        assert_eq!(yard.report()["details"]["commit"], *yard.head(), "{at}");
    }
}

#[test]
fn a_commit_whose_objects_come_later_is_noticed_when_they_come() {
    let mut yard = Yard::new();
    yard.hook(&yard.bob, "PreToolUse");
    yard.shell(
        "mkdir ../objects; echo evil > ../evil
        export GIT_OBJECT_DIRECTORY=$PWD/../objects GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects GIT_INDEX_FILE=../index
        git read-tree HEAD; git update-index --cacheinfo 100644,$(git hash-object -w ../evil),src/a.rs
        c=$(git commit-tree $(git write-tree) -p HEAD -m x); echo $c > ../commit; git update-ref refs/heads/main $c",
    );
    let is_unread =
        |problem: &Value| problem.as_str().is_some_and(|problem| problem.contains("can't be read yet"));
    let problems = |yard: &Yard| yard.place.json(&["status"])["watch"]["problems"].clone();
    eventually("it says so", || problems(&yard).as_array().is_some_and(|all| all.iter().any(is_unread)));
    yard.hook(&yard.bob, "PostToolUse");
    yard.shell("cp -r ../objects/. .git/objects/");
    let report = yard.report();
    assert_eq!(report["details"]["commit"], *yard.head(), "{report}");
    assert!(report["summary"].as_str().is_some_and(|said| said.ends_with("probably by bob")), "{report}");
    eventually("it is over", || problems(&yard) == json!([]));
}

#[test]
fn refs_in_tables_are_watched() {
    let place = Place::new();
    fs::remove_dir_all(place.repo.join(".git")).expect("removed");
    let init = ["init", "--quiet", "--ref-format=reftable", "--initial-branch=main"];
    if !place.program("git").args(init).stderr(Stdio::null()).status().expect("git runs").success() {
        return support::skip("refs_in_tables_are_watched", "this git keeps no refs in tables");
    }
    place.git(&["add", "."]);
    place.git(&["commit", "--quiet", "--message=first"]);
    let mut yard = Yard::of(place);
    yard.stage("src/a.rs");
    yard.shell("git commit -q --no-verify -m x");
    assert_eq!(yard.report()["details"]["commit"], *yard.head());
    yard.stage("src/a.rs");
    yard.shell("c=$(git commit-tree -p HEAD -m x $(git write-tree)); git update-ref refs/heads/new $c");
    yard.report();
}

#[test]
fn a_commit_in_another_worktree_and_with_another_state_directory() {
    let mut yard = Yard::new();
    yard.shell("git worktree add -q ../linked -b linked; cd ../linked; echo x > src/a.rs; git commit -q --no-verify -am x");
    let report = yard.report();
    assert_eq!(report["details"]["branch"], "linked", "{report}");
    // Another server knows of no lock of ann's.
    let elsewhere = yard.place.dir().join("elsewhere");
    let first = yard.place.comity_as_whoever(&["token", "first"]).env("COMITY_HOME", &elsewhere).output();
    let token = String::from_utf8(first.expect("comity runs").stdout).expect("a text");
    let other = |arguments: &[&str]| {
        let mut comity = yard.place.comity_as_whoever(arguments);
        comity.env("COMITY_HOME", &elsewhere).env("COMITY_TOKEN", token.trim());
        let ran = comity.output().expect("comity runs");
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    fs::write(yard.place.repo.join("src/a.rs"), "fn other() {}\n").expect("written");
    other(&["lock", "src/a.rs"]);
    other(&["commit", "-m", "x"]);
    other(&["down"]);
    assert_eq!(yard.report()["details"]["branch"], "main");
}

#[test]
fn the_likely_author_is_named_and_told() {
    let mut yard = Yard::new();
    yard.stage("src/a.rs");
    yard.hook(&yard.ann, "UserPromptSubmit");
    yard.hook(&yard.bob, "PreToolUse");
    yard.shell("git commit -q --no-verify -m x");
    let report = yard.report();
    assert!(report["summary"].as_str().expect("a text").ends_with("probably by bob"), "{report}");
    let told = yard.place.run_as(&yard.bob, &["next"]);
    assert!(format!("{}{}", told.out, told.err).contains("probably by you"), "{told:?}");
}

#[test]
fn what_comity_makes_and_the_holders_own_is_silent() {
    let mut yard = Yard::new();
    // Comity's own.
    fs::write(yard.place.repo.join("src/a.rs"), "fn own() {}\n").expect("written");
    yard.place.json_as(&yard.ann, &["commit", "-m", "own"]);
    yard.place.json_as(&yard.ann, &["lock", "src/a.rs"]);
    // What git's guard has judged.
    yard.guard_git();
    yard.stage("src/a.rs");
    yard.commit(&yard.ann);
    // What is nobody's, and what moves no commit.
    yard.stage("src/b.rs");
    yard.shell("git commit -q --no-verify -m free");
    yard.shell("git branch other; git tag x; git branch -m other third; git reset -q --soft HEAD~1; git reset -q --soft ORIG_HEAD");
    yard.shell("git clone -q . ../clone; git fetch -q ../clone main:refs/remotes/clone/main; git push -q ../clone main:new");
    // The holder's own, as its hooks tell.
    yard.stage("src/a.rs");
    yard.hook(&yard.ann, "PreToolUse");
    yard.shell("git commit -q --no-verify -m hers; git commit -q --amend --no-verify -m hers; git rebase -q --force-rebase HEAD~1");
    yard.hook(&yard.ann, "PostToolUse");
    yard.nothing("something that is known");
}

/// What the hook of Claude Code says before and after a commit of `src/a.rs`.
const COMMIT_A: &str = "git commit -m x src/a.rs";

#[test]
fn a_judgement_covers_no_lock_that_came_later() {
    let mut yard = Yard::new();
    yard.guard_git();
    let carl = yard.place.join(&["carl"]);
    yard.place.json_as(&carl, &["lock", "src/c.rs"]);
    yard.place.json_as(&yard.ann, &["unlock", "src/a.rs"]);
    // Judged twice, and made; then judged, and not made.
    for is_made in [true, false] {
        yard.stage("src/a.rs");
        yard.hook_about(&yard.bob, "PreToolUse", COMMIT_A);
        if is_made {
            yard.commit(&yard.bob);
            yard.settled();
        }
        yard.hook_about(&yard.bob, "PostToolUse", COMMIT_A);
    }
    yard.place.json_as(&yard.ann, &["lock", "src/a.rs"]);
    yard.hook(&yard.bob, "PreToolUse");
    yard.shell("git commit -q --no-verify -m x");
    assert_eq!(yard.report()["details"]["commit"], *yard.head());
}

#[test]
fn a_judgement_covers_one_commit_of_the_one_who_asked() {
    let mut yard = Yard::new();
    yard.guard_git();
    yard.place.json_as(&yard.bob, &["lock", "src/c.rs"]);
    // Judged twice, and made once.
    yard.stage("src/a.rs");
    yard.hook_about(&yard.ann, "PreToolUse", COMMIT_A);
    yard.commit(&yard.ann);
    yard.hook_about(&yard.ann, "PostToolUse", COMMIT_A);
    yard.settled();
    yard.stage("src/a.rs");
    yard.hook(&yard.bob, "PreToolUse");
    yard.shell("git commit -q --no-verify -m x");
    assert_eq!(yard.report()["details"]["commit"], *yard.head());
}

#[test]
fn a_holder_whose_command_ran_is_told_if_another_may_have_made_it() {
    let mut yard = Yard::new();
    yard.hook(&yard.ann, "PreToolUse");
    yard.hook(&yard.bob, "PreToolUse");
    yard.stage("src/a.rs");
    // Plumbing, and a file that is moved into place: no git runs by the time that the branch has moved.
    let commit = "c=$(git commit-tree -p HEAD -m x $(git write-tree)); echo $c >new; setsid -w mv new .git/refs/heads/main";
    yard.shell(commit);
    let report = yard.report();
    let summary = report["summary"].as_str().expect("a text");
    assert!(["by ann or bob", "by bob or ann"].iter().any(|by| summary.ends_with(by)), "{report}");
    let told = yard.place.run_as(&yard.ann, &["next"]);
    assert!(format!("{}{}", told.out, told.err).contains("went past the guard"), "{told:?}");
    // With hers alone it is her own.
    let mut yard = Yard::new();
    yard.hook(&yard.ann, "PreToolUse");
    yard.stage("src/a.rs");
    yard.shell(commit);
    yard.hook(&yard.ann, "PostToolUse");
    yard.nothing("the holder's own");
}

#[test]
fn a_commit_that_is_made_while_no_server_runs_is_noticed() {
    let mut yard = Yard::new();
    // Comity's own, and one of what is locked only later, are none.
    fs::write(yard.place.repo.join("src/a.rs"), "fn own() {}\n").expect("written");
    yard.place.json_as(&yard.ann, &["commit", "-m", "own"]);
    yard.place.json_as(&yard.ann, &["lock", "src/a.rs"]);
    yard.place.kill_server();
    yard.stage("src/a.rs");
    yard.shell("git commit -q --no-verify -m x");
    let past = yard.head();
    yard.stage("src/b.rs");
    yard.shell("git commit -q --no-verify -m x");
    yard.place.json_as(&yard.bob, &["lock", "src/b.rs"]);
    let log = |yard: &Yard| yard.place.json(&["log", "--type", "commit_unguarded"])["entries"].clone();
    eventually("a report", || log(&yard) != json!([]));
    let reports = log(&yard);
    assert_eq!(reports[0]["details"]["commit"], *past, "{reports}");
    let told = yard.place.run_as(&yard.ann, &["next"]);
    assert!(format!("{}{}", told.out, told.err).contains("went past the guard"), "{told:?}");
    // It was looked at: the next server has nothing new.
    yard.place.json(&["restart"]);
    eventually("the repository is watched", || yard.place.json(&["status"])["watch"]["trees"] == 1);
    yard.log = yard.place.follow_on();
    yard.stage("src/a.rs");
    yard.shell("git commit -q --no-verify -m x");
    yard.report();
    assert_eq!(log(&yard).as_array().map(Vec::len), Some(2), "{}", log(&yard));
}

#[test]
fn a_merge_of_a_worktree_is_silent() {
    let mut yard = Yard::new();
    let tree = yard.place.json_as(&yard.ann, &["worktree", "add", "work"]);
    let path = std::path::PathBuf::from(tree["path"].as_str().expect("a path"));
    fs::write(path.join("src/a.rs"), "fn merged() {}\n").expect("written");
    let mut commit = yard.place.comity_as(&yard.ann, &["commit", "-m", "work"]);
    assert!(commit.current_dir(&path).status().expect("comity runs").success());
    let merged = yard.place.run_as(&yard.ann, &["worktree", "merge", "work"]);
    assert_eq!(merged.code, 0, "{merged:?}");
    yard.nothing("a merge");
}

#[test]
fn who_cannot_look_at_commits_says_so() {
    let yard = Yard::new();
    yard.shell("git config core.repositoryFormatVersion 1; git config extensions.refStorage nonsense");
    fs::write(yard.place.repo.join(".git/refs/heads/new"), "x").expect("written");
    eventually("it says so", || {
        yard.place.json(&["status"])["watch"]["problems"].to_string().contains("past the guard")
    });
    let doctor = yard.place.run(&["doctor"]);
    assert!(doctor.out.contains("may go past the guard unnoticed"), "{doctor:?}");
}
