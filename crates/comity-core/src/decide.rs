//! The one door into the rules: an ask becomes events, or a refusal.

use std::sync::Arc;

use crate::agents::{self, Life};
use crate::ask::Ask;
use crate::commits;
use crate::concerns;
use crate::control;
use crate::deadlines::Due;
use crate::decisions;
use crate::event::{Event, Record};
use crate::ids::{Key, Principal, Ticket};
use crate::locks;
use crate::mail;
use crate::moves;
use crate::people::{self, Asker, Origin};
use crate::permissions;
use crate::pools;
use crate::reads;
use crate::refusal::Refusal;
use crate::tasks;
use crate::teams;
use crate::time::Timestamp;
use crate::wait_graph;
use crate::worktrees;
use crate::world::World;
use crate::writes;

/// What the rules say to an ask that is not refused.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// These events, and the ask is answered.
    Done(Vec<Event>),
    /// The ask waits in the queue; this event says so.
    Parked(Ticket, Event),
}

/// What an ask led to, with the world changed accordingly.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The new records, those of the queue being served included. Empty for a repeat.
    pub records: Vec<Record>,
    /// The events that answer this ask.
    pub answer: Vec<Event>,
    /// The place in the queue, if the ask waits.
    pub parked: Option<Ticket>,
}

/// Decides one ask as of `world.now`. Pure: nothing changes.
pub fn decide(world: &World, asker: &Asker, ask: &Ask) -> Result<Verdict, Refusal> {
    people::check(world, asker, ask)?;
    let who = asker.who;
    if let Principal::Agent(agent) = who {
        world.agents.living(agent)?;
    }
    let done = match ask {
        Ask::Lock { wants, wait } => return locks::lock(world, who, wants, *wait),
        Ask::Pool(ask) => return pools::decide(world, who, ask),
        Ask::Start { fence_floor, version, boot, uptime } => {
            let (version, boot) = (version.clone(), boot.clone());
            let mut events = agents::silent_across_restarts(world, boot.as_deref(), *uptime);
            events.insert(
                0,
                Event::ServerStarted { fence_floor: *fence_floor, version, boot, uptime: *uptime },
            );
            events
        }
        Ask::AddProject { project, common_dir, case } => match world.projects.contains_key(project) {
            true => vec![],
            false => {
                vec![Event::ProjectAdded { project: *project, common_dir: common_dir.clone(), case: *case }]
            }
        },
        Ask::Join { agent, token, profile } => {
            agents::check_limit(world)?;
            agents::join(world, asker, *agent, *token, profile)?
        }
        Ask::Attach { agent, token, profile } => agents::attach(world, asker, *agent, *token, profile)?,
        Ask::AttachBeside { agent, token, profile } => {
            agents::join_beside(world, asker, *agent, *token, profile)?
        }
        Ask::NameAgent { agent, name } => agents::rename(world, who, *agent, name)?,
        Ask::NoteRefusedEntries { why, count } => {
            pools::only_comity(who)?;
            vec![Event::EntriesRefused { why: why.clone(), count: *count }]
        }
        Ask::NoteReusedKey { op } => vec![Event::KeyReused { op: op.clone() }],
        Ask::LimitAgents { max } => agents::limit(world, who, *max)?,
        Ask::AddToken { agent, token } => agents::add_token(world, *agent, *token)?,
        Ask::KnowProcess { agent, process } => {
            world.agents.living(*agent)?;
            vec![Event::AgentProcessKnown { agent: *agent, process: *process }]
        }
        Ask::Seen { agent } => {
            world.agents.living(*agent)?;
            vec![Event::AgentSeen { agent: *agent }]
        }
        Ask::Idle { agent, idle } => match (&world.agents.living(*agent)?.life, idle) {
            (Life::Idle, true) | (Life::Running, false) => vec![],
            _ => vec![Event::AgentIdled { agent: *agent, idle: *idle }],
        },
        Ask::Disconnect { agent } => {
            world.agents.living(*agent)?;
            vec![Event::AgentDisconnected { agent: *agent }]
        }
        Ask::End { agent, ending, cause } => agents::end(world, who, *agent, *ending, cause)?,
        Ask::Unlock { project, patterns } => locks::unlock(world, who, *project, patterns)?,
        Ask::UnlockAll => locks::unlock_all(world, who),
        Ask::Release { project, patterns, reason } => {
            locks::release(world, who, *project, patterns, reason.clone())?
        }
        Ask::Extend { project, patterns, ttl, reason } => {
            locks::extend(world, who, *project, patterns, *ttl, reason.clone())?
        }
        Ask::HandOver { project, patterns, to, reason } => {
            locks::hand_over(world, who, *project, patterns, *to, reason.clone())?
        }
        Ask::Adopt { project, patterns, reason, into } => {
            locks::adopt(world, who, *project, patterns, reason.clone(), into)?
        }
        Ask::PutAside { aside } => locks::put_aside(world, who, aside)?,
        Ask::CancelWait { ticket } => match world.pools.place(*ticket) {
            Some(_) => pools::cancel_wait(world, who, *ticket)?,
            None => locks::cancel_wait(world, who, *ticket)?,
        },
        Ask::Inspected { fence, left } => locks::inspected(world, *fence, left.as_deref()),
        Ask::CheckFences { project, held, mode } => {
            locks::check_fences(world, who, *project, held, *mode)?;
            vec![]
        }
        Ask::KnowFile { project, file } => reads::learn(world, who, *project, file),
        Ask::SawUnlockedWrite(write) => writes::saw(who, write)?,
        Ask::SawUnguardedCommit(commit) => commits::saw(who, commit)?,
        Ask::IntendMove(intended) => moves::intend(world, intended)?,
        Ask::SettleMove { number, has_moved } => moves::settle(world, who, *number, *has_moved)?,
        Ask::AddWorktree { project, tree } => worktrees::add(world, *project, tree)?,
        Ask::ReleaseWorktree { project, slug } => worktrees::release(world, who, *project, slug)?,
        Ask::KeepWorktree { project, slug, why } => worktrees::keep(world, *project, slug, why),
        Ask::RemoveWorktree { project, slug, rescue } => {
            vec![Event::WorktreeRemoved { project: *project, slug: slug.clone(), rescue: rescue.clone() }]
        }
        Ask::RecordConflict { project, source, target, paths } => {
            let (source, target, paths) = (source.clone(), target.clone(), paths.clone());
            vec![Event::MergeConflicted { project: *project, source, target, paths }]
        }
        Ask::Mail(ask) => mail::decide(world, who, ask)?,
        Ask::Control(ask) => control::decide(world, who, ask)?,
        Ask::Decision(ask) => decisions::decide(world, who, ask)?,
        Ask::Person(ask) => people::decide(world, who, ask)?,
        Ask::Team(ask) => teams::decide(world, who, ask)?,
        Ask::Permission(ask) => permissions::decide(world, who, ask)?,
        Ask::Task(ask) => tasks::decide(world, who, ask)?,
        Ask::TakeNotices => match who.agent().and_then(|id| world.agents.get(id)) {
            Some(agent) => match agent.notices.last() {
                Some(last) => vec![Event::NoticesTaken { agent: agent.id, up_to: last.id }],
                None => vec![],
            },
            None => vec![],
        },
    };
    Ok(Verdict::Done(done))
}

