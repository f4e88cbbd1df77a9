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
mod orphans;
mod outside;
mod permissions;
pub(crate) mod pools;
mod pools_settled;
mod post;
mod post_settled;
mod queue;
pub(crate) mod runs;
mod settled;
pub(crate) mod tasks;

use std::collections::{BTreeMap, BTreeSet};

use comity_core::agents::AgentEvent;
use comity_core::branch_moves::Move;
use comity_core::commits::CommitEvent;
use comity_core::control::HandshakeId;
use comity_core::decisions::DecisionId;
use comity_core::locks::{Hold, LockEvent, LockMode, Wanted};
use comity_core::server::ServerEvent;
use comity_core::worktrees::WorktreeEvent;
use comity_core::world::Timeouts;
use comity_core::{AgentId, Event, Fence, Key, Millis, Principal, ProjectId, Record, Ticket, Timestamp};

use crate::sim_paths::{SimFiles, SimPaths};

pub(crate) use post::Pile;

/// Why the simulation stops: what is wrong, as a sentence.
pub(crate) type Found = Result<(), String>;

/// What the records so far say.
#[derive(Debug)]
pub(crate) struct Oracle {
    pub(crate) agents: BTreeMap<AgentId, Being>,
    gone: BTreeSet<AgentId>,
    /// Everybody who ever was, and where it belonged.
    pub(crate) kin: BTreeMap<AgentId, kin::Kin>,
    pub(crate) post: post::Post,
    /// Who was asked to end and has not answered.
    pub(crate) asked: BTreeMap<HandshakeId, control::EndAsked>,
    pub(crate) last_request: HandshakeId,
    teams: BTreeMap<Box<str>, Principal>,
    decisions: BTreeMap<DecisionId, control::Ruling>,
    pub(crate) last_decision: DecisionId,
    pub(crate) locks: BTreeMap<Fence, ModelLock>,
    pub(crate) waits: BTreeMap<Ticket, Queued>,
    pub(crate) trees: BTreeMap<(ProjectId, Box<str>), outside::ModelTree>,
    known: outside::KnownContents,
    tokens: BTreeSet<Box<str>>,
    has_passphrase: bool,
    /// The run of the machine in which the last server started.
    boot: Option<Box<str>>,
    /// The branches that are about to move, by whom.
    pub(crate) moves: BTreeMap<u64, (Principal, Move)>,
    pub(crate) permissions: permissions::ModelRequests,
    pub(crate) shelves: pools::Shelves,
    /// All tasks, in the order in which they were declared.
    pub(crate) jobs: Vec<tasks::ModelTask>,
    pub(crate) runs: BTreeMap<comity_core::runs::RunId, runs::ModelRun>,
    /// Agents of runs that Comity ended in this step, until it is told why.
    run_ended: BTreeSet<AgentId>,
    /// Who waits for work, and until when.
    seekers: BTreeMap<AgentId, Timestamp>,
    pub(crate) answers: BTreeMap<(Principal, Key), Vec<Event>>,
    /// The largest fence and ticket ever given.
    pub(crate) fence: Fence,
    pub(crate) ticket: Ticket,
    head: u64,
    now: Timestamp,
    patience: Timeouts,
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
    /// How long the machine had run at the first start of a server after its last sign of life.
    silent_since: Option<Millis>,
    /// How long it was silent then, as this start has found.
    silence: Millis,
    /// The numbers of the notices that were not taken yet.
    notices: Vec<u64>,
}

/// A lock as the model sees it.
#[derive(Debug)]
pub(crate) struct ModelLock {
    pub(crate) holder: Principal,
    pub(crate) want: WantedFiles,
    pub(crate) hold: Hold,
    counted_from: Timestamp,
    lapsed: Timestamp,
    /// Whether it is known which files have work in them.
    knows_files: bool,
    /// Whose work is put aside, if that is why its holder has it.
    pub(crate) rescue: Option<Principal>,
}

