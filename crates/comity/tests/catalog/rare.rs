//! What happens seldom: permissions that nobody answers, writes past the locks, ends without a goodbye, for the kept log.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::wire::Wire;
use crate::support::{Agent, BINARY, Place, Ran, Running, eventually, has_program, http};
use crate::terminal::Terminal;

/// Offers after which a letter is put aside.
const OFFERS: usize = comity_core::limits::OFFERS_MAX as usize;

/// Lets all of that happen.
pub(crate) fn happen(place: &Place) {
    restart(place);
    place.json(&["agent", "limit", "20"]);
    let boss = place.join(&["boss", "--role", "lead"]);
    entries(place);
    letters(place);
    reservation(place);
    permissions(place, &boss);
    plans(place, &boss);
    team(place);
    work(place);
    ends(place);
    writes(place);
    undone(place);
    names(place);
}

/// With the guard and short waits. The settings are in the file: this process has used
/// agents' tokens, and brings none in its environment.
fn restart(place: &Place) {
    let settings = place.home.join("comity.toml");
    let before = fs::read_to_string(&settings).expect("settings");
    let guarded = before.replace("watch = false", "watch = true\npermissions = true");
    assert_ne!(guarded, before);
    let briefly = guarded.replace("[agent]\n", "[agent]\ndisconnect_grace = \"100ms\"\n");
    assert_ne!(briefly, guarded);
    let short = "[permission]\nwait = \"2s\"\n[pool]\nreservation = \"1s\"\n";
    fs::write(
        &settings,
        format!("{briefly}\n{short}[pools.line]\ncapacity = 1\n[pools.pair]\ncapacity = 2\n"),
    )
    .expect("written");
    place.json(&["restart"]);
}

fn below(place: &Place, boss: &Agent, arguments: &[&str]) -> Agent {
    Agent::of(&place.json_as(boss, &[&["agent", "join"], arguments].concat()))
}

fn entries(place: &Place) {
    let refused = http::request(place, Some("cmty_nobody"), "GET", "/api/status", None);
    assert_ne!(refused.status, 200);
}

/// A letter that was offered again and again, and never acknowledged.
fn letters(place: &Place) {
    let deaf = place.join(&["deaf"]);
    place.json(&["mail", "send", "deaf", "--message", "do you hear me?"]);
    let mut log = place.follow_on();
    let mut wire = Wire::connect(place).asking_as(&deaf);
    for _ in 0..OFFERS {
        wire.ask("mail_read", json!({ "lease": "100ms" })).expect("an offer");
        log.until_action("mail_returned");
    }
}

/// A place in line that came up, and was not taken.
fn reservation(place: &Place) {
    let (has, wants) = (place.join(&["has"]), place.join(&["wants"]));
    place.json_as(&has, &["lease", "line"]);
    place.json_as(&wants, &["lease", "request", "line"]);
    let mut log = place.follow_on();
    place.json_as(&has, &["lease", "free", "line"]);
    log.until_action("slot_reservation_lapsed");
}

pub(crate) fn asking(place: &Place, agent: &Agent, command: &str) -> Running {
    let input = json!({ "command": command }).to_string();
    place.start(&mut place.comity_as(agent, &["ask", "Bash", &input, "--json"]))
}

fn permissions(place: &Place, boss: &Agent) {
    let tim = below(place, boss, &["tim"]);
    let mut log = place.follow_on();
    let mut request = || log.until_action("permission_asked")["details"]["request"].to_string();
    let late = asking(place, &tim, "make late");
    request();
    late.finish();
    let used = asking(place, &tim, "make it");
    place.json_as(boss, &["permissions", "allow", &request()]);
    used.finish().json();
    place.json_as(boss, &["permissions", "rule", "add", "allow", "Bash", "make again"]);
    asking(place, &tim, "make again").finish().json();
    let open = asking(place, &tim, "make the rest");
    request();
    place.json_as(&tim, &["agent", "bye"]);
    open.finish();
}

fn plans(place: &Place, boss: &Agent) {
    let planner = below(place, boss, &["planner", "--role", "reviewer"]);
    for content in ["think", "think again"] {
        place.json_as(&planner, &["plan", "submit", "plan.md", "--content", content]);
    }
    place.json_as(&planner, &["agent", "bye"]);
}

