//! Who is waiting, who is blocked and who is silent, and why: a chain to whoever can end it.

use comity_core::Principal;
use comity_core::activity::Activity;
use comity_core::next_call::spell_plainly;
use comity_core::why::WaitChain;
use expect_test::{Expect, expect};

use crate::permission_world::{ANN, BOB, LEAD, PermissionWorld, id, shell, who};
use crate::script::{Stage, project};
use crate::tasks::words;

fn played(script: &str) -> Stage {
    let mut stage = Stage::default();
    script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .for_each(|line| words::play(&mut stage, line));
    stage
}

/// Why somebody, a task or a path does not go on, as the human reads it.
fn why(stage: &Stage, subject: &str, expect: Expect) {
    let chain = WaitChain::new(&stage.world, Principal::Human, stage.now());
    let links = match (stage.world.agents.find(subject), stage.world.tasks.get(project(), subject)) {
        (Ok(agent), _) => chain.of_agent(agent),
        (_, Some(task)) => chain.of_task(task),
        _ => {
            let pattern = comity_core::PathPattern::parse(subject, comity_core::CaseRule::Exact);
            chain.of_path(project(), &pattern.expect("a path"))
        }
    };
    let lines: Vec<String> = links
        .iter()
        .map(|link| format!("{:indent$}{}", "", spell_plainly(&link.text), indent = 2 * link.depth))
        .collect();
    expect.assert_eq(&lines.join("\n"));
}

fn activity(stage: &Stage, name: &str) -> &'static str {
    let agent = stage.world.agents.find(name).expect("an agent");
    Activity::of(&stage.world, agent, stage.now()).word()
}

#[test]
fn a_chain_goes_over_locks_to_who_is_at_work() {
    let stage = played(
        "ann joins with process
         bob joins with process
         cid joins with process
         ann locks a.rs because login
         bob locks b.rs
         bob locks a.rs waiting 1h
         cid locks b.rs waiting 1h
         3m pass
         ann beats",
    );
    assert_eq!([activity(&stage, "ann"), activity(&stage, "bob")], ["working", "waiting"]);
    why(
        &stage,
        "cid",
        expect![[r#"
            cid waits for b.rs (3m)
              b.rs is locked by bob, who is at work (3m so far)
                bob waits for a.rs (3m)
                  a.rs is locked by ann ("login"), who is at work (3m so far)
                    ann is at work (seen 0s ago)"#]],
    );
    why(
        &stage,
        "a.rs",
        expect![[r#"
            a.rs is locked by ann ("login"), who is at work (3m so far)
              ann is at work (seen 0s ago)
            bob waits for it (3m)"#]],
    );
    why(&stage, "free.rs", expect!["free.rs is free"]);
}

#[test]
fn whoever_is_heard_of_no_more_is_silent() {
    let stage = played(
        "ann joins with process
         ann locks a.rs
         9m pass",
    );
    assert_eq!(activity(&stage, "ann"), "silent");
    why(&stage, "ann", expect!["ann has been silent for 9m"]);
}

#[test]
fn work_that_was_left_blocks_until_somebody_decides() {
    let stage = played(
        "ann joins
         bob joins with process
         ann locks a.rs
         ann crashes
         dirty a.rs
         bob locks a.rs waiting 1h",
    );
    assert_eq!(activity(&stage, "bob"), "blocked", "no time frees it");
    why(
        &stage,
        "a.rs",
        expect![[r#"
            a.rs is orphaned: ann left uncommitted work 0ms ago
              you can adopt, rescue or release it: adopt(paths=["a.rs"])
            bob waits for it (0s)"#]],
    );
}

#[test]
fn a_task_waits_for_tasks_and_those_for_agents() {
    let stage = played(
        "ann joins with process
         human declares a on a.rs; b after a; c on a.rs; d reviewed; e
         ann starts a
         bob starts d
         bob finishes d because commit 1
         cid starts e
         cid fails e because no compiler",
    );
    why(
        &stage,
        "b",
        expect![[r#"
            b (it) is pending: others come first
              a (it) has been worked on by ann for 0s
                ann is at work on the task a (seen 0s ago)"#]],
    );
    why(
        &stage,
        "c",
        expect![[r#"
            c (it) is ready, but changes the same files as a
              a (it) has been worked on by ann for 0s
                ann is at work on the task a (seen 0s ago)"#]],
    );
    why(&stage, "d", expect!["d (it) is done by bob; you have to review it (0s)"]);
    why(
        &stage,
        "e",
        expect![[r#"
            e (it) failed 0s ago: no compiler
              you can retry or skip it: task_retry(id="e")"#]],
    );
}

#[test]
fn whoever_waits_for_an_answer_is_blocked() {
    let mut stage = PermissionWorld::new();
    stage.request(ANN, &shell("make")).expect("asked");
    let agent = stage.world.agents.get(id(ANN)).expect("ann");
    assert_eq!(Activity::of(&stage.world, agent, stage.now).word(), "blocked");
    let bob = stage.world.agents.get(id(BOB)).expect("bob");
    assert_ne!(Activity::of(&stage.world, bob, stage.now).word(), "blocked");
    let links = WaitChain::new(&stage.world, who(LEAD), stage.now).of_agent(agent);
    let lines: Vec<&str> = links.iter().map(|link| &*link.text).collect();
    assert_eq!(lines, ["ann waits for your answer to Bash: make (0s)", "you have to decide"]);
}
