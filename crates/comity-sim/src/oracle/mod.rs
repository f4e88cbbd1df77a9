//! A second opinion: a naive model that reads the records alone and says what must not be.
//!
//! It knows nothing of the rules' own tables, index or graph. Paths are sets of files, written down by hand.

mod agents;
mod concerned;
mod control;
mod expected;
mod kin;
mod locks;
mod moves;
mod permissions;
pub(crate) mod pools;
mod pools_settled;
mod post;
mod post_settled;
mod queue;
mod settled;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};

use comity_core::control::RequestId;
use comity_core::decisions::DecisionId;
use comity_core::locks::{Hold, LockMode, Wanted};
use comity_core::moves::Move;
use comity_core::world::Patience;
use comity_core::{AgentId, Event, Fence, Key, Millis, Principal, Record, Ticket, Timestamp};

use crate::stage::{Files, Stage};

pub(crate) use post::Pile;

/// Why the simulation stops: what is wrong, as a sentence.
pub(crate) type Found = Result<(), String>;

/// What the records so far say.
#[derive(Debug)]
pub(crate) struct Oracle {
    /// The living.
    pub(crate) agents: BTreeMap<AgentId, Being>,
    /// Everybody who ended.
    gone: BTreeSet<AgentId>,
    /// Everybody who ever was, and where it belonged.
    pub(crate) kin: BTreeMap<AgentId, kin::Kin>,
    pub(crate) post: post::Post,
    /// Who was asked to end and has not answered.
    pub(crate) asked: BTreeMap<RequestId, control::Asked>,
    pub(crate) last_request: RequestId,
    teams: BTreeMap<Box<str>, Principal>,
    decisions: BTreeMap<DecisionId, control::Ruling>,
    pub(crate) last_decision: DecisionId,
    pub(crate) locks: BTreeMap<Fence, Held>,
    pub(crate) waits: BTreeMap<Ticket, Queued>,
    /// The branches that are about to move, by whom.
    pub(crate) moves: BTreeMap<u64, (Principal, Move)>,
    pub(crate) permissions: permissions::Asked,
    pub(crate) shelves: pools::Shelves,
    /// All tasks, in the order in which they were declared.
    pub(crate) jobs: Vec<tasks::Job>,
    /// Who waits for work, and until when.
    seekers: BTreeMap<AgentId, Timestamp>,
    pub(crate) answers: BTreeMap<(Principal, Key), Vec<Event>>,
    /// The largest fence and ticket ever given.
    pub(crate) fence: Fence,
    pub(crate) ticket: Ticket,
    head: u64,
    now: Timestamp,
    patience: Patience,
    /// Who must be dead when this step is over, for something was released because of it.
    leaving: Vec<AgentId>,
    /// Who ended in this step.
    left: Vec<AgentId>,
    /// Who is ended in this step for it did not answer.
    overdue: Vec<AgentId>,
    /// Who waited for the one that is being granted something, before the grant began.
    overtaken: Option<queue::Grant>,
}

/// A living agent as the model sees it.
#[derive(Debug)]
pub(crate) struct Being {
    pub(crate) parent: Option<AgentId>,
    pub(crate) has_process: bool,
    is_lead: bool,
    disconnected: Option<Timestamp>,
    /// The last sign of life that counts to the millisecond.
    heard: Timestamp,
    /// The last act of any kind.
    acted: Timestamp,
    /// The numbers of the notices that were not taken yet.
    notices: Vec<u64>,
}

/// A lock as the model sees it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) holder: Principal,
    pub(crate) want: Want,
    pub(crate) hold: Hold,
    counted_from: Timestamp,
    lapsed: Timestamp,
}

/// What somebody locks or wants to lock.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) files: Files,
    pub(crate) mode: LockMode,
    pub(crate) wanted: Wanted,
}

/// A place in the queue as the model sees it.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) who: Principal,
    pub(crate) wants: Vec<Want>,
    deadline: Timestamp,
    key: Option<Key>,
}

/// A sign of life by any other act counts to the second only.
const ACT_GRAIN: Millis = Millis::seconds(1);

impl Oracle {
    pub(crate) fn new(patience: Patience) -> Oracle {
        Oracle {
            agents: BTreeMap::new(),
            gone: BTreeSet::new(),
            kin: BTreeMap::new(),
            post: post::Post::default(),
            asked: BTreeMap::new(),
            last_request: RequestId(0),
            teams: BTreeMap::new(),
            decisions: BTreeMap::new(),
            last_decision: DecisionId(0),
            locks: BTreeMap::new(),
            waits: BTreeMap::new(),
            moves: BTreeMap::new(),
            permissions: permissions::Asked::default(),
            shelves: pools::Shelves::default(),
            jobs: Vec::new(),
            seekers: BTreeMap::new(),
            answers: BTreeMap::new(),
            fence: Fence(0),
            ticket: Ticket(0),
            head: 0,
            now: Timestamp(0),
            patience,
            leaving: Vec::new(),
            left: Vec::new(),
            overdue: Vec::new(),
            overtaken: None,
        }
    }

