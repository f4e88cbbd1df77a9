//! What stays held while a command runs, whatever the holder does outside and the command inside.

use std::fs;
use std::process::Child;

use crate::place::{BEFORE, Place, said};

#[test]
fn a_file_that_its_holder_replaces_is_held_again() {
    Place::of_all_users().iter().for_each(check_replaced);
}

fn check_replaced(place: &Place) {
    let held = place.held(&["src/a.rs"]);
    // The command says that it runs, and writes when it is told to.
    let again =
        "read go; while [ -w src/a.rs ] && [ $SECONDS -lt 20 ]; do :; done; echo more >>src/a.rs; echo $?";
    let line = &format!("echo ready; {again}; {again}");
    let mut child = place.start(&held, line);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("a pipe")));
    let mut next = || lines.next().expect("a line").expect("text");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut go = || std::io::Write::write_all(&mut stdin, b"go\n").expect("told");
    assert_eq!(next(), "ready");
    replace(place, "saved once\n");
    go();
    assert_ne!(next(), "0", "the new file is held, too");
    replace(place, "saved twice\n");
    go();
    assert_ne!(next(), "0", "and the next one");
    assert_eq!(place.read("src/a.rs"), "saved twice\n");
    child.wait().expect("an end");
}

/// Saves as editors do.
fn replace(place: &Place, text: &str) {
    let unfinished = place.at("src/.unfinished");
    fs::write(&unfinished, text).expect("written");
    fs::rename(unfinished, place.at("src/a.rs")).expect("renamed");
}

#[test]
fn a_path_that_is_not_there_yet_is_held_once_it_is() {
    let place = Place::new();
    let line = "while [ -w src/new.rs ] && [ $SECONDS -lt 20 ]; do :; done; echo more >>src/new.rs";
    let child = waiting(&place, &["src/new.rs"], line);
    fs::write(place.at("src/new.rs"), BEFORE).expect("written");
    let said = go(child);
    assert!(said.starts_with("exit status: 1"), "{said}");
    assert_eq!(place.read("src/new.rs"), BEFORE);
}

#[test]
fn the_process_that_keeps_the_mounts_is_closed_to_the_command() {
    for place in Place::of_all_users() {
        // Whoever can write to its memory makes it take the mounts away.
        let line = "for p in /proc/[0-9]*; do \
            [ $p = /proc/$$ ] || { { : 8<>$p/mem; } 2>/dev/null && echo open $p $(cat $p/comm); }; done";
        let output = place.run(&place.held(&["src/a.rs"]), line);
        assert!(!said(&output).contains("open"), "{}", said(&output));
    }
}

/// A command that waits for a line, then runs the rest.
fn waiting(place: &Place, held: &[&str], line: &str) -> Child {
    let mut child = place.start(&place.held(held), &format!("echo ready; read go; {line}"));
    let mut ready = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut ready).expect("it runs");
    child
}

fn go(mut child: Child) -> String {
    std::io::Write::write_all(child.stdin.as_mut().expect("a pipe"), b"go\n").expect("told");
    said(&child.wait_with_output().expect("an end"))
}

/// Waits until a path and the directory above it are held again, as the command sees it.
const UNTIL_HELD: &str = "while [ $SECONDS -lt 20 ] && \
    { [ -w src/a.rs ] || ! grep -q \" $PWD/src \" /proc/self/mountinfo; }; do :; done";

#[test]
fn directories_that_the_holder_replaces_are_held_again() {
    for place in Place::of_all_users() {
        let line = format!("{UNTIL_HELD}; mv src elsewhere && echo more >elsewhere/a.rs");
        let ways: [fn(&Place); 3] = [
            |place| {
                fs::remove_dir_all(place.at("src")).expect("removed");
                fs::create_dir(place.at("src")).expect("made");
            },
            |place| {
                fs::rename(place.at("src"), place.at("old")).expect("renamed");
                fs::create_dir(place.at("src")).expect("made");
                fs::remove_dir_all(place.at("old")).expect("removed");
            },
            |place| {
                fs::create_dir(place.at("next")).expect("made");
                fs::rename(place.at("src"), place.at("old")).expect("renamed");
                fs::rename(place.at("next"), place.at("src")).expect("renamed");
                fs::remove_dir_all(place.at("old")).expect("removed");
            },
        ];
        for replace in ways {
            let child = waiting(&place, &["src/a.rs"], &line);
            replace(&place);
            fs::write(place.at("src/a.rs"), BEFORE).expect("written");
            let said = go(child);
            assert!(!place.at("elsewhere").exists(), "{said}");
            assert_eq!(place.read("src/a.rs"), BEFORE, "{said}");
            if let Some(user) = place.user {
                std::os::unix::fs::chown(place.at("src"), Some(user), None).expect("given");
            }
        }
    }
}

#[test]
fn directories_above_a_path_that_was_not_there_are_held_once_it_is() {
    let place = Place::new();
    fs::remove_dir_all(place.at("src")).expect("removed");
    let line = format!("{UNTIL_HELD}; mv src elsewhere && echo more >elsewhere/a.rs");
    let child = waiting(&place, &["src/a.rs"], &line);
    fs::create_dir(place.at("src")).expect("made");
    fs::write(place.at("src/a.rs"), BEFORE).expect("written");
    let said = go(child);
    assert!(!place.at("elsewhere").exists(), "{said}");
    assert_eq!(place.read("src/a.rs"), BEFORE, "{said}");
}
