//! The stored form of events: logs are read for ever, so none of it changes by a byte.

use std::collections::BTreeSet;

use comity_core::snapshot::Snapshot;
use comity_core::world::Timeouts;
use comity_core::{AgentId, Event, Principal, Record, Timestamp, World, event};
use expect_test::{expect, expect_file};
use serde_json::{Value, json};

/// Events of every kind, one a line, as earlier versions wrote them.
const EVENTS: &str = include_str!("stored_events.jsonl");

#[test]
fn events_are_written_as_they_were() {
    for line in EVENTS.lines() {
        let event: Event = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(serde_json::to_string(&event).expect("JSON"), line);
        let value: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(serde_json::from_value::<Event>(value).expect("an event"), event, "{line}");
    }
}

#[test]
fn no_kind_of_event_is_left_out() {
    let stored: BTreeSet<String> = EVENTS.lines().filter_map(kind).collect();
    let missing: Vec<String> = kinds().difference(&stored).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "add one of each to stored_events.jsonl");
}

#[test]
fn every_type_of_event_is_stored_here() {
    let named: BTreeSet<(&str, &str)> = event::types().map(|kind| (kind.action, kind.stream)).collect();
    let events = EVENTS.lines().map(|line| serde_json::from_str::<Event>(line).expect(line));
    let stored: BTreeSet<(&str, &str)> =
        events.map(|event| (event.kind().action, event.kind().stream)).collect();
    // These are variants of others, by what is in them.
    let variants = named.difference(&stored).map(|(_, stream)| *stream).collect::<Vec<_>>();
    assert_eq!(variants, ["mail:sent"]);
}

