//! Why something is held up: a chain over locks, leases, tabs, tasks and permissions, down to whoever can end it.

use std::collections::BTreeSet;

use crate::activity::{Activity, Want, WantKind};
use crate::agents::{Agent, Life};
use crate::calls;
use crate::decisions::{Decision, DecisionState};
use crate::display::visible;
use crate::ids::{Principal, ProjectId};
use crate::inbox;
use crate::limits::WHY_LINES_MAX;
use crate::locks::{Hold, Lock};
use crate::next_call::call;
use crate::paths::PathPattern;
use crate::permissions::{PermissionRequest, PlanState, RequestState, SubmittedPlan};
use crate::pools::Pool;
use crate::tasks::{self, Task, TaskState, TaskStatus};
use crate::teams::leader_of;
use crate::time::Timestamp;
use crate::world::World;

/// One link of a chain; those below it explain it.
#[derive(Clone, PartialEq, Debug)]
pub struct ChainLink {
    pub depth: usize,
    pub text: String,
    pub who: Option<Principal>,
}

/// A chain under construction, as `reader` will read it.
pub struct WaitChain<'w> {
    world: &'w World,
    now: Timestamp,
    reader: Principal,
    links: Vec<ChainLink>,
    seen: BTreeSet<Principal>,
    seen_tasks: BTreeSet<u64>,
}

impl<'w> WaitChain<'w> {
    /// A chain without links, yet.
    pub fn new(world: &'w World, reader: Principal, now: Timestamp) -> WaitChain<'w> {
        let (links, seen, seen_tasks) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        WaitChain { world, now, reader, links, seen, seen_tasks }
    }

    /// Why an agent is held up.
    pub fn of_agent(mut self, agent: &Agent) -> Vec<ChainLink> {
        self.agent(agent, 0);
        self.links
    }

    /// Why a task is held up.
    pub fn of_task(mut self, task: &Task) -> Vec<ChainLink> {
        self.task(task, 0);
        self.links
    }

    /// What became of an ended agent: when, why, and what it left.
    pub fn of_ended(mut self, agent: &Agent) -> Vec<ChainLink> {
        let who = Principal::Agent(agent.id);
        let name = visible(&agent.profile.name).into_owned();
        if let Life::Ended { at, ending, cause } = &agent.life {
            let (ago, cause) = (self.now.since(*at).rough(), visible(cause));
            self.push(0, format!("{name} {} {ago} ago: {cause}", ending.word()), Some(who));
        }
        let world = self.world;
        for lock in world.locks.of(who) {
            self.lock(lock, 1);
        }
        self.links
    }

    /// Who has a pool's slots, and who waits for one.
    pub fn of_pool(mut self, pool: &Pool) -> Vec<ChainLink> {
        let (name, now) = (visible(&pool.name).into_owned(), self.now);
        for slot in pool.slots() {
            let (whose, has) = (self.name(slot.owner), self.verb(slot.owner, "has", "have"));
            let left = slot.expires_at().map(|end| format!(" for {} more", end.since(now).rough()));
            let (noun, left) = (pool.kind.noun(), left.unwrap_or_default());
            self.push(0, format!("{whose} {has} {noun} {} of {name}{left}", slot.id.0), Some(slot.owner));
            self.holder_of_slot(slot.owner, 1);
        }
        for place in pool.in_line() {
            let since = now.since(place.since).rough();
            let (whose, waits) = (self.name(place.who), self.verb(place.who, "waits", "wait"));
            self.push(0, format!("{whose} {waits} for one ({since})"), Some(place.who));
        }
        if self.links.is_empty() {
            self.push(0, format!("{name} is free"), None);
        }
        self.links
    }

    /// What was decided, and whom it waits for.
    pub fn of_decision(mut self, decision: &Decision) -> Vec<ChainLink> {
        let (by, title) = (self.name(decision.by), visible(&decision.title).into_owned());
        let waits = decision.standing == DecisionState::Pending;
        let confirms = decision.by.agent().map_or(Principal::Human, |agent| leader_of(self.world, agent));
        let text = match waits {
            true => {
                format!("{}, of {by} ({title}), waits for {} to confirm it", decision.id, self.name(confirms))
            }
            false => format!("{}, of {by} ({title}), waits for nobody", decision.id),
        };
        self.push(0, text, waits.then_some(confirms));
        self.links
    }

    /// What became of a permission request.
    pub fn of_request(mut self, request: &PermissionRequest) -> Vec<ChainLink> {
        let asker = Principal::Agent(request.asker);
        let call = format!("{}: {}", visible(&request.call.tool), visible(&request.call.summary));
        let (who, asks) = (self.name(asker), self.verb(asker, "asks", "ask"));
        let (state, on) = match request.state {
            RequestState::Waiting { to } if self.now < request.deadline => {
                (format!("it waits for {}", self.name(to)), Some(to))
            }
            _ => (format!("it is {}", request.state.word()), None),
        };
        self.push(0, format!("{who} {asks} for {call}; {state}"), on);
        self.links
    }

    /// What became of a plan.
    pub fn of_plan(mut self, plan: &SubmittedPlan) -> Vec<ChainLink> {
        let asker = Principal::Agent(plan.asker);
        let (state, on) = match plan.state {
            PlanState::Waiting { to } => (format!("it waits for {}", self.name(to)), Some(to)),
            _ => ("it waits for nobody".to_owned(), None),
        };
        let text = format!("{} submitted the plan {}; {state}", self.name(asker), visible(&plan.file));
        self.push(0, text, on);
        self.links
    }

    fn holder_of_slot(&mut self, holder: Principal, depth: usize) {
        if let Some(agent) = holder.agent().and_then(|agent| self.world.agents.get(agent)) {
            self.agent(agent, depth);
        }
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
                let whose = match &from[..] {
                    [only] if only == "you" => "your answer".to_owned(),
                    [only] => format!("{only}'s answer"),
                    several => format!("an answer from {}", several.join(" or ")),
                };
                format!("{waits} for {whose} to {} ({since})", want.what)
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
            if want.kind == WantKind::Slot {
                let has = self.verb(from, "has", "have");
                self.push(depth + 1, format!("{} {has} {}", self.name(from), want.what), Some(from));
                self.holder_of_slot(from, depth + 2);
                continue;
            }
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
                if depth > 0 {
                    let decides = inbox::alive(world, task.creator);
                    let reopen = call(calls::TASK_REOPEN, [("id", (*task.id).into())]);
                    let text = format!("{} can reopen it: {reopen}", self.name(decides));
                    self.push(depth + 1, text, Some(decides));
                }
            }
            TaskState::Done { .. } | TaskState::Skipped { .. } => {
                self.push(depth, format!("{id} ({title}) is {}", task.status().word()), None);
            }
        }
    }

    /// A task that nobody has: what comes first, who has its files, or who could do it.
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
