//! Worktrees through the real server: made, merged in order, kept while there is work in them, and brought back.

#[path = "worktrees/released.rs"]
mod released;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use support::{Agent, Place, Ran};

/// A place that makes nothing ready beforehand.
fn place() -> Place {
    Place::with(&[("COMITY_WORKTREE_READY", "0")])
}

fn git(place: &Place, arguments: &[&str]) -> String {
    let ran = Ran::of(place.program("git").args(arguments).output().expect("git runs"));
    assert_eq!(ran.code, 0, "git {arguments:?}: {ran:?}");
    ran.out
}

/// A worktree of an agent, and commands that run in it.
struct Tree<'a> {
    place: &'a Place,
    agent: Agent,
    path: PathBuf,
}

impl<'a> Tree<'a> {
    fn add(place: &'a Place, name: &str) -> Tree<'a> {
        let agent = place.join(&[name]);
        let made = place.json_as(&agent, &["worktree", "add"]);
        assert_eq!(made["branch"], format!("comity/{name}"), "{made}");
        Tree { place, agent, path: made["path"].as_str().expect("a path").into() }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.place.comity_as(&self.agent, &[arguments, &["--json"]].concat());
        Ran::of(command.current_dir(&self.path).output().expect("comity runs"))
    }

    /// Writes a file that the agent has locked, and commits it.
    fn commit(&self, path: &str, text: &str) {
        self.run(&["lock", path]).json();
        fs::write(self.path.join(path), text).expect("written");
        let made = self.run(&["commit", "-m", path]).json();
        assert_eq!(made["files"][0]["path"], path, "{made}");
        self.run(&["unlock", path]).json();
    }
}

#[test]
fn work_is_merged_without_touching_the_main_checkout() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    ann.commit("src/new.rs", "fn new() {}\n");
    fs::write(place.repo.join("src/a.rs"), "// the user is at work\n").expect("written");
    let (status, head) = (git(&place, &["status", "--porcelain"]), git(&place, &["rev-parse", "HEAD"]));
    let merged = ann.run(&["worktree", "merge"]).json();
    assert_eq!(merged["files"], json!(["src/new.rs"]), "{merged}");
    assert_eq!(merged["state"], "waiting", "main is checked out: {merged}");
    assert_eq!(git(&place, &["status", "--porcelain"]), status);
    assert_eq!(git(&place, &["rev-parse", "HEAD"]), head);
    let command = merged["command"].as_str().expect("a command");
    let repo = place.repo.canonicalize().expect("a repository");
    assert_eq!(command, format!("git -C {} merge refs/comity/merged/main", repo.display()));
    // Until it is taken there, it waits, and whoever asks again hears so.
    let again = ann.run(&["worktree", "merge"]).json();
    assert_eq!((&again["state"], &again["command"]), (&json!("waiting"), &json!(command)), "{again}");
    assert_eq!(again["commit"], merged["commit"], "{again}");
    let listed = place.json_as(&ann.agent, &["worktree", "list"]);
    assert_eq!(listed["waiting"], json!([{"target": "main", "command": command}]), "{listed}");
    assert_eq!(place.json(&["status"])["merges"], listed["waiting"]);
    assert_eq!(place.log_of("branch_merged").len(), 1, "it is the same merge");
    let entry = &place.json(&["inbox"])["entries"][0];
    assert_eq!((&entry["entry"], &entry["type"]), (&json!("merge-main"), &json!("merge")), "{entry}");
    assert!(entry["what"].as_str().is_some_and(|what| what.ends_with(command)), "{entry}");
    assert_eq!(place.json(&["status"])["inbox"], 1);
    assert_eq!(place.json_as(&ann.agent, &["inbox"])["count"], 0, "the main checkout is yours");
    git(&place, &["merge", "--quiet", "--ff-only", "refs/comity/merged/main"]);
    assert!(place.repo.join("src/new.rs").is_file());
    assert_eq!(place.log_of("branch_merged").len(), 1);
    let again = ann.run(&["worktree", "merge"]).json();
    assert_eq!(again["state"], "already", "{again}");
    let listed = place.json_as(&ann.agent, &["worktree", "list"]);
    assert_eq!(listed["waiting"], Value::Null, "{listed}");
    assert_eq!(place.json(&["inbox"])["count"], 0, "it was taken");
}

