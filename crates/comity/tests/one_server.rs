//! One server for one state directory, for one user, and nothing of it is lost between two of them.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use rustix::process::Signal;
use support::mcp::Mcp;
use support::{PATIENCE, Place, Ran, has_ended, is_root, kill, skip};

#[test]
fn a_second_server_says_that_one_runs() {
    let place = Place::new();
    place.json(&["up"]);
    let first = place.server();
    let second = place.run(&["serve"]);
    assert_eq!(second.code, 1, "{second:?}");
    assert!(second.err.contains("a server runs for"), "{second:?}");
    assert_eq!(place.server(), first, "the first one goes on");
}

#[test]
fn twenty_commands_at_once_start_one_server() {
    let place = Place::new();
    let commands = (0..20).map(|number| match number % 2 {
        0 => place.start(&mut place.comity(&["up", "--json"])),
        _ => place.start(&mut place.comity(&["locks", "--json"])),
    });
    let commands: Vec<_> = commands.collect();
    let ran: Vec<Ran> = commands.into_iter().map(support::Running::finish).collect();
    let mut pids: Vec<u64> = ran.iter().filter_map(|ran| ran.json()["pid"].as_u64()).collect();
    assert_eq!(pids.len(), 10, "every up answers");
    pids.dedup();
    assert_eq!(pids.len(), 1, "one server answered them all: {pids:?}");
    assert_eq!(place.log_of("server_started").len(), 1, "one server ever started");
}

#[test]
fn a_signal_ends_a_server_as_a_command_does() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let place = Place::new();
        let ann = place.join(&["ann"]);
        place.json_as(&ann, &["lock", "src/a.rs"]);
        let server = place.server().expect("a server");
        kill(server, signal);
        assert!(has_ended(server, PATIENCE), "{signal:?} is not heard");
        assert!(!place.socket().exists(), "nothing is left of it after {signal:?}");
        let backlog = std::fs::metadata(place.home.join("log.db-wal")).map_or(0, |file| file.len());
        assert_eq!(backlog, 0, "all of the log is in log.db after {signal:?}");
        assert_eq!(place.json(&["locks"])["total"], 1, "the next server has everything");
    }
}

#[test]
fn a_terminal_that_goes_says_so_twice_and_one_that_is_not_heard_ends_nothing() {
    let place = Place::new();
    let ignoring = ["-c", "trap '' HUP; exec \"$0\" serve", support::BINARY];
    let heard = place.start(&mut place.comity(&["serve"]));
    support::eventually("it serves", || place.server().is_some());
    (0..2).for_each(|_| kill(heard.pid(), Signal::HUP));
    assert_eq!(heard.finish().code, 0, "it ends in order");
    assert!(!place.socket().exists());
    let mut shell = place.program("/bin/sh");
    let deaf = place.start(shell.args(ignoring));
    support::eventually("it serves", || place.server().is_some());
    kill(deaf.pid(), Signal::HUP);
    (0..20).for_each(|_| assert_eq!(place.server(), Some(deaf.pid()), "it goes on"));
    kill(deaf.pid(), Signal::TERM);
    assert_eq!(deaf.finish().code, 0, "it was there until it was told");
}

#[test]
fn status_starts_nothing() {
    let place = Place::without_state();
    let status = place.run(&["status", "--json"]);
    assert_eq!((status.code, &status.document()["error"]["code"]), (1, &"not_running".into()), "{status:?}");
    assert!(place.server().is_none() && !place.home.exists());
}

#[test]
fn a_socket_that_a_dead_server_left_is_replaced() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.kill_server();
    assert!(place.socket().exists(), "a killed server can't clean up");
    assert_eq!(place.json(&["locks"])["total"], 1, "the next command starts the next server");
    assert_eq!(place.log_of("server_started").len(), 2);
}

#[test]
fn down_and_up_keep_everything() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let before = place.json_as(&ann, &["lock", "src/a.rs", "--reason", "fixing login"]);
    let pid = place.server().expect("a server");
    assert_eq!(place.json(&["down"])["stopped"], true);
    assert!(has_ended(pid, PATIENCE), "down ends the server");
    assert_eq!(place.json(&["down"])["stopped"], false, "there is none to stop");
    place.json(&["up"]);
    let locks = place.json_as(&ann, &["locks"]);
    assert_eq!(locks["locks"][0]["fence"], before["locks"][0]["fence"]);
    assert_eq!(locks["locks"][0]["reason"], "fixing login");
    assert_eq!(place.json_as(&ann, &["status"])["you"], "ann", "its token is still good");
}

#[test]
fn only_this_user_can_read_the_state() {
    let place = Place::new();
    std::fs::set_permissions(&place.home, std::fs::Permissions::from_mode(0o755)).expect("opened up");
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mode = |path: &Path| std::fs::symlink_metadata(path).expect("a file").mode() & 0o777;
    assert_eq!(mode(&place.home), 0o700);
    assert_eq!(mode(&place.socket()), 0o600);
    for entry in std::fs::read_dir(&place.home).expect("a directory") {
        let entry = entry.expect("an entry");
        let expected = if entry.path().is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&entry.path()), expected, "{}", entry.path().display());
    }
}

