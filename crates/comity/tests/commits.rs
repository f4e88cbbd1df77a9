//! Commits of exactly what an agent has locked and changed, through the real server.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::wire::{No, Wire};
use support::{Agent, Place, Ran};

const AGENTS: usize = 16;
const COMMITS: usize = 20;

/// What git says in the repository of a place.
fn git(place: &Place, arguments: &[&str]) -> String {
    let ran = Ran::of(place.program("git").args(arguments).output().expect("git runs"));
    assert_eq!(ran.code, 0, "git {arguments:?}: {ran:?}");
    ran.out
}

fn write(place: &Place, path: &str, text: &str) {
    let file = place.repo.join(path);
    fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).expect("a directory");
    fs::write(file, text).expect("written");
}

/// Whatever stands first on the PATH: what agents may write is not run for them by the server.
#[test]
fn a_git_that_an_agent_can_write_is_not_run() {
    let dir = tempfile::tempdir().expect("a directory");
    let bin = dir.path().join("bin");
    std::fs::create_dir(&bin).expect("made");
    let real = std::env::var("PATH").expect("a path");
    let path = format!("{}:{real}", bin.display());
    let home = dir.path().join("state");
    let place = Place::at(dir, home, &[("PATH", &path)]);
    let ann = place.join(&["ann"]);
    let script =
        format!("#!/bin/sh\ntouch {}\nPATH='{real}'; exec git \"$@\"\n", place.dir().join("ran").display());
    std::fs::write(bin.join("git"), script).expect("written");
    assert!(place.program("chmod").arg("755").arg(bin.join("git")).status().expect("chmod").success());
    place.json_as(&ann, &["lock", "src/a.rs"]);
    std::fs::write(place.repo.join("src/a.rs"), "// of ann\n").expect("written");
    place.json_as(&ann, &["worktree", "add", "login"]);
    assert_eq!(place.json_as(&ann, &["commit", "-m", "It"])["files"][0]["path"], "src/a.rs");
    place.kill_server();
    place.json(&["worktree", "list"]);
    assert!(!place.dir().join("ran").exists());
}

#[test]
fn a_commit_that_is_on_no_branch_is_warned_of() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.git(&["checkout", "--quiet", "--detach"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    write(&place, "src/a.rs", "fn changed() {}\n");
    let made = place.json_as(&ann, &["commit", "-m", "Change a"]);
    let commit = made["commit"].as_str().expect("a commit");
    let warning = made["warnings"][0].as_str().expect("a warning");
    assert!(warning.ends_with(&format!("keep it with: git branch NAME {commit}")), "{made}");
    place.git(&["branch", "kept", commit]);
    place.git(&["checkout", "--quiet", "kept"]);
    write(&place, "src/a.rs", "fn changed_again() {}\n");
    assert_eq!(place.json_as(&ann, &["commit", "-m", "Again"])["warnings"], json!([]));
}

#[test]
fn only_what_is_locked_and_changed_is_committed() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs", "docs/"]);
    write(&place, "src/a.rs", "fn changed() {}\n");
    write(&place, "docs/new.md", "new\n");
    write(&place, "src/b.rs", "// somebody else's\n");
    place.git(&["add", "src/b.rs"]);
    fs::remove_file(place.repo.join("src/c.rs")).expect("removed");
    let made = place.json_as(&ann, &["commit", "-m", "Change a"]);
    assert_eq!(
        made["files"],
        json!([{"path": "docs/new.md", "change": "added"}, {"path": "src/a.rs", "change": "changed"}])
    );
    assert_eq!(made["dirty"], json!(["src/b.rs", "src/c.rs"]), "{made}");
    assert_eq!(
        git(&place, &["show", "--format=%s|%(trailers:key=Agent,valueonly,separator=)", "--name-only"]),
        "Change a|ann\n\ndocs/new.md\nsrc/a.rs\n"
    );
    assert_eq!(
        git(&place, &["status", "--porcelain"]),
        "M  src/b.rs\n D src/c.rs\n",
        "the rest is as it was"
    );
    let recorded = place.log_of("file_commit");
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0]["actor"], "ann");
    assert_eq!(recorded[0]["details"]["commit"]["id"], made["commit"]);
    let again = place.json_as(&ann, &["commit", "-m", "Again"]);
    assert_eq!(again["commit"], Value::Null, "there is nothing more: {again}");
}

