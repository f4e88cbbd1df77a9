//! What the agents of the model can do, and what would come of it if nothing were refused.

use comity_core::limits::{LOCK_TTL, PERMISSION_WAIT, WAIT_MAX};
use comity_core::locks::{LockAsk, LockEvent, LockMode, Wanted};
use comity_core::permissions::{Answer, Hearing, PermissionAsk, PermissionEvent, RequestId, RequestState};
use comity_core::pools::{PoolAsk, PoolEvent, SlotId, Take};
use comity_core::tasks::{TaskAct, TaskAsk, TaskRef};
use comity_core::{Ask, CaseRule, Event, PathPattern, Principal, ProjectId, Record, Ticket, World};

use super::model_agents::{LEAD, agent, call};
use super::{Act, BUSY, Kind, PATHS};

pub(crate) fn project() -> ProjectId {
    ProjectId::from_bits(1)
}

fn pattern(path: &str) -> PathPattern {
    PathPattern::parse(path, CaseRule::Exact).expect("a pattern")
}

fn wants(paths: &[&str]) -> Vec<Wanted> {
    let wanted = |path: &&str| Wanted {
        project: project(),
        pattern: pattern(path),
        mode: LockMode::Exclusive,
        ttl: LOCK_TTL,
        reason: None,
        with_children: false,
    };
    paths.iter().map(wanted).collect()
}

pub(crate) fn ask_of(world: &World, act: &Act) -> Option<(Principal, Ask, Option<Kind>)> {
    let first = || TaskRef { project: project(), task: "first".into() };
    Some(match act {
        Act::Locks(who, paths) => {
            let ask = Ask::Lock(LockAsk::Lock { wants: wants(PATHS[*paths]), wait: Some(WAIT_MAX) });
            (agent(*who), ask, Some(Kind::Lock))
        }
        Act::Unlocks(who) => (agent(*who), Ask::Lock(LockAsk::UnlockAll), None),
        Act::Leases(who) => {
            let take = Take { pool: "build".into(), wait: Some(WAIT_MAX), ..Take::default() };
            (agent(*who), Ask::Pool(PoolAsk::Take(Box::new(take))), Some(Kind::Lease))
        }
        Act::Frees(who) => {
            let slot: SlotId = world.pools.get("build")?.slots_of(agent(*who)).next()?.id;
            (agent(*who), Ask::Pool(PoolAsk::Free { slot, reason: None }), None)
        }
        Act::Asks(who) => {
            let ask = PermissionAsk::Request {
                call: call(*who as u8),
                wait: PERMISSION_WAIT,
                hearing: Hearing::Waits,
            };
            (agent(*who), Ask::Permission(ask), Some(Kind::Answer))
        }
        Act::Answers => {
            let waits = |state: &RequestState| matches!(state, RequestState::Waiting { .. });
            let request = world.permissions.requests().find(|request| waits(&request.state))?;
            let (tool, hash) = ("Bash".into(), request.call.hash);
            let answer = Answer::Allow { kept: None };
            let ask = PermissionAsk::Answer { request: request.id, tool, hash, answer };
            (agent(LEAD), Ask::Permission(ask), None)
        }
        Act::Seeks(who) if *who == BUSY => {
            let act = TaskAct::Done { evidence: "tests pass".into() };
            (agent(BUSY), Ask::Task(TaskAsk::Act { on: first(), attempt: None, act }), None)
        }
        Act::Seeks(who) => {
            (agent(*who), Ask::Task(TaskAsk::Seek { project: project(), wait: WAIT_MAX }), None)
        }
        Act::HandsOver(who, path, to) => {
            let patterns = vec![pattern(PATHS[*path][0])];
            let ask =
                Ask::Lock(LockAsk::HandOver { project: project(), patterns, to: agent(*to), reason: None });
            (agent(*who), ask, Some(Kind::HandOver))
        }
    })
}

/// Adds an event that the rules refused.
pub(crate) fn force(world: &mut World, who: Principal, event: Event) {
    let (seq, now) = (world.head + 1, world.now);
    let (from, concerns, key, wall_ms) = (None, vec![], None, 0);
    world.apply(&Record { seq, now, wall_ms, by: who, from, concerns, key, event });
}

/// The events by which this ask would wait, or take effect, if nothing were refused.
pub(crate) fn unchecked(world: &World, who: Principal, ask: &Ask) -> Vec<Event> {
    let ticket = Ticket(world.ticket.0 + 1);
    let event = match ask {
        Ask::Lock(LockAsk::Lock { wants, .. }) => {
            Event::Lock(LockEvent::WaitStarted { ticket, who, wants: wants.clone(), wait: WAIT_MAX })
        }
        Ask::Pool(_) => Event::Pool(PoolEvent::Queued {
            pool: "build".into(),
            ticket,
            who,
            wait: Some(WAIT_MAX),
            label: None,
            ttl: None,
            process: None,
            asked: vec![],
        }),
        Ask::Permission(PermissionAsk::Request { call, wait, hearing }) => {
            let last = world.permissions.requests().map(|request| request.id.0).max().unwrap_or(0);
            let (request, asker) = (RequestId(last + 1), who.agent().expect("an agent"));
            let (call, to) = (call.clone(), agent(LEAD));
            Event::Permission(PermissionEvent::Asked {
                request,
                asker,
                call,
                to,
                wait: *wait,
                hearing: *hearing,
            })
        }
        Ask::Lock(LockAsk::HandOver { patterns, to, .. }) => {
            let lock = world.locks.iter().find(|lock| lock.wanted.pattern == patterns[0]).expect("a lock");
            let (new_fence, path) = (comity_core::Fence(world.fence.0 + 1), lock.path());
            Event::Lock(LockEvent::HandedOver {
                fence: lock.fence,
                path,
                new_fence,
                to: *to,
                reason: None,
                into: None,
            })
        }
        _ => return vec![],
    };
    vec![event]
}