#[test]
fn what_was_committed_under_a_lock_before_the_worktree_was_made_is_not_called_unlocked() {
    let place = place();
    let ann = place.join(&["ann"]);
    git(&place, &["checkout", "--quiet", "--detach"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    fs::write(place.repo.join("src/a.rs"), "fn locked() {}\n").expect("written");
    place.json_as(&ann, &["commit", "-m", "Locked"]);
    place.json_as(&ann, &["unlock", "--all"]);
    let made = place.json_as(&ann, &["worktree", "add", "det"]);
    git(&place, &["checkout", "--quiet", "main"]);
    place.json_as(&ann, &["worktree", "merge", "det", "--into", "main"]);
    // What nobody had locked is still named.
    let tree = PathBuf::from(made["path"].as_str().expect("a path"));
    fs::write(tree.join("src/b.rs"), "// unlocked\n").expect("written");
    let tree = tree.to_str().expect("a text");
    git(&place, &["-C", tree, "commit", "--quiet", "--all", "--message=Unlocked"]);
    let refused = place.run_as(&ann, &["worktree", "merge", "det", "--into", "main"]);
    let words = "1 change on comity/det was made without a lock: src/b.rs";
    assert!(refused.err.contains(words) && refused.err.contains("--out-of-scope"), "{refused:?}");
}

#[test]
fn merges_into_one_branch_stand_in_line() {
    let place = place();
    git(&place, &["branch", "trunk"]);
    let names: Vec<String> = (0..6).map(|number| format!("agent{number}")).collect();
    let trees: Vec<Tree<'_>> = names.iter().map(|name| Tree::add(&place, name)).collect();
    for (tree, name) in trees.iter().zip(&names) {
        tree.commit(&format!("src/{name}.rs"), "fn new() {}\n");
    }
    std::thread::scope(|scope| {
        let merge = |tree| scope.spawn(move || Tree::run(tree, &["worktree", "merge", "--into", "trunk"]));
        let merges: Vec<_> = trees.iter().map(merge).collect();
        for merge in merges {
            let ran = merge.join().expect("it ran");
            assert_eq!((ran.code, ran.json()["state"].as_str()), (0, Some("merged")), "{ran:?}");
        }
    });
    let files = git(&place, &["ls-tree", "--name-only", "trunk", "src/"]);
    assert!(names.iter().all(|name| files.contains(&format!("src/{name}.rs"))), "{files}");
    assert_eq!(place.log_of("branch_merged").len(), names.len());
}

#[test]
fn changes_without_a_lock_are_reported_before_anything_moves() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    ann.commit("src/new.rs", "fn new() {}\n");
    fs::write(ann.path.join("src/b.rs"), "// without a lock\n").expect("written");
    git(&place, &["-C", ann.path.to_str().expect("a text"), "commit", "--quiet", "--all", "-m", "by hand"]);
    let before = git(&place, &["for-each-ref"]);
    let refused = ann.run(&["worktree", "merge"]).refusal();
    assert_eq!(refused["code"], "not_allowed", "{refused}");
    assert!(refused["message"].as_str().expect("words").contains("without a lock: src/b.rs"), "{refused}");
    assert_eq!(git(&place, &["for-each-ref"]), before, "nothing has moved");
    let planned = ann.run(&["worktree", "merge", "--dry-run"]).json();
    assert_eq!(planned["out_of_scope"], json!(["src/b.rs"]), "{planned}");
    let merged = ann.run(&["worktree", "merge", "--out-of-scope"]).json();
    assert_eq!(merged["files"], json!(["src/b.rs", "src/new.rs"]), "{merged}");
}

#[test]
fn conflicts_are_told_with_both_names_and_nothing_moves() {
    let place = place();
    let (ann, bob) = (Tree::add(&place, "ann"), Tree::add(&place, "bob"));
    ann.commit("src/a.rs", "fn by_ann() {}\n");
    bob.commit("src/a.rs", "fn by_bob() {}\n");
    assert_eq!(ann.run(&["worktree", "merge"]).json()["state"], "waiting");
    let before = git(&place, &["for-each-ref"]);
    let refused = bob.run(&["worktree", "merge"]).refusal();
    let words = refused["message"].as_str().expect("words");
    assert!(words.contains("comity/bob of bob conflicts with main") && words.contains("src/a.rs"), "{words}");
    let sides = r#"src/a.rs was changed by ann ("src/a.rs") and by bob ("src/a.rs")"#;
    assert!(words.contains(sides), "agents are named: {words}");
    let hint = refused["hint"].as_str().expect("a hint");
    assert!(hint.contains("/worktrees/bob: git merge refs/comity/merged/main,"), "there it is: {hint}");
    assert!(hint.contains("comity commit -m MESSAGE, and merge again"), "and how it is finished: {hint}");
    assert_eq!(git(&place, &["for-each-ref"]), before, "nothing has moved");
    let recorded = place.log_of("merge_conflicted");
    assert_eq!(recorded[0]["details"]["paths"], json!(["src/a.rs"]), "{recorded:?}");
}

#[test]
fn a_worktree_with_work_is_kept_and_one_without_comes_back_complete() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    ann.commit("src/new.rs", "fn new() {}\n");
    let remove = || place.run_as(&ann.agent, &["worktree", "remove", "ann", "--wait", "--json"]);
    let kept = remove().refusal();
    assert!(kept["message"].as_str().expect("words").contains("commits are in no other branch"), "{kept}");
    assert_eq!(ann.run(&["worktree", "merge"]).json()["state"], "waiting");
    fs::write(ann.path.join(".env"), "SECRET=1\n").expect("written");
    fs::write(place.repo.join(".git/info/exclude"), ".env\n").expect("written");
    let kept = remove().refusal();
    assert!(kept["message"].as_str().expect("words").contains(".env"), "an ignored file is work: {kept}");
    fs::remove_file(ann.path.join(".env")).expect("removed");
    let stranger = place.join(&["stranger"]);
    let refused = place.run_as(&stranger, &["worktree", "remove", "ann", "--json"]).refusal();
    assert_eq!(refused["code"], "not_allowed", "it is ann's: {refused}");
    let gone = remove().json();
    assert_eq!(gone["kept_days"], 7);
    assert!(!ann.path.exists());
    let words = place.run(&["worktree", "list"]).out;
    assert!(words.contains("1 in the trash; see them with: comity worktree list --trash"), "{words}");
    let listed = place.json(&["worktree", "list", "--trash"]);
    assert_eq!(listed["trash"][0]["slug"], "ann", "{listed}");
    let back = place.json(&["worktree", "restore", "ann"]);
    assert_eq!(back["branch"], "comity/ann", "{back}");
    assert_eq!(fs::read_to_string(ann.path.join("src/new.rs")).expect("the file"), "fn new() {}\n");
    let owner = &place.json(&["worktree", "list"])["worktrees"][0]["owner"];
    assert_ne!(*owner, Value::Null);
}

