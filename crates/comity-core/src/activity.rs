//! What each agent is doing: working, waiting for others, blocked until somebody decides, or silent.

use crate::agents::{Agent, Life};
use crate::display::visible;
use crate::features::WaitedFor;
use crate::ids::{AgentId, Principal};
use crate::limits::SILENT_AFTER;
use crate::locks::{Hold, LockWait};
use crate::permissions::{PlanState, RequestState};
use crate::pools::SlotWait;
use crate::teams::leader_of;
use crate::time::{Millis, Timestamp};
use crate::wait_graph::Waits;
use crate::world::World;

/// Something that somebody needs before it can go on.
#[derive(Clone, PartialEq, Debug)]
pub struct Want {
    pub what: String,
    /// Who can give it; empty if nobody in particular can.
    pub from: Vec<Principal>,
    pub since: Timestamp,
    pub kind: WantKind,
}

/// What somebody waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WantKind {
    Lock,
    Slot,
    Work,
    /// Somebody's yes or no: waiting alone does not bring it.
    Decision,
}

/// What an agent is doing.
#[derive(Clone, PartialEq, Debug)]
pub enum Activity {
    Starting,
    Working,
    /// It said that it has nothing to do.
    Idle,
    /// It goes on by itself once others release what it needs.
    Waiting(Vec<Want>),
    /// Somebody has to decide first.
    Blocked(Vec<Want>),
    /// It has not been heard from for this long.
    Silent(Millis),
    Ended,
}

impl Activity {
    /// What the agent is doing, at `now`.
    pub fn of(world: &World, agent: &Agent, now: Timestamp) -> Activity {
        if !agent.is_live() {
            return Activity::Ended;
        }
        let wants = wants(world, Principal::Agent(agent.id));
        if wants.iter().any(|want| want.kind == WantKind::Decision) {
            return Activity::Blocked(wants);
        }
        if !wants.is_empty() {
            return Activity::Waiting(wants);
        }
        let silence = now.since(agent.seen);
        match agent.life {
            Life::Idle => Activity::Idle,
            Life::Starting | Life::Running if silence >= SILENT_AFTER => Activity::Silent(silence),
            Life::Starting => Activity::Starting,
            Life::Running | Life::Ended { .. } => Activity::Working,
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Activity::Starting => "starting",
            Activity::Working => "working",
            Activity::Idle => "idle",
            Activity::Waiting(_) => "waiting",
            Activity::Blocked(_) => "blocked",
            Activity::Silent(_) => "silent",
            Activity::Ended => "ended",
        }
    }

    pub fn wants(&self) -> &[Want] {
        match self {
            Activity::Waiting(wants) | Activity::Blocked(wants) => wants,
            Activity::Starting
            | Activity::Working
            | Activity::Idle
            | Activity::Silent(_)
            | Activity::Ended => &[],
        }
    }
}

/// Everything that `who` waits for, the oldest first.
pub fn wants(world: &World, who: Principal) -> Vec<Want> {
    let mut wants: Vec<Want> = world.locks.waiting(who).filter_map(|wait| of_wait(world, wait)).collect();
    wants.extend(slots(world, who));
    if let Principal::Agent(agent) = who {
        wants.extend(answers(world, agent));
        wants.extend(work(world, agent));
    }
    wants.sort_by_key(|want| want.since);
    wants
}

/// What an ask in the queue of locks waits for: the locks that others hold, otherwise the asks ahead of it.
fn of_wait(world: &World, wait: &LockWait) -> Option<Want> {
    let (mut from, mut what, mut kind) = (Vec::new(), Vec::new(), WantKind::Lock);
    for wanted in &wait.wants {
        let is_in_the_way =
            |lock: &&&crate::locks::Lock| lock.holder != wait.who && wanted.mode.excludes(lock.wanted.mode);
        let locks = world.locks.overlapping(wanted.project, &wanted.pattern);
        for lock in locks.iter().filter(is_in_the_way) {
            let left = lock.hold == Hold::Orphaned;
            let giver = match (left, lock.holder) {
                (true, Principal::Agent(holder)) => leader_of(world, holder),
                (_, holder) => holder,
            };
            if left {
                kind = WantKind::Decision;
            }
            push_new(&mut from, giver);
            push_new(&mut what, wanted.pattern.readable());
        }
    }
    if from.is_empty() {
        let is_before = |other: &&&LockWait| other.ticket < wait.ticket && other.who != wait.who;
        for wanted in &wait.wants {
            for before in
                world.locks.waits_overlapping(wanted.project, &wanted.pattern).iter().filter(is_before)
            {
                push_new(&mut from, before.who);
                push_new(&mut what, wanted.pattern.readable());
            }
        }
    }
    let all = || wait.wants.iter().map(|wanted| wanted.pattern.readable()).collect();
    let what = if what.is_empty() { all() } else { what };
    Some(Want { what: what.join(", "), from, since: wait.since, kind })
}

fn slots(world: &World, who: Principal) -> Vec<Want> {
    let mut wants: Vec<Want> = Vec::new();
    for need in Waits::of(world).needs(who) {
        let WaitedFor::Slot(wait) = need.what else { continue };
        let pool = wait.pool();
        let what = SlotWait::Free(pool).to_string();
        let from = need.from.keys().copied();
        match wants.iter_mut().find(|want| want.what == what) {
            Some(want) => from.for_each(|one| push_new(&mut want.from, one)),
            None => {
                let since = pool.place_of(who).map_or(world.now, |place| place.since);
                wants.push(Want { what, from: from.collect(), since, kind: WantKind::Slot });
            }
        }
    }
    wants
}

/// Answers that the agent waits for: to its permission requests, and to its plan.
fn answers(world: &World, agent: AgentId) -> impl Iterator<Item = Want> {
    let asked = world.permissions.requests_of(agent).filter_map(|request| {
        let RequestState::Waiting { to } = request.state else { return None };
        let what = format!("{}: {}", visible(&request.call.tool), visible(&request.call.summary));
        let is_open = world.now < request.deadline;
        is_open.then(|| Want { what, from: vec![to], since: request.since, kind: WantKind::Decision })
    });
    let plans = world.permissions.plans().filter(move |plan| plan.asker == agent);
    let submitted = plans.filter_map(|plan| {
        let PlanState::Waiting { to } = plan.state else { return None };
        let what = format!("the plan {}", visible(&plan.file));
        Some(Want { what, from: vec![to], since: plan.since, kind: WantKind::Decision })
    });
    asked.chain(submitted)
}

fn work(world: &World, agent: AgentId) -> Option<Want> {
    let since = world.tasks.sought_since(agent)?;
    Some(Want { what: "work".into(), from: vec![], since, kind: WantKind::Work })
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
    }
}
