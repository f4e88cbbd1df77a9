//! Every bound is reached once, and says so. Only the million locks of a whole server are too many for a test.

use comity_core::agents::{AgentAsk, Ending, Profile};
use comity_core::limits::{
    AGENTS_MAX, ANSWERS_MAX, ENDED_AGENTS_MAX, HOLDERS_SHOWN_MAX, LOCK_TTL, LOCK_TTL_MAX, LOCK_TTL_MIN,
    LOCKS_PER_HOLDER_MAX, NAME_CHARS_MAX, NOTICES_MAX, PATHS_PER_ASK_MAX, REASON_BYTES_MAX,
    TOKENS_PER_AGENT_MAX, WAIT_MAX, WAITS_MAX, WAITS_PER_HOLDER_MAX,
};
use comity_core::locks::{LockAsk, LockMode, LockRefusal, Wanted};
use comity_core::{
    AgentId, Ask, CaseRule, Key, Millis, PathPattern, Principal, Refusal, Timestamp, World, expire, run,
};
use expect_test::{Expect, expect};

use crate::script::{project, token};
use crate::tell;

fn want(path: &str) -> Wanted {
    let pattern = PathPattern::parse(path, CaseRule::Exact).expect("a path");
    Wanted {
        project: project(),
        pattern,
        mode: LockMode::Exclusive,
        ttl: LOCK_TTL,
        reason: None,
        with_children: false,
        worktree: None,
    }
}

fn paths(from: usize, count: usize) -> Vec<Wanted> {
    (from..from + count).map(|number| want(&format!("f{number}"))).collect()
}

fn lock(wants: Vec<Wanted>) -> Ask {
    Ask::Lock(LockAsk::Lock { wants, wait: None })
}

fn waiting(wants: Vec<Wanted>) -> Ask {
    Ask::Lock(LockAsk::Lock { wants, wait: Some(Millis::minutes(5)) })
}

fn agent(number: u64) -> Principal {
    Principal::Agent(AgentId::from_bits(number))
}

fn join(number: u64, name: &str) -> Ask {
    let profile = Box::new(Profile { name: name.into(), ..Profile::default() });
    Ask::Agent(AgentAsk::Join { agent: AgentId::from_bits(number), token: token(number), profile })
}

fn ask(world: &mut World, who: Principal, ask: &Ask) -> String {
    let now = world.now;
    match run(world, who, ask, None, now, 0) {
        Ok(_) => "agreed".into(),
        Err(no) => tell::refusal(&no),
    }
}

fn agreed(world: &mut World, who: Principal, what: &Ask) {
    assert_eq!(ask(world, who, what), "agreed");
}

/// A world with so many agents, numbered from 1.
fn crowd(count: u64) -> World {
    let mut world = World::default();
    (1..=count).for_each(|number| agreed(&mut world, Principal::Human, &join(number, &format!("a{number}"))));
    world
}

fn check(world: &mut World, who: Principal, what: &Ask, expect: Expect) {
    expect.assert_eq(&ask(world, who, what));
}

