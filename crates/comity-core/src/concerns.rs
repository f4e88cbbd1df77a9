//! Whom an event concerns: whose lock, letter, task, tab or life it is about, besides who acted.
//!
//! Some events name them; others name a lock, a request or a slot, and only the world before the event knows whose it was.

use crate::agents::Agent;
use crate::control::ControlEvent;
use crate::decisions::{DecisionEvent, DecisionId};
use crate::event::{Event, Record};
use crate::ids::{AgentId, Fence, Principal, ProjectId, Ticket};
use crate::mail::{MailEvent, MessageId};
use crate::permissions::{PermissionEvent, PlanState, RequestId, Rule, RuleId, Scope, State};
use crate::pools::{PoolEvent, SlotId};
use crate::tasks::{TaskEvent, TaskRef};
use crate::teams::TeamEvent;
use crate::world::World;

impl Record {
    /// Whether an agent acted, or it was the agent's that something happened to.
    pub fn concerns_agent(&self, agent: AgentId) -> bool {
        self.by == Principal::Agent(agent)
            || self.concerns.contains(&agent)
            || concerns(&self.event, None).contains(&agent)
    }

    /// The agents that it concerns, besides who acted.
    pub fn concerned(&self) -> Vec<AgentId> {
        let mut all = concerns(&self.event, None);
        all.extend(&self.concerns);
        tidy(all, self.by)
    }
}

/// What the event does not say itself: the agents whom it concerns by what it is about.
pub(crate) fn implied(event: &Event, by: Principal, before: &World) -> Vec<AgentId> {
    let mut implied = tidy(concerns(event, Some(before)), by);
    if !implied.is_empty() {
        let named = concerns(event, None);
        implied.retain(|agent| !named.contains(agent));
    }
    implied
}

fn tidy(mut agents: Vec<AgentId>, by: Principal) -> Vec<AgentId> {
    agents.sort_unstable();
    agents.dedup();
    agents.retain(|agent| Principal::Agent(*agent) != by);
    agents
}

/// The agents that an event concerns; without the world before it, those that it names.
pub fn concerns(event: &Event, before: Option<&World>) -> Vec<AgentId> {
    let world = Before(before);
    match event {
        Event::ServerStarted { .. }
        | Event::ProjectAdded { .. }
        | Event::AgentsLimited { .. }
        | Event::Person(_)
        | Event::EntriesRefused { .. }
        // Who acted is who it is about.
        | Event::KeyReused { .. }
        | Event::FileKnown { .. }
        | Event::Committed { .. }
        // What comes of it says whom it concerns.
        | Event::MoveIntended(_)
        | Event::WorktreeAdded { .. }
        | Event::NothingChanged {} => vec![],
        Event::AgentJoined { agent, profile, .. } => [Some(*agent), profile.parent].into_iter().flatten().collect(),
        Event::AgentTokenAdded { agent, .. }
        | Event::AgentNamed { agent, .. }
        | Event::AgentProcessKnown { agent, .. }
        | Event::AgentSeen { agent }
        | Event::AgentIdled { agent, .. }
        | Event::AgentDisconnected { agent }
        | Event::NoticesTaken { agent, .. } => vec![*agent],
        Event::AgentEnded { agent, .. } => {
            [Some(*agent), world.agent(*agent).and_then(|agent| agent.profile.parent)].into_iter().flatten().collect()
        }
        Event::MoveUndone { of, .. } => agents([*of]),
        Event::LockAcquired { holder, .. } => agents([*holder]),
        Event::LockRenewed { fence, .. }
        | Event::LockReleased { fence, .. }
        | Event::LockLapsed { fence, .. }
        | Event::LockExpired { fence, .. }
        | Event::LockOrphaned { fence, .. }
        | Event::LockExtended { fence, .. } => agents(world.holder(*fence)),
        Event::LockHandedOver { fence, to, .. } => agents(world.holder(*fence).into_iter().chain([*to])),
        Event::WaitStarted { who, .. } => agents([*who]),
        Event::WaitEnded { ticket, .. } => agents(world.waiter(*ticket)),
        Event::UnlockedWrite(write) => agents(write.holder).into_iter().chain(write.candidates.iter().copied()).collect(),
        Event::CommitUnguarded(commit) => {
            agents([commit.holder]).into_iter().chain(commit.candidates.iter().copied()).collect()
        }
        Event::WorktreeReleased { project, slug }
        | Event::WorktreeKept { project, slug, .. }
        | Event::WorktreeRemoved { project, slug, .. } => agents(world.owners_of_tree(*project, slug)),
        Event::BranchMerged { project, source, .. } | Event::MergeConflicted { project, source, .. } => {
            agents(world.owners_of_branch(*project, source))
        }
        Event::Mail(event) => mail(event, world),
        Event::Control(event) => control(event, world),
        Event::Decision(event) => decision(event, world),
        Event::Team(event) => team(event, world),
        Event::Permission(event) => permission(event, world),
        Event::Task(event) => task(event, world),
        Event::Pool(event) => pool(event, world),
    }
}

