//! What waits for somebody to decide or read: one list over all features.

use crate::agents::Agent;
use crate::control::{Control, Shutdown};
use crate::decisions::{Decision, DecisionState};
use crate::ids::{AgentId, Principal, ProjectId};
use crate::locks::{Lock, LockWait};
use crate::people::{Asker, Unseen};
use crate::permissions::{PermissionRequest, PlanState, RequestState, SubmittedPlan};
use crate::pools::{self, Pool, QueuePlace};
use crate::roles::{Right, may};
use crate::runs::{self, AgentRun, RunState};
use crate::tasks::{self, Task, TaskState};
use crate::teams::{leader_of, may_admit, members};
use crate::time::Timestamp;
use crate::world::World;

/// One thing that waits for somebody. The earlier variants matter more.
#[derive(Clone, Copy, Debug)]
pub enum InboxItem<'w> {
    Shutdown(&'w Shutdown),
    Permission(&'w PermissionRequest),
    Plan(&'w SubmittedPlan),
    /// Somebody acted as the human from new places: was it the human?
    NewPlaces {
        acts: usize,
        last: &'w Unseen,
    },
    Orphan(&'w Lock),
    /// A task whose worker ended, and that nobody has taken since.
    Death(&'w Task),
    /// A program that crashed too often, or could not be started.
    GaveUp(&'w AgentRun),
    Review(&'w Task),
    Failed(&'w Task),
    /// Somebody waits for a lock of the human.
    LockWanted {
        lock: &'w Lock,
        by: &'w LockWait,
    },
    /// Somebody waits for a slot, and has to be given one of the reader's.
    Space {
        pool: &'w Pool,
        first: &'w QueuePlace,
    },
    Decision(&'w Decision),
    /// An agent would like to join a team.
    Wish(&'w Agent),
    /// Unread letters, and answers to what the reader asked.
    Mail {
        letters: usize,
        answers: usize,
        since: Timestamp,
    },
    /// A task that was assigned and is not begun.
    Task(&'w Task),
    /// A ready task, for an agent that has none.
    Ready(&'w Task),
}

impl InboxItem<'_> {
    fn rank(&self) -> u8 {
        match self {
            InboxItem::Shutdown(_) => 0,
            InboxItem::Permission(_) => 1,
            InboxItem::Plan(_) => 2,
            InboxItem::NewPlaces { .. } => 3,
            InboxItem::Orphan(_) => 4,
            InboxItem::Death(_) => 5,
            InboxItem::GaveUp(_) => 6,
            InboxItem::Review(_) => 7,
            InboxItem::Failed(_) => 8,
            InboxItem::LockWanted { .. } => 9,
            InboxItem::Space { .. } => 10,
            InboxItem::Decision(_) => 11,
            InboxItem::Wish(_) => 12,
            InboxItem::Mail { .. } => 13,
            InboxItem::Task(_) => 14,
            InboxItem::Ready(_) => 15,
        }
    }

    /// Whether somebody has to decide; letters are only read, and tasks only done.
    pub fn needs_decision(&self) -> bool {
        self.rank() < InboxItem::Mail { letters: 0, answers: 0, since: Timestamp::default() }.rank()
    }

    pub fn since(&self) -> Timestamp {
        match self {
            InboxItem::Shutdown(shutdown) => shutdown.since,
            InboxItem::Permission(request) => request.since,
            InboxItem::Plan(plan) => plan.since,
            // Only wall time is known for these.
            InboxItem::NewPlaces { .. } => Timestamp::default(),
            InboxItem::Orphan(lock) => lock.renewed,
            InboxItem::Death(task) => task.left().map_or(task.since, |last| last.at),
            InboxItem::GaveUp(run) => match run.state {
                RunState::Over { at, .. } => at,
                _ => run.since,
            },
            InboxItem::LockWanted { by, .. } => by.since,
            InboxItem::Space { first, .. } => first.since,
            InboxItem::Decision(decision) => decision.at,
            InboxItem::Wish(agent) => agent.joined,
            InboxItem::Mail { since, .. } => *since,
            InboxItem::Review(task)
            | InboxItem::Failed(task)
            | InboxItem::Task(task)
            | InboxItem::Ready(task) => match &task.state {
                TaskState::InReview { since, .. } => *since,
                TaskState::Failed { at, .. } => *at,
                TaskState::Open { claim: Some(claim) } => claim.since,
                _ => task.since,
            },
        }
    }
}

/// Everything that waits for `who`: most important first, then oldest first.
pub fn waiting_for(world: &World, who: Principal) -> Vec<InboxItem<'_>> {
    let mut items: Vec<InboxItem<'_>> = Vec::new();
    let own_end = who.agent().and_then(|agent| world.shutdowns.of(agent));
    items.extend(own_end.map(|(_, shutdown)| InboxItem::Shutdown(shutdown)));
    let asked = |request: &&PermissionRequest| {
        matches!(request.state, RequestState::Waiting { to } if to == who) && world.now < request.deadline
    };
    items.extend(world.permissions.requests().filter(asked).map(InboxItem::Permission));
    let submitted = |plan: &&SubmittedPlan| matches!(plan.state, PlanState::Waiting { to } if to == who);
    items.extend(world.permissions.plans().filter(submitted).map(InboxItem::Plan));
    let left = |lock: &&Lock| lock.holder.agent().is_some_and(|agent| leader_of(world, agent) == who);
    items.extend(world.locks.orphaned().filter(left).map(InboxItem::Orphan));
    items.extend(world.tasks.undecided().filter_map(|task| undecided(world, who, task)));
    let given_up = |run: &&AgentRun| runs::answers_for(world, run) == who;
    items.extend(world.runs.given_up().filter(given_up).map(InboxItem::GaveUp));
    items.extend(wanted_of(world, who));
    let asked_for = |pool: &&Pool| pools::why_not_granted(pool, who).is_none();
    let spaces = world.pools.iter().filter(asked_for);
    items.extend(spaces.filter_map(|pool| Some(InboxItem::Space { pool, first: pool.in_line().next()? })));
    let is_given = |task: &&Task| task.state.claim().is_some();
    items.extend(world.tasks.owned_by(who).filter(is_given).map(InboxItem::Task));
    let to_confirm = |decision: &&Decision| {
        decision.standing == DecisionState::Pending && confirms(world, decision.by) == who
    };
    items.extend(world.decisions.iter().filter(to_confirm).map(InboxItem::Decision));
    items.extend(world.agents.live().filter(|agent| admits(world, agent) == Some(who)).map(InboxItem::Wish));
    items.extend(mail(world, who));
    items.sort_by_key(|item| (item.rank(), item.since()));
    items
}

/// The same for somebody at a place: the human is asked about acts from new places, except those from this one.
pub fn waiting_at<'w>(world: &'w World, asker: &Asker) -> Vec<InboxItem<'w>> {
    let mut items = waiting_for(world, asker.who);
    let own = asker.origin.as_ref().filter(|origin| asker.who == Principal::Human && origin.is_shown_acts());
    if let Some(place) = own.map(|origin| origin.place()) {
        let acts = || world.people.unseen(&place);
        let new =
            acts().last().map(|last| InboxItem::NewPlaces { acts: acts().map(Unseen::acts).sum(), last });
        items.extend(new);
        items.sort_by_key(|item| (item.rank(), item.since()));
    }
    items
}

/// What comes first for somebody here: what waits, otherwise work for an agent that has none.
pub fn first(world: &World, who: Principal, project: Option<ProjectId>) -> Option<InboxItem<'_>> {
    let ready = || tasks::ready_for(world, who.agent()?, project?).map(InboxItem::Ready);
    waiting_for(world, who).into_iter().next().or_else(ready)
}

/// How much waits for the asker.
pub fn count(world: &World, asker: &Asker) -> usize {
    waiting_at(world, asker).len()
}

/// A person's locks for which others wait; agents are told of that anyway.
fn wanted_of(world: &World, who: Principal) -> impl Iterator<Item = InboxItem<'_>> {
    let held = (who == Principal::Human).then(|| world.locks.live_of(who)).into_iter().flatten();
    // What is being put aside becomes free by itself.
    held.filter(|lock| lock.rescue.is_none()).filter_map(move |lock| {
        let waits = world.locks.waits_overlapping(lock.wanted.project, &lock.wanted.pattern);
        let is_kept_out = |wait: &&LockWait| {
            wait.who != who && wait.wants.iter().any(|want| lock.wanted.mode.excludes(want.mode))
        };
        let by = waits.into_iter().filter(is_kept_out).min_by_key(|wait| wait.since)?;
        Some(InboxItem::LockWanted { lock, by })
    })
}

fn undecided<'w>(world: &'w World, who: Principal, task: &'w Task) -> Option<InboxItem<'w>> {
    match &task.state {
        TaskState::InReview { by, .. } => {
            // With nobody else left, the human reviews: nobody is above the human.
            let may = who != *by || who == Principal::Human;
            (reviewer(world, task, *by) == who && may).then_some(InboxItem::Review(task))
        }
        TaskState::Failed { .. } => (alive(world, task.creator) == who).then_some(InboxItem::Failed(task)),
        TaskState::Open { .. } => {
            let is_mine = task.left().is_some() && alive(world, task.creator) == who;
            is_mine.then_some(InboxItem::Death(task))
        }
        _ => None,
    }
}

/// Whoever declared it, if it may review and did not do the work; otherwise the first above the worker that may, or
/// the human.
pub(crate) fn reviewer(world: &World, task: &Task, by: Principal) -> Principal {
    let reviews = |who: Principal| who != by && may(world, who, Right::ReviewTasks).is_ok();
    let creator = alive(world, task.creator);
    if reviews(creator) {
        return creator;
    }
    let mut at = by.agent();
    for _ in 0..world.agents.len() {
        let Some(leader) = at.map(|agent| leader_of(world, agent)) else { break };
        if reviews(leader) {
            return leader;
        }
        at = leader.agent();
    }
    Principal::Human
}

/// The human answers for those who have ended.
pub(crate) fn alive(world: &World, who: Principal) -> Principal {
    let lives = |agent: AgentId| world.agents.living(agent).is_ok();
    if who.agent().is_some_and(lives) { who } else { Principal::Human }
}

fn confirms(world: &World, maker: Principal) -> Principal {
    maker.agent().map_or(Principal::Human, |agent| leader_of(world, agent))
}

fn admits(world: &World, agent: &Agent) -> Option<Principal> {
    let wished = agent.profile.wished_team.as_deref()?;
    let admits = |who: Principal| may_admit(world, who, agent.id, wished).then_some(who);
    let made = world.teams.get(wished).map(|team| alive(world, team.lead));
    // A team that nobody created is led by a member.
    let in_it = || members(world, wished).find_map(|member| admits(Principal::Agent(member.id)));
    Some(made.map_or_else(in_it, admits).unwrap_or(Principal::Human))
}

fn mail(world: &World, who: Principal) -> Option<InboxItem<'_>> {
    let mailbox = world.mail.of(who)?;
    // What asks for something is an item of its own.
    let is_answer = |control: &Control| {
        matches!(control, Control::PermissionResponse { .. } | Control::PlanApprovalResponse { .. })
    };
    let answers = || mailbox.controls().filter(|(_, waiting)| is_answer(&waiting.control));
    let oldest = mailbox.all_letters().next().and_then(|letter| Some(world.mail.get(letter)?.sent));
    let since = oldest.into_iter().chain(answers().map(|(_, waiting)| waiting.since)).min()?;
    Some(InboxItem::Mail { letters: mailbox.letters(), answers: answers().count(), since })
}