/// Decides one ask and folds what follows into the world, the queue served as far as it goes.
///
/// What is due at `now` must have been given by [`expire`] before: the rules go by what was announced.
pub fn run(
    world: &mut World,
    asker: impl Into<Asker>,
    ask: &Ask,
    key: Option<&Key>,
    now: Timestamp,
    wall_ms: i64,
) -> Result<Outcome, Refusal> {
    let asker = asker.into();
    let who = asker.who;
    people::check(world, &asker, ask)?;
    if let Some(earlier) = key.and_then(|key| world.answers.get(who, key)) {
        let answer = earlier.to_vec();
        let parked = locks::still_waiting(world, &answer).or_else(|| pools::still_waiting(world, &answer));
        return Ok(Outcome { records: vec![], parked, answer });
    }
    if key.is_some_and(|key| world.answers.is_taken(who, key)) {
        return Err(Refusal::KeyReused);
    }
    // A refusal tells how old things are, up to the moment of the ask; yet it changes nothing.
    let last = world.now;
    world.now = last.max(now);
    let verdict = decide(world, &asker, ask);
    world.now = last;
    let (answer, parked) = match verdict? {
        // Remembered too: what a repeat finds later may be something to change, but it was not asked for then.
        Verdict::Done(events) if events.is_empty() && key.is_some() => (vec![Event::NothingChanged {}], None),
        Verdict::Done(events) => (events, None),
        Verdict::Parked(ticket, event) => (vec![event], Some(ticket)),
    };
    let mut records = Vec::with_capacity(answer.len());
    let from = asker.origin.as_ref();
    let maker = match ask {
        Ask::SettleMove { number, has_moved } => moves::maker(world, *number, *has_moved),
        _ => None,
    };
    let (by, kept) = maker.map_or((who, key.cloned()), |(maker, key)| (maker, key.cloned()));
    for event in &answer {
        push_from(world, &mut records, (by, from), kept.as_ref(), now, wall_ms, event.clone());
    }
    if let Some(again) = agents::works_again(world, who, ask) {
        push_from(world, &mut records, (who, from), None, now, wall_ms, again);
    }
    if let Some(new) = people::new_place(world, &asker, &answer) {
        push_from(world, &mut records, (who, from), None, now, wall_ms, new);
    }
    settle(world, &mut records, now, wall_ms);
    // A wait that was served at once (its obstacle was somebody's place, now void) is answered like any other.
    Ok(Outcome { records, answer, parked })
}

