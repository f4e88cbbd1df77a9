//! What a confined command can do, and what it cannot, without any server.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use comity_confine::{Confinement, Extent, Network, enter};

const BEFORE: &str = "as it was\n";

/// Who is nobody in particular.
const NOBODY: u32 = 65_534;

struct Place {
    dir: tempfile::TempDir,
    /// Who runs commands here, if not who runs the tests.
    user: Option<u32>,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        let place = Place { dir, user: None };
        for file in ["src/a.rs", "src/b.rs", "docs/deep/x.md"] {
            let file = place.at(file);
            fs::create_dir_all(file.parent().expect("a directory")).expect("made");
            fs::write(file, BEFORE).expect("written");
        }
        place
    }

    /// One for who runs the tests and, if that is root, one for an ordinary user.
    fn of_all_users() -> Vec<Place> {
        let mut places = vec![Place::new()];
        if fs::metadata(places[0].at("")).expect("a directory").uid() == 0 {
            let mut theirs = Place::new();
            let chown = Command::new("chown").args(["-R", "nobody"]).arg(theirs.at("")).status();
            assert!(chown.expect("it starts").success());
            theirs.user = Some(NOBODY);
            places.push(theirs);
        }
        places
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().expect("a path").join(path)
    }

    fn held(&self, paths: &[&str]) -> Confinement {
        let paths = paths.iter().map(|path| self.at(path)).collect();
        Confinement { extent: Extent::Held(paths), network: Network::Shared }
    }

    fn command(&self, confinement: &Confinement, line: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(self.at(""));
        self.user.map(|user| command.uid(user).gid(user));
        confine(&mut command, confinement);
        command
    }

    fn run(&self, confinement: &Confinement, line: &str) -> Output {
        self.command(confinement, line).output().expect("it starts")
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("a file")
    }
}

#[expect(unsafe_code, reason = "the one way to do something in a child before it becomes another program")]
fn confine(command: &mut Command, confinement: &Confinement) {
    let confinement = confinement.clone();
    // SAFETY: the child has a single thread; what it allocates is its own.
    unsafe {
        command.pre_exec(move || {
            // Who has just become another user is private until it becomes another program.
            libc::prctl(libc::PR_SET_DUMPABLE, 1);
            enter(&confinement).map_err(|problem| {
                eprintln!("{problem}");
                std::io::Error::other(problem)
            })
        });
    }
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{} {}{}", output.status, text(&output.stdout), text(&output.stderr))
}

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
fn a_directory_that_was_open_before_leads_nowhere_else() {
    use std::os::fd::AsRawFd;
    let place = Place::new();
    let opened = fs::File::open(place.at("")).expect("a directory");
    // Not closed on exec: the command inherits it.
    rustix_dup(&opened, 9);
    let output = place
        .run(&place.held(&["src/a.rs"]), "ls /proc/self/fd/9/src && echo more >/proc/self/fd/9/src/a.rs");
    assert!(said(&output).contains("a.rs") && !output.status.success(), "{}", said(&output));
    assert_eq!(place.read("src/a.rs"), BEFORE);
    assert!(opened.as_raw_fd() != 9);
}

#[expect(unsafe_code, reason = "a number that is given away is owned by nobody")]
fn rustix_dup(from: &fs::File, to: i32) {
    use std::os::fd::AsRawFd;
    // SAFETY: nobody in this test has that number.
    assert_eq!(unsafe { libc::dup2(from.as_raw_fd(), to) }, to);
}

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
    let mut command = place.command(&held, line);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
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
    let held = place.held(&["src/new.rs"]);
    let mut child = place
        .command(
            &held,
            "read go; while [ -w src/new.rs ] && [ $SECONDS -lt 20 ]; do :; done; echo more >>src/new.rs",
        )
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    fs::write(place.at("src/new.rs"), BEFORE).expect("written");
    std::io::Write::write_all(child.stdin.as_mut().expect("a pipe"), b"go\n").expect("told");
    assert!(!child.wait().expect("an end").success());
    assert_eq!(place.read("src/new.rs"), BEFORE);
}

#[test]
fn other_names_of_a_file_are_found() {
    let place = Place::new();
    let (file, link) = (place.at("src/a.rs"), place.at("docs/link"));
    assert!(comity_confine::other_names(&[place.at("")], std::slice::from_ref(&file)).is_empty());
    fs::hard_link(&file, &link).expect("linked");
    assert_eq!(comity_confine::other_names(&[place.at("")], &[file]), [link]);
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
    let shown = vec![place.at("")];
    let sealed = Confinement { extent: Extent::Everything { shown }, network: Network::None };
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
    assert!(said.contains("unchanged: true"), "{said}");
}

/// Not a test by itself: [`a_process_goes_on_as_it_was_where_it_cannot_be_confined`] runs it.
#[test]
#[ignore = "run by another test"]
fn confined_or_not() {
    let Some(held) = std::env::var_os("COMITY_TEST_HELD") else { return };
    let confinement = Confinement { extent: Extent::Held(vec![held.into()]), network: Network::Shared };
    let problem = enter(&confinement).expect_err("there are no namespaces left");
    println!("{problem}; unchanged: {}", problem.is_unchanged);
}
