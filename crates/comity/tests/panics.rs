//! A bug that panics ends the server, and nothing else: the log is whole, nobody hangs, and the next server goes on.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{Read, Write};
use std::path::Path;

use serde_json::{Value, json};
use support::mcp::Mcp;
use support::{Agent, BINARY, HUMAN, PATIENCE, Place, eventually, has_ended, lacks_firefox, skip};

/// A place whose server panics where a test says.
fn place() -> (Place, std::path::PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let (home, file) = (dir.path().join("state"), dir.path().join("panic"));
    let place = Place::at(dir, home, &[("COMITY_PANIC", file.to_str().expect("a text"))]);
    (place, file)
}

/// Whether the server's own log tells of the panic.
fn is_told(place: &Place, at: &str) -> bool {
    let log = std::fs::read_to_string(place.home.join("server.log")).expect("the server's log");
    log.lines().any(|line| line.contains("\"panicked\"") && line.contains(&format!("planted at {at}")))
}

/// The numbers of the records, as who follows them gets them.
fn followed(place: &Place, up_to: u64) -> Vec<u64> {
    let (mut follower, mut seen) = (place.follow(), Vec::new());
    while seen.last() != Some(&up_to) {
        seen.push(follower.until(|_| true)["seq"].as_u64().expect("a number"));
    }
    seen
}

/// Panics there while this command runs; gives the server that it ended.
fn panic_during(place: &Place, file: &Path, at: &str, command: &[&str]) -> support::Ran {
    let server = place.server().expect("a server");
    let _follower = place.follow();
    std::fs::write(file, at).expect("planted");
    let ran = place.start(&mut place.comity(command)).finish();
    assert!(has_ended(server, PATIENCE), "{at}: the server goes on after a panic");
    ran
}

fn is_whole(place: &Place, at: &str) {
    assert!(is_told(place, at), "{at}: nobody is told");
    place.json(&["log", "verify"]);
    let head = place.json(&["status"])["head"].as_u64().expect("a number");
    assert_eq!(followed(place, head), (1..=head).collect::<Vec<_>>(), "{at}: followers get every record");
}

#[test]
fn a_panic_while_something_is_changed_leaves_it_done_once_or_not_at_all() {
    for at in ["rule", "batch", "publish", "answer", "feed", "follower"] {
        let (place, file) = place();
        place.json(&["up"]);
        let ran = panic_during(&place, &file, at, &["lock", "src/a.rs", "--json"]);
        // The client asks the next server, and gets what the first one has done, or would have.
        assert_eq!(ran.json()["locks"][0]["path"], "src/a.rs", "{at}");
        assert_eq!(place.log_of("lock_acquired").len(), 1, "{at}");
        assert_eq!(place.json(&["locks"])["total"], 1, "{at}");
        is_whole(&place, at);
    }
}

