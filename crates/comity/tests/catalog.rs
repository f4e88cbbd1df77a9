//! Every operation of the catalog gives the same answer through every door.

#[path = "catalog/calls.rs"]
mod calls;
#[path = "catalog/doors.rs"]
mod doors;
#[path = "catalog/keep.rs"]
mod keep;
#[path = "catalog/late.rs"]
mod late;
#[path = "catalog/more.rs"]
mod more;
#[path = "catalog/normal.rs"]
mod normal;
#[path = "catalog/rare.rs"]
mod rare;
#[path = "catalog/scenario.rs"]
mod scenario;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "people/terminal.rs"]
mod terminal;

use comity_app::catalog::{CATALOG, CatalogEntry, find};
use comity_app::operation::{Audience, Effect};

use doors::{Answer, Door, Stage};
use scenario::{Step, all_steps, scenario};
use support::Agent;
use support::mcp::Mcp;

/// After this one nobody is left to ask the rest; who agrees to end has a test of its own.
const ENDS_THE_CALLER: &str = "shutdown_approve";

/// What is not told again to a repeated call.
const TOLD_ONCE: &[&str] = &["tab_", "mail_read", "next", "token_create"];

fn entry(step: &Step) -> &'static CatalogEntry {
    find(step.op).unwrap_or_else(|| panic!("there is no operation {}", step.op))
}

/// Plays the scenario through one door; nothing where the door does not offer the operation.
fn play(door: Door) -> Vec<Option<Answer>> {
    let mut stage = Stage::new();
    let human = Agent { id: "human".into(), token: support::HUMAN.into() };
    let mut mcp = (door == Door::Mcp)
        .then(|| Mcp::start(&mut stage.place.comity_as(&stage.lead, &["mcp", "--all-tools"])));
    let is_tool = |entry: &CatalogEntry| entry.audience != Audience::Internal;
    let ask = |step: Step| {
        let entry = entry(&step);
        stage.prepare(entry);
        stage.asker = if step.is_humans { human.clone() } else { stage.lead.clone() };
        Some(match door {
            Door::Socket => stage.by_socket(entry, &step.input),
            // What is none of people's business has no command; what comes later counts on its having happened.
            Door::CommandLine | Door::CommandLineInWords if !is_tool(entry) => {
                stage.by_socket(entry, &step.input);
                return None;
            }
            Door::CommandLine => stage.by_command_line(entry, step.typed),
            Door::CommandLineInWords => stage.by_command_line_in_words(entry, step.typed),
            Door::Rest => stage.by_rest(entry, &step.input),
            Door::RestByName => stage.by_name(entry, &step.input),
            Door::Mcp if is_tool(entry) && !step.is_humans => stage.by_mcp(mcp.as_mut()?, entry, &step.input),
            // A connector is its agent's: the human asks by another way.
            Door::Mcp | Door::McpOverHttp if is_tool(entry) => stage.by_mcp_over_http(entry, &step.input),
            Door::Mcp | Door::McpOverHttp => return None,
        })
    };
    let answers = scenario().into_iter().map(ask).collect();
    if door == Door::Socket {
        keep::keep_log(&stage.place);
    }
    answers
}

fn agree(one: Door, others: &[Door]) {
    let expected = play(one);
    for other in others {
        let steps = scenario();
        for ((step, expected), found) in steps.iter().zip(&expected).zip(play(*other)) {
            let Some(found) = found else { continue };
            assert_eq!(Some(&found), expected.as_ref(), "{} {} through {other:?}", step.op, step.input);
        }
    }
}

#[test]
fn the_scenario_has_every_operation() {
    let steps = all_steps();
    for entry in CATALOG {
        let is_there = steps.iter().any(|step| step.op == entry.name);
        assert!(is_there, "{}: add a step for it to the scenario of this test", entry.name);
    }
}

#[test]
fn programs_get_the_same_answer_through_every_door() {
    agree(Door::Socket, &[Door::CommandLine, Door::Rest, Door::RestByName]);
}

#[test]
fn agents_read_what_people_read() {
    agree(Door::CommandLineInWords, &[Door::Mcp, Door::McpOverHttp]);
}

#[test]
fn every_operation_works_and_some_are_refused() {
    let answers = play(Door::Socket);
    for entry in CATALOG {
        let steps = scenario();
        let of_entry = steps.iter().zip(&answers).filter(|(step, _)| step.op == entry.name);
        let answers: Vec<_> = of_entry.map(|(_, answer)| answer).collect();
        let worked = answers.iter().any(|answer| answer.as_ref().is_some_and(|answer| !answer.is_error));
        assert!(
            worked || answers.is_empty() || entry.name == ENDS_THE_CALLER,
            "{} was only ever refused: {answers:?}",
            entry.name
        );
    }
    assert!(answers.iter().flatten().filter(|answer| answer.is_error).count() >= 7);
}

/// What the kept log of a release has besides the operations; `cargo xtask keep-log` plays both.
#[test]
fn what_is_seldom_happens() {
    let place = Stage::new().place;
    keep::play_rest(&place);
    for action in ["agent_process_known", "permission_lapsed", "slot_asked", "move_undone", "unlocked_write"]
    {
        assert!(!place.log_of(action).is_empty(), "{action}");
    }
    place.json(&["log", "verify"]);
}

#[test]
fn a_repeated_call_gets_its_answer_again() {
    let mut stage = Stage::new();
    let human = Agent { id: "human".into(), token: support::HUMAN.into() };
    let mut wrong = Vec::new();
    for (number, step) in scenario().into_iter().enumerate() {
        let entry = entry(&step);
        stage.prepare(entry);
        stage.asker = if step.is_humans { human.clone() } else { stage.lead.clone() };
        let key = format!("step {number}");
        let ask = || stage.by_socket_with_key(entry, &step.input, Some(&key));
        let first = ask();
        // What changes nothing is asked anew, what a page did is not told twice, mail was acknowledged, and secrets are not
        // kept.
        let changes = matches!(entry.effect, Effect::Changes | Effect::Removes);
        if first.is_error || !changes || TOLD_ONCE.iter().any(|op| step.op.starts_with(op)) {
            continue;
        }
        let again = ask();
        if again != first {
            wrong.push(format!("{} {}: {first:?}, then {again:?}", step.op, step.input));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