/// What somebody locks or wants to lock.
#[derive(Clone, Debug)]
pub(crate) struct WantedFiles {
    pub(crate) files: SimFiles,
    pub(crate) mode: LockMode,
    pub(crate) wanted: Wanted,
}

/// A place in the queue as the model sees it.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) who: Principal,
    pub(crate) wants: Vec<WantedFiles>,
    deadline: Timestamp,
    key: Option<Key>,
}

/// A sign of life by any other act counts to the second only.
const ACT_GRAIN: Millis = Millis::seconds(1);

impl Oracle {
    pub(crate) fn new(patience: Timeouts) -> Oracle {
        Oracle {
            agents: BTreeMap::new(),
            gone: BTreeSet::new(),
            kin: BTreeMap::new(),
            post: post::Post::default(),
            asked: BTreeMap::new(),
            last_request: HandshakeId(0),
            teams: BTreeMap::new(),
            decisions: BTreeMap::new(),
            last_decision: DecisionId(0),
            locks: BTreeMap::new(),
            waits: BTreeMap::new(),
            trees: BTreeMap::new(),
            known: BTreeMap::new(),
            tokens: BTreeSet::new(),
            has_passphrase: false,
            boot: None,
            moves: BTreeMap::new(),
            permissions: permissions::ModelRequests::default(),
            shelves: pools::Shelves::default(),
            jobs: Vec::new(),
            runs: BTreeMap::new(),
            run_ended: BTreeSet::new(),
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
        self.agents.values_mut().for_each(|being| being.silence = Millis(0));
    }

    /// The number of the last record.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Reads one record; says what is wrong with it.
    pub(crate) fn observe(&mut self, paths: &SimPaths, record: &Record) -> Found {
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
        self.observe_event(paths, record)?;
        concerned::check(record, &concerned)
    }

    fn observe_event(&mut self, paths: &SimPaths, record: &Record) -> Found {
        match &record.event {
            Event::Server(ServerEvent::Started { fence_floor, boot, uptime, .. }) => {
                self.fence = self.fence.max(*fence_floor);
                self.all_heard(boot.as_deref(), *uptime);
                Ok(())
            }
            Event::Agent(AgentEvent::Limited { .. }) => Ok(()),
            Event::Agent(_) | Event::Notice(_) => self.observe_agent(record),
            Event::Move(_)
            | Event::Commit(CommitEvent::Made { .. })
            | Event::Worktree(WorktreeEvent::BranchMerged { .. }) => self.observe_move(record),
            Event::Read(_) | Event::Write(_) | Event::Commit(_) | Event::Worktree(_) | Event::Person(_) => {
                self.observe_outside(record)
            }
            Event::Server(_) | Event::Project(_) => Ok(()),
            Event::Mail(event) => self.observe_mail(record, event),
            Event::Control(event) => self.observe_control(record, event),
            Event::Decision(event) => self.observe_decision(record, event),
            Event::Team(event) => self.observe_team(record, event),
            Event::Permission(event) => self.observe_permission(record, event),
            Event::Task(event) => self.observe_task(paths, record, event),
            Event::Pool(event) => self.observe_pool(record, event),
            Event::Run(event) => self.observe_run(record, event),
            Event::Lock(LockEvent::WaitStarted { .. } | LockEvent::WaitEnded { .. }) => {
                self.observe_wait(paths, record)
            }
            Event::Lock(_) => self.observe_lock(paths, record),
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

impl WantedFiles {
    fn of(paths: &SimPaths, wanted: &Wanted) -> WantedFiles {
        let files = paths.files(wanted.project, &wanted.pattern);
        WantedFiles { files, mode: wanted.mode, wanted: wanted.clone() }
    }

    /// Whether two of these cannot be held by two at a time.
    pub(crate) fn collides(&self, other: &WantedFiles) -> bool {
        self.files & other.files != 0
            && (self.mode == LockMode::Exclusive || other.mode == LockMode::Exclusive)
    }
}
