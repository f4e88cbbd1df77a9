//! Panes in iTerm2, by a program that answers as `it2` does and keeps sessions in a directory.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_runner::{LaunchPlace, PanePlace, RunnerError, RunnerEvent};
use support::*;

/// What `it2` says and does, with a file for each session. What runs in a session is no child of it.
const IT2: &str = r#"#!/bin/bash
dir=$(dirname "$0"); echo "$*" >>"$dir/asked"
case "$1 $2" in
"session list") cd "$dir/sessions" && printf '[{"id": "%s"}]\n' *; exit;;
esac
shift; verb=$1; shift; vertical=; session=; words=()
while [ $# -gt 0 ]; do case "$1" in
  --session) session=$2; shift;; --vertical|--json|--) ;; *) words+=("$1");; esac; shift; done
[ -e "$dir/broken" ] && { echo "Error: not connected" >&2; exit 2; }
[ -e "$dir/sessions/$session" ] || { echo "Error: Session '$session' not found" >&2; exit 3; }
case $verb in
split) new=S$(($(wc -l <"$dir/made") + 1)); echo "$session" >>"$dir/made"; : >"$dir/sessions/$new"; echo "Created new pane: $new";;
run) setsid -f bash -c "${words[0]}" </dev/null >/dev/null 2>&1;;
*) exit 4;;
esac
"#;

struct FakeIterm2 {
    dir: tempfile::TempDir,
}

impl FakeIterm2 {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sessions")).unwrap();
        let it2 = Self { dir };
        for file in ["sessions/L", "made", "asked"] {
            fs::write(it2.file(file), "").unwrap();
        }
        fs::write(it2.file("it2"), IT2).unwrap();
        fs::set_permissions(it2.file("it2"), fs::Permissions::from_mode(0o755)).unwrap();
        it2
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn place(&self) -> PanePlace {
        PanePlace::Iterm2 { it2: self.file("it2"), leader: "w0t0p0:L".into() }
    }

    /// The calls that split, since it was looked at last.
    fn splits(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.file("asked")).unwrap();
        fs::write(self.file("asked"), "").unwrap();
        asked.lines().filter_map(|line| line.strip_prefix("session split ")).map(str::to_owned).collect()
    }
}

fn launch_in(place: &Place, it2: &FakeIterm2, key: &str) -> Result<(), RunnerError> {
    let mut launch = place.launch(key, "sleep 1000");
    launch.place = LaunchPlace::Pane(it2.place());
    place.runner().launch(vec![launch])
}

#[test]
fn the_first_splits_the_leader_and_the_next_ones_the_last_worker() {
    let (place, it2) = (Place::new(), FakeIterm2::new());
    for key in ["ann", "bob", "cat"] {
        launch_in(&place, &it2, key).unwrap();
        place.started(key);
    }
    assert_eq!(it2.splits(), ["--vertical --session L", "--session S1", "--session S2"]);
    let focus = place.runner().attach_command("bob").unwrap();
    assert_eq!(focus[1..], ["session", "focus", "S2"]);
    place.runner().end("ann", Duration::from_millis(10)).unwrap();
    assert!(matches!(place.next(), RunnerEvent::Ended { key, .. } if key == "ann"));
    assert!(marked(&mark(place.dir(), "ann")).is_empty());
}

/// What a start asks to be split once these sessions are gone, with three workers there before.
fn check(gone: &[&str], splits: &[&str], is_started: bool) {
    let (place, it2) = (Place::new(), FakeIterm2::new());
    for key in ["ann", "bob", "cat"] {
        launch_in(&place, &it2, key).unwrap();
        place.started(key);
    }
    it2.splits();
    for session in gone {
        fs::remove_file(it2.file("sessions").join(session)).unwrap();
    }
    assert_eq!(launch_in(&place, &it2, "dan").is_ok(), is_started, "{gone:?}");
    assert_eq!(it2.splits(), splits, "{gone:?}");
    // What is known to be gone is not asked for again.
    let again = launch_in(&place, &it2, "eve");
    let tries = it2.splits();
    assert_eq!((again.is_ok(), tries.len()), (is_started, 1), "{tries:?}");
}

#[test]
fn sessions_that_have_vanished_are_forgotten_and_the_ones_before_are_split() {
    check(&[], &["--session S3"], true);
    check(&["S3"], &["--session S3", "--session S2"], true);
    check(&["S1"], &["--session S3"], true);
    check(&["S2", "S3"], &["--session S3", "--session S2", "--session S1"], true);
    let all = ["--session S3", "--session S2", "--session S1", "--vertical --session L"];
    check(&["S1", "S2", "S3"], &all, true);
    // Three workers: four tries, and no more.
    check(&["S1", "S2", "S3", "L"], &all, false);
}

#[test]
fn one_that_is_there_and_cannot_be_split_is_not_forgotten() {
    let (place, it2) = (Place::new(), FakeIterm2::new());
    launch_in(&place, &it2, "ann").unwrap();
    place.started("ann");
    fs::write(it2.file("broken"), "").unwrap();
    let refused = launch_in(&place, &it2, "bob").unwrap_err();
    assert_eq!(refused.to_string(), "it2: Error: not connected");
    fs::remove_file(it2.file("broken")).unwrap();
    it2.splits();
    launch_in(&place, &it2, "cat").unwrap();
    place.started("cat");
    assert_eq!(it2.splits(), ["--session S1"]);
}

#[test]
fn without_it2_it_is_said() {
    let place = Place::new();
    let mut launch = place.launch("ann", "sleep 1000");
    let it2 = Path::new("/no/such/it2").to_owned();
    launch.place = LaunchPlace::Pane(PanePlace::Iterm2 { it2, leader: "L".into() });
    assert!(place.runner().launch(vec![launch]).unwrap_err().to_string().starts_with("can't start it2: "));
}
