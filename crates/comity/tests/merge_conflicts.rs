//! A merge with conflicts: who changed what, what git shows of it, and how it is finished with `comity commit`.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::path::{Path, PathBuf};

use support::{Agent, Place, Ran};

/// A worktree of ann, and a commit of bob on main, both of which change the same line.
struct ConflictPlace {
    place: Place,
    ann: Agent,
    bob: Agent,
    tree: PathBuf,
}

fn write(dir: &Path, file: &str, text: &str) {
    std::fs::write(dir.join(file), text).expect("written");
}

impl ConflictPlace {
    fn new() -> ConflictPlace {
        let place = Place::with(&[("COMITY_WORKTREE_READY", "0")]);
        let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
        let made = place.json_as(&ann, &["worktree", "add", "login"]);
        let tree = PathBuf::from(made["path"].as_str().expect("a path"));
        let own = ConflictPlace { place, ann, bob, tree };
        let ok = |ran: Ran| assert_eq!(ran.code, 0, "{ran:?}");
        ok(own.ann(&["lock", "src/a.rs"]));
        write(&own.tree, "src/a.rs", "fn main() { login() }\n");
        ok(own.ann(&["commit", "-m", "Login"]));
        ok(own.ann(&["unlock", "--all"]));
        own.place.json_as(&own.bob, &["lock", "src/a.rs", "src/b.rs"]);
        write(&own.place.repo, "src/a.rs", "fn main() { logout() }\n");
        write(&own.place.repo, "src/b.rs", "// of bob\n");
        own.place.json_as(&own.bob, &["commit", "-m", "Logout"]);
        own.place.json_as(&own.bob, &["unlock", "--all"]);
        own
    }

    /// As ann, in her worktree.
    fn ann(&self, words: &[&str]) -> Ran {
        Ran::of(self.place.comity_as(&self.ann, words).current_dir(&self.tree).output().expect("it runs"))
    }

    fn git(&self, words: &[&str]) -> Ran {
        Ran::of(self.place.program("git").args(words).current_dir(&self.tree).output().expect("git runs"))
    }

    fn merge(&self) -> Ran {
        self.place.run_as(&self.ann, &["worktree", "merge", "login"])
    }
}