#[test]
fn half_a_rename_is_told() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let text: String = (0..40).map(|line| format!("fn number_{line}() {{}}\n")).collect();
    place.json_as(&ann, &["lock", "src/a.rs", "src/b.rs"]);
    write(&place, "src/a.rs", &text);
    place.json_as(&ann, &["commit", "-m", "More"]);
    // With a change on the way, and an untracked file beside that is another one.
    fs::remove_file(place.repo.join("src/a.rs")).expect("removed");
    write(&place, "src/aa.rs", &format!("{text}fn last() {{}}\n"));
    write(&place, "src/other.rs", "// new\n");
    let made = place.json_as(&ann, &["commit", "-m", "Rename"]);
    assert_eq!(made["files"], json!([{"path": "src/a.rs", "change": "deleted"}]));
    let told = made["warnings"].to_string();
    assert!(told.contains("src/a.rs was renamed to src/aa.rs, which you have not locked"), "{made}");
    assert!(told.contains("comity lock src/aa.rs") && !told.contains("other.rs"), "{made}");
    place.json_as(&ann, &["lock", "src/aa.rs"]);
    let made = place.json_as(&ann, &["commit", "-m", "The other half"]);
    assert_eq!(made["warnings"], json!([]), "{made}");
    // A rename within what is locked is whole.
    place.json_as(&ann, &["lock", "src/"]);
    place.git(&["mv", "src/aa.rs", "src/ab.rs"]);
    let made = place.json_as(&ann, &["commit", "-m", "Again"]);
    assert_eq!(made["warnings"], json!([]), "{made}");
}

#[test]
fn a_plain_commit_by_somebody_else_reverts_nothing() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    write(&place, "src/a.rs", "fn changed() {}\n");
    place.json_as(&ann, &["commit", "-m", "Change a"]);
    write(&place, "src/b.rs", "// by a person\n");
    place.git(&["commit", "--quiet", "--all", "--message=By a person"]);
    assert_eq!(git(&place, &["show", "--format=", "--name-only"]), "src/b.rs\n");
    assert_eq!(git(&place, &["show", "HEAD:src/a.rs"]), "fn changed() {}\n");
}

#[test]
fn whose_lock_went_to_another_cannot_commit() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    write(&place, "src/a.rs", "fn changed() {}\n");
    let head = git(&place, &["rev-parse", "HEAD"]);
    let index = fs::read(place.repo.join(".git/index")).expect("an index");
    place.json(&["release", "src/a.rs", "--from", "ann"]);
    place.json_as(&bob, &["lock", "src/a.rs"]);
    let refused = place.run_as(&ann, &["commit", "-m", "Late", "--json"]).refusal();
    assert_eq!(refused["code"], "bad_input", "{refused}");
    // With another lock left she gets as far as the check, and the file is not hers any more.
    place.json_as(&ann, &["lock", "src/b.rs"]);
    let made = place.json_as(&ann, &["commit", "-m", "Late"]);
    assert_eq!(made["commit"], Value::Null, "{made}");
    assert_eq!(git(&place, &["rev-parse", "HEAD"]), head);
    assert_eq!(fs::read(place.repo.join(".git/index")).expect("an index"), index, "byte for byte");
}

