//! Why something does not go on: a chain over locks, leases, tabs, tasks and permissions, to whoever can end it.

use std::collections::BTreeSet;

use crate::activity::{Activity, Want, WantKind};
use crate::agents::Agent;
use crate::calls;
use crate::display::visible;
use crate::ids::{Principal, ProjectId};
use crate::inbox;
use crate::limits::WHY_LINES_MAX;
use crate::locks::{Hold, Lock};
use crate::next_call::call;
use crate::paths::PathPattern;
use crate::tasks::{self, Task, TaskState, TaskStatus};
use crate::teams::leader_of;
use crate::time::Timestamp;
use crate::world::World;

/// One link of a chain: what is below it explains it.
#[derive(Clone, PartialEq, Debug)]
pub struct ChainLink {
    pub depth: usize,
    pub text: String,
    /// Whom it is about.
    pub who: Option<Principal>,
}

/// A chain that is being followed, as `reader` reads it.
pub struct Chain<'w> {
    world: &'w World,
    now: Timestamp,
    reader: Principal,
    links: Vec<ChainLink>,
    seen: BTreeSet<Principal>,
    seen_tasks: BTreeSet<u64>,
}

impl<'w> Chain<'w> {
    /// A chain without links.
    pub fn new(world: &'w World, reader: Principal, now: Timestamp) -> Chain<'w> {
        let (links, seen, seen_tasks) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        Chain { world, now, reader, links, seen, seen_tasks }
    }

    /// Why an agent does not go on.
    pub fn of_agent(mut self, agent: &Agent) -> Vec<ChainLink> {
        self.agent(agent, 0);
        self.links
    }

    /// Why a task does not go on.
    pub fn of_task(mut self, task: &Task) -> Vec<ChainLink> {
        self.task(task, 0);
        self.links
    }

    /// Why a path is not free.
    pub fn of_path(mut self, project: ProjectId, pattern: &PathPattern) -> Vec<ChainLink> {
        let world = self.world;
        for lock in world.locks.overlapping(project, pattern) {
            self.lock(lock, 0);
        }
        for wait in world.locks.waits_overlapping(project, pattern) {
            let since = self.now.since(wait.since).rough();
            self.push(0, format!("{} waits for it ({since})", self.name(wait.who)), Some(wait.who));
        }
        if self.links.is_empty() {
            self.push(0, format!("{} is free", visible(&pattern.readable())), None);
        }
        self.links
    }

    fn push(&mut self, depth: usize, text: String, who: Option<Principal>) {
        if self.links.len() < WHY_LINES_MAX {
            self.links.push(ChainLink { depth, text, who });
        }
    }

    fn name(&self, who: Principal) -> String {
        match (who == self.reader, who) {
            (true, _) => "you".into(),
            (false, who) => visible(&self.world.name_of(who)).into_owned(),
        }
    }

    /// `have` for the reader, `has` for others.
    fn verb(&self, who: Principal, of_others: &'static str, of_reader: &'static str) -> &'static str {
        if who == self.reader { of_reader } else { of_others }
    }

    fn lock(&mut self, lock: &Lock, depth: usize) {
        let view = lock.view(self.world, self.now).to_string();
        self.push(depth, visible(&view).into_owned(), Some(lock.holder));
        match (lock.hold, lock.holder) {
            (Hold::Orphaned, Principal::Agent(holder)) => {
                let leader = leader_of(self.world, holder);
                let adopt = call(calls::ADOPT, [("paths", [lock.wanted.pattern.readable()].into())]);
                let can = format!("{} can adopt, rescue or release it: {adopt}", self.name(leader));
                self.push(depth + 1, can, Some(leader));
            }
            (_, holder) => self.principal(holder, depth + 1),
        }
    }

    fn principal(&mut self, who: Principal, depth: usize) {
        match who.agent().and_then(|agent| self.world.agents.get(agent)) {
            Some(agent) => self.agent(agent, depth),
            None => {
                let verb = self.verb(who, "has", "have");
                self.push(depth, format!("{} {verb} to decide", self.name(who)), Some(who));
            }
        }
    }

    fn agent(&mut self, agent: &Agent, depth: usize) {
        let who = Principal::Agent(agent.id);
        let name = self.name(who);
        if !self.seen.insert(who) {
            return self.push(depth, format!("{name}, as above"), Some(who));
        }
        let seen = self.now.since(agent.seen).rough();
        let (is, has, does) =
            (self.verb(who, "is", "are"), self.verb(who, "has", "have"), self.verb(who, "waits", "wait"));
        match Activity::of(self.world, agent, self.now) {
            Activity::Ended => self.push(depth, format!("{name} {has} ended"), Some(who)),
            Activity::Starting => self.push(depth, format!("{name} {has} not done anything yet"), Some(who)),
            Activity::Idle => self.push(depth, format!("{name} {is} idle"), Some(who)),
            Activity::Silent(silence) => {
                self.push(depth, format!("{name} {has} been silent for {}", silence.rough()), Some(who));
            }
            Activity::Working => {
                let on = self.world.tasks.owned_by(who).find(|task| task.is_taken());
                let on = on.map(|task| format!(" on the task {}", task.id)).unwrap_or_default();
                self.push(depth, format!("{name} {is} at work{on} (seen {seen} ago)"), Some(who));
            }
            Activity::Waiting(wants) | Activity::Blocked(wants) => {
                for want in wants {
                    self.want(who, &format!("{name} {does}"), &want, depth);
                }
            }
        }
    }