#[test]
fn a_conflict_is_shown_and_finished_as_its_words_say() {
    let conflict = ConflictPlace::new();
    let refused = conflict.merge();
    assert_eq!(refused.code, 3, "{refused:?}");
    let parts = [
        "by bob (\"Logout\") and by ann (\"Login\")",
        "| <<<<<<< main",
        ">>>>>>> comity/login",
        "logout()",
        "login()",
        "git merge main",
    ];
    for part in parts {
        assert!(refused.err.contains(part), "{part}: {}", refused.err);
    }
    let entry = &conflict.place.json_as(&conflict.ann, &["inbox"])["entries"][0];
    assert_eq!(
        (&entry["entry"], &entry["answers"][0]["command"]),
        (&"merge-login".into(), &"comity worktree merge login".into())
    );
    assert!(
        entry["what"].as_str().is_some_and(|what| what.contains("conflicts with main in src/a.rs")),
        "{entry}"
    );
    assert_eq!(conflict.place.json_as(&conflict.bob, &["inbox"])["count"], 0);
    for mark in ["| <<<<<<< main\n", "| >>>>>>> comity/login\n"] {
        assert!(refused.err.contains(mark), "people know branches, not commits: {}", refused.err);
    }
    assert_eq!(conflict.git(&["merge", "main"]).code, 1, "it conflicts");
    // Not before it is locked and resolved.
    let unlocked = conflict.ann(&["commit", "-m", "Merge main"]);
    assert_eq!(unlocked.code, 3, "{unlocked:?}");
    assert_eq!(conflict.ann(&["lock", "src/a.rs"]).code, 0);
    let marked = conflict.ann(&["commit", "-m", "Merge main"]);
    assert!(marked.code == 3 && marked.err.contains("src/a.rs still has the marks"), "{marked:?}");
    write(&conflict.tree, "src/a.rs", "fn main() { login(); logout() }\n");
    let made = conflict.ann(&["commit", "-m", "Merge main"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(!made.err.contains("could not be verified") && !made.out.contains("verified"), "{made:?}");
    // It has both parents, her name, and what bob did without any lock of hers.
    let shown = conflict.git(&["log", "-1", "--format=%P%n%(trailers:key=Agent,valueonly)"]).out;
    let mut lines = shown.lines();
    assert_eq!(lines.next().expect("parents").split(' ').count(), 2, "{shown}");
    assert_eq!(lines.next(), Some("ann"), "{shown}");
    assert_eq!(conflict.git(&["show", "HEAD:src/b.rs"]).out, "// of bob\n");
    assert_eq!(conflict.git(&["status", "--porcelain"]).out, "", "git knows that it is done");
    assert_ne!(conflict.git(&["rev-parse", "--verify", "MERGE_HEAD"]).code, 0);
    let merged = conflict.merge();
    assert_eq!(merged.code, 0, "{merged:?}");
    assert!(conflict.place.log_of("file_commit").len() >= 3);
    assert_eq!(conflict.place.json_as(&conflict.ann, &["inbox"])["count"], 0, "it is merged");
}

#[test]
fn a_restart_forgets_no_conflict() {
    let conflict = ConflictPlace::new();
    let entry = || {
        let mut inbox = conflict.place.json_as(&conflict.ann, &["inbox"]);
        let entries = inbox["entries"].as_array_mut().expect("entries");
        entries.iter_mut().for_each(|entry| entry["age_ms"] = 0.into());
        inbox["entries"].take()
    };
    let predicted = conflict.place.run_as(&conflict.ann, &["worktree", "merge", "login", "--dry-run"]);
    assert_eq!(predicted.code, 3, "{predicted:?}");
    let before = entry();
    assert_eq!(before[0]["entry"], "merge-login", "{before}");
    conflict.place.kill_server();
    assert_eq!(entry(), before);
    assert_eq!(conflict.git(&["merge", "-X", "ours", "main"]).code, 0);
    let predicted = conflict.place.run_as(&conflict.ann, &["worktree", "merge", "login", "--dry-run"]);
    assert_eq!(predicted.code, 0, "{predicted:?}");
    conflict.place.kill_server();
    assert_eq!(entry(), serde_json::json!([]));
}

#[test]
fn what_is_changed_in_a_merge_besides_needs_a_lock_too() {
    let conflict = ConflictPlace::new();
    conflict.ann(&["lock", "src/a.rs"]);
    conflict.git(&["merge", "main"]);
    write(&conflict.tree, "src/a.rs", "fn main() { login(); logout() }\n");
    write(&conflict.tree, "src/c.rs", "// slipped in\n");
    conflict.git(&["add", "src/c.rs"]);
    let made = conflict.ann(&["commit", "-m", "Merge main"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_ne!(conflict.git(&["show", "HEAD:src/c.rs"]).out, "// slipped in\n", "it is not in the commit");
    assert_eq!(conflict.git(&["diff", "--name-only", "HEAD"]).out.trim(), "src/c.rs", "and not lost");
}

#[test]
fn a_conflict_that_is_resolved_to_ones_own_side_is_over_afterwards() {
    let conflict = ConflictPlace::new();
    let write_main = |file: &str, text: &str| write(&conflict.place.repo, file, text);
    // Both sides change src/b.rs, ann deletes src/c.rs and bob changes it, and only bob changes src/d.rs.
    for (agent, words) in [(&conflict.ann, "// hers\n"), (&conflict.bob, "// his\n")] {
        conflict.place.json_as(agent, &["lock", "src/b.rs", "src/c.rs", "src/d.rs"]);
        if agent.token == conflict.ann.token {
            write(&conflict.tree, "src/b.rs", words);
            std::fs::remove_file(conflict.tree.join("src/c.rs")).expect("removed");
            assert_eq!(conflict.ann(&["commit", "-m", "Hers"]).code, 0);
        } else {
            ["src/b.rs", "src/c.rs", "src/d.rs"].into_iter().for_each(|file| write_main(file, words));
            conflict.place.json_as(agent, &["commit", "-m", "His"]);
        }
        conflict.place.json_as(agent, &["unlock", "--all"]);
    }
    assert_eq!(conflict.git(&["merge", "main"]).code, 1, "it conflicts");
    assert_eq!(conflict.ann(&["lock", "src/"]).code, 0);
    // Her own side of every conflict, and of what git could merge, too.
    conflict.git(&["checkout", "--ours", "src/a.rs", "src/b.rs"]);
    std::fs::remove_file(conflict.tree.join("src/c.rs")).expect("git left bob's version there");
    std::fs::remove_file(conflict.tree.join("src/d.rs")).expect("git took it from bob");
    let made = conflict.ann(&["commit", "-m", "Merge main"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(!made.out.contains("still changed"), "{made:?}");
    assert_eq!(conflict.git(&["ls-files", "--unmerged"]).out, "");
    assert_eq!(conflict.git(&["status", "--porcelain"]).out, "", "nothing is left of the merge");
    assert_eq!(conflict.git(&["diff", "--stat", "HEAD^1", "HEAD"]).out, "", "all as on her side");
}

#[test]
fn a_merge_brings_what_somebody_holds_as_that_was_committed_under_locks() {
    let conflict = ConflictPlace::new();
    conflict.place.json_as(&conflict.bob, &["lock", "src/b.rs"]);
    assert_eq!(conflict.ann(&["lock", "src/a.rs"]).code, 0);
    conflict.git(&["merge", "main"]);
    write(&conflict.tree, "src/a.rs", "fn main() { login(); logout() }\n");
    let made = conflict.ann(&["commit", "-m", "Merge main"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(conflict.git(&["show", "HEAD:src/b.rs"]).out, "// of bob\n");
}

/// Whoever writes into `.git` can say that any commit is being merged.
#[test]
fn a_merge_that_somebody_made_up_brings_nothing_that_another_holds() {
    for merges in ["a commit", "a merge that takes what was there before"] {
        let conflict = ConflictPlace::new();
        let ConflictPlace { place, ann, bob, .. } = &conflict;
        let git = |words: &[&str], index: &str| {
            let mut git = place.program("git");
            let ran = Ran::of(git.args(words).env("GIT_INDEX_FILE", index).output().expect("git runs"));
            assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
            ran.out.trim().to_owned()
        };
        let own = place.repo.join(".git/index").display().to_string();
        let other = place.dir().join("index").display().to_string();
        let head = git(&["rev-parse", "HEAD"], &own);
        write(place.dir(), "evil", "EVIL\n");
        let evil = git(&["hash-object", "-w", &place.dir().join("evil").display().to_string()], &own);
        let before = git(&["rev-parse", "HEAD~:src/a.rs"], &own);
        let (blob, parents): (_, &[&str]) = match merges {
            "a commit" => (&evil, &["-p", &head]),
            _ => (&before, &["-p", &head, "-p", "HEAD~"]),
        };
        git(&["read-tree", "HEAD"], &other);
        git(&["update-index", "--cacheinfo", &format!("100644,{blob},src/a.rs")], &other);
        let tree = git(&["write-tree"], &other);
        let side = git(&[&["commit-tree", &tree, "-m", "side"], parents].concat(), &own);
        place.json_as(ann, &["lock", "src/a.rs", "--reason", "work"]);
        for (file, text) in [("MERGE_HEAD", &*side), ("MERGE_MSG", "merge"), ("MERGE_MODE", "")] {
            write(&place.repo.join(".git"), file, text);
        }
        git(&["update-index", "--cacheinfo", &format!("100644,{blob},src/a.rs")], &own);
        place.json_as(bob, &["lock", "src/c.rs"]);
        write(&place.repo, "src/c.rs", "// of bob\n");
        let refused = place.run_as(bob, &["commit", "-m", "fin"]);
        assert_eq!(refused.code, 3, "{merges}: {refused:?}");
        assert!(refused.err.contains("src/a.rs is locked by ann (\"work\")"), "{merges}: {refused:?}");
        assert_eq!(git(&["rev-parse", "HEAD"], &own), head, "{merges}");
        // Nobody is kept from it who holds it.
        place.json_as(ann, &["unlock", "--all"]);
        assert_eq!(place.run_as(bob, &["commit", "-m", "fin"]).code, 0, "{merges}");
    }
}
