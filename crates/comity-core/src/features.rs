//! The features: what each of them brings, and the one list of them.
//!
//! A feature is a module with its asks, its events, and its part of the [`World`]. Nothing else in here knows what it
//! does.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agents::{AgentAsk, AgentEvent};
use crate::branch_moves::{MoveAsk, MoveEvent};
use crate::commits::{CommitAsk, CommitEvent};
use crate::control::{self, ControlAsk, ControlEvent};
use crate::decide::AskResult;
use crate::decisions::{DecisionAsk, DecisionEvent};
use crate::event::{EventType, Record, Typed};
use crate::ids::{AgentId, Fence, Key, Principal};
use crate::locks::{self, LockAsk, LockEvent};
use crate::mail::{self, MailAsk, MailEvent};
use crate::notices::{NoticeAsk, NoticeEvent};
use crate::paths::PathPattern;
use crate::people::{Asker, PersonAsk, PersonEvent};
use crate::permissions::{self, PermissionAsk, PermissionEvent};
use crate::pools::{self, PoolAsk, PoolEvent, SlotWait};
use crate::projects::{ProjectAsk, ProjectEvent};
use crate::queues::QueueAsk;
use crate::reads::{ReadAsk, ReadEvent};
use crate::refusal::Refusal;
use crate::runs::{self, RunAsk, RunEvent};
use crate::sentence::Telling;
use crate::server::{ServerAsk, ServerEvent};
use crate::tasks::{self, TaskAsk, TaskEvent};
use crate::teams::{TeamAsk, TeamEvent};
use crate::wait_graph::WaitRules;
use crate::worktrees::{WorktreeAsk, WorktreeEvent};
use crate::world::World;
use crate::writes::{WriteAsk, WriteEvent};

pub(crate) trait FeatureAsk {
    /// Decides it as of `world.now`.
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal>;

    /// What the human would decide about others by it, if it does: that takes a present person.
    fn takes_presence(&self, _world: &World) -> Option<&'static str> {
        None
    }

    /// Whether an agent that said it is idle is working again when it asks this.
    fn is_work(&self) -> bool {
        false
    }

    /// Whether it only looks whether there is something: if not, nothing is recorded.
    fn is_look(&self) -> bool {
        false
    }

    /// In whose name, and under which key, the decision is recorded, if not in the caller's.
    fn maker<'w>(&self, _world: &'w World) -> Option<(Principal, Option<&'w Key>)> {
        None
    }
}

pub(crate) trait FeatureEvent: Typed {
    /// Whether it may close a cycle of waiting in which an agent waits for work.
    fn may_close_cycle(&self) -> bool {
        false
    }

    /// Folds it into the world. It cannot fail: it has happened.
    fn apply(&self, world: &mut World, record: &Record);

    /// The agents that it concerns, besides whoever acted; without `before`, those that it names.
    fn concerns(&self, before: Option<&World>) -> Vec<AgentId>;

    /// What happened, for people.
    fn sentence(&self, telling: &Telling<'_>) -> String;
}

/// One ask. Whatever is random or comes from outside was added before.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    Server(ServerAsk),
    Project(ProjectAsk),
    Agent(AgentAsk),
    Lock(LockAsk),
    Queue(QueueAsk),
    Read(ReadAsk),
    Write(WriteAsk),
    Commit(CommitAsk),
    Move(MoveAsk),
    Worktree(WorktreeAsk),
    Mail(MailAsk),
    Control(ControlAsk),
    Decision(DecisionAsk),
    Team(TeamAsk),
    Permission(PermissionAsk),
    Task(TaskAsk),
    Pool(PoolAsk),
    Person(PersonAsk),
    Run(RunAsk),
    Notice(NoticeAsk),
}

/// One change of the world. Those that serde skips are stored without their feature's name: see `event/stored.rs`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum Event {
    #[serde(skip)]
    Server(ServerEvent),
    #[serde(skip)]
    Project(ProjectEvent),
    #[serde(skip)]
    Agent(AgentEvent),
    #[serde(skip)]
    Lock(LockEvent),
    #[serde(skip)]
    Read(ReadEvent),
    #[serde(skip)]
    Write(WriteEvent),
    #[serde(skip)]
    Commit(CommitEvent),
    #[serde(skip)]
    Move(MoveEvent),
    #[serde(skip)]
    Worktree(WorktreeEvent),
    #[serde(skip)]
    Notice(NoticeEvent),
    Mail(MailEvent),
    Control(ControlEvent),
    Decision(DecisionEvent),
    Team(TeamEvent),
    Permission(PermissionEvent),
    Task(TaskEvent),
    Pool(PoolEvent),
    Person(PersonEvent),
    Run(RunEvent),
}