#[test]
fn paths_in_one_ask() {
    let mut world = crowd(1);
    agreed(&mut world, agent(1), &lock(paths(0, PATHS_PER_ASK_MAX)));
    check(
        &mut world,
        agent(1),
        &lock(paths(0, PATHS_PER_ASK_MAX + 1)),
        expect![
            "refused (limit_reached): 257 paths are too many; one call takes at most 256; name a directory or a glob instead"
        ],
    );
    let patterns = paths(0, PATHS_PER_ASK_MAX + 1).into_iter().map(|wanted| wanted.pattern).collect();
    check(
        &mut world,
        agent(1),
        &Ask::Lock(LockAsk::Unlock { project: project(), patterns }),
        expect![
            "refused (limit_reached): 257 paths are too many; one call takes at most 256; name a directory or a glob instead"
        ],
    );
    check(
        &mut world,
        agent(1),
        &lock(vec![]),
        expect![[r#"refused (bad_input): nothing to lock was named; name a path: lock(paths=["PATH"])"#]],
    );
}

#[test]
fn locks_of_one_agent() {
    let mut world = crowd(1);
    for from in (0..LOCKS_PER_HOLDER_MAX).step_by(100) {
        agreed(&mut world, agent(1), &lock(paths(from, 100)));
    }
    check(
        &mut world,
        agent(1),
        &lock(vec![want("one-more")]),
        expect![
            "refused (limit_reached): you hold 2000 locks and wait for 0, of 2000 at most; release some, or lock directories"
        ],
    );
    // What one holds can be renewed all the same.
    agreed(&mut world, agent(1), &lock(paths(0, PATHS_PER_ASK_MAX)));
}

#[test]
fn what_waits_counts_as_held() {
    let mut world = crowd(2);
    agreed(&mut world, agent(1), &lock(paths(0, PATHS_PER_ASK_MAX)));
    for from in (1_000..1_000 + LOCKS_PER_HOLDER_MAX - PATHS_PER_ASK_MAX).step_by(109) {
        agreed(&mut world, agent(2), &lock(paths(from, 109)));
    }
    agreed(&mut world, agent(2), &waiting(paths(0, PATHS_PER_ASK_MAX)));
    check(
        &mut world,
        agent(2),
        &lock(vec![want("one-more")]),
        expect![
            "refused (limit_reached): you hold 1744 locks and wait for 256, of 2000 at most; release some, or lock directories"
        ],
    );
}

#[test]
fn waits_of_one_agent() {
    let mut world = crowd(2);
    agreed(&mut world, agent(1), &lock(vec![want("f0")]));
    (0..WAITS_PER_HOLDER_MAX).for_each(|_| agreed(&mut world, agent(2), &waiting(vec![want("f0")])));
    check(
        &mut world,
        agent(2),
        &waiting(vec![want("f0")]),
        expect![
            "refused (limit_reached): 32 of your requests are already waiting, 32 in all; wait for some of them first"
        ],
    );
}

#[test]
fn waits_of_all() {
    let mut world = crowd(WAITS_MAX as u64 + 2);
    agreed(&mut world, agent(1), &lock(vec![want("f0")]));
    for number in 0..WAITS_MAX as u64 {
        agreed(&mut world, agent(number + 2), &waiting(vec![want("f0")]));
    }
    check(
        &mut world,
        agent(WAITS_MAX as u64 + 2),
        &waiting(vec![want("f0")]),
        expect![
            "refused (limit_reached): 0 of your requests are already waiting, 1000 in all; wait for some of them first"
        ],
    );
    // A full queue is still served one by one, in order.
    for number in 1..4 {
        agreed(&mut world, agent(number), &Ask::Lock(LockAsk::UnlockAll { project: None }));
        assert_eq!(world.locks.of(agent(number + 1)).count(), 1);
    }
}

#[test]
fn times() {
    let mut world = crowd(1);
    let with_ttl = |ttl| lock(vec![Wanted { ttl, ..want("f0") }]);
    agreed(&mut world, agent(1), &with_ttl(LOCK_TTL_MIN));
    agreed(&mut world, agent(1), &with_ttl(LOCK_TTL_MAX));
    check(
        &mut world,
        agent(1),
        &with_ttl(Millis(LOCK_TTL_MIN.0 - 1)),
        expect!["refused (bad_input): a TTL of 999ms is not possible; give one from 1s to 24h, such as 5m"],
    );
    check(
        &mut world,
        agent(1),
        &with_ttl(Millis(LOCK_TTL_MAX.0 + 1_000)),
        expect!["refused (bad_input): a TTL of 24h is not possible; give one from 1s to 24h, such as 5m"],
    );
    check(
        &mut world,
        agent(1),
        &Ask::Lock(LockAsk::Lock { wants: vec![want("f0")], wait: Some(Millis(WAIT_MAX.0 + 1)) }),
        expect!["refused (bad_input): the wait is too long; wait at most 1h"],
    );
}

#[test]
fn words() {
    let mut world = crowd(1);
    let reason: Box<str> = "x".repeat(REASON_BYTES_MAX + 1).into();
    let too_long = expect!["refused (bad_input): the reason is longer than 1024 bytes; say it in a sentence"];
    let wants = vec![Wanted { reason: Some(reason.clone()), ..want("f0") }];
    too_long.assert_eq(&ask(&mut world, agent(1), &lock(wants)));
    let patterns = vec![want("f0").pattern];
    let release = Ask::Lock(LockAsk::Release { project: project(), patterns, reason: Some(reason) });
    too_long.assert_eq(&ask(&mut world, Principal::Human, &release));
    let cause: Box<str> = "x".repeat(REASON_BYTES_MAX + 1).into();
    let end = Ask::Agent(AgentAsk::End { agent: AgentId::from_bits(1), ending: Ending::Exited, cause });
    too_long.assert_eq(&ask(&mut world, Principal::Human, &end));
    let long = "n".repeat(NAME_CHARS_MAX);
    agreed(&mut world, Principal::Human, &join(2, &long));
    let no = ask(&mut world, Principal::Human, &join(3, &format!("{long}n")));
    assert!(no.contains("use 1 to 64 letters"), "{no}");
    assert!(Key::new(&"k".repeat(Key::BYTES_MAX)).is_some());
    assert!(Key::new(&"k".repeat(Key::BYTES_MAX + 1)).is_none());
}

#[test]
fn agents_and_tokens() {
    let mut world = crowd(AGENTS_MAX as u64);
    check(
        &mut world,
        Principal::Human,
        &join(AGENTS_MAX as u64 + 1, "late"),
        expect![[
            r#"refused (limit_reached): 10000 agents are here already; end agents that are not needed with: agent_bye(agent="NAME")"#
        ]],
    );
    let add = |number: usize| {
        Ask::Agent(AgentAsk::AddToken {
            agent: AgentId::from_bits(1),
            token: token(1_000_000 + number as u64),
        })
    };
    (1..TOKENS_PER_AGENT_MAX).for_each(|number| agreed(&mut world, Principal::System, &add(number)));
    check(
        &mut world,
        Principal::System,
        &add(TOKENS_PER_AGENT_MAX),
        expect![
            "refused (limit_reached): this agent has 64 tokens already; give its token to its processes in COMITY_TOKEN"
        ],
    );
}

#[test]
fn the_oldest_of_the_ended_are_forgotten() {
    let mut world = World::default();
    for number in 1..=ENDED_AGENTS_MAX as u64 + 1 {
        agreed(&mut world, Principal::Human, &join(number, "same"));
        let id = AgentId::from_bits(number);
        agreed(
            &mut world,
            Principal::Human,
            &Ask::Agent(AgentAsk::End { agent: id, ending: Ending::Exited, cause: "done".into() }),
        );
    }
    assert_eq!(world.agents.iter().count(), ENDED_AGENTS_MAX);
    assert!(world.agents.get(AgentId::from_bits(1)).is_none());
    assert!(world.agents.get(AgentId::from_bits(2)).is_some());
}

#[test]
fn the_oldest_notices_and_answers_are_forgotten() {
    let mut world = crowd(1);
    for _ in 0..=NOTICES_MAX {
        agreed(&mut world, agent(1), &lock(vec![want("f0")]));
        let patterns = vec![want("f0").pattern];
        agreed(
            &mut world,
            Principal::Human,
            &Ask::Lock(LockAsk::Release { project: project(), patterns, reason: None }),
        );
    }
    let told = &world.agents.get(AgentId::from_bits(1)).expect("an agent").notices;
    assert_eq!(told.len(), NOTICES_MAX);

    let key = |number: usize| Key::new(&format!("k{number}")).expect("a key");
    let who = agent(1);
    for number in 0..=ANSWERS_MAX {
        let seen = Ask::Agent(AgentAsk::Seen { agent: AgentId::from_bits(1) });
        run(&mut world, who, &seen, Some(&key(number)), Timestamp(1), 0).expect("agreed");
    }
    assert!(world.answers.get(who, &key(0)).is_none());
    assert!(world.answers.get(who, &key(1)).is_some());
}

#[test]
fn a_refusal_lists_the_first_holders_only() {
    let holders = HOLDERS_SHOWN_MAX as u64 + 2;
    let mut world = crowd(holders + 1);
    (1..=holders).for_each(|n| agreed(&mut world, agent(n), &lock(vec![want(&format!("src/{n}"))])));
    let no = run(&mut world, agent(holders + 1), &lock(vec![want("src/")]), None, Timestamp(0), 0);
    let Err(Refusal::Lock(LockRefusal::Locked { holders, .. })) = no else { panic!("it is locked") };
    assert_eq!(holders.len(), HOLDERS_SHOWN_MAX);
}

#[test]
fn a_flood_of_deadlines_ends() {
    let mut world = crowd(50);
    for number in 1..=50 {
        agreed(&mut world, agent(number), &lock(paths(number as usize * 100, 100)));
    }
    expire(&mut world, Timestamp(u64::MAX), 0);
    assert_eq!(world.agents.live().count(), 0);
    assert_eq!(world.next_deadline(), None);
}