#[test]
fn a_lock_that_goes_to_another_in_the_middle_of_a_commit_stops_it() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    write(&place, "src/a.rs", "fn changed() {}\n");
    // The repository's own hook runs while the commit is built: there the lock changes hands.
    let hook = place.repo.join(".git/hooks/pre-commit");
    let comity = support::BINARY;
    let script = format!(
        "#!/bin/sh\nunset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE\nCOMITY_TOKEN={} {comity} release src/a.rs --from ann && COMITY_TOKEN={} {comity} lock src/a.rs\n",
        support::HUMAN,
        bob.token
    );
    fs::create_dir_all(hook.parent().expect("a directory")).expect("made");
    fs::write(&hook, script).expect("written");
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    let head = git(&place, &["rev-parse", "HEAD"]);
    let index = fs::read(place.repo.join(".git/index")).expect("an index");
    let refused = place.run_as(&ann, &["commit", "-m", "Late", "--hooks", "--json"]).refusal();
    assert_eq!(refused["code"], "stale_fence", "{refused}");
    assert_eq!(refused["holders"][0]["holder"], "bob", "{refused}");
    assert_eq!(git(&place, &["rev-parse", "HEAD"]), head);
    assert_eq!(fs::read(place.repo.join(".git/index")).expect("an index"), index, "byte for byte");
    assert!(place.log_of("file_commit").is_empty());
}

#[test]
fn sixteen_agents_commit_at_once_while_the_server_is_killed() {
    let place = Place::with(&[("MAX_AGENTS", "20")]);
    let names: Vec<String> = (0..AGENTS).map(|number| format!("agent{number}")).collect();
    let agents: Vec<Agent> = names.iter().map(|name| place.join(&[name])).collect();
    std::thread::scope(|scope| {
        for (number, agent) in agents.iter().enumerate() {
            let place = &place;
            scope.spawn(move || commit_in_turn(place, agent, number));
        }
        // In the middle of it, twice.
        for wanted in [AGENTS * COMMITS / 4, AGENTS * COMMITS / 2] {
            support::eventually("commits are made", || {
                git(&place, &["rev-list", "--count", "HEAD"]).trim().parse::<usize>().expect("a number")
                    > wanted
            });
            place.kill_server();
        }
    });
    let commits = git(
        &place,
        &[
            "log",
            "--reverse",
            "--format=%x01%(trailers:key=Agent,valueonly,separator=)",
            "--name-only",
            "-z",
            "HEAD~1..HEAD",
        ],
    );
    assert!(!commits.is_empty());
    let mut made = 0;
    for id in git(&place, &["rev-list", "--reverse", "HEAD"]).lines().skip(1) {
        let name =
            git(&place, &["show", "--no-patch", "--format=%(trailers:key=Agent,valueonly,separator=)", id]);
        let files = git(&place, &["show", "--format=", "--name-only", id]);
        let own = format!("work/{}/", name.trim());
        assert!(
            files.lines().all(|file| file.starts_with(&own)),
            "{id} of {name} has foreign files: {files}"
        );
        assert_eq!(files.lines().count(), 1, "{id}");
        made += 1;
    }
    assert_eq!(made, AGENTS * COMMITS);
    assert_eq!(git(&place, &["diff", "--cached", "--name-only"]), "", "nothing stays staged");
    assert_eq!(git(&place, &["status", "--porcelain"]), "", "nothing is left");
    git(&place, &["fsck", "--strict"]);
}

/// Commits one file after the other, asking again if the server went away.
fn commit_in_turn(place: &Place, agent: &Agent, number: usize) {
    let mut wire = None;
    let mut ask = |op: &str, input: Value| loop {
        let asking = wire.get_or_insert_with(|| Wire::connect(place).asking_as(agent));
        match asking.ask(op, input.clone()) {
            Ok(output) => return output,
            Err(No::Refused(error)) => panic!("{op} of agent{number}: {error}"),
            Err(No::Broken(_)) => wire = None,
        }
    };
    ask("lock", json!({ "paths": [format!("work/agent{number}/")] }));
    for commit in 0..COMMITS {
        let path = format!("work/agent{number}/{commit}.txt");
        write(place, &path, "work\n");
        // Asked again after a crash, it finds the file committed already: then there is nothing to commit.
        ask("commit", json!({ "message": format!("{path}") }));
        assert!(git(place, &["cat-file", "-e", &format!("HEAD:{path}")]).is_empty(), "{path} is committed");
    }
}

