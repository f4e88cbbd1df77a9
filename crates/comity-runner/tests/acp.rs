//! Agents that speak ACP, with one of our own that does what its prompts say.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use comity_runner::{
    AcpChange, AcpNews, AcpServer, AcpStart, AcpState, AcpTurnEnd, AcpVariable, AcpWish, RunnerError,
};

use support::{Place, mark};

#[test]
fn what_an_agent_says_and_does_can_be_read() {
    let place = Place::new();
    let prompt =
        "think how\nsay I will.\nplan\ntool 1 completed make it\ntool 2 failed test it\nusage\nsay Done.";
    place.start_acp(&[], AcpStart { prompt: Some(prompt.into()), ..AcpStart::default() });
    assert!(matches!(place.news(), AcpNews::Ready { resumed: false, .. }));
    assert_eq!(place.said(), "Done.");
    let expected = format!(
        "> {}\n(thinks) how\nI will.\nplan:\n  [x] one\n  [>] two\n\
         * make it\n  done: make it\n  | make it said this\n* test it\n  failed: test it\n  | test it said this\nDone.\n\
         -- turn ended\n",
        prompt.replace('\n', "\n> "),
    );
    assert_eq!(place.transcript(), expected);

    let activity = place.runner().activity("ann").unwrap();
    assert_eq!(activity.state, AcpState::Idle);
    assert_eq!(activity.last_tool.as_deref(), Some("test it"));
    assert_eq!((activity.usage.input_tokens, activity.usage.output_tokens), (100, 7));
    assert_eq!(activity.usage.context, Some((12_000, 200_000)));
    assert_eq!(activity.usage.cost.unwrap().millionths, 50_000);
    place.end();
    // What it said can be read when it is gone.
    assert_eq!(place.transcript(), expected);
}