    /// A new ask or a new moment begins.
    pub(crate) fn begin(&mut self) {
        self.leaving.clear();
        self.left.clear();
        self.overdue.clear();
        self.post.touched.clear();
        self.post.turn += 1;
        self.overtaken = None;
        self.shelves.touched.clear();
    }

    /// Reads one record; says what is wrong with it.
    pub(crate) fn observe(&mut self, stage: &Stage, record: &Record) -> Found {
        if record.seq != self.head + 1 {
            return Err(format!("record {} follows record {}", record.seq, self.head));
        }
        if record.now < self.now {
            return Err(format!("time went back at record {}", record.seq));
        }
        (self.head, self.now) = (record.seq, record.now);
        if let Some(key) = &record.key {
            self.answers.entry((record.by, key.clone())).or_default().push(record.event.clone());
        }
        self.acts(record)?;
        let concerned = self.concerned(record);
        self.observe_event(stage, record)?;
        concerned::check(record, &concerned)
    }

    fn observe_event(&mut self, stage: &Stage, record: &Record) -> Found {
        match &record.event {
            Event::ServerStarted { fence_floor, .. } => {
                self.fence = self.fence.max(*fence_floor);
                self.all_heard();
                Ok(())
            }
            Event::ProjectAdded { .. } => Ok(()),
            Event::AgentJoined { .. }
            | Event::AgentTokenAdded { .. }
            | Event::AgentProcessKnown { .. }
            | Event::AgentSeen { .. }
            | Event::AgentIdled { .. }
            | Event::AgentNamed { .. }
            | Event::AgentDisconnected { .. }
            | Event::AgentEnded { .. }
            | Event::NoticesTaken { .. } => self.observe_agent(record),
            Event::MoveIntended(_)
            | Event::MoveUndone { .. }
            | Event::Committed { .. }
            | Event::BranchMerged { .. } => self.observe_move(record),
            // What agents know of files and worktrees has no part in who holds what.
            Event::FileKnown { .. }
            | Event::UnlockedWrite { .. }
            | Event::CommitUnguarded { .. }
            | Event::WorktreeAdded { .. }
            | Event::WorktreeReleased { .. }
            | Event::WorktreeKept { .. }
            | Event::WorktreeRemoved { .. }
            | Event::MergeConflicted { .. }
            | Event::AgentsLimited { .. }
            | Event::Person(_)
            | Event::EntriesRefused { .. }
            | Event::KeyReused { .. }
            | Event::NothingChanged {} => Ok(()),
            Event::Mail(event) => self.observe_mail(record, event),
            Event::Control(event) => self.observe_control(record, event),
            Event::Decision(event) => self.observe_decision(record, event),
            Event::Team(event) => self.observe_team(record, event),
            Event::Permission(event) => self.observe_permission(record, event),
            Event::Task(event) => self.observe_task(stage, record, event),
            Event::Pool(event) => self.observe_pool(record, event),
            Event::LockAcquired { .. }
            | Event::LockRenewed { .. }
            | Event::LockReleased { .. }
            | Event::LockLapsed { .. }
            | Event::LockExpired { .. }
            | Event::LockOrphaned { .. }
            | Event::LockExtended { .. }
            | Event::LockHandedOver { .. } => self.observe_lock(stage, record),
            Event::WaitStarted { .. } | Event::WaitEnded { .. } => self.observe_wait(stage, record),
        }
    }

    /// Whether an ask waits at this place, for locks or for a slot.
    pub(crate) fn is_waiting(&self, ticket: Ticket) -> bool {
        let mut lines = self.shelves.by_name.values().map(|shelf| &shelf.line);
        self.waits.contains_key(&ticket)
            || lines.any(|line| line.get(&ticket).is_some_and(|stand| stand.is_blocking))
    }

    pub(crate) fn is_alive(&self, who: Principal) -> bool {
        who.agent().is_none_or(|id| self.agents.contains_key(&id))
    }
}

impl Want {
    fn of(stage: &Stage, wanted: &Wanted) -> Want {
        let files = stage.files(wanted.project, &wanted.pattern);
        Want { files, mode: wanted.mode, wanted: wanted.clone() }
    }

    /// Whether two of these cannot be held by two at a time.
    pub(crate) fn collides(&self, other: &Want) -> bool {
        self.files & other.files != 0
            && (self.mode == LockMode::Exclusive || other.mode == LockMode::Exclusive)
    }
}