fn mail(event: &MailEvent, world: Before<'_>) -> Vec<AgentId> {
    match event {
        MailEvent::Sent { letter, .. } => agents(letter.to.iter().copied()),
        MailEvent::Offered { to, .. }
        | MailEvent::Acknowledged { to, .. }
        | MailEvent::Returned { to, .. } => agents([*to]),
        // Who wrote them has to know, too.
        MailEvent::PutAside { to, letters } | MailEvent::Undelivered { to, letters } => {
            agents(letters.iter().filter_map(|id| world.sender(*id)).chain([*to]))
        }
    }
}

fn control(event: &ControlEvent, world: Before<'_>) -> Vec<AgentId> {
    match event {
        ControlEvent::ShutdownRequested { agent, .. } => vec![*agent],
        ControlEvent::ShutdownApproved { request, .. }
        | ControlEvent::ShutdownRejected { request, .. }
        | ControlEvent::ShutdownOverdue { request } => {
            let shutdown = world.0.and_then(|world| world.shutdowns.get(*request));
            agents(shutdown.into_iter().flat_map(|shutdown| [Principal::Agent(shutdown.agent), shutdown.by]))
        }
        ControlEvent::IdleReported { to, .. } => agents([*to]),
    }
}

fn decision(event: &DecisionEvent, world: Before<'_>) -> Vec<AgentId> {
    match event {
        DecisionEvent::Made { .. } => vec![],
        DecisionEvent::Confirmed { id } | DecisionEvent::Rejected { id, .. } => agents(world.decider(*id)),
    }
}

fn team(event: &TeamEvent, world: Before<'_>) -> Vec<AgentId> {
    match event {
        TeamEvent::Created { lead, .. } => agents([*lead]),
        TeamEvent::Admitted { agent, team } => {
            let lead = world.0.and_then(|world| world.teams.get(team)).map(|team| team.lead);
            agents(lead.into_iter().chain([Principal::Agent(*agent)]))
        }
        TeamEvent::Deleted { name } => {
            agents(world.0.and_then(|world| world.teams.get(name)).map(|team| team.lead))
        }
    }
}

fn permission(event: &PermissionEvent, world: Before<'_>) -> Vec<AgentId> {
    let asker = |asker: &AgentId| Principal::Agent(*asker);
    match event {
        PermissionEvent::Asked { asker: who, to, .. }
        | PermissionEvent::PlanSubmitted { asker: who, to, .. } => agents([asker(who), *to]),
        PermissionEvent::Escalated { request, to } => agents(world.asked(*request).into_iter().chain([*to])),
        PermissionEvent::Allowed { request, by, .. } | PermissionEvent::Denied { request, by, .. } => {
            agents(world.asked(*request).into_iter().chain([*by]))
        }
        PermissionEvent::Expired { request }
        | PermissionEvent::Lapsed { request }
        | PermissionEvent::Withdrawn { request, .. }
        | PermissionEvent::Used { request, .. } => agents(world.asked(*request)),
        PermissionEvent::Passed { asker, .. } => vec![*asker],
        PermissionEvent::RuleAdded { rule } => agents(of_rule(rule)),
        PermissionEvent::RuleRemoved { rule, .. } => agents(world.of_rule(*rule)),
        PermissionEvent::RulePassedOn { rule, to } => agents(world.of_rule(*rule).into_iter().chain([*to])),
        PermissionEvent::ModeSet { agent, by, .. } => agents([asker(agent), *by]),
        PermissionEvent::PlanEscalated { plan, to } => agents(world.shown(*plan).into_iter().chain([*to])),
        PermissionEvent::PlanApproved { plan, asker: who, by, .. } => {
            agents(world.shown(*plan).into_iter().chain([asker(who), *by]))
        }
        PermissionEvent::PlanRejected { plan, by, .. } => agents(world.shown(*plan).into_iter().chain([*by])),
        PermissionEvent::PlanWithdrawn { plan, .. } => agents(world.shown(*plan)),
    }
}

fn of_rule(rule: &Rule) -> Vec<Principal> {
    match rule.scope {
        Scope::Agent(agent) => vec![rule.owner, Principal::Agent(agent)],
        Scope::Team(_) | Scope::Below => vec![rule.owner],
    }
}

fn task(event: &TaskEvent, world: Before<'_>) -> Vec<AgentId> {
    let and = |on: &TaskRef, others: &[Option<Principal>]| {
        agents(world.worker(on).into_iter().chain(others.iter().copied().flatten()))
    };
    let told = |agent: &Option<AgentId>| agent.map(Principal::Agent);
    match event {
        TaskEvent::Declared { .. } => vec![],
        TaskEvent::Claimed { on, by, .. }
        | TaskEvent::Started { on, by, .. }
        | TaskEvent::Completed { on, by, .. } => and(on, &[Some(*by)]),
        TaskEvent::Assigned { on, to, .. } => and(on, &[Some(*to)]),
        TaskEvent::Reported { on, by, tell, .. } | TaskEvent::Failed { on, by, tell, .. } => {
            and(on, &[Some(*by), told(tell)])
        }
        TaskEvent::SentBack { on, owner, .. } => and(on, &[*owner]),
        TaskEvent::Returned { on, from, .. } => and(on, &[Some(*from)]),
        TaskEvent::LooksLike { on, tell, .. } => and(on, &[told(tell)]),
        TaskEvent::Linked { on, .. }
        | TaskEvent::Paused { on }
        | TaskEvent::Resumed { on }
        | TaskEvent::Retried { on, .. }
        | TaskEvent::Reopened { on, .. }
        | TaskEvent::Skipped { on }
        | TaskEvent::Cancelled { on } => and(on, &[]),
        TaskEvent::Sought { agent, .. } | TaskEvent::GaveUp { agent, .. } => vec![*agent],
    }
}

