//! What takes a person at a terminal, and what a terminal alone does not make.

use comity_app::identity;
use serde_json::json;

use crate::support::files::files_below;
use crate::support::{BINARY, HUMAN, Place, has_program, http, skip};
use crate::terminal::Terminal;

#[test]
fn tokens_are_listed_for_a_present_person_only() {
    if !has_program("tmux") {
        return skip("tokens_are_listed_for_a_present_person_only", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let said = terminal.types(&place, &format!("setsid -w {BINARY} token list"));
    assert!(said.contains("only a person at a terminal may list tokens"), "{said}");
    let said = terminal.types(&place, &format!("{BINARY} token list"));
    assert!(said.contains("MADE") && said.contains("first"), "{said}");
}

#[test]
fn the_server_is_stopped_by_a_present_person_only() {
    if !has_program("tmux") {
        return skip("the_server_is_stopped_by_a_present_person_only", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let server = place.server();
    let terminal = Terminal::open(&place);
    for words in ["down", "restart"] {
        let said = terminal.types(&place, &format!("setsid -w {BINARY} {words}"));
        assert!(said.contains("only a person at a terminal may stop the server"), "{words}: {said}");
        assert_eq!(place.server(), server, "{words}: it is the same one");
    }
    terminal.types(&place, &format!("{BINARY} restart"));
    assert!(place.server().is_some() && place.server() != server, "it is another one");
}

#[test]
fn no_secret_of_a_person_is_written_down() {
    if !has_program("tmux") {
        return skip("no_secret_of_a_person_is_written_down", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let made = terminal.types(&place, &format!("{BINARY} token create deploy"));
    let token = made.lines().next().expect("a token").to_owned();
    let said = terminal.types(&place, &format!("{BINARY} login"));
    let link = said.lines().find(|line| line.contains("#login=")).expect("a link");
    let opened = http::open_link(&place, link);
    let login = opened.json()["token"].as_str().expect("a token").to_owned();
    assert_eq!(http::open_link(&place, link).status, 403, "it opens once");
    let by_login =
        http::request(&place, Some(&login), "POST", "/api/agents/limit", Some(&json!({ "max": 9 })));
    assert_eq!(by_login.status, 200, "{by_login:?}");
    let secrets = [&token, &login, &HUMAN.to_owned()]
        .map(|secret| secret.rsplit(['_', '.']).next().expect("a secret").as_bytes().to_owned());
    assert!(secrets.iter().all(|secret| secret.len() >= 12), "{token} {login}");
    for round in ["running", "killed", "restarted", "stopped"] {
        let files = files_below(&place.home);
        assert!(files.iter().any(|file| file.ends_with("log.db")), "{files:?}");
        for file in files {
            let bytes = std::fs::read(&file).unwrap_or_default();
            for (secret, whose) in secrets.iter().zip(["the script's token", "the login", "the first token"])
            {
                let found = bytes.windows(secret.len()).any(|window| window == secret);
                assert!(!found, "{} holds {whose} ({round})", file.display());
            }
        }
        match round {
            "running" => drop(place.kill_server()),
            "killed" => drop(place.json(&["up"])),
            _ => drop(place.json(&["down"])),
        }
    }
}

#[test]
fn an_act_over_http_says_in_the_log_by_which_token_or_login_it_was() {
    let place = Place::new();
    place.json(&["up"]);
    let limit = |token: &str, max: u64| {
        let set =
            http::request(&place, Some(token), "POST", "/api/agents/limit", Some(&json!({ "max": max })));
        assert_eq!(set.status, 200, "{set:?}");
    };
    let made = http::request(&place, Some(HUMAN), "POST", "/api/tokens", Some(&json!({ "name": "deploy" })));
    let login = http::request(&place, Some(HUMAN), "POST", "/api/login", Some(&json!({})));
    let token_in = |answer: &http::Response| answer.json()["token"].as_str().expect("a token").to_owned();
    limit(HUMAN, 7);
    limit(&token_in(&made), 8);
    limit(&token_in(&login), 9);
    let of: Vec<_> = place.log_of("agents_limited").iter().map(|entry| entry["from"].clone()).collect();
    let expected = [
        json!({ "proof": { "token": "first" }, "lineage": "http token first" }),
        json!({ "proof": { "token": "deploy" }, "lineage": "http token deploy" }),
        json!({ "proof": "login", "lineage": "http login" }),
    ];
    assert_eq!(of, expected);
}

#[test]
fn a_terminals_own_shell_becomes_no_agents_program() {
    if !has_program("tmux") {
        return skip("a_terminals_own_shell_becomes_no_agents_program", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let said = terminal.types(&place, &format!("{BINARY} agent join eve --pid $$"));
    assert!(said.contains("is your own terminal's"), "{said}");
    let said = terminal.types(&place, &format!("{BINARY} whoami"));
    assert!(said.starts_with("you, present"), "{said}");
    assert_eq!(place.json(&["agent", "list", "--all"])["agents"], json!([]));
}

#[test]
fn a_limit_that_looks_like_a_mark_is_named() {
    if !has_program("tmux") || !has_program("prlimit") {
        return skip("a_limit_that_looks_like_a_mark_is_named", "no tmux or prlimit");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let said = terminal.types(&place, &format!("prlimit --locks=1000:1000 {BINARY} whoami"));
    assert!(said.starts_with("nobody"), "{said}");
    assert!(said.contains("its limit on file locks is 1000") && said.contains("unlimited"), "{said}");
    assert!(!said.contains("was started by an agent"), "{said}");
}

#[test]
fn a_hook_that_a_person_runs_by_hand_makes_no_agent() {
    if !has_program("tmux") {
        return skip("a_hook_that_a_person_runs_by_hand_makes_no_agent", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let call = json!({
        "session_id": "s1", "cwd": place.repo, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": place.repo.join("src/a.rs"), "content": "x" },
    });
    let payload = place.dir().join("call.json");
    std::fs::write(&payload, call.to_string()).expect("written");
    let hook = std::path::Path::new(BINARY).with_file_name("comity-hook").display().to_string();
    let payload = payload.display();
    for line in [
        format!("{hook} claude <{payload}"),
        format!("cat {payload} | {hook}"),
        format!("bash -c '{hook} claude <{payload}; exit $?'"),
        format!("{BINARY} hook claude <{payload}"),
    ] {
        let said = terminal.types(&place, &format!("{{ {line}; echo exit $?; }}"));
        assert!(
            said.contains("no agent program runs this hook") && said.contains("exit 2"),
            "{line}: {said}"
        );
    }
    let said = terminal.types(&place, &format!("{BINARY} whoami"));
    assert!(said.starts_with("you, present"), "{said}");
    assert_eq!(place.json(&["agent", "list", "--all"])["agents"], json!([]));
    assert_eq!(place.json(&["locks"])["total"], 0);
}

/// What each agent program sets for what it runs, as its own documentation and source have it.
const VARIABLES: [&str; 9] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "OPENCODE",
];

const NAMES: [&str; 9] =
    ["aider", "amp", "claude", "codex", "copilot", "cursor-agent", "gemini", "goose", "opencode"];

#[test]
fn what_carries_an_agent_programs_marks_is_no_person() {
    if !has_program("tmux") {
        return skip("what_carries_an_agent_programs_marks_is_no_person", "there is no tmux");
    }
    let known = |table: &[(&'static str, &str)]| {
        let mut names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(known(&identity::AGENT_VARIABLES), VARIABLES, "each is tried below");
    assert_eq!(known(&identity::AGENT_PROGRAMS), NAMES, "each is tried below");
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let asks = format!(
        "{BINARY} whoami; {BINARY} agent limit 9; COMITY_TOKEN={HUMAN} {BINARY} whoami; \
         COMITY_TOKEN={HUMAN} {BINARY} agent limit 9; true"
    );
    let asks_file = place.dir().join("asks");
    std::fs::write(&asks_file, asks).expect("written");
    let asks = asks_file.display();
    let with_variable = VARIABLES.map(|name| (name, format!("env {name}=1 sh {asks}")));
    let with_name = NAMES.map(|name| {
        place.copy_program("/bin/sh", &place.dir().join(name));
        (name, format!("{}/{name} {asks}", place.dir().display()))
    });
    for (mark, line) in with_variable.into_iter().chain(with_name) {
        let said = terminal.types(&place, &line);
        assert_eq!(said.matches("an agent program that has not joined").count(), 4, "{mark}: {said}");
        assert!(!said.contains("you, present"), "{mark}: {said}");
    }
    assert!(place.log_of("agents_limited").is_empty());
    let said = terminal.types(&place, &format!("sh {asks}"));
    assert_eq!(said.matches("you, present").count(), 2, "without a mark it is: {said}");
}