/// A leader that ends while its team waits for its answers.
fn team(place: &Place) {
    let chief = place.join(&["chief", "--role", "lead"]);
    let (uma, vic) = (place.join(&["uma"]), place.join(&["vic", "--role", "reviewer"]));
    place.json_as(&chief, &["team", "create", "green"]);
    for name in ["uma", "vic"] {
        place.json(&["team", "admit", name, "green"]);
    }
    place.json_as(&chief, &["permissions", "rule", "add", "deny", "Bash", "rm -rf *", "--team", "green"]);
    let mut log = place.follow_on();
    let open = asking(place, &uma, "make for the chief");
    log.until_action("permission_asked");
    place.json_as(&vic, &["plan", "submit", "plan.md", "--content", "think"]);
    place.json_as(&chief, &["agent", "bye"]);
    open.finish();
}

/// Somebody waits for work in vain.
fn work(place: &Place) {
    let (busy, idle) = (place.join(&["busy"]), place.join(&["idle"]));
    place.json_as(&busy, &["task", "add", "much", "--id", "much"]);
    place.json_as(&busy, &["task", "start", "much"]);
    let mut log = place.follow_on();
    place.json_as(&idle, &["task", "claim", "--wait", "1s"]);
    log.until_action("task_sought_in_vain");
}

/// An agent whose program goes without a word.
fn ends(place: &Place) {
    let mut log = place.follow_on();
    let brief = place.join(&["brief"]);
    drop(Mcp::start(&mut place.comity_as(&brief, &["mcp"])));
    log.until_action("agent_disconnected");
}

fn hook(place: &Place, agent: &Agent, tool: &str, input: &Value) {
    let payload = json!({
        "session_id": agent.id, "cwd": place.repo, "hook_event_name": "PostToolUse", "tool_name": tool,
        "tool_input": input,
    });
    let mut hook = place.start(place.comity_as(agent, &["hook", "claude"]).stdin(Stdio::piped()));
    let mut stdin = hook.0.stdin.take().expect("an input");
    stdin.write_all(payload.to_string().as_bytes()).expect("written");
    drop(stdin);
    assert_eq!(hook.finish().code, 0);
}

/// Files that are read, written without a lock, and committed past the lock of another.
fn writes(place: &Place) {
    let sly = place.join(&["sly"]);
    eventually("the repository is watched", || place.json(&["status"])["watch"]["trees"].as_u64() > Some(0));
    hook(place, &sly, "Read", &json!({ "file_path": place.repo.join("src/a.rs") }));
    let mut log = place.follow_on();
    fs::write(place.repo.join("src/past.rs"), "past the locks\n").expect("written");
    log.until_action("unlocked_write");
    // Of commits only those are told that have files which somebody has locked.
    place.json_as(&place.join(&["owner"]), &["lock", "src/past.rs"]);
    place.git(&["add", "src/past.rs"]);
    place.git(&["commit", "--quiet", "--no-verify", "--message=Past the locks", "src/past.rs"]);
    log.until_action("commit_unguarded");
}

/// A person at a terminal sees what was done in its name elsewhere. It has to be the first that happens: once this process
/// has used an agent's token, what it starts is no person's.
pub(crate) fn recognised(place: &Place) {
    assert!(has_program("tmux"), "a person needs a terminal: install tmux");
    place.json(&["up"]);
    let terminal = Terminal::open(place);
    let made = terminal.types(place, &format!("{BINARY} token create elsewhere"));
    let token = made.lines().next().expect("a token").to_owned();
    let mut limit = place.comity_as_whoever(&["agent", "limit", "19"]);
    let ran = Ran::of(limit.env("COMITY_TOKEN", token).output().expect("comity runs"));
    assert_eq!(ran.code, 0, "{made} {ran:?}");
    terminal.types(place, &format!("{BINARY} places"));
    place.follow().until_action("new_place_shown");
}

/// An agent gets the name that its program asks for.
fn names(place: &Place) {
    let mut wire = Wire::connect(place).asking_as(&place.join(&["nick"]));
    wire.ask("agent_attach", json!({ "name": "nicholas", "named": true })).expect("it is the same agent");
    place.follow().until_action("agent_named");
}

/// A commit that was announced, and never made.
fn undone(place: &Place) {
    let hasty = place.join(&["hasty"]);
    place.json_as(&hasty, &["lock", "src/hasty.rs"]);
    fs::write(place.repo.join("src/hasty.rs"), "quick\n").expect("written");
    fs::write(place.dir().join("panic"), "intended").expect("planted");
    place.json_as(&hasty, &["commit", "-m", "Be quick"]);
    place.follow().until_action("move_undone");
}
