//! What a confined command can do, and what it cannot, without any server.
#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use comity_confine::{Confinement, Extent, NetworkAccess, enter};
use support::{BEFORE, Place, confine, said};

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
fn other_names_of_a_file_are_found() {
    let place = Place::new();
    let (file, link) = (place.at("src/a.rs"), place.at("docs/link"));
    assert!(comity_confine::other_names(&[place.at("")], std::slice::from_ref(&file)).is_empty());
    fs::hard_link(&file, &link).expect("linked");
    assert_eq!(comity_confine::other_names(&[place.at("")], &[file]), std::slice::from_ref(&link));
    // The same for a file in a directory that is held as a whole.
    assert_eq!(comity_confine::other_names(&[place.at("")], &[place.at("src")]), [link]);
    let all = [place.at("src"), place.at("docs")];
    assert!(comity_confine::other_names(&[place.at("")], &all).is_empty(), "all its names are held");
}

#[test]
fn confinement_can_be_nested() {
    Place::of_all_users().iter().for_each(check_nested);
}

fn check_nested(place: &Place) {
    let (outer, inner) = (place.held(&["src/a.rs"]), place.held(&["src/b.rs"]));
    let mut command =
        place.command(&outer, "echo more >>src/a.rs; echo more >>src/b.rs; echo more >>docs/deep/x.md");
    confine(&mut command, &inner);
    let output = command.output().expect("it starts");
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
fn a_process_goes_on_as_it_was_where_it_cannot_be_confined() {
    let place = Place::new();
    // Namespaces inside of namespaces end somewhere; the limit of this one is none at all.
    let line = format!(
        "echo 0 >/proc/sys/user/max_user_namespaces && '{}' --exact confined_or_not --nocapture --ignored",
        std::env::current_exe().expect("this test").display()
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount-proc", "--pid", "--fork", "bash", "-c", &line])
        .env("COMITY_TEST_HELD", place.at("src/a.rs"))
        .output()
        .expect("it starts");
    let said = said(&output);
    assert!(said.contains("user namespaces are not allowed here"), "{said}");
    assert!(said.contains("Forbidden"), "{said}");
}

/// Not a test by itself: [`a_process_goes_on_as_it_was_where_it_cannot_be_confined`] runs it.
#[test]
#[ignore = "run by another test"]
fn confined_or_not() {
    let Some(held) = std::env::var_os("COMITY_TEST_HELD") else { return };
    let confinement = Confinement { extent: Extent::Held(vec![held.into()]), network: NetworkAccess::Shared };
    let problem = enter(&confinement).expect_err("there are no namespaces left");
    println!("{problem}; {:?}", problem.kind);
}
