//! The command line: JSON on request, exit codes, and readers that go away.

#[path = "cli/answers.rs"]
mod answers;
#[path = "cli/help.rs"]
mod help;
#[path = "cli/readme.rs"]
mod readme;
#[path = "cli/seen.rs"]
mod seen;
#[path = "cli/settings.rs"]
mod settings;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[path = "cli/terminal.rs"]
mod terminal;
#[path = "cli/traps.rs"]
mod traps;
#[path = "cli/up.rs"]
mod up;

use std::process::Stdio;

use comity_app::catalog::CATALOG;
use serde_json::Value;
use support::{Place, Ran};

#[test]
fn json_is_one_document_everywhere() {
    let place = Place::new();
    let is_one = |arguments: &[&str]| {
        let ran = place.run(&[arguments, &["--json"]].concat());
        assert!([0, 1, 3].contains(&ran.code), "{arguments:?}: {ran:?}");
        assert_eq!(ran.out.lines().count(), 1, "{arguments:?}: {ran:?}");
        let document: Value = ran.document();
        assert!(document.is_object(), "{arguments:?}: {ran:?}");
        assert_eq!(ran.code != 0, document["error"].is_object() || document["ok"] == false, "{arguments:?}");
    };
    std::fs::write(place.repo.join("comity.json"), r#"[{ "title": "Test it" }]"#).expect("written");
    for arguments in [&["status"][..], &["down"], &["doctor"], &["up"], &["status"], &["doctor"]] {
        is_one(arguments);
    }
    for entry in CATALOG.iter().filter(|entry| entry.words().next().is_some()) {
        let rest: &[&str] = match entry.name {
            "lock" | "unlock" | "check" | "release" | "adopt" | "rescue" => &["src/a.rs"],
            "extend" => &["src/a.rs", "--ttl", "1m"],
            "handover" => &["src/a.rs", "--to", "human"],
            "agent_join" => &["zoe"],
            "agent_show" => &["zoe"],
            "why" => &["src/a.rs"],
            "log_replay" => &["--at", "1"],
            "commit" => &["-m", "Change a"],
            "lease" | "lease_free" | "lease_request" | "lease_cancel" | "lease_grant" => &["build"],
            "lease_extend" => &["7", "--ttl", "1h"],
            "lease_give" => &["7", "--to", "human"],
            "tab_admit" => &["bank", "--agent", "zoe"],
            "tab_downloads" => &[],
            "tab_list" | "tab_open" | "tab_request" | "tab_requests" | "tab_grant" => &[],
            "tab_element" | "tab_type" | "tab_press" | "tab_evaluate" => &["99", "x"],
            "tab_handover" => &["99", "--to", "human"],
            "tab_share" | "tab_unshare" => &["99", "--with", "human"],
            op if op.starts_with("tab_") => &["99"],
            "worktree_add" => &["login"],
            "mail_send" => &["human", "-m", "hello"],
            "mail_search" => &["hello"],
            "team_create" | "team_delete" | "team" => &["red"],
            "team_admit" => &["zoe", "red"],
            "token_create" | "token_revoke" => &["ci"],
            "passphrase_set" => &["--remove"],
            "shutdown_request" => &["zoe"],
            "shutdown_approve" => &["r1"],
            "shutdown_reject" => &["r1", "--reason", "busy"],
            "idle" => &["done"],
            "decide" => &["Use tabs"],
            "decision_confirm" | "decision_reject" => &["d1"],
            "inbox_answer" => &["p7", "allow"],
            "ask_permission" => &["Bash", "{\"command\":\"ls\"}"],
            "permission_allow" | "permission_deny" | "permission_rule_remove" | "plan_approve" => &["7"],
            "plan_reject" => &["7", "--feedback", "no"],
            "plan_submit" => &["plan.md", "--content", "x"],
            "permission_rule_add" => &["deny", "Bash"],
            "task_add" => &["Write the parser", "--id", "parser"],
            "guard" => &["{}"],
            "spawn" => &["developer", "--agent", "true"],
            "run_goal" => &["Make it faster", "--agent", "true", "--workers", "1"],
            "run_list" | "run_resume" => &[],
            op if op.starts_with("run_") => &["zoe"],
            "task_declare" => &["comity.json"],
            "task_done" => &["parser", "--evidence", "commit 1"],
            "task_fail" | "task_send_back" => &["parser", "--reason", "none"],
            "task_assign" => &["parser", "human"],
            "task_update" => &["parser", "--status", "running"],
            "task_list" | "task_graph" | "task_claim" => &[],
            op if op.starts_with("task_") => &["parser"],
            _ => &[],
        };
        is_one(&[&entry.words().collect::<Vec<_>>(), rest].concat());
    }
}

#[test]
fn exit_codes_tell_what_happened() {
    let place = Place::new();
    let code = |arguments: &[&str]| place.run(arguments).code;
    assert_eq!(code(&["status"]), 1, "a fault");
    assert_eq!(code(&["lock", "src/a.rs"]), 0, "done");
    assert_eq!(code(&["lock"]), 2, "usage");
    assert_eq!(code(&["no-such-command"]), 2, "usage");
    for (words, problem) in [
        (&["lock", "--json"][..], "the following required arguments were not provided: <PATH>..."),
        (&["--json", "lok"], "unrecognized subcommand 'lok'"),
        (&["lock", "--json", "--bogus"], "unexpected argument '--bogus' found"),
    ] {
        let ran = place.run(words);
        assert_eq!((ran.code, &*ran.err), (2, ""), "{ran:?}");
        let error = &ran.document()["error"];
        assert_eq!((&error["code"], &error["message"]), (&"bad_input".into(), &problem.into()), "{ran:?}");
    }
    assert_eq!(code(&["unlock", "src/b.rs"]), 3, "refused");
    assert_eq!(code(&["--version"]), 0);
    assert_eq!(code(&["lock", "--help"]), 0);
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    for _ in 0..50 {
        place.json_as(&ann, &["lock", "src/a.rs"]);
    }
    let commands: [&[&str]; 8] = [
        &["log"],
        &["log", "--json"],
        &["--help"],
        &["completions", "bash"],
        &["status"],
        &["doctor"],
        &["up"],
        &["nonsense"],
    ];
    for arguments in commands {
        let mut command = place.comity(arguments);
        let mut running = support::Running(
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("comity runs"),
        );
        drop(running.0.stdout.take());
        let ran = running.finish();
        assert!(!ran.err.contains("panicked"), "{arguments:?}: {ran:?}");
        assert_ne!(ran.code, 101, "{arguments:?}");
    }
}

#[test]
fn completions_know_every_command() {
    let place = Place::without_state();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]);
        assert_eq!(script.code, 0);
        for word in ["lock", "unlock", "handover", "doctor", "verify"] {
            assert!(script.out.contains(word), "{shell} does not complete {word}");
        }
    }
    assert!(!place.home.exists(), "that needs no server");
}

