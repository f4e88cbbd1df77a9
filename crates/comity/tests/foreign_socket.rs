//! A socket that another user may have planted: nothing is sent to it, and hooks say no.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{Place, Ran, beside, is_root, skip};

const NOBODY: u32 = 65_534;
const PAYLOAD: &str = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write",
    "tool_input":{"file_path":"src/a.rs","content":"stolen"}}"#;

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
}

fn private(path: &Path) -> PathBuf {
    std::fs::create_dir_all(path).expect("made");
    mode(path, 0o700);
    path.to_owned()
}

/// Everything that a client does: what a person runs, an agent's token, and hooks.
fn clients(place: &Place) -> Vec<(Command, Option<&'static str>)> {
    let with_token = |mut command: Command| {
        command.env("COMITY_TOKEN", "cmty_secret");
        command
    };
    // A state directory that somebody else can write to opens no gate either.
    let open = |mut command: Command| {
        command.env("COMITY_GUARD_POLICY", "open");
        command
    };
    vec![
        (place.comity(&["status"]), None),
        (with_token(place.comity(&["lock", "src/a.rs"])), None),
        (place.comity(&["down"]), None),
        (place.comity(&["mcp", "--name", "eve"]), None),
        (with_token(place.comity(&["hook", "claude"])), Some(PAYLOAD)),
        (open(place.comity(&["hook", "claude"])), Some(PAYLOAD)),
        (with_token(place.comity(&["hook", "check", "src/a.rs"])), None),
        // The programs that hooks and shells start, as they are shipped. A server that says that nothing is held is worth most
        // to these.
        (with_token(shipped(place, "comity-hook", &["claude"])), Some(PAYLOAD)),
        (open(shipped(place, "comity-hook", &["claude"])), Some(PAYLOAD)),
        (with_token(shipped(place, "comity-confine", RAN)), None),
        (open(with_token(shipped(place, "comity-confine", RAN))), None),
        (with_token(place.comity(&[&["confine"], RAN].concat())), None),
        (place.comity(&["mail", "send", "ann", "-m", "secret"]), None),
        (place.comity(&["mail", "spool", "ann", "-m", "secret"]), None),
    ]
}

/// A command that shows whether it ran.
const RAN: &[&str] = &["-c", "touch ran"];

fn shipped(place: &Place, name: &str, words: &[&str]) -> Command {
    let mut command = place.program(beside(name));
    command.args(words);
    command
}

fn run(command: &mut Command, input: Option<&str>) -> Ran {
    let mut running = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let running = running.as_mut().expect("comity runs");
    let mut stdin = running.stdin.take().expect("an input");
    // It may well not read it.
    let _ = stdin.write_all(input.unwrap_or_default().as_bytes());
    drop(stdin);
    let (mut out, mut err) = (String::new(), String::new());
    running.stdout.take().expect("an output").read_to_string(&mut out).expect("text");
    running.stderr.take().expect("an output").read_to_string(&mut err).expect("text");
    Ran { code: running.wait().expect("an end").code().unwrap_or(-1), out, err }
}

/// Every client refuses and says so, and the listener is not called.
fn check(place: &Place, listener: &UnixListener, expected: &str) {
    listener.set_nonblocking(true).expect("set");
    for (mut command, input) in clients(place) {
        let ran = run(&mut command, input);
        assert_ne!(ran.code, 0, "{command:?}: {ran:?}");
        if input.is_some() {
            assert_eq!(ran.code, 2, "a hook that can't ask says no: {ran:?}");
        }
        assert!(!place.repo.join("ran").exists(), "{command:?} ran what it could not ask about: {ran:?}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(expected), "{command:?}: {said}");
        assert!(listener.accept().is_err(), "{command:?} called somebody else");
    }
    let left = std::fs::read_dir(&place.home).expect("a directory").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).filter(|name| name != "comity.sock").collect();
    assert!(left.is_empty(), "something was written there: {left:?}");
}

#[test]
fn a_directory_of_another_user() {
    if !is_root() {
        return skip("a_directory_of_another_user", "only root can make one");
    }
    let place = Place::without_state();
    private(&place.home);
    let listener = UnixListener::bind(place.socket()).expect("listens");
    for path in [&place.socket(), &place.home] {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
    }
    check(&place, &listener, "belongs to somebody else");
    // The socket alone is another's: the directory was open once.
    chown(&place.home, Some(0), Some(0)).expect("taken back");
    check(&place, &listener, "belongs to another user");
}