#[test]
fn a_state_directory_that_is_a_symlink_is_refused() {
    let place = Place::without_state();
    let elsewhere = place.dir().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("made");
    symlink(&elsewhere, &place.home).expect("linked");
    let up = place.run(&["up"]);
    assert_eq!(up.code, 1, "{up:?}");
    assert!(up.err.contains("is a link"), "{up:?}");
    assert_eq!(std::fs::read_dir(&elsewhere).expect("a directory").count(), 0, "nothing was written there");
}

#[test]
fn a_state_directory_of_somebody_else_is_refused() {
    if !is_root() {
        return skip("a_state_directory_of_somebody_else_is_refused", "only root can make one");
    }
    let place = Place::without_state();
    std::fs::create_dir(&place.home).expect("made");
    std::os::unix::fs::chown(&place.home, Some(65534), Some(65534)).expect("given away");
    let up = place.run(&["up"]);
    assert_eq!(up.code, 1, "{up:?}");
    assert!(up.err.contains("belongs to somebody else"), "{up:?}");
}

#[test]
fn another_user_cannot_connect() {
    if !is_root() || !support::has_program("setpriv") {
        return skip("another_user_cannot_connect", "root and setpriv are needed to become somebody else");
    }
    let place = Place::new();
    place.json(&["up"]);
    let as_nobody = |arguments: &[&str]| {
        let mut command = place.program("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(visible_binary(&place));
        Ran::of(command.args(arguments).output().expect("setpriv runs"))
    };
    let refused = as_nobody(&["agent", "join", "eve", "--json"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_eq!(refused.document()["error"]["code"], "fault", "{refused:?}");
    // Even with the directory and the socket opened by mistake, the kernel says who connects.
    for path in [place.home.clone(), place.socket()] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("opened up");
    }
    let refused = as_nobody(&["agent", "join", "eve", "--json"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    // Their owner trusts neither any more, until they are closed again.
    assert!(place.run(&["status"]).err.contains("is open to other users"));
    std::fs::set_permissions(&place.home, std::fs::Permissions::from_mode(0o700)).expect("closed");
    assert!(place.log_of("agent_joined").is_empty(), "nobody joined");
}

/// A copy of the program where every user can run it.
fn visible_binary(place: &Place) -> std::path::PathBuf {
    let copy = place.dir().join("comity");
    if !copy.exists() {
        place.copy_program(support::BINARY, &copy);
        for path in [place.dir(), place.repo.as_path(), copy.as_path()] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("opened up");
        }
    }
    copy
}

#[test]
fn a_restored_backup_gives_no_fence_twice() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json(&["down"]);
    let backup = place.dir().join("backup");
    copy_files(&place.home, &backup);
    let mut given: Vec<u64> = Vec::new();
    for _ in 0..20 {
        given.push(fence(&place.json_as(&ann, &["lock", "src/b.rs"])));
        place.json_as(&ann, &["unlock", "src/b.rs"]);
    }
    place.kill_server();
    std::fs::remove_dir_all(&place.home).expect("lost");
    copy_files(&backup, &place.home);
    let newest = given.iter().max().expect("a fence");
    // Fences go on from the clock's seconds: within one second a restored log may not be known as such.
    support::eventually("a later second", || seconds() > newest >> 20);
    let next = fence(&place.json_as(&ann, &["lock", "src/b.rs"]));
    assert!(next > *newest, "{next} was given after {newest}");
}

fn fence(grant: &serde_json::Value) -> u64 {
    grant["locks"][0]["fence"].as_u64().expect("a fence")
}

/// Seconds as the server counts them.
fn seconds() -> u64 {
    let since = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_735_689_600);
    since.elapsed().expect("a clock after 2024").as_secs() // clock: fences are made of it
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("made");
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).expect("private");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let path = entry.expect("an entry").path();
        let copy = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy_files(&path, &copy),
            false if path.extension().is_some_and(|end| end == "sock") => {}
            false => drop(std::fs::copy(&path, copy).expect("copied")),
        }
    }
}

#[test]
fn ctrl_c_stops_a_server_in_the_foreground() {
    let place = Place::new();
    let mut command = place.comity(&["serve"]);
    let mut server = support::Running(command.stdout(Stdio::piped()).spawn().expect("a server"));
    let mut said = [0; 64];
    let mut out = server.0.stdout.take().expect("a pipe");
    assert!(std::io::Read::read(&mut out, &mut said).expect("readiness") > 0);
    kill(server.pid(), rustix::process::Signal::INT);
    assert!(has_ended(server.pid(), PATIENCE));
    assert_eq!(place.json(&["down"])["stopped"], false, "nobody listens any more");
}

#[test]
fn who_started_a_server_takes_notice_of_its_end() {
    let place = Place::new();
    let mut mcp = Mcp::start(&mut place.comity(&["mcp", "--name", "claude"]));
    for _ in 0..3 {
        place.kill_server();
        assert!(!mcp.call("status", &serde_json::json!({})).is_error, "it starts the next one");
    }
    let children = format!("/proc/{0}/task/{0}/children", mcp.pid());
    support::eventually("no child is left but the server that runs", || {
        let children = std::fs::read_to_string(&children).expect("a process");
        children.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>().ok()
            == Some(place.server().into_iter().collect())
    });
}

