//! What stays held in mount namespaces that a confined command makes for itself.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command};

use crate::place::{BEFORE, Place, said};

const SAVED: &str = "saved\n";

/// Waits for a line, then until a file is held, and writes to it; if told so, also until its directory is pinned.
const INNER: &str = "echo ready; read go
is_held() { [ ! -w $1 ]; }
is_pinned() { [ -z \"$pinned\" ] || grep -q \" $PWD/src \" /proc/self/mountinfo; }
until is_held $1 && is_pinned || [ $SECONDS -gt 20 ]; do :; done
echo more >>$1; echo wrote: $?; mv src elsewhere; echo more >>elsewhere/a.rs\n";

/// Starts a confined command that runs [`INNER`], and returns when that waits.
fn start(place: &Place, line: &str) -> Child {
    fs::write(place.at("inner"), INNER).expect("written");
    let mut child = place.start(&place.held(&["src/a.rs"]), line);
    let mut ready = [0; 6];
    let begun = child.stdout.as_mut().expect("a pipe").read_exact(&mut ready);
    if begun.is_err() {
        panic!("{line}: {}", said(&child.wait_with_output().expect("an end")));
    }
    child
}

fn go(mut child: Child) -> String {
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("told");
    said(&child.wait_with_output().expect("an end"))
}

/// Saves as editors do.
fn save(place: &Place) {
    fs::write(place.at("src/.unfinished"), SAVED).expect("written");
    fs::rename(place.at("src/.unfinished"), place.at("src/a.rs")).expect("renamed");
}

/// The holder saves while the command is in its own namespace, where it writes then.
#[track_caller]
fn check(line: &str) {
    for place in Place::of_all_users() {
        let child = start(&place, line);
        save(&place);
        let said = go(child);
        assert!(said.contains("wrote: "), "{line}: {said}");
        assert!(!place.at("elsewhere").exists(), "{line}: {said}");
        assert_eq!(place.read("src/a.rs"), SAVED, "{line}: {said}");
    }
}

#[test]
fn a_file_that_its_holder_replaces_is_held_again_in_nested_namespaces() {
    check("unshare -Urm bash inner src/a.rs");
    check("unshare -Urm unshare -Um bash inner src/a.rs");
    check("unshare -Urmpf --mount-proc bash inner src/a.rs");
}

#[test]
fn a_file_is_held_again_under_all_its_names() {
    check("mkdir m; unshare -Urm bash -c 'mount --rbind src m; . ./inner' x m/a.rs");
    check("mkdir m; unshare -Urm bash -c 'mount --rbind src m; . ./inner' x src/a.rs");
    check(
        "mkdir m; unshare -Urm bash -c 'mount --rbind / m; chroot m bash -c \"cd $PWD; . ./inner\" x src/a.rs'",
    );
    // What is called /proc there is something else.
    check("mkdir m; unshare -Urm bash -c 'mount -t tmpfs none /proc; . ./inner' x src/a.rs");
}

#[test]
fn a_file_is_held_again_in_bubblewrap() {
    if Command::new("bwrap").arg("--version").output().is_err() {
        return comity_skip::skip("a_file_is_held_again_in_bubblewrap", "bwrap is not installed");
    }
    check("bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-all bash inner src/a.rs");
    check(
        "bwrap --unshare-user --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib \
         --symlink usr/lib64 /lib64 --bind . /r --chdir /r bash inner src/a.rs",
    );
}

#[test]
fn one_namespace_that_cannot_be_used_is_in_nobodys_way() {
    // In the first one the directory is covered, and the second one is emptied.
    check(
        "unshare -Urm sh -c 'mount -t tmpfs none src; echo a >one; exec sleep 60' & \
         unshare -Urm sh -c 'mount -t tmpfs none /tmp; echo a >&3; exec sleep 60' 3>two & \
         while [ ! -s one ] || [ ! -s two ]; do :; done; \
         unshare -Urm bash inner src/a.rs; kill %1 %2",
    );
}

#[test]
fn what_is_left_in_a_nested_namespace_stays_held_when_the_command_has_ended() {
    for place in Place::of_all_users() {
        let mut child = start(&place, "unshare -Urm bash inner src/a.rs <&0 &");
        let mut stdin = child.stdin.take().expect("a pipe");
        child.wait().expect("an end");
        save(&place);
        stdin.write_all(b"go\n").expect("told");
        let said = said(&child.wait_with_output().expect("an end"));
        assert!(said.contains("wrote: "), "{said}");
        assert_eq!(place.read("src/a.rs"), SAVED, "{said}");
    }
}

#[test]
fn a_directory_that_its_holder_replaces_is_held_again_in_nested_namespaces() {
    for place in Place::of_all_users() {
        let child = start(&place, "pinned=1 unshare -Urm bash inner src/a.rs");
        fs::rename(place.at("src"), place.at("old")).expect("renamed");
        fs::create_dir(place.at("src")).expect("made");
        fs::write(place.at("src/a.rs"), BEFORE).expect("written");
        let said = go(child);
        assert!(said.contains("wrote: "), "{said}");
        assert!(!place.at("elsewhere").exists(), "{said}");
        assert_eq!(place.read("src/a.rs"), BEFORE, "{said}");
    }
}