fn pool(event: &PoolEvent, world: Before<'_>) -> Vec<AgentId> {
    match event {
        PoolEvent::Configured { .. } => vec![],
        PoolEvent::Taken { owner, .. } | PoolEvent::Freed { owner, .. } => agents([*owner]),
        PoolEvent::Opened { slot, .. } | PoolEvent::Noted { slot, .. } | PoolEvent::Extended { slot, .. } => {
            agents(world.owner(*slot))
        }
        PoolEvent::Queued { who, asked, .. } => agents(asked.iter().copied().chain([*who])),
        PoolEvent::Asked { holder, waiter, .. } => agents([*holder, *waiter]),
        PoolEvent::Reserved { who, .. }
        | PoolEvent::ReservationLapsed { who, .. }
        | PoolEvent::PlaceLeft { who, .. } => agents([*who]),
        PoolEvent::ContextEntered { who, .. } => agents([*who]),
        PoolEvent::ContextOpened { maker, to, .. } => agents([*maker, *to]),
        PoolEvent::HandedOver { from, to, .. } => agents([*from, *to]),
        PoolEvent::Shared { slot, with, .. } | PoolEvent::Unshared { slot, with, .. } => {
            agents(world.owner(*slot).into_iter().chain([*with]))
        }
    }
}

fn agents(who: impl IntoIterator<Item = Principal>) -> Vec<AgentId> {
    who.into_iter().filter_map(Principal::agent).collect()
}

/// The world before the event, where it is known.
#[derive(Clone, Copy)]
struct Before<'a>(Option<&'a World>);

impl<'a> Before<'a> {
    fn agent(self, id: AgentId) -> Option<&'a Agent> {
        self.0?.agents.get(id)
    }

    fn holder(self, fence: Fence) -> Option<Principal> {
        Some(self.0?.locks.get(fence)?.holder)
    }

    fn waiter(self, ticket: Ticket) -> Option<Principal> {
        Some(self.0?.locks.wait(ticket)?.who)
    }

    fn owners_of_tree(self, project: ProjectId, slug: &str) -> Vec<Principal> {
        let tree = self.0.and_then(|world| world.worktrees.get(project, slug));
        tree.into_iter().flat_map(|tree| [Some(tree.owner), tree.released]).flatten().collect()
    }

    fn owners_of_branch(self, project: ProjectId, branch: &str) -> Vec<Principal> {
        let trees = self.0.into_iter().flat_map(|world| world.worktrees.of(project));
        trees.filter(|tree| *tree.tree.branch == *branch).map(|tree| tree.owner).collect()
    }

    fn sender(self, letter: MessageId) -> Option<Principal> {
        Some(self.0?.mail.get(letter)?.from)
    }

    fn decider(self, id: DecisionId) -> Option<Principal> {
        Some(self.0?.decisions.get(id)?.by)
    }

    /// Who asked for a permission, and who was to answer.
    fn asked(self, request: RequestId) -> Vec<Principal> {
        let Some(request) = self.0.and_then(|world| world.permissions.get(request)) else { return vec![] };
        let asker = Principal::Agent(request.asker);
        match &request.state {
            State::Waiting { to } => vec![asker, *to],
            State::Allowed { by, .. } | State::Used { by, .. } | State::Denied { by, .. } => vec![asker, *by],
            State::Expired | State::Lapsed | State::Withdrawn { .. } => vec![asker],
        }
    }

    /// Whose plan it is, and who was to answer.
    fn shown(self, plan: RequestId) -> Vec<Principal> {
        let plan = self.0.and_then(|world| world.permissions.plans().find(|known| known.id == plan));
        let Some(plan) = plan else { return vec![] };
        let asker = Principal::Agent(plan.asker);
        match &plan.state {
            PlanState::Waiting { to } => vec![asker, *to],
            PlanState::Approved { .. } | PlanState::Rejected { .. } | PlanState::Withdrawn { .. } => {
                vec![asker]
            }
        }
    }

    fn of_rule(self, rule: RuleId) -> Vec<Principal> {
        self.0.and_then(|world| world.permissions.rule(rule)).map(of_rule).unwrap_or_default()
    }

    fn worker(self, on: &TaskRef) -> Option<Principal> {
        let task = self.0?.tasks.find(on).ok()?;
        task.state.owner().or_else(|| task.state.worker())
    }

    fn owner(self, slot: SlotId) -> Option<Principal> {
        Some(self.0?.pools.slot(slot)?.1.owner)
    }
}
