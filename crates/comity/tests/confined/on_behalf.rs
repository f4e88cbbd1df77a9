//! Programs that the server runs on behalf of an agent: they are confined as that agent's commands are.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{confined, place, ways};
use crate::support::{Agent, BINARY, Place, Ran};

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
}

/// Lets an agent commit a file of its own with the repository's hooks, from a confined command.
fn commit(place: &Place, agent: &Agent, hook: &str, text: &str) -> Ran {
    script(&place.repo.join(".git/hooks").join(hook), text);
    place.json_as(agent, &["lock", "src/b.rs"]);
    fs::write(place.repo.join("src/b.rs"), format!("// {hook} {text}\n")).expect("written");
    let line = format!("{BINARY} commit --hooks -m 'Change b'");
    Ran::of(confined(place, agent, &line).output().expect("it runs"))
}

const EVIL: &str = "echo ran >>$HOME/ran; echo evil >>src/a.rs; echo evil >>$COMITY_HOME/log.db; exit 0";

#[test]
fn git_hooks_write_to_nothing_that_others_hold() {
    let (place, bob) = place();
    let ann = place.join(&["ann"]);
    for hook in ["pre-commit", "commit-msg"] {
        let ran = commit(&place, &ann, hook, EVIL);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ways::is_untouched(&place.repo), "{hook}: {ran:?}");
        fs::remove_file(place.repo.join(".git/hooks").join(hook)).expect("removed");
    }
    assert_eq!(fs::read_to_string(place.dir().join("ran")).expect("they ran"), "ran\nran\n");
    // What the agent holds itself its hooks may write to, and they may stage it.
    let format =
        "echo '// formatted' >>src/b.rs; git add src/b.rs; cat >/dev/null; ! git diff --quiet --cached";
    let ran = commit(&place, &ann, "pre-commit", format);
    assert_eq!(ran.code, 0, "{ran:?}");
    let committed = place.program("git").args(["show", "HEAD:src/b.rs"]).output().expect("git runs");
    assert!(Ran::of(committed).out.ends_with("// formatted\n"));
    drop(bob);
}

#[test]
fn git_hooks_of_a_person_are_not_confined() {
    let (place, _bob) = place();
    script(&place.repo.join(".git/hooks/pre-commit"), EVIL);
    place.json(&["lock", "src/b.rs"]);
    fs::write(place.repo.join("src/b.rs"), "mine\n").expect("written");
    place.json(&["commit", "--hooks", "-m", "Change b"]);
    assert!(!ways::is_untouched(&place.repo));
}

#[test]
fn settings_decide_about_git_hooks_too() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.set("[guard]\nconfine = \"off\"\n");
    place.run(&["down"]);
    let ran = commit(&place, &ann, "pre-commit", EVIL);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ways::is_untouched(&place.repo), "it is off");
}

#[test]
fn git_hooks_that_must_be_confined_do_not_run_otherwise() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/b.rs"]);
    fs::write(place.repo.join("src/b.rs"), "mine\n").expect("written");
    script(&place.repo.join(".git/hooks/pre-commit"), "touch ran");
    // The server itself runs where no namespaces can be made.
    let commit = |setting: &str| {
        place.set(&format!("[guard]\nconfine = \"{setting}\"\n"));
        place.run(&["down"]);
        let mut unshare = place.program("unshare");
        let line = "echo 0 >/proc/sys/user/max_user_namespaces; \"$COMITY\" up >/dev/null; \"$COMITY\" commit --hooks -m x";
        unshare.args(["--user", "--map-root-user", "bash", "-c", line]);
        unshare.env("COMITY", BINARY).env("COMITY_TOKEN", &ann.token);
        Ran::of(unshare.output().expect("it runs"))
    };
    let ran = commit("required");
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("guard.confine is \"required\""), "{ran:?}");
    assert!(!place.repo.join("ran").exists());
    let ran = commit("auto");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(place.repo.join("ran").exists());
}

#[test]
fn programs_that_make_and_remove_worktrees_write_to_nothing_that_others_hold() {
    let (place, bob) = place();
    let ann = place.join(&["ann"]);
    let evil = "echo evil >>src/a.rs; cat >/dev/null";
    let create = format!(
        "{evil}; to=$HOME/$COMITY_WORKTREE_SLUG; git worktree add -q -b $COMITY_WORKTREE_SLUG $to >&2; echo $to"
    );
    // What bob holds here he holds in this worktree, too; it can go all the same.
    let remove = format!("{evil}; git worktree remove $COMITY_WORKTREE_PATH");
    script(&place.dir().join("create"), &create);
    script(&place.dir().join("remove"), &remove);
    let hook = |name: &str| format!("{name}_hook = [\"{}\"]\n", place.dir().join(name).display());
    place.set(&format!("[worktree]\n{}{}", hook("create"), hook("remove")));
    place.run(&["down"]);
    // So can one with settings of an agent program, which no agent's command removes.
    fs::create_dir(place.repo.join(".claude")).expect("made");
    fs::write(place.repo.join(".claude/settings.json"), "{}").expect("written");
    place.git(&["add", ".claude"]);
    place.git(&["commit", "--quiet", "--message=settings"]);
    let made = place.json_as(&ann, &["worktree", "add", "mine"]);
    let path = Path::new(made["path"].as_str().expect("a path"));
    assert!(path.join("src/a.rs").exists() && ways::is_untouched(&place.repo));
    let ran = place.run_as(&ann, &["worktree", "remove", "mine", "--wait"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!path.exists() && ways::is_untouched(&place.repo), "{ran:?}");
    // Who is in plan mode makes nothing.
    place.json(&["mode", "ann", "plan"]);
    let ran = place.run_as(&ann, &["worktree", "add", "other"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(!path.with_file_name("other").exists() && ways::is_untouched(&place.repo), "{ran:?}");
    drop(bob);
}