#[test]
fn benchmarks_are_a_program_of_their_own() {
    let place = Place::new();
    let (program, bench) = (place.dir().join("comity"), place.dir().join("comity-bench"));
    place.copy_program(support::BINARY, &program);
    let run = || {
        let mut command = place.program(&program);
        Ran::of(command.args(["bench", "lock", "--quick"]).env("PATH", "/bin").output().expect("it runs"))
    };
    let missing = run();
    assert_eq!(missing.code, 1, "{missing:?}");
    assert!(missing.err.contains("comity-bench is not installed"), "{missing:?}");
    assert!(missing.err.contains("cargo xtask bench"), "{missing:?}");
    let script = place.dir().join("script");
    std::fs::write(&script, "#!/bin/sh\necho measured \"$@\"\nexit 2\n").expect("a program");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    place.copy_program(script.to_str().expect("text"), &bench);
    let measured = run();
    assert_eq!((&*measured.out, measured.code), ("measured lock --quick\n", 2), "{measured:?}");
}

#[test]
fn following_the_log_shows_what_happens() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let mut follow = place.comity(&["log", "--follow", "--json"]);
    let mut follow = support::Running(follow.stdout(Stdio::piped()).spawn().expect("comity runs"));
    let mut lines = std::io::BufReader::new(follow.0.stdout.take().expect("a pipe"));
    let mut until = |action: &str| loop {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut lines, &mut line).expect("text") > 0, "it ended");
        let entry: Value = serde_json::from_str(&line).expect("JSON");
        if entry["action"] == action {
            return entry;
        }
    };
    until("agent_joined");
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let first = until("lock_acquired");
    place.kill_server();
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    let second = until("lock_released");
    assert_eq!(first["details"]["fence"], second["details"]["fence"], "it goes on after the server");
}