/// Gives what is due at `now`: lapsed locks, waits that ran out, agents of whom nothing is heard.
pub fn expire(world: &mut World, now: Timestamp, wall_ms: i64) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some(due) = world.deadlines.due(now) {
        let events = match due {
            Due::Lock(fence) => locks::lapse(world, fence),
            Due::Wait(ticket) => locks::time_out(world, ticket),
            Due::Offer(receipt) => mail::lapse(world, receipt),
            Due::Shutdown(request) => control::overdue(world, request),
            Due::Agent(agent) => agents::silence_events(world, agent),
            Due::Permission(request) => permissions::run_out(world, request),
            Due::Task(number) => tasks::unstarted_events(world, number),
            Due::Slot(slot) => pools::lapse_slot(world, slot),
            Due::Place(ticket) => pools::time_out(world, ticket),
        };
        if events.is_empty() {
            // Nothing is left of what was due: forget it, or this would never end.
            world.deadlines.set(due, None);
        }
        for event in events {
            push(world, &mut records, Principal::System, None, now, wall_ms, event);
        }
        settle(world, &mut records, now, wall_ms);
    }
    records
}

fn serve_queue(world: &mut World, records: &mut Vec<Record>, now: Timestamp, wall_ms: i64) {
    if !records.iter().any(|record| record.event.may_serve_queue()) {
        return;
    }
    while let Some(events) = locks::next_grant(world) {
        for event in events {
            push(world, records, Principal::System, None, now, wall_ms, event);
        }
    }
}

/// What follows from the records, and from what followed.
fn settle(world: &mut World, records: &mut Vec<Record>, now: Timestamp, wall_ms: i64) {
    loop {
        let before = records.len();
        serve_queue(world, records, now, wall_ms);
        serve_pools(world, records, now, wall_ms);
        settle_permissions(world, records, now, wall_ms);
        assign_tasks(world, records, now, wall_ms);
        end_seeks(world, records, now, wall_ms);
        if records.len() == before {
            return;
        }
    }
}

/// Ends waits for work that only agents who are themselves stuck could finish; those who waited are told.
fn end_seeks(world: &mut World, records: &mut Vec<Record>, now: Timestamp, wall_ms: i64) {
    if !records.iter().any(|record| wait_graph::may_close_cycle(&record.event)) {
        return;
    }
    while let Some(event) = tasks::next_stuck(world) {
        push(world, records, Principal::System, None, now, wall_ms, event);
    }
}

/// Gives free slots to whoever is first in line, if something about pools has changed.
fn serve_pools(world: &mut World, records: &mut Vec<Record>, now: Timestamp, wall_ms: i64) {
    if !records.iter().any(|record| matches!(record.event, Event::Pool(_))) {
        return;
    }
    while let Some(events) = pools::next_service(world) {
        for event in events {
            push(world, records, Principal::System, None, now, wall_ms, event);
        }
    }
}

/// Whoever waits for a permission that rules or modes give or refuse by now waits no more.
fn settle_permissions(world: &mut World, records: &mut Vec<Record>, now: Timestamp, wall_ms: i64) {
    if !records.iter().any(|record| permissions::may_settle(&record.event)) {
        return;
    }
    while let Some(events) = permissions::next_settled(world) {
        for event in events {
            push(world, records, Principal::System, None, now, wall_ms, event);
        }
    }
}

/// Gives work to whoever waits for it, if something about tasks has changed.
fn assign_tasks(world: &mut World, records: &mut Vec<Record>, now: Timestamp, wall_ms: i64) {
    if !records.iter().any(|record| matches!(record.event, Event::Task(_))) {
        return;
    }
    while let Some(events) = tasks::next_assignment(world) {
        for event in events {
            push(world, records, Principal::System, None, now, wall_ms, event);
        }
    }
}

fn push(
    world: &mut World,
    records: &mut Vec<Record>,
    by: Principal,
    key: Option<&Key>,
    now: Timestamp,
    wall_ms: i64,
    event: Event,
) {
    push_from(world, records, (by, None), key, now, wall_ms, event);
}

fn push_from(
    world: &mut World,
    records: &mut Vec<Record>,
    (by, from): (Principal, Option<&Arc<Origin>>),
    key: Option<&Key>,
    now: Timestamp,
    wall_ms: i64,
    event: Event,
) {
    let concerns = concerns::implied(&event, by, world);
    let (seq, now, key) = (world.head + 1, now.max(world.now), key.cloned());
    let record = Record { seq, now, wall_ms, by, from: from.cloned(), concerns, key, event };
    world.apply(&record);
    records.push(record);
}