/// Whoever was told of one of these may rely on it after a power cut; a move of a branch is intended before it is made.
#[test]
fn what_must_be_on_the_disk_before_it_is_answered() {
    let events = EVENTS.lines().map(|line| serde_json::from_str::<Event>(line).expect(line));
    let durable: BTreeSet<&str> =
        events.map(|event| event.kind()).filter(|kind| kind.durable).map(|kind| kind.action).collect();
    expect![[r#"
        agent_joined
        agent_named
        agent_terminated
        agent_token_added
        agents_limited
        branch_merged
        commit_unguarded
        decision_confirmed
        decision_made
        decision_rejected
        delegated
        delegation_cancelled
        file_commit
        human_token_made
        human_token_revoked
        idle_reported
        lock_handed_over
        mail_put_aside
        mail_undelivered
        merge_conflicted
        message_sent
        move_intended
        passphrase_set
        permission_allowed
        permission_asked
        permission_denied
        permission_escalated
        permission_expired
        permission_lapsed
        permission_mode_set
        permission_rule_added
        permission_rule_passed_on
        permission_rule_removed
        permission_used
        permission_withdrawn
        plan_approved
        plan_escalated
        plan_rejected
        plan_submitted
        plan_withdrawn
        run_end_wanted
        run_exited
        run_fell_back
        run_interrupted
        run_noted
        run_over
        run_resumed
        run_retried
        server_started
        shutdown_approved
        shutdown_overdue
        shutdown_rejected
        shutdown_requested
        sub_agent_spawned
        task_cancelled
        task_claimed
        task_completed
        task_declared
        task_failed
        task_linked
        task_looks_like
        task_paused
        task_reopened
        task_reported
        task_resumed
        task_retried
        task_sent_back
        task_skipped
        task_started
        team_admitted
        team_created
        team_deleted
        worktree_added
        worktree_removed"#]]
    .assert_eq(&durable.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_world_with_everything_in_it_is_read_back_from_its_snapshot() {
    let mut world = World::default();
    for (line, seq) in EVENTS.lines().zip(1..) {
        let (now, wall_ms) = (Timestamp(seq * 1_000), 1_000 * seq as i64);
        let event = serde_json::from_str(line).expect(line);
        let record = Record {
            seq,
            now,
            wall_ms,
            by: Principal::Human,
            from: None,
            concerns: vec![],
            key: None,
            event,
        };
        world.apply(&record);
        let snapshot = Snapshot::of(&world);
        let text = serde_json::to_string(&snapshot).unwrap_or_else(|error| panic!("{line}: {error}"));
        let read: Snapshot = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}"));
        let again = read.restore(Timeouts::default());
        assert_eq!(Snapshot::of(&again), snapshot, "{line}");
    }
}

#[test]
fn each_event_names_whom_it_concerns() {
    let shown: Vec<String> = EVENTS.lines().map(concerned).collect();
    expect_file!["stored_events_concern.txt"].assert_eq(&format!("{}\n", shown.join("\n")));
}

/// Whoever stands in an event has to do with it: none is named only in passing.
#[test]
fn each_event_concerns_whoever_stands_in_it() {
    for line in EVENTS.lines() {
        let event: Event = serde_json::from_str(line).expect("an event");
        let record = record_of(event);
        for (at, _) in line.match_indices("agent_") {
            let id = line[at..(at + 18).min(line.len())].parse::<AgentId>();
            assert!(id.is_err() || id.is_ok_and(|id| record.concerns_agent(id)), "{line}");
        }
    }
}

fn record_of(event: Event) -> Record {
    let (now, by, key) = (Timestamp(0), Principal::System, None);
    Record { seq: 1, now, wall_ms: 0, by, from: None, concerns: vec![], key, event }
}

/// The kind of an event, the agents that stand in it, each as a letter, and those of them whom it concerns by itself. Of
/// events that name only a lock, a request or a slot the world knows whose that was.
fn concerned(line: &str) -> String {
    let event: Event = serde_json::from_str(line).expect("an event");
    let mut named: Vec<&str> = vec![];
    for (at, _) in line.match_indices("agent_") {
        let id = &line[at..(at + 18).min(line.len())];
        if id.parse::<AgentId>().is_ok() && !named.contains(&id) {
            named.push(id);
        }
    }
    let letters = |agents: &[String]| -> String {
        let at = |agent: &String| named.iter().position(|id| id == agent).expect("it stands in it");
        let mut all: Vec<char> = agents.iter().map(|agent| char::from(b'A' + at(agent) as u8)).collect();
        all.sort_unstable();
        all.into_iter().collect()
    };
    let record = record_of(event);
    let concerned: Vec<String> = record.concerned().iter().map(ToString::to_string).collect();
    let named_letters = letters(&named.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
    let kind = kind(line).expect("a kind");
    format!("{kind}: names {}, concerns {}", or_nobody(named_letters), or_nobody(letters(&concerned)))
}

fn or_nobody(letters: String) -> String {
    if letters.is_empty() { "nobody".into() } else { letters }
}

#[test]
fn what_is_no_event_is_refused() {
    let refused = |text: &str| serde_json::from_str::<Event>(text).expect_err(text).to_string();
    assert!(refused(r#"{"lock_eaten":{}}"#).starts_with("unknown variant `lock_eaten`, expected one of `"));
    assert!(
        refused(r#"{"agent_seen":{"agent":"agent_8df991976918","x":1}}"#).starts_with("unknown field `x`")
    );
    assert!(refused(r#"{"lock":{"expired":{"fence":1,"path":"a"}}}"#).starts_with("unknown variant `lock`"));
    assert!(refused(r#"{"agent_seen":{}}"#).starts_with("missing field `agent`"));
}

/// The name of an event; of one that has a name inside, with that.
fn kind(line: &str) -> Option<String> {
    let event: Value = serde_json::from_str(line).ok()?;
    let (name, inside) = event.as_object()?.iter().next()?;
    match variants(&json!({ name: { "?": 0 } })).is_empty() {
        true => Some(name.clone()),
        false => Some(format!("{name}/{}", inside.as_object()?.keys().next()?)),
    }
}

fn kinds() -> BTreeSet<String> {
    let inside = |name: String| match variants(&json!({ &name: { "?": 0 } })) {
        all if all.is_empty() => vec![name],
        all => all.into_iter().map(|one| format!("{name}/{one}")).collect(),
    };
    variants(&json!({ "?": 0 })).into_iter().flat_map(inside).collect()
}

/// What could stand where this event has a question mark, as serde tells.
fn variants(event: &Value) -> Vec<String> {
    let Err(error) = serde_json::from_value::<Event>(event.clone()) else { return vec![] };
    let told = error.to_string();
    let Some((_, expected)) = told.split_once("unknown variant `?`, expected ") else { return vec![] };
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
