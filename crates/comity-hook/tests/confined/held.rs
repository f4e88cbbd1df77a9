//! What is held cannot be changed, and the rest can.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::place::{BEFORE, Place, described, said};

#[test]
fn a_held_file_cannot_be_changed_and_the_rest_can() {
    Place::of_all_users().iter().for_each(check_held_file);
}

fn check_held_file(place: &Place) {
    let held = place.held(&["src/a.rs"]);
    for line in [
        "echo more >>src/a.rs",
        "sed -i s/was/is/ src/a.rs",
        "mv src/b.rs src/a.rs",
        "rm -f src/a.rs",
        "ln src/a.rs other && echo more >other",
        "ln -s src/a.rs other && echo more >other",
        "cd src && echo more >a.rs",
        "mv src elsewhere",
        "mv \"$PWD\" \"$PWD.away\"",
        "echo more >/proc/self/cwd/src/a.rs",
        "echo more >/proc/self/root\"$PWD\"/src/a.rs",
    ] {
        let output = place.run(&held, line);
        assert!(!output.status.success(), "{line}: {}", said(&output));
        assert_eq!(place.read("src/a.rs"), BEFORE, "{line}");
        let _ = fs::remove_file(place.at("other"));
    }
    let output =
        place.run(&held, "cat src/a.rs && echo more >>src/b.rs && echo new >src/c.rs && mv src/c.rs d.rs");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(place.read("d.rs"), "new\n");
}

#[test]
fn a_held_directory_is_held_as_a_whole() {
    Place::of_all_users().iter().for_each(check_held_directory);
}

fn check_held_directory(place: &Place) {
    let held = place.held(&["docs", "docs/deep/x.md"]);
    for line in
        ["echo more >>docs/deep/x.md", "touch docs/new", "mkdir docs/deep/new", "rm -rf docs", "mv docs x"]
    {
        assert!(!place.run(&held, line).status.success(), "{line}");
    }
    assert_eq!(place.read("docs/deep/x.md"), BEFORE);
    // Where one stands is no way around it.
    let mut inside = place.command(&held, "echo more >>x.md");
    assert!(!inside.current_dir(place.at("docs/deep")).output().expect("it starts").status.success());
    assert_eq!(place.read("docs/deep/x.md"), BEFORE);
}

#[test]
fn the_mounts_cannot_be_taken_away() {
    Place::of_all_users().iter().for_each(check_mounts);
}

fn check_mounts(place: &Place) {
    let held = place.held(&["src/a.rs"]);
    for line in [
        "umount src/a.rs && echo more >src/a.rs",
        "umount -l src/a.rs && echo more >src/a.rs",
        "mount -o remount,bind,rw src/a.rs && echo more >src/a.rs",
        "unshare --mount sh -c 'umount src/a.rs; echo more >src/a.rs'",
        "unshare --user --map-root-user --mount sh -c 'umount src/a.rs; echo more >src/a.rs'",
        "unshare --user --map-root-user --mount sh -c 'mount -o remount,bind,rw src/a.rs; echo more >src/a.rs'",
        "unshare --user --map-root-user --mount sh -c 'mkdir m; mount --bind . m; echo more >m/src/a.rs'",
        "unshare --user --map-root-user --mount sh -c 'umount -l src; umount -l .; echo more >src/a.rs'",
        "unshare --user --map-root-user --mount sh -c 'mkdir m w; mount -t overlay o -o lowerdir=m,upperdir=.,workdir=../w m; echo more >m/src/a.rs'",
        "nsenter --mount --target 1 sh -c \"echo more >$PWD/src/a.rs\"",
        "nsenter --user --mount --target $PPID sh -c \"echo more >$PWD/src/a.rs\"",
        "echo more >/proc/1/root\"$PWD\"/src/a.rs",
        "echo more >/proc/$PPID/root\"$PWD\"/src/a.rs",
        "echo more >/proc/$PPID/cwd/src/a.rs",
        "chroot / sh -c \"echo more >$PWD/src/a.rs\"",
    ] {
        let output = place.run(&held, line);
        assert_eq!(place.read("src/a.rs"), BEFORE, "{line}: {}", said(&output));
    }
}

#[test]
fn confinement_can_be_nested() {
    Place::of_all_users().iter().for_each(check_nested);
}

fn check_nested(place: &Place) {
    let (outer, inner) = (place.held(&["src/a.rs"]), place.held(&["src/b.rs"]));
    let line = "echo more >>src/a.rs; echo more >>src/b.rs; echo more >>docs/deep/x.md";
    let output = place.nested(&[&outer, &inner], line).output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!((place.read("src/a.rs").as_str(), place.read("src/b.rs").as_str()), (BEFORE, BEFORE));
    assert_ne!(place.read("docs/deep/x.md"), BEFORE);
}

#[test]
fn a_sealed_command_writes_nothing_but_its_own_temporary_files() {
    Place::of_all_users().iter().for_each(check_sealed);
}

fn check_sealed(place: &Place) {
    let sealed = place.sealed();
    for line in [
        "echo more >>src/a.rs",
        "touch new",
        "touch \"$HOME\"/new-by-comity-test",
        "touch /var/lib/new-by-comity-test",
        "rm -rf src",
    ] {
        let output = place.run(&sealed, line);
        assert!(!output.status.success(), "{line}: {}", said(&output));
    }
    let mark = format!("/tmp/comity-sealed-{}", std::process::id());
    let line = format!(
        "cat src/a.rs && echo x >{mark} && cat {mark} && echo y >/dev/null && ls /proc/self/fd >/dev/null && cat <(echo z)"
    );
    let output = place.run(&sealed, &line);
    assert!(output.status.success(), "{}", said(&output));
    assert!(!Path::new(&mark).exists(), "its /tmp is its own");
    let loopback = "exec 3<>/dev/tcp/127.0.0.1/1";
    let output = place.run(&sealed, loopback);
    assert!(said(&output).contains("refused"), "there is a loopback, with nobody on it: {}", said(&output));
    assert_eq!(place.read("src/a.rs"), BEFORE);
}

#[test]
fn a_command_runs_as_it_was_where_it_cannot_be_confined_unless_it_must_be() {
    let place = Place::new();
    for (policy, runs) in [("auto", true), ("required", false)] {
        let mut rules = place.held(&["src/a.rs"]);
        rules["policy"] = policy.into();
        let confined = place.program().display().to_string();
        // Namespaces inside of namespaces end somewhere; the limit of this one is none at all.
        let line =
            format!("echo 0 >/proc/sys/user/max_user_namespaces && exec '{confined}' --told -- echo it ran");
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "bash", "-c", &line]);
        let mut child = unshare
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("a pipe").write_all(&described(&rules)).expect("told");
        let said = said(&child.wait_with_output().expect("an end"));
        assert_eq!(said.contains("it ran"), runs, "{policy}: {said}");
        assert_eq!(said.contains("user namespaces are not allowed here"), !runs, "{policy}: {said}");
    }
}