impl Ask {
    pub(crate) fn feature(&self) -> &dyn FeatureAsk {
        match self {
            Ask::Server(ask) => ask,
            Ask::Project(ask) => ask,
            Ask::Agent(ask) => ask,
            Ask::Lock(ask) => ask,
            Ask::Queue(ask) => ask,
            Ask::Read(ask) => ask,
            Ask::Write(ask) => ask,
            Ask::Commit(ask) => ask,
            Ask::Move(ask) => ask,
            Ask::Worktree(ask) => ask,
            Ask::Mail(ask) => ask,
            Ask::Control(ask) => ask,
            Ask::Decision(ask) => ask,
            Ask::Team(ask) => ask,
            Ask::Permission(ask) => ask,
            Ask::Task(ask) => ask,
            Ask::Pool(ask) => ask,
            Ask::Person(ask) => ask,
            Ask::Run(ask) => ask,
            Ask::Notice(ask) => ask,
        }
    }
}

impl Event {
    pub(crate) fn feature(&self) -> &dyn FeatureEvent {
        match self {
            Event::Server(event) => event,
            Event::Project(event) => event,
            Event::Agent(event) => event,
            Event::Lock(event) => event,
            Event::Read(event) => event,
            Event::Write(event) => event,
            Event::Commit(event) => event,
            Event::Move(event) => event,
            Event::Worktree(event) => event,
            Event::Notice(event) => event,
            Event::Mail(event) => event,
            Event::Control(event) => event,
            Event::Decision(event) => event,
            Event::Team(event) => event,
            Event::Permission(event) => event,
            Event::Task(event) => event,
            Event::Pool(event) => event,
            Event::Person(event) => event,
            Event::Run(event) => event,
        }
    }

    pub fn kind(&self) -> EventType {
        self.feature().kind()
    }
}

pub(crate) const TYPES: &[&[EventType]] = &[
    ServerEvent::TYPES,
    ProjectEvent::TYPES,
    AgentEvent::TYPES,
    LockEvent::TYPES,
    ReadEvent::TYPES,
    WriteEvent::TYPES,
    CommitEvent::TYPES,
    MoveEvent::TYPES,
    WorktreeEvent::TYPES,
    NoticeEvent::TYPES,
    MailEvent::TYPES,
    ControlEvent::TYPES,
    DecisionEvent::TYPES,
    TeamEvent::TYPES,
    PermissionEvent::TYPES,
    TaskEvent::TYPES,
    PoolEvent::TYPES,
    PersonEvent::TYPES,
    RunEvent::TYPES,
];

/// Serves those who wait, after events that may let them go on.
pub(crate) struct FollowUp {
    pub follows: fn(&Event) -> bool,
    /// The first thing that can happen now.
    pub next: fn(&World) -> Option<Vec<Event>>,
}

/// In this order, over and over, until nothing follows.
pub(crate) const FOLLOW_UPS: [FollowUp; 6] = [
    locks::FOLLOW_UP,
    pools::FOLLOW_UP,
    permissions::FOLLOW_UP,
    runs::FOLLOW_UP,
    tasks::ASSIGNMENT,
    tasks::STUCK,
];

/// The features in which somebody can wait for somebody else.
pub(crate) const WAIT_RULES: [WaitRules; 4] =
    [locks::WAIT_RULES, pools::WAIT_RULES, permissions::WAIT_RULES, tasks::WAIT_RULES];

/// What somebody waits for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum WaitedFor<'a> {
    Path(&'a PathPattern),
    Slot(SlotWait<'a>),
    Answer,
    Work,
}

impl fmt::Display for WaitedFor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitedFor::Path(pattern) => f.write_str(&pattern.readable()),
            WaitedFor::Slot(wait) => wait.fmt(f),
            WaitedFor::Answer => f.write_str("an answer"),
            WaitedFor::Work => f.write_str("work"),
        }
    }
}

/// What is supposed to be otherwise when a feature is asked who would wait for whom.
#[derive(Default)]
pub(crate) struct Supposed<'a> {
    /// Locks that their holders no longer have.
    pub locks_gone: BTreeSet<Fence>,
    /// A pool, and how many slots it has.
    pub pool_size: Option<(&'a str, usize)>,
}

/// What an agent gives up when it ends, with those that end with it.
pub(crate) fn given_up(world: &World, agent: AgentId, family: &[AgentId]) -> Vec<Event> {
    let mut events = locks::waits_ended(world, agent);
    events.extend(mail::undelivered(world, agent));
    events.extend(locks::left_behind(world, agent));
    events.extend(permissions::with_agent(world, agent, family));
    events.extend(tasks::ended_events(world, agent));
    events.extend(pools::ended_events(world, agent));
    events
}

/// Forgets what nobody needs to know of an agent that has ended.
pub(crate) fn forget_agent(world: &mut World, agent: AgentId) {
    world.reads.forget(agent);
    world.moves.forget(agent);
    control::agent_ended(world, agent);
    permissions::forget_agents(world);
    world.tasks.forget_agent(agent);
    world.pools.forget_agent(agent);
    mail::agent_ended(world, agent);
}