/// An agent may write into `.git` and to the user's settings of git. The server's git does not write where these lead, and tells
/// nothing of it.
#[test]
fn what_an_agent_writes_for_git_leads_it_nowhere() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs", "docs/"]);
    place.json_as(&bob, &["lock", "src/b.rs"]);
    let before = fs::read(place.repo.join("src/a.rs")).expect("a file");
    let (traced, git_dir) = (place.dir().join("traced"), place.repo.join(".git"));
    let settings = format!(
        "[trace2]\n\tnormalTarget = {0}\n\teventTarget = {0}\n\tperfTarget = {0}\n",
        traced.display()
    );
    fs::write(place.dir().join(".gitconfig"), settings).expect("written");
    let secret = fs::read_to_string(place.home.join("secret")).expect("a secret");
    let docs = place.repo.join("docs");
    fs::create_dir(&docs).expect("made");
    for (at, to) in [
        ("logs/refs/heads/main", place.repo.join("src/a.rs")),
        ("logs/refs/heads/main", place.dir().join("new")),
        ("refs/heads/comity", docs.clone()),
        ("worktrees", docs.clone()),
        ("packed-refs", place.home.join("secret")),
        ("MERGE_HEAD", place.home.join("secret")),
    ] {
        write(&place, "src/b.rs", &format!("// {at}\n"));
        let (link, kept) = (git_dir.join(at), place.dir().join("kept"));
        let was_there = fs::rename(&link, &kept).is_ok();
        std::os::unix::fs::symlink(&to, &link).expect("a link");
        for act in [&["commit", "-m", "It"][..], &["worktree", "add", "login"]] {
            let ran = place.run_as(&bob, act);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(!said.contains(secret.trim()), "{at}: {ran:?}");
            assert!(said.contains("is a symbolic link that leads out of the git directory"), "{at}: {ran:?}");
            assert!(ran.code != 0 || said.contains("NO WORKTREE"), "{at}: {ran:?}");
        }
        fs::remove_file(&link).expect("removed");
        if was_there {
            fs::rename(&kept, &link).expect("back");
        }
        assert_eq!(fs::read(place.repo.join("src/a.rs")).expect("a file"), before, "{at}");
        assert_eq!(fs::read_dir(&docs).expect("a directory").count(), 0, "{at}");
        assert!(!place.dir().join("new").exists(), "{at}");
    }
    assert_eq!(place.json_as(&bob, &["commit", "-m", "It"])["files"][0]["path"], "src/b.rs");
    place.json_as(&bob, &["worktree", "add", "login"]);
    assert!(!traced.exists());
}

#[test]
fn what_stands_for_a_commit_gets_into_no_other() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json_as(&bob, &["lock", "src/b.rs"]);
    write(&place, "src/a.rs", "EVIL\n");
    let tree = git(&place, &["stash", "create"]);
    git(&place, &["checkout", "--quiet", "src/a.rs"]);
    let evil = git(&place, &["commit-tree", &format!("{}^{{tree}}", tree.trim()), "-m", "evil"]);
    git(&place, &["replace", "HEAD", evil.trim()]);
    write(&place, "src/b.rs", "// of bob\n");
    assert_eq!(place.json_as(&bob, &["commit", "-m", "It"])["files"][0]["path"], "src/b.rs");
    let made = place.json_as(&bob, &["worktree", "add", "login"]);
    let path = Path::new(made["path"].as_str().expect("a path")).join("src/a.rs");
    assert_eq!(fs::read_to_string(path).expect("a file"), "fn main() {}\n");
    let changed =
        git(&place, &["--no-replace-objects", "diff-tree", "--name-only", "-r", "--no-commit-id", "HEAD"]);
    assert_eq!(changed, "src/b.rs\n");
}