#[test]
fn an_agent_has_its_directory_environment_tools_and_mode() {
    let place = Place::new();
    let variable = AcpVariable { name: "TOKEN".into(), value: "t".into() };
    let server = AcpServer {
        name: "comity".into(),
        command: "/bin/x".into(),
        args: vec!["mcp".into()],
        env: vec![variable],
    };
    let start = AcpStart {
        servers: vec![server],
        modes: vec!["none".into(), "plan".into()],
        model: Some("large".into()),
        ..AcpStart::default()
    };
    place.start_acp(&[], start);
    assert!(matches!(place.news(), AcpNews::Ready { .. }));
    for (prompt, said) in [
        ("mode", "plan".to_owned()),
        ("servers", r#"[{"args": ["mcp"], "command": "/bin/x", "env": [{"name": "TOKEN", "value": "t"}], "name": "comity"}]"#.into()),
        ("directory", format!("{0} {0}", place.dir().display())),
        ("env COMITY_TEST_MARK", mark(place.dir(), "ann")),
        ("env TERM", "(unset)".into()),
        ("env HOME", "(unset)".into()),
    ] {
        place.prompt(prompt);
        assert_eq!(place.said(), said);
    }
    assert!(
        place.transcript().starts_with("-- it doesn't offer the model large\n"),
        "{}",
        place.transcript()
    );
}

#[test]
fn a_tool_call_waits_for_its_answer_and_gets_that_once() {
    let place = Place::new();
    place.ready(&[]);
    for (allowed, said, word) in
        [(true, "yes", "allowed: Run cargo test (ann)"), (false, "no", "denied: Run cargo test (ann)")]
    {
        place.prompt("run cargo test");
        let ask = place.ask();
        let AcpWish::Call(call) = &ask.wish else { panic!("{ask:?}") };
        assert_eq!((&*call.kind, &*call.title), ("execute", "Run cargo test"));
        assert_eq!(call.input.as_deref(), Some(r#"{"command": "cargo test"}"#));
        assert_eq!(place.runner().activity("ann").unwrap().state, AcpState::Waiting);
        place.runner().permit("ann", ask.ask, allowed, "ann").unwrap();
        let again = place.runner().permit("ann", ask.ask, !allowed, "");
        assert!(matches!(again, Err(RunnerError::NotAsked(_))), "{again:?}");
        assert_eq!(place.said(), said);
        assert!(place.transcript().contains(word), "{}", place.transcript());
    }
    place.prompt("ask edit src/a.rs");
    let ask = place.ask();
    let AcpWish::Call(call) = &ask.wish else { panic!("{ask:?}") };
    let path = place.dir().join("src/a.rs").display().to_string();
    assert_eq!(call.changes, [AcpChange { path, text: Some("x".into()) }]);
    // It is no file that is asked for.
    assert!(place.runner().grant_file("ann", ask.ask).is_err());
    assert!(place.runner().refuse_file("ann", ask.ask, "no").is_err());
    place.runner().permit("ann", ask.ask, true, "").unwrap();
    assert_eq!(place.said(), "yes");
}

#[test]
fn nothing_is_allowed_for_good() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("ask-for-good anything");
    let ask = place.ask();
    place.runner().permit("ann", ask.ask, true, "").unwrap();
    assert_eq!(place.said(), "cancelled");
}

#[test]
fn only_so_many_asks_wait_and_what_is_taken_back_does_not() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("asks 40");
    place.wait_for("ann", "\nasked");
    let asks: Vec<u64> = (0..16).map(|_| place.ask().ask).collect();
    for ask in asks {
        place.runner().permit("ann", ask, true, "").unwrap();
    }
    assert_eq!(place.said(), r#"{"error": 24, "yes": 16}"#);

    place.prompt("take-back x");
    let ask = place.ask();
    assert_eq!(place.news(), AcpNews::Withdrawn { ask: ask.ask });
    assert_eq!(place.said(), "error -32800 cancelled");
    assert!(place.runner().permit("ann", ask.ask, true, "").is_err());
}

#[test]
fn files_are_read_and_written_for_an_agent_if_that_is_granted() {
    let place = Place::new();
    place.ready(&[]);
    let file = |name: &str| place.dir().join(name);
    let turn = |prompt: &str, grant: bool| {
        place.prompt(prompt);
        let ask = place.ask();
        match grant {
            true => place.runner().grant_file("ann", ask.ask).unwrap(),
            false => place.runner().refuse_file("ann", ask.ask, "a.txt is locked by bob").unwrap(),
        }
        (ask.wish, place.said())
    };
    let wish = |content: &str| AcpWish::Write { path: "a.txt".into(), content: content.into() };
    assert_eq!(turn("write a.txt one", true), (wish("one"), "written".into()));
    assert_eq!(std::fs::read_to_string(file("a.txt")).unwrap(), "one");
    assert_eq!(turn("write a.txt two", false), (wish("two"), "error -32603 a.txt is locked by bob".into()));
    assert_eq!(std::fs::read_to_string(file("a.txt")).unwrap(), "one");
    let wish = AcpWish::Read { path: "a.txt".into() };
    assert_eq!(turn("read a.txt", true), (wish, "one".into()));
    let missing = turn("read none.txt", true).1;
    assert_eq!(missing, "error -32002 Resource not found: ENOENT: no such file or directory: none.txt");
    let outside = turn("read /etc/passwd", true).1;
    assert!(outside.starts_with("error -32603 /etc/passwd: only files below"), "{outside}");

    place.prompt("foreign a.txt");
    assert_eq!(place.said(), "error -32602 there is no such session");
    place.prompt("unknown terminal/create");
    assert_eq!(place.said(), "error -32601 Comity has no terminal/create");
}

#[test]
fn a_turn_is_interrupted_and_the_agent_goes_on() {
    let place = Place::new();
    place.ready(&[]);
    assert!(!place.runner().cancel("ann").unwrap());
    place.prompt("say waiting\nwait");
    place.wait_for("ann", "\nwaiting");
    assert!(place.runner().cancel("ann").unwrap());
    assert_eq!(place.turn(), (AcpTurnEnd::Interrupted, "waiting".into()));

    // Also where it waits for an answer: nobody has to give that any more.
    place.prompt("ask execute x\nwait");
    let ask = place.ask();
    place.runner().cancel("ann").unwrap();
    assert_eq!(place.news(), AcpNews::Withdrawn { ask: ask.ask });
    assert_eq!(place.turn(), (AcpTurnEnd::Interrupted, "cancelled".into()));
    assert!(place.runner().permit("ann", ask.ask, true, "").is_err());

    place.prompt("say here");
    assert_eq!(place.said(), "here");
}

#[test]
fn prompts_wait_for_the_turn_before_them() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("say waiting\nwait");
    place.wait_for("ann", "\nwaiting");
    for number in 0..16 {
        place.prompt(&format!("say {number}"));
    }
    assert!(place.runner().prompt("ann", "say 17").is_err());
    place.runner().cancel("ann").unwrap();
    assert_eq!(place.turn().0, AcpTurnEnd::Interrupted);
    for number in 0..16 {
        assert_eq!(place.said(), number.to_string());
    }
    for (prompt, why) in [("stop max_tokens", "max_tokens"), ("fail out of order", "out of order")] {
        place.prompt(prompt);
        assert_eq!(place.turn().0, AcpTurnEnd::Failed(why.into()));
    }
}

#[test]
fn what_is_no_message_is_shown_and_passed_over() {
    let place = Place::new();
    place.ready(&["chatty"]);
    place.prompt("garbage 100\nstderr oh\nsay fine");
    assert_eq!(place.said(), "fine");
    place.wait_for("ann", "! oh");
    let transcript = place.transcript();
    assert!(transcript.contains("-- not understood: Welcome! This line is no message.\n"), "{transcript}");
    assert!(transcript.contains("more of the kind is left out"), "{transcript}");
    assert!(transcript.lines().count() < 40, "{transcript}");
    assert!(!transcript.contains('\u{1b}'));
}

#[test]
fn a_flood_is_kept_up_to_a_bound() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("flood 50000\nsay done");
    let words = place.said();
    assert!(words.ends_with("done") && words.len() < 5000, "{}", words.len());
    let output = place.runner().output("ann", 0).unwrap();
    assert!(
        output.bytes.len() <= 256 * 1024 && output.next > 5_000_000,
        "{} {}",
        output.bytes.len(),
        output.next
    );
}

#[test]
fn other_programs_have_no_session() {
    let place = Place::new();
    place.start("ann", "read line");
    for error in [
        place.runner().prompt("ann", "x").unwrap_err(),
        place.runner().cancel("ann").unwrap_err(),
        place.runner().activity("ann").unwrap_err(),
    ] {
        assert!(matches!(error, RunnerError::NoSession(_)), "{error}");
    }
    assert!(matches!(place.runner().prompt("bob", "x"), Err(RunnerError::NotRunning(_))));
}