    fn want(&mut self, who: Principal, waits: &str, want: &Want, depth: usize) {
        let since = self.now.since(want.since).rough();
        let text = match want.kind {
            WantKind::Decision if !want.from.is_empty() && !self.is_of_lock(who, want) => {
                let from: Vec<String> = want.from.iter().map(|from| self.name(*from)).collect();
                format!("{waits} for an answer of {} to {} ({since})", from.join(", "), want.what)
            }
            _ => format!("{waits} for {} ({since})", want.what),
        };
        self.push(depth, text, Some(who));
        if self.is_of_lock(who, want) {
            let world = self.world;
            for wait in world.locks.waiting(who).filter(|wait| wait.since == want.since) {
                for wanted in &wait.wants {
                    for lock in world.locks.overlapping(wanted.project, &wanted.pattern) {
                        if lock.holder != who && wanted.mode.excludes(lock.wanted.mode) {
                            self.lock(lock, depth + 1);
                        }
                    }
                }
            }
            if self.links.last().is_some_and(|link| link.depth > depth) {
                return;
            }
        }
        for from in want.from.clone() {
            match want.kind == WantKind::Decision && from == self.reader {
                true => self.push(depth + 1, "you have to decide".into(), Some(from)),
                false => self.principal(from, depth + 1),
            }
        }
    }

    fn is_of_lock(&self, who: Principal, want: &Want) -> bool {
        want.kind == WantKind::Lock
            || (want.kind == WantKind::Decision
                && self.world.locks.waiting(who).any(|wait| wait.since == want.since))
    }

    fn task(&mut self, task: &Task, depth: usize) {
        let world = self.world;
        let (id, title) = (visible(&task.id).into_owned(), visible(&task.brief.title).into_owned());
        if !self.seen_tasks.insert(task.number) {
            return self.push(depth, format!("the task {id}, as above"), None);
        }
        let ago = |at: Timestamp| self.now.since(at).rough();
        match &task.state {
            TaskState::Open { claim: Some(claim) } => {
                let text = format!(
                    "{id} ({title}) was taken by {} {} ago, and is not started",
                    self.name(claim.by),
                    ago(claim.since)
                );
                self.push(depth, text, Some(claim.by));
                self.principal(claim.by, depth + 1);
            }
            TaskState::Open { claim: None } => self.open_task(task, &id, &title, depth),
            TaskState::Running { by, since } => {
                let text =
                    format!("{id} ({title}) has been worked on by {} for {}", self.name(*by), ago(*since));
                self.push(depth, text, Some(*by));
                self.principal(*by, depth + 1);
            }
            TaskState::InReview { by, since, .. } => {
                let reviewer = inbox::reviewer(world, task, *by);
                let (who, verb) = (self.name(reviewer), self.verb(reviewer, "has", "have"));
                let text = format!(
                    "{id} ({title}) is done by {}; {who} {verb} to review it ({})",
                    self.name(*by),
                    ago(*since)
                );
                self.push(depth, text, Some(reviewer));
            }
            TaskState::Paused { since, .. } => {
                let resume = call(calls::TASK_RESUME, [("id", (*task.id).into())]);
                self.push(depth, format!("{id} ({title}) was paused {} ago: {resume}", ago(*since)), None);
            }
            TaskState::Failed { reason, at } => {
                let decides = inbox::alive(world, task.creator);
                let text = format!("{id} ({title}) failed {} ago: {}", ago(*at), visible(reason));
                self.push(depth, text, None);
                let retry = call(calls::TASK_RETRY, [("id", (*task.id).into())]);
                let text = format!("{} can retry or skip it: {retry}", self.name(decides));
                self.push(depth + 1, text, Some(decides));
            }
            TaskState::Cancelled { by, at } => {
                let text = format!("{id} ({title}) was cancelled by {} {} ago", self.name(*by), ago(*at));
                self.push(depth, text, Some(*by));
            }
            TaskState::Done { .. } | TaskState::Skipped { .. } => {
                self.push(depth, format!("{id} ({title}) is {}", task.status().word()), None);
            }
        }
    }

    /// A task that nobody has: what comes first, what has its files, or who could do it.
    fn open_task(&mut self, task: &Task, id: &str, title: &str, depth: usize) {
        let world = self.world;
        if task.status() != TaskStatus::Ready {
            self.push(depth, format!("{id} ({title}) is {}: others come first", task.status().word()), None);
            let is_open =
                |before: &&Task| !matches!(before.state, TaskState::Done { .. } | TaskState::Skipped { .. });
            let before: Vec<&Task> = world.tasks.before(task).filter(is_open).collect();
            before.into_iter().for_each(|before| self.task(before, depth + 1));
            return;
        }
        if let Some(other) = tasks::in_the_way(world, task) {
            self.push(
                depth,
                format!("{id} ({title}) is ready, but changes the same files as {}", other.id),
                None,
            );
            return self.task(other, depth + 1);
        }
        let role = visible(task.role());
        let assign = call(calls::TASK_ASSIGN, [("id", (*task.id).into()), ("to", "AGENT".into())]);
        let text = format!("{id} ({title}) is ready, and no {role} has asked for work: {assign}");
        self.push(depth, text, None);
    }
}