#[test]
fn one_that_a_killed_server_was_bringing_back_is_its_askers() {
    let planted = tempfile::tempdir().expect("a directory");
    let file = planted.path().join("panic");
    let settings = [("COMITY_WORKTREE_READY", "0"), ("COMITY_PANIC", file.to_str().expect("a text"))];
    let place = Place::with(&settings);
    let (old, ann) = (Tree::add(&place, "old"), Tree::add(&place, "ann"));
    let bob = place.join(&["bob"]);
    for tree in [&old, &ann] {
        place.json_as(&tree.agent, &["worktree", "remove", "--wait"]);
    }
    let (named, latest) = (&["worktree", "restore", "ann"][..], &["worktree", "restore"][..]);
    for (at, arguments) in [("worktree-back", named), ("worktree-back", latest), ("worktree-recorded", named)]
    {
        fs::write(&file, at).expect("planted");
        let back = place.json_as(&bob, arguments);
        assert!(!file.exists(), "{arguments:?}: the server was killed");
        assert_eq!((&back["slug"], &back["branch"]), (&json!("ann"), &json!("comity/ann")), "{arguments:?}");
        let listed = place.json(&["worktree", "list", "--trash"]);
        let trees = listed["worktrees"].as_array().expect("worktrees");
        assert_eq!(trees.len(), 1, "{arguments:?}: {listed}");
        assert_eq!((&trees[0]["slug"], &trees[0]["owner"]), (&json!("ann"), &json!("bob")), "{listed}");
        assert_eq!(listed["trash"].as_array().map(Vec::len), Some(1), "{arguments:?}: {listed}");
        assert_eq!(listed["leftovers"], json!([]), "{arguments:?}");
        place.json_as(&bob, &["worktree", "remove", "ann", "--wait"]);
    }
}

