//! How agents that speak ACP end: by themselves, in the middle, because they are of no use, and when they are told to.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::time::{Duration, Instant};

use comity_runner::{AcpNews, AcpStart, AcpState, AcpTurnEnd, Exit, RunnerEvent};

use support::acp::ended;
use support::{Place, acp_launch, mark, marked, survivors, until, wait_for_marked};

/// What an agent does is over in far less.
const QUICK: Duration = Duration::from_secs(5);

#[test]
fn a_message_without_an_end_ends_its_agent() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("endless");
    assert_eq!(place.next_but_turns(), ended(Exit::Signal(15)));
    assert!(place.transcript().ends_with("-- it sent a message without an end\n"), "{}", place.transcript());
}

#[test]
fn an_agent_that_takes_no_answers_holds_nobody_up() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("deaf-flood");
    let begins = RunnerEvent::Acp { key: "ann".into(), news: AcpNews::TurnStarted };
    assert_eq!(place.next(), begins);
    assert_eq!(place.runner().activity("ann").unwrap().state, AcpState::Working);
    let other = acp_launch(
        place.dir(),
        "bob",
        &[],
        AcpStart { prompt: Some("say hello".into()), ..AcpStart::default() },
    );
    place.runner().launch(vec![other]).unwrap();
    place.started("bob");
    assert!(matches!(place.news(), AcpNews::Ready { .. }));
    assert_eq!(place.said(), "hello");
    let begun = Instant::now();
    place.end();
    assert!(begun.elapsed() < QUICK); // clock: nothing that it says is waited for
}

#[test]
fn an_agent_that_dies_in_the_middle_is_told_as_it_was() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("say goodbye\ndie 3");
    assert_eq!(place.next_but_turns(), ended(Exit::Code(3)));
    assert!(place.transcript().ends_with("goodbye"), "{}", place.transcript());

    let place = Place::new();
    place.start_acp(&[], AcpStart { prompt: Some("children\nask execute x".into()), ..AcpStart::default() });
    assert!(matches!(place.news(), AcpNews::Ready { .. }));
    let ask = place.ask();
    let mark = mark(place.dir(), "ann");
    let all = wait_for_marked(&mark, 3);
    let program = all.into_iter().find(|pid| has_word(*pid, "acp_agent.py")).unwrap();
    let program = rustix::process::Pid::from_raw(program as i32).unwrap();
    rustix::process::kill_process(program, rustix::process::Signal::KILL).unwrap();
    assert_eq!(place.news(), AcpNews::Withdrawn { ask: ask.ask });
    assert_eq!(place.next_but_turns(), ended(Exit::Signal(9)));
    assert!(marked(&mark).is_empty());
}

#[test]
fn an_agent_that_closes_its_output_is_ended() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("close");
    assert_eq!(place.next_but_turns(), ended(Exit::Signal(15)));
    assert!(place.transcript().ends_with("-- it closed its standard output\n"), "{}", place.transcript());
}

#[test]
fn a_program_that_is_of_no_use_is_told_with_the_reason() {
    for (flags, reason) in [
        (&["newer"][..], "it speaks version 2 of ACP, Comity version 1"),
        (&["login"], "it wants you to log in first (API key): who are you"),
    ] {
        let place = Place::new();
        place.start_acp(flags, AcpStart::default());
        assert_eq!(place.next_but_turns(), RunnerEvent::NotStarted { key: "ann".into(), why: reason.into() });
    }
    let place = Place::new();
    let mut launch = acp_launch(place.dir(), "ann", &[], AcpStart::default());
    launch.program.command = ["sh", "-c", "echo usage: something else"].map(str::to_owned).to_vec();
    place.runner().launch(vec![launch]).unwrap();
    place.started("ann");
    let why = "it ended before it had begun a session".into();
    assert_eq!(place.next_but_turns(), RunnerEvent::NotStarted { key: "ann".into(), why });
    assert_eq!(place.transcript(), "-- not understood: usage: something else\n");
}

#[test]
fn a_session_is_gone_on_with_where_the_agent_can() {
    let place = Place::new();
    let session = place.ready(&[]);
    place.prompt("prompts");
    assert_eq!(place.said(), "1");
    place.end();

    let again = |flags: &[&str], session: &str| {
        let start = AcpStart {
            session: Some(session.into()),
            prompt: Some("say from the start".into()),
            resume_prompt: Some("prompts".into()),
            ..AcpStart::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let (runner, events) = support::runner(dir.path(), Vec::new());
        runner.launch(vec![acp_launch(place.dir(), "ann", flags, start)]).unwrap();
        let mut said = None;
        let ready = until(|| match events.try_recv().ok()? {
            RunnerEvent::Acp { news: AcpNews::TurnEnded { last_words, .. }, .. } => {
                said = Some(last_words);
                None
            }
            RunnerEvent::Acp { news: AcpNews::Ready { session, resumed }, .. } => Some((session, resumed)),
            _ => None,
        });
        let said = said.or_else(|| {
            until(|| match events.try_recv().ok()? {
                RunnerEvent::Acp { news: AcpNews::TurnEnded { last_words, .. }, .. } => Some(last_words),
                _ => None,
            })
        });
        let text = String::from_utf8(runner.output("ann", 0).unwrap().bytes).unwrap();
        (ready.unwrap(), said.unwrap(), text)
    };
    let (ready, said, text) = again(&[], &session);
    assert_eq!((ready, &*said), ((session.clone(), true), "2"));
    assert!(text.starts_with("> what was asked before\nwhat was said before\n> prompts\n2\n"), "{text}");

    for (flags, session, note) in [
        (&["no-load"][..], &*session, "-- it can't resume a session, so a new one begins\n"),
        (&[], "unknown", "-- the session can't be resumed: no such session\n"),
    ] {
        let (ready, said, text) = again(flags, session);
        assert!(!ready.1 && ready.0 != session);
        assert_eq!(said, "from the start");
        assert!(text.starts_with(note), "{text}");
    }
}

#[test]
fn stopping_ends_the_turn_first_and_waits_for_no_model() {
    let place = Place::new();
    place.ready(&[]);
    place.prompt("say waiting\nwait");
    place.wait_for("ann", "\nwaiting");
    let begun = Instant::now();
    place.runner().end("ann", Duration::from_secs(60)).unwrap();
    assert_eq!(place.turn().0, AcpTurnEnd::Interrupted);
    assert!(matches!(place.next_but_turns(), RunnerEvent::Ended { .. }));
    assert!(begun.elapsed() < QUICK); // clock: nothing that it says is waited for

    let place = Place::new();
    place.ready(&[]);
    place.prompt("say waiting\ndeaf");
    place.wait_for("ann", "\nwaiting");
    assert!(place.runner().prompt("ann", "say queued").is_ok());
    place.runner().end("ann", Duration::from_secs(1)).unwrap();
    assert!(place.runner().prompt("ann", "say more").is_err());
    assert_eq!(place.next_but_turns(), ended(Exit::Signal(15)));
}

#[test]
fn nothing_outlives_the_runner() {
    let mut place = Place::new();
    place
        .start_acp(&[], AcpStart { prompt: Some("children\nsay ready\nwait".into()), ..AcpStart::default() });
    place.wait_for("ann", "\nready");
    let mark = mark(place.dir(), "ann");
    wait_for_marked(&mark, 3);
    place.runner = None;
    assert_eq!(survivors(&mark, Duration::from_secs(2)), Default::default());
}

fn has_word(pid: u32, word: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains(word))
}