#[test]
fn a_directory_that_others_can_enter() {
    let place = Place::without_state();
    private(&place.home);
    let listener = UnixListener::bind(place.socket()).expect("listens");
    for open in [0o777, 0o755, 0o711] {
        mode(&place.home, open);
        check(&place, &listener, &format!("chmod 700 {}", place.home.display()));
    }
}

#[test]
fn a_link_in_place_of_the_directory_or_of_the_socket() {
    let place = Place::without_state();
    let elsewhere = private(&place.dir().join("elsewhere"));
    let listener = UnixListener::bind(elsewhere.join("comity.sock")).expect("listens");
    symlink(&elsewhere, &place.home).expect("linked");
    check(&place, &listener, "is not a directory");
    std::fs::remove_file(&place.home).expect("removed");
    private(&place.home);
    symlink(elsewhere.join("comity.sock"), place.socket()).expect("linked");
    check(&place, &listener, "isn't a socket");
}

#[test]
fn the_short_place_of_a_long_path() {
    if !is_root() {
        return skip("the_short_place_of_a_long_path", "only root can give a directory away");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let runtime = private(&dir.path().join("run"));
    let home = private(&dir.path().join("x".repeat(150)));
    let variable = [("XDG_RUNTIME_DIR", runtime.to_str().expect("a text"))];
    let place = Place::at(dir, home, &variable);
    let up = place.run(&["up"]);
    assert_eq!(up.code, 0, "{up:?}");
    place.json(&["down"]);
    let socket = std::fs::read_dir(&runtime).expect("a directory").next();
    assert!(socket.is_none(), "it was removed: {socket:?}");
    // The name of the socket is no secret.
    place.json(&["up"]);
    let socket = std::fs::read_dir(&runtime).expect("a directory").next().expect("one").expect("one").path();
    place.json(&["down"]);
    let listener = UnixListener::bind(&socket).expect("listens");
    chown(&runtime, Some(NOBODY), Some(NOBODY)).expect("given away");
    listener.set_nonblocking(true).expect("set");
    let ran = run(&mut place.comity(&["hook", "claude"]), Some(PAYLOAD));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("belongs to somebody else"), "{ran:?}");
    assert!(listener.accept().is_err(), "it was not called");
}

#[test]
fn a_listener_of_another_user_behind_a_socket_of_ours() {
    const SELF: &str = "a_listener_of_another_user_behind_a_socket_of_ours";
    if let Some(socket) = std::env::var_os("LISTEN_AS_NOBODY") {
        let listener = UnixListener::bind(socket).expect("listens");
        let (mut stream, _) = listener.accept().expect("somebody calls");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("text");
        assert_eq!(said, "", "it was told something");
        return;
    }
    if !is_root() || !support::has_program("setpriv") {
        return skip(SELF, "root and setpriv are needed to become somebody else");
    }
    let place = Place::without_state();
    mode(place.dir(), 0o755);
    let copy = place.dir().join("test");
    let own = std::env::current_exe().expect("this program");
    place.copy_program(own.to_str().expect("a text"), &copy);
    mode(&copy, 0o755);
    let theirs = private(&place.dir().join("theirs"));
    chown(&theirs, Some(NOBODY), Some(NOBODY)).expect("given away");
    let planted = theirs.join("planted.sock");
    let mut command = place.program("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy).args(["--exact", SELF]);
    let listening = place.start(command.env("LISTEN_AS_NOBODY", &planted).current_dir("/"));
    support::eventually("the socket", || planted.exists());
    private(&place.home);
    std::fs::rename(&planted, place.socket()).expect("moved");
    chown(place.socket(), Some(0), Some(0)).expect("taken");
    let ran = run(place.comity(&["hook", "claude"]).env("COMITY_TOKEN", "cmty_secret"), Some(PAYLOAD));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("is answered by another user (65534)"), "{ran:?}");
    let heard = listening.finish();
    assert_eq!(heard.code, 0, "{heard:?}");
}