#[test]
fn who_joins_with_the_process_that_it_runs_in_gets_its_token_though_the_answer_was_lost() {
    for at in ["batch", "publish", "answer"] {
        let (place, file) = place();
        place.json(&["up"]);
        let server = place.server().expect("a server");
        std::fs::write(&file, at).expect("planted");
        let mut shell = place.program("sh");
        // The shell is the agent.
        shell.args(["-c", r#""$0" agent join ann --pid $$ --json; exit $?"#]).env("COMITY_TOKEN", HUMAN);
        let ran = place.start(shell.arg(place.comity(&[]).get_program())).finish();
        assert!(has_ended(server, PATIENCE), "{at}: the server goes on after a panic");
        let ann = Agent::of(&ran.json());
        assert_eq!(place.log_of("agent_joined").len(), 1, "{at}");
        let told = &place.log_of("agent_joined")[0];
        assert!(told.to_string().contains(&ann.id), "{at}: {told}");
    }
}

#[test]
fn a_panic_beside_the_engine_ends_the_server_too() {
    for (at, command) in [
        ("timer", &["agent", "join", "ann", "--json"][..]),
        ("long", &["log", "verify", "--json"]),
        ("browser call", &["tab", "open", "about:blank", "--json"]),
    ] {
        let (place, file) = place();
        place.set("[browser]\npath = \"/nowhere/firefox\"\n");
        place.json(&["up"]);
        let ran = panic_during(&place, &file, at, command);
        // There is no Firefox here; but there is an answer.
        assert!(ran.code == 0 || at == "browser call", "{at}: {ran:?}");
        assert!(ran.document().is_object(), "{at}: {ran:?}");
        is_whole(&place, at);
        place.json(&["lock", "src/b.rs"]);
    }
}

#[test]
fn who_waits_in_line_is_served_by_the_next_server() {
    let (place, file) = place();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut follower = place.follow();
    let waiting = place.start(&mut place.comity_as(&bob, &["lock", "src/a.rs", "--wait", "60s", "--json"]));
    follower.until_action("wait_started");
    panic_during(&place, &file, "rule", &["lock", "src/b.rs", "--json"]).json();
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    assert_eq!(waiting.finish().json()["locks"][0]["path"], "src/a.rs");
}

#[test]
fn a_question_that_ends_every_server_is_not_asked_for_ever() {
    let (place, file) = place();
    place.json(&["up"]);
    let starts = || place.log_of("server_started").len();
    let before = starts();
    std::fs::write(&file, "answer: always").expect("planted");
    let ran = place.start(&mut place.comity(&["lock", "src/a.rs", "--json"])).finish();
    std::fs::remove_file(&file).expect("no more");
    assert_eq!(ran.code, 1, "{ran:?}");
    let error = &ran.document()["error"];
    assert!(error["message"].as_str().is_some_and(|said| said.contains("crashed 2 times")), "{error}");
    assert!(starts() <= before + 2, "{} servers were started", starts() - before);
    assert_eq!(place.log_of("lock_acquired").len(), 1, "what was written before the panic is done, once");
}

#[test]
fn who_follows_the_log_does_not_end_one_server_after_the_other() {
    let (place, file) = place();
    place.json(&["up"]);
    let mut follower = place.start(&mut place.comity(&["log", "--follow", "--json"]));
    let mut first = [0; 1];
    let out = follower.0.stdout.as_mut().expect("a pipe");
    std::io::Read::read_exact(out, &mut first).expect("what there is already");
    std::fs::write(&file, "follower: always").expect("planted");
    // Somebody writes, and whoever follows is the end of the server.
    place.start(&mut place.comity(&["lock", "src/a.rs", "--json"])).finish();
    let ran = follower.finish();
    std::fs::remove_file(&file).expect("no more");
    assert!(ran.code == 1 && ran.out.contains("crashed 2 times"), "{ran:?}");
    assert_eq!(place.json(&["locks"])["total"], 1, "without it all is well");
}

#[test]
fn an_mcp_client_is_told_of_a_call_that_ends_every_server() {
    let (place, file) = place();
    let mut mcp = Mcp::start(&mut place.comity(&["mcp", "--name", "claude"]));
    let lock = |mcp: &mut Mcp, path: &str| mcp.call("lock", &json!({ "paths": [path] }));
    assert!(!lock(&mut mcp, "src/a.rs").is_error);
    std::fs::write(&file, "answer: always").expect("planted");
    let given_up = lock(&mut mcp, "src/b.rs");
    std::fs::remove_file(&file).expect("no more");
    assert!(given_up.is_error && given_up.text.contains("crashed 2 times"), "{}", given_up.text);
    assert!(!lock(&mut mcp, "src/c.rs").is_error, "it goes on with the next call");
    let held: Vec<Value> = place.json(&["locks"])["locks"].as_array().expect("locks").clone();
    assert_eq!(held.len(), 3, "what was done before the panic is done: {held:?}");
}

#[test]
fn a_question_that_ends_every_server_by_a_signal_is_not_asked_for_ever() {
    // Whoever kills a server from outside sends the last one; nobody can tell it from a machine without memory.
    for (how, said, starts_max) in
        [("abort", "crashed 2 times", 4), ("segv", "crashed 2 times", 4), ("kill", "lost 40 times", 41)]
    {
        let (place, file) = place();
        place.json(&["up"]);
        let starts = || place.log_of("server_started").len();
        let before = starts();
        std::fs::write(&file, format!("answer: always {how}")).expect("planted");
        let asking = place.start(&mut place.comity(&["lock", "src/a.rs", "--json"]));
        assert!(has_ended(asking.pid(), PATIENCE * 3), "{how}: it goes on asking");
        let ran = asking.finish();
        std::fs::remove_file(&file).expect("no more");
        assert_eq!(ran.code, 1, "{how}: {ran:?}");
        let error = &ran.document()["error"];
        assert!(error["message"].as_str().is_some_and(|message| message.contains(said)), "{how}: {error}");
        assert!(starts() <= before + starts_max, "{how}: {} servers were started", starts() - before);
        assert_eq!(place.log_of("lock_acquired").len(), 1, "{how}: what was written is done, once");
        place.json(&["log", "verify"]);
    }
}

/// Panics on this thread once it does something; all else goes on with the next server.
fn check_thread(at: &str, wake: impl FnOnce(&Place, &Agent)) {
    let (place, file) = place();
    place.set("[browser]\npath = \"/nowhere/firefox\"\n[inbox]\nnotify = true\n");
    check_thread_in(&place, &file, at, wake);
}

/// The same, in this place.
fn check_thread_in(place: &Place, file: &Path, at: &str, wake: impl FnOnce(&Place, &Agent)) {
    let (ann, zoe) = (place.join(&["ann"]), place.join(&["zoe"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut log = place.follow_on();
    let waiting = place.start(&mut place.comity_as(&zoe, &["lock", "src/a.rs", "--wait", "60s", "--json"]));
    log.until_action("wait_started");
    let server = place.server().expect("a server");
    std::fs::write(file, at).expect("planted");
    wake(place, &ann);
    assert!(has_ended(server, PATIENCE), "{at}: the server goes on after a panic");
    let next = place.json_as(&ann, &["lock", "src/b.rs"]);
    assert_eq!(next["locks"][0]["path"], "src/b.rs", "{at}");
    let held = place.json(&["locks", "src/a.rs"]);
    assert_eq!(held["locks"][0]["holder"], "ann", "{at}: {held}");
    assert!(!file.exists(), "{at}: the plant was hit");
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    assert_eq!(waiting.finish().json()["locks"][0]["path"], "src/a.rs", "{at}: who waited is served");
    is_whole(place, at);
}

/// Runs a command to whatever end: the server that takes it may be gone before, during or after it.
fn run(place: &Place, ann: &Agent, arguments: &[&str]) {
    place.start(&mut place.comity_as(ann, arguments)).finish();
}

fn lapse(place: &Place, ann: &Agent) {
    run(place, ann, &["lock", "src/c.rs", "--ttl", "1s"]);
}

fn take_a_worktree(place: &Place, ann: &Agent) {
    run(place, ann, &["worktree", "add", "one"]);
}

fn give_a_worktree_back(place: &Place, ann: &Agent) {
    take_a_worktree(place, ann);
    run(place, ann, &["worktree", "remove", "one", "--wait"]);
}

fn open_a_tab(place: &Place, ann: &Agent) {
    run(place, ann, &["tab", "open", "about:blank"]);
}

fn let_another_join(place: &Place, ann: &Agent) {
    run(place, ann, &["agent", "join", "bob"]);
}

/// Asks over HTTP; there may be no answer.
fn ask_over_http(place: &Place, _: &Agent) {
    let url = place.json(&["status"])["url"].as_str().expect("an address").to_owned();
    let address = url.strip_prefix("http://").expect("an address");
    let mut stream = std::net::TcpStream::connect(address).expect("the HTTP door");
    let head =
        format!("GET /api/status HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {HUMAN}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("asked");
    let _ = stream.read(&mut [0; 1]);
}

#[test]
fn a_panic_on_a_thread_that_keeps_something_true_ends_the_server() {
    check_thread("housekeeping", |place, ann| run(place, ann, &["lock", "src/c.rs"]));
    check_thread("lapsed locks", lapse);
    check_thread("look", lapse);
    check_thread("liveness", let_another_join);
    check_thread("spool", let_another_join);
    check_thread("notifier", |place, ann| run(place, ann, &["mail", "send", "human", "--message", "done"]));
    check_thread("watcher", |place, _| {
        // What is written before is news to nobody.
        eventually("the repository is watched", || place.json(&["status"])["watch"]["trees"] == 1);
        std::fs::write(place.repo.join("src/c.rs"), "written\n").expect("written");
    });
}

#[test]
fn a_panic_on_a_thread_of_worktrees_ends_the_server() {
    check_thread("worktree-pool", take_a_worktree);
    check_thread("worktree reaper", give_a_worktree_back);
    check_thread("worktree-trash", give_a_worktree_back);
}

#[test]
fn a_panic_on_a_thread_of_the_browser_or_of_http_ends_the_server() {
    check_thread("browser", open_a_tab);
    check_thread("browser-start", open_a_tab);
    check_thread("http", ask_over_http);
    check_thread("http call", ask_over_http);
}

#[test]
fn a_panic_on_the_thread_that_reads_from_firefox_costs_no_tab() {
    if lacks_firefox("a_panic_on_the_thread_that_reads_from_firefox_costs_no_tab") {
        return;
    }
    let (place, file) = place();
    place.set("[browser]\nschemes = [\"data\", \"about:blank\"]\n");
    let tess = place.join(&["tess"]);
    let open = || place.json_as(&tess, &["tab", "open", "data:text/html,<input id=q>"])["tabId"].to_string();
    let (kept, closed) = (open(), open());
    place.json_as(&tess, &["tab", "type", &kept, "half", "--selector", "#q"]);
    let firefox =
        || std::fs::read_to_string(place.home.join("firefox/comity-firefox.json")).expect("a Firefox");
    let before = firefox();
    // Firefox tells that the tab is gone.
    check_thread_in(&place, &file, "firefox reader", |place, _| {
        run(place, &tess, &["tab", "close", &closed])
    });
    let typed = place.json_as(&tess, &["tab", "evaluate", &kept, "document.querySelector('#q').value"]);
    assert_eq!(typed["value"], "half", "the page is the same one");
    assert_eq!(firefox(), before, "it is the same Firefox");
    assert_eq!(place.json(&["tab", "list"])["tabs"].as_array().expect("tabs").len(), 1);
    assert_eq!(place.log_of("slot_freed").len(), 1, "closed once");
}

/// Starts the server where the kernel tells nobody of moved files; whether that can be had here.
fn is_up_without_inotify(place: &Place) -> bool {
    let mut unshare = place.program("unshare");
    unshare.args(["--user", "--map-root-user", "sh", "-c"]);
    unshare.arg("echo 0 >/proc/sys/user/max_inotify_instances && exec \"$0\" up").arg(BINARY);
    unshare.env("COMITY_TOKEN", HUMAN).output().is_ok_and(|done| done.status.success())
}

#[test]
fn a_panic_on_the_thread_that_looks_after_the_state_directory_ends_the_server() {
    let (place, file) = place();
    if !is_up_without_inotify(&place) {
        return skip("a_panic_on_the_thread_that_looks_after_the_state_directory", "no user namespaces here");
    }
    let server = place.server().expect("a server");
    let threads = std::fs::read_dir(format!("/proc/{server}/task")).expect("threads").flatten();
    let names = threads.map(|thread| std::fs::read_to_string(thread.path().join("comm")).expect("a name"));
    assert!(names.into_iter().any(|name| name == "ownership\n"), "it looks by itself");
    // It looks twice a second, whatever happens.
    check_thread_in(&place, &file, "ownership", |_, _| {});
}

#[test]
fn a_panic_while_an_open_move_is_looked_at_leaves_it_to_the_next_server() {
    let (place, file) = place();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    std::fs::write(place.repo.join("src/a.rs"), "changed\n").expect("written");
    std::fs::write(&file, "moved\nmoves").expect("planted");
    let given_up = place.run_as(&ann, &["commit", "-m", "Change it", "--json"]);
    assert_eq!(given_up.code, 1, "two servers in a row: {given_up:?}");
    assert!(!file.exists() && is_told(&place, "moved") && is_told(&place, "moves"));
    eventually("the next server records it", || place.log_of("file_commit").len() == 1);
    let made = place.json_as(&ann, &["commit", "-m", "Change it"]);
    assert_eq!(place.log_of("file_commit")[0]["details"]["commit"]["id"], made["commit"], "{made}");
    place.json(&["log", "verify"]);
}