#[test]
fn who_asks_and_hangs_up_at_once_is_answered_and_let_go() {
    let place = Place::new();
    place.json(&["up"]);
    let pid = place.server().expect("a server");
    let descriptors = || std::fs::read_dir(format!("/proc/{pid}/fd")).expect("descriptors").count();
    let before = descriptors();
    for _ in 0..50 {
        let mut stream = UnixStream::connect(place.socket()).expect("a server");
        stream.set_read_timeout(Some(PATIENCE)).expect("a bound");
        stream.write_all(b"{\"id\":1,\"op\":\"status\"}\n").expect("asked");
        stream.shutdown(std::net::Shutdown::Write).expect("hung up");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server hangs up, too");
        assert!(answer.starts_with("{\"id\":1,\"ok\":"), "{answer}");
    }
    assert!(descriptors() <= before + 2, "no connection is left: {} and {before}", descriptors());
}

/// What an agent program is started with, and what it tells those that it starts.
const OF_CLIENT: [(&str, &str); 4] = [
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_SESSION_ID", "session-of-another"),
    ("CLAUDE_CODE_MESSAGING_TOKEN", "secret-of-another"),
    ("SOME_API_KEY", "secret-of-another"),
];

#[test]
fn a_server_that_an_agent_starts_has_nothing_of_that_agent() {
    // A person's own session of an editor may have this, too.
    let place = Place::with(&[("CLAUDE_CODE_CHILD_SESSION", "1")]);
    place.json(&["up"]);
    let environment = |pid: u32| {
        let read = std::fs::read(format!("/proc/{pid}/environ")).expect("an environment");
        String::from_utf8_lossy(&read).replace('\0', "\n")
    };
    let path =
        |environment: &str| environment.lines().find(|line| line.starts_with("PATH=")).map(str::to_owned);
    let first = environment(place.server().expect("a server"));
    place.kill_server();
    let own = std::env::var("PATH").expect("a path");
    let mut command = place.comity(&["locks"]);
    command.envs(OF_CLIENT).env("PATH", format!("/its/own:{own}")).output().expect("comity runs");
    let next = environment(place.server().expect("the agent has started one"));
    assert!(!next.contains("CLAUDE") && !next.contains("of-another"), "{next}");
    assert_eq!(path(&next), path(&first), "programs are found where the person has them");
    // The person's next server keeps the person's, but for what marks an agent's session.
    place.json(&["down"]);
    place.json(&["spawn", "developer", "--name", "ann", "--agent", "env; echo done; sleep 1000"]);
    support::eventually("it has written", || place.run(&["logs", "ann"]).out.contains("done"));
    let has = place.run(&["logs", "ann"]).out;
    assert!(has.contains("GIT_AUTHOR_NAME=test") && !has.contains("CLAUDE_CODE"), "{has}");
}

#[test]
fn programs_are_who_they_are_whoever_has_started_their_server() {
    let place = Place::new();
    let program = place.dir().join("robot");
    place.copy_program("/bin/sh", &program);
    let start = r#"{"session_id":"s","hook_event_name":"SessionStart"}"#;
    let line =
        format!("echo '{start}' | '{BINARY}' hook claude; '{BINARY}' mcp; true", BINARY = support::BINARY);
    place.json(&["up"]);
    let mut mcp = Mcp::start(place.program(program).arg("-c").arg(line));
    assert!(!mcp.call("status", &serde_json::json!({})).is_error);
    place.kill_server();
    assert!(!mcp.call("status", &serde_json::json!({})).is_error, "the agent starts the next one");
    let whoami = format!("{} whoami; echo done; sleep 1000", support::BINARY);
    let names: Vec<String> = (0..6).map(|number| format!("w{number}")).collect();
    for name in &names {
        place.json(&["spawn", "developer", "--name", name, "--agent", &whoami]);
    }
    for name in &names {
        let mut said = String::new();
        support::eventually("it has asked", || {
            said = place.run(&["logs", name]).out;
            said.contains("done")
        });
        assert!(said.contains(&format!("{name}: ")), "{name}: {said}");
    }
}

#[test]
fn a_program_that_ends_with_its_server_starts_none() {
    let place = Place::new();
    let asks = format!("while :; do {} status >/dev/null; done", support::BINARY);
    place.json(&["spawn", "developer", "--name", "ann", "--agent", &asks]);
    support::eventually("it runs", || place.json(&["runs"]).to_string().contains(r#""state":"running""#));
    let pid = place.json(&["runs"])["runs"][0]["pid"].as_u64().expect("a process");
    place.kill_server();
    assert!(has_ended(u32::try_from(pid).expect("a number"), PATIENCE));
    assert_eq!(place.server(), None, "none that would end with a program");
    place.json(&["up"]);
    assert_eq!(place.log_of("server_started").len(), 2);
}
