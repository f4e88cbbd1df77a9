//! What the agents of the model can do, and what would come of it if nothing were refused.

use comity_core::limits::{LOCK_TTL, PERMISSION_WAIT, WAIT_MAX};
use comity_core::locks::{LockAsk, LockEvent, LockMode, Wanted};
use comity_core::permissions::{
    Answer, AnswerDelivery, PermissionAsk, PermissionEvent, PlanAnswer, PlanState, RequestId, RequestState,
    mode_of,
};
use comity_core::pools::{PoolAsk, PoolEvent, SlotId, Take};
use comity_core::roles::Mode;
use comity_core::tasks::{TaskAct, TaskAsk, TaskEvent, TaskState};
use comity_core::{AgentId, Ask, CaseRule, Event, PathPattern, Principal, ProjectId, Record, Ticket, World};

use super::model_agents::{LEAD, agent, call};
use super::{Act, Kind, PATHS};

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
        worktree: None,
    };
    paths.iter().map(wanted).collect()
}

pub(crate) fn ask_of(world: &World, act: &Act) -> Option<(Principal, Ask, Option<Kind>)> {
    Some(match act {
        Act::Locks(who, paths) => {
            let ask = Ask::Lock(LockAsk::Lock { wants: wants(PATHS[*paths]), wait: Some(WAIT_MAX) });
            (agent(*who), ask, Some(if *paths == 0 { Kind::Path } else { Kind::Lock }))
        }
        Act::Unlocks(who) => (agent(*who), Ask::Lock(LockAsk::UnlockAll { project: None }), None),
        Act::Takes(who, kind) => {
            let take = Take { pool: kind.pool().into(), wait: Some(WAIT_MAX), ..Take::default() };
            (agent(*who), Ask::Pool(PoolAsk::Take(Box::new(take))), Some(*kind))
        }
        Act::Frees(who, kind) => {
            let slot = slot_of(world, *kind, *who)?;
            (agent(*who), Ask::Pool(PoolAsk::Free { slot, reason: None }), None)
        }
        Act::Gives(who, kind, to) => {
            let (slot, to) = (slot_of(world, *kind, *who)?, agent(*to));
            let ask = Ask::Pool(PoolAsk::HandOver { slot, to, reason: None });
            (agent(*who), ask, Some(Kind::HandOver))
        }
        Act::Asks(who) => {
            let ask = PermissionAsk::Request {
                call: call(*who as u8),
                wait: PERMISSION_WAIT,
                hearing: AnswerDelivery::Waits,
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
        Act::Plans(who) => {
            let id = AgentId::from_bits(*who);
            let begins = PermissionAsk::SetMode { agent: id, mode: Mode::Plan };
            let (file, content) = ("plan.md".into(), "first this".into());
            let shows = PermissionAsk::SubmitPlan { file, content };
            match mode_of(world, id) {
                Mode::Plan => (agent(*who), Ask::Permission(shows), None),
                _ => (agent(LEAD), Ask::Permission(begins), None),
            }
        }
        Act::Approves => {
            let waits = |state: &PlanState| matches!(state, PlanState::Waiting { .. });
            let plan = world.permissions.plans().find(|plan| waits(&plan.state))?.id;
            let answer = PlanAnswer::Approve { mode: Mode::Ask, feedback: None };
            (agent(LEAD), Ask::Permission(PermissionAsk::AnswerPlan { plan, answer }), None)
        }
        Act::Seeks(who) => {
            let owned = world.tasks.iter().find(|task| task.state.owner() == Some(agent(*who)));
            let Some(task) = owned else {
                let ask = TaskAsk::Seek { project: project(), wait: WAIT_MAX };
                return Some((agent(*who), Ask::Task(ask), Some(Kind::Work)));
            };
            let act = match task.state {
                TaskState::Open { .. } => TaskAct::Start { ttl: LOCK_TTL },
                _ => TaskAct::Done { evidence: "tests pass".into() },
            };
            (agent(*who), Ask::Task(TaskAsk::Act { on: task.name(), attempt: None, act }), None)
        }
        Act::HandsOver(who, path, to) => {
            let patterns = vec![pattern(PATHS[*path][0])];
            let ask =
                Ask::Lock(LockAsk::HandOver { project: project(), patterns, to: agent(*to), reason: None });
            (agent(*who), ask, Some(Kind::HandOver))
        }
    })
}

fn slot_of(world: &World, kind: Kind, who: u64) -> Option<SlotId> {
    Some(world.pools.get(kind.pool())?.slots_of(agent(who)).next()?.id)
}

/// That `who` waits for work.
pub(crate) fn sought(who: AgentId) -> Event {
    Event::Task(TaskEvent::Sought { agent: who, project: project(), wait: WAIT_MAX })
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
        Ask::Pool(PoolAsk::HandOver { slot, to, .. }) => {
            let (pool, slot) = world.pools.slot(*slot).expect("a slot");
            let (pool, slot) = (pool.name.clone(), slot.id);
            Event::Pool(PoolEvent::HandedOver { pool, slot, from: who, to: *to, reason: None })
        }
        Ask::Pool(PoolAsk::Take(take)) => Event::Pool(PoolEvent::Queued {
            pool: take.pool.clone(),
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
        Ask::Task(TaskAsk::Seek { .. }) => sought(who.agent().expect("an agent")),
        _ => return vec![],
    };
    vec![event]
}