/// A process that is in a worktree until this goes.
struct Inside(Child);

impl Inside {
    fn start(tree: &Tree<'_>) -> Inside {
        let mut command = tree.place.program("cat");
        command.current_dir(&tree.path).stdin(Stdio::piped()).stdout(Stdio::null());
        Inside(command.spawn().expect("cat"))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("it ends");
    }
}

#[test]
fn a_name_that_leads_out_is_refused() {
    let place = place();
    for slug in ["../x", "a/../../x", "-x", ".", "..", "a//b", "x.lock", "a@{1}", "a b", "\u{e4}"] {
        let ran = Ran::of(
            place
                .comity(&["worktree", "add", "--json", "--", slug])
                .output()
                .unwrap_or_else(|error| panic!("{slug:?}: {error}")),
        );
        assert!(ran.code == 3 || ran.code == 2, "{slug:?}: {ran:?}");
    }
    assert_eq!(place.json(&["worktree", "list"])["worktrees"], json!([]));
}

#[test]
fn an_agent_without_a_worktree_works_in_the_shared_directory_with_locks() {
    for broken in ["a file in its place", "a program that fails"] {
        let place = place();
        let home = place.dir().join("repo.comity");
        match broken {
            "a file in its place" => fs::write(&home, "").expect("written"),
            _ => place.set("[worktree]\ncreate_hook = [\"false\"]\n"),
        }
        let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
        let said = place.run_as(&ann, &["worktree", "add"]);
        assert_eq!(said.code, 0, "{broken}: {said:?}");
        assert!(said.out.starts_with("NO WORKTREE ann: "), "{broken}: {said:?}");
        assert!(said.out.contains("work in the shared directory, with locks: cd "), "{said:?}");
        let made = place.json_as(&bob, &["worktree", "add"]);
        assert_eq!(made["path"].as_str().map(PathBuf::from), place.repo.canonicalize().ok(), "{made}");
        assert!(made["fallback"].as_str().is_some_and(|why| !why.is_empty()), "{made}");
        // There, locks keep them apart.
        place.json_as(&ann, &["lock", "src/a.rs"]);
        assert_eq!(place.run_as(&bob, &["lock", "src/a.rs", "--json"]).refusal()["code"], "locked");
        let human = place.run(&["worktree", "add", "mine"]);
        assert_eq!(human.code, 1, "{broken}: {human:?}");
        assert!(human.err.contains("work in the shared directory, with locks"), "{human:?}");
    }
}
