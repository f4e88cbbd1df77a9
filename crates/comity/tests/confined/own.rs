//! What is Comity's own is read-only for commands of agents, and what they ask of it works all the same.

use std::fs;

use super::{confined, place};
use crate::support::{Agent, BINARY, Place, Ran};

fn run(place: &Place, agent: &Agent, line: &str) -> Ran {
    Ran::of(confined(place, agent, line).env("C", BINARY).output().expect("it runs"))
}

#[test]
fn a_command_changes_neither_the_state_nor_the_settings() {
    let place = Place::new();
    // Nobody holds anything here.
    let ann = place.join(&["ann"]);
    let settings = place.dir().join(".config/comity");
    for line in [
        "echo x >>$COMITY_HOME/log.db",
        "echo '[guard]' >$COMITY_HOME/comity.toml",
        "echo '[guard]' >$HOME/.config/comity/comity.toml",
        "mkdir -p $HOME/.config/comity/x",
        "rm -f $COMITY_HOME/comity.sock",
        "rm -f $COMITY_HOME/secret",
        "mv $COMITY_HOME $COMITY_HOME.old",
        "mv $HOME/.config $HOME/.other",
        "mv $HOME/.config/comity $HOME/.config/other",
    ] {
        let ran = run(&place, &ann, line);
        assert_ne!(ran.code, 0, "{line}: {ran:?}");
    }
    assert!(settings.is_dir() && place.home.join("comity.sock").exists());
    assert!(fs::read_dir(settings).expect("there").next().is_none());
    assert_eq!(
        run(&place, &ann, "echo x >$HOME/.config/other && echo y >new").code,
        0,
        "the rest is as it was"
    );
    // A person's are not confined.
    let mut human = place.comity(&["confine", "-c", "echo '[guard]' >>$COMITY_HOME/comity.toml"]);
    assert_eq!(Ran::of(human.output().expect("it runs")).code, 0);
}

#[test]
fn a_command_asks_the_server_as_ever() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let line = "set -e; $C whoami; $C lock src/b.rs; echo x >>src/b.rs; $C locks; $C mail send bob -m hello; \
        $C commit -m 'Change b'; $C status; $C unlock src/b.rs; $C check src/b.rs";
    let ran = run(&place, &ann, line);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("ann"), "{ran:?}");
    assert!(ran.out.contains("committed 1 file"), "{ran:?}");
}

#[test]
fn a_command_starts_no_server() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let stop = format!("COMITY_TOKEN={} $C down", crate::support::HUMAN);
    for words in ["locks", "up", "serve", "whoami"] {
        let ran = run(&place, &ann, &format!("{stop} >&2; $C {words}"));
        assert_ne!(ran.code, 0, "{words}: {ran:?}");
        for said in ["confined", "read-only", "terminal of your own", "comity up"] {
            assert!(ran.err.contains(said), "{words} {said}: {ran:?}");
        }
        assert_eq!(place.server(), None, "{words}");
    }
    // With a state directory of its own, such as a test has, it may do what it likes.
    let ran = run(&place, &ann, "export COMITY_HOME=$HOME/mine; unset COMITY_TOKEN; $C up && $C down");
    assert!(ran.out.contains("it is up"), "{ran:?}");
}

#[test]
fn a_command_whose_working_directory_is_gone_is_confined() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    for mode in ["build", "plan"] {
        if mode == "plan" {
            place.json(&["mode", "ann", "plan"]);
        }
        let line = format!(
            "mkdir src/gone && cd src/gone && rmdir ../gone && exec {BINARY} confine -c 'echo x >../a.rs; echo x >{}'",
            place.repo.join("src/a.rs").display()
        );
        let mut bash = place.program("bash");
        bash.args(["-c", &line]).env("COMITY_TOKEN", &ann.token);
        let ran = Ran::of(bash.output().expect("it runs"));
        assert!(super::ways::is_untouched(&place.repo), "{mode}: {ran:?}");
        assert!(ran.err.contains("Read-only file system"), "{mode}: {ran:?}");
    }
}

#[test]
fn another_name_of_a_file_in_a_held_directory_is_held() {
    let (place, bob) = place();
    place.json_as(&bob, &["lock", "docs/"]);
    fs::create_dir_all(place.repo.join("docs/deep")).expect("made");
    fs::write(place.repo.join("docs/deep/d.md"), "as it was").expect("written");
    fs::hard_link(place.repo.join("docs/deep/d.md"), place.repo.join("linked")).expect("linked");
    let ann = place.join(&["ann"]);
    let ran = run(&place, &ann, "echo x >linked");
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(fs::read_to_string(place.repo.join("linked")).expect("there"), "as it was");
}

#[test]
fn worktrees_that_are_kept_in_the_state_directory_can_be_worked_in() {
    let place = Place::new();
    place.set(&format!("[worktree]\ndir = \"{}\"\n", place.home.join("trees").display()));
    let ann = place.join(&["ann"]);
    let made = place.json_as(&ann, &["worktree", "add", "mine"]);
    let path = made["path"].as_str().expect("a path").to_owned();
    let ran = run(&place, &ann, &format!("echo x >{path}/new && ! echo x >>$COMITY_HOME/log.db"));
    assert_eq!(ran.code, 0, "{ran:?}");
}
