//! What happens next, chosen by chance from what is possible.

mod moves;
mod orphans;
mod outside;
mod people;
mod permissions;
mod pools;
mod post;
mod runs;
mod tasks;

pub(crate) use permissions::NETWORK;

use comity_core::agents::{AgentAsk, Ending, Process, Profile};
use comity_core::locks::{Hold, LockAsk, LockMode, Wanted};
use comity_core::notices::NoticeAsk;
use comity_core::queues::QueueAsk;
use comity_core::{AgentId, Ask, Asker, Fence, Key, Millis, Principal, Ticket, Timestamp, TokenHash};

use crate::oracle::Oracle;
use crate::rng::Rng;
use crate::sim_paths::{SimPaths, Spot};

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    Asked {
        who: Asker,
        ask: Ask,
        key: Option<Key>,
    },
    /// An earlier ask comes again.
    Repeated {
        who: Principal,
        ask: Ask,
        key: Key,
    },
    /// Time passes until this moment.
    Passed(Timestamp),
    /// The server stops and starts again.
    Restarted {
        floor: Fence,
        /// The run of the machine, and how long it has run, where that is known.
        machine: Option<(u64, Millis)>,
        from_snapshot: bool,
        through_json: bool,
    },
    /// A snapshot is put aside for a later start.
    Snapshot,
}

/// How many of a hundred asks are about tasks.
const TASK_PERCENT: usize = 18;
/// How many of a hundred steps are about what is asked rarely.
const ALL_PERCENT: usize = 13;
/// Agents alive at a time.
const AGENTS_MAX: usize = 6;

/// What chance needs to know.
pub(crate) struct Scene<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) paths: &'a SimPaths,
    pub(crate) oracle: &'a Oracle,
    pub(crate) keyed: &'a [(Principal, Ask, Key)],
    /// The last locks that were given: who got what with which fence.
    pub(crate) given: &'a [(Principal, Spot, Fence)],
    pub(crate) joined: u64,
    pub(crate) now: Timestamp,
    pub(crate) next_deadline: Option<Timestamp>,
    /// The run of the machine, and how long it has run.
    pub(crate) machine: (u64, Millis),
    /// Whether everything is asked that there is.
    pub(crate) asks_all: bool,
}

impl Scene<'_> {
    pub(crate) fn next(&mut self) -> Happening {
        let living: Vec<AgentId> = self.oracle.agents.keys().copied().collect();
        if self.asks_all && self.rng.happens(ALL_PERCENT) {
            return self.rest(&living);
        }
        match self.rng.below(1_000) {
            0..2 => return self.restart(),
            2..4 => return Happening::Snapshot,
            4..180 => return self.time(),
            180..210 if !self.keyed.is_empty() => {
                let at = self.rng.below(self.keyed.len());
                let (who, ask, key) = self.keyed[at].clone();
                return Happening::Repeated { who, ask, key };
            }
            210..400 if !living.is_empty() => {
                let (who, ask) = self.mail(&living);
                return self.asked(who, ask);
            }
            400..435 if !living.is_empty() => {
                let (who, ask) = self.control(&living);
                return self.asked(who, ask);
            }
            435..445 => {
                let (who, ask) = self.decision(&living);
                return self.asked(who, ask);
            }
            445..450 => {
                let (who, ask) = self.team(&living);
                return self.asked(who, ask);
            }
            450..540 => {
                let (who, ask) = self.pool(&living);
                return self.asked(who, ask);
            }
            540..590 => return self.branch(&living),
            590..625 if self.oracle.has_orphans() => return self.orphan(&living),
            _ => {}
        }
        let agent = self.rng.pick(&living).copied();
        let Some(agent) = agent.filter(|_| living.len() > 2 && !self.rng.happens(3)) else {
            return self.join(&living);
        };
        let who = if self.rng.happens(8) { Principal::Human } else { Principal::Agent(agent) };
        let ask = self.ask(agent, &living, who);
        let by_system = matches!(
            ask,
            Ask::Lock(LockAsk::Inspected { .. })
                | Ask::Agent(AgentAsk::Seen { .. })
                | Ask::Agent(AgentAsk::Disconnect { .. })
                | Ask::Agent(AgentAsk::Idle { .. })
        );
        let who = if by_system && self.rng.happens(70) { Principal::System } else { who };
        self.asked(who, ask)
    }

    fn asked(&mut self, who: impl Into<Asker>, ask: Ask) -> Happening {
        let key = self.rng.happens(12).then(|| Key::new(&self.rng.bits().to_string())).flatten();
        Happening::Asked { who: who.into(), ask, key }
    }

    /// What is asked rarely, and was not asked at all when the first seeds were named.
    fn rest(&mut self, living: &[AgentId]) -> Happening {
        let (who, ask) = match self.rng.below(112) {
            0..30 => self.outside(living),
            30..38 => return self.person(living),
            38..44 => return self.attach(living),
            44..54 => self.membership(living),
            54..67 => self.plan(living),
            67..77 => self.context(living),
            77..97 => match self.next_of_a_task() {
                Some(next) => next,
                None => return self.time(),
            },
            97..100 => return self.restart(),
            _ => self.run(living),
        };
        self.asked(who, ask)
    }

    fn ask(&mut self, agent: AgentId, living: &[AgentId], who: Principal) -> Ask {
        if self.rng.happens(TASK_PERCENT) {
            return self.task(living);
        }
        match self.rng.below(100) {
            0..30 => self.lock(),
            30..44 => self.permission(agent, who),
            44..54 => {
                let spots = self.spots_of(who);
                Ask::Lock(LockAsk::Unlock { project: spots.0, patterns: spots.1 })
            }
            54..56 => {
                let project = if self.rng.happens(50) { Some(self.spots_of(who).0) } else { None };
                Ask::Lock(LockAsk::UnlockAll { project })
            }
            56..60 => {
                let (project, patterns) = self.spots_of(who);
                Ask::Lock(LockAsk::Release { project, patterns, reason: None })
            }
            60..64 => {
                let (project, patterns) = self.spots_of(who);
                Ask::Lock(LockAsk::Extend { project, patterns, ttl: self.ttl(), reason: None })
            }
            64..70 => {
                let (project, patterns) = self.spots_of(who);
                let to = self.rng.pick(living).map_or(Principal::Human, |to| Principal::Agent(*to));
                Ask::Lock(LockAsk::HandOver {
                    project,
                    patterns,
                    to,
                    reason: Some("a change of plan".into()),
                })
            }
            70..73 => {
                let waits: Vec<Ticket> = self.oracle.waits.keys().copied().collect();
                let ticket = self.rng.pick(&waits).copied().unwrap_or(Ticket(1));
                Ask::Queue(QueueAsk::Cancel { ticket })
            }
            73..79 => Ask::Agent(AgentAsk::Seen { agent }),
            79..81 => Ask::Agent(AgentAsk::Idle { agent, idle: self.rng.happens(50) }),
            81..83 => Ask::Agent(AgentAsk::Disconnect { agent }),
            83..84 => Ask::Agent(AgentAsk::KnowProcess {
                agent,
                process: Process { pid: 1, start: self.rng.between(1, 100) },
            }),
            84..85 => Ask::Agent(AgentAsk::AddToken { agent, token: self.token() }),
            85..88 => Ask::Notice(NoticeAsk::Take),
            88..90 => Ask::Agent(AgentAsk::End { agent, ending: Ending::Exited, cause: "goodbye".into() }),
            90..95 => {
                let lapsed = self.oracle.locks.iter().filter(|(_, lock)| lock.hold != Hold::Held);
                let lapsed: Vec<Fence> = lapsed.map(|(fence, _)| *fence).collect();
                let fence = self.rng.pick(&lapsed).copied().unwrap_or(self.oracle.fence);
                let some = if self.rng.happens(50) { vec!["src/main.rs".into()] } else { vec![] };
                Ask::Lock(LockAsk::Inspected { fence, left: self.rng.happens(45).then_some(some) })
            }
            _ => self.guarded_act(),
        }
    }

    fn lock(&mut self) -> Ask {
        let several = if self.rng.happens(25) { self.rng.between(2, 3) } else { 1 };
        let mode = if self.rng.happens(30) { LockMode::Shared } else { LockMode::Exclusive };
        let wants = (0..several).map(|_| self.wanted(mode)).collect();
        let wait = self.rng.happens(45).then(|| Millis(self.rng.between(1_000, 90_000)));
        Ask::Lock(LockAsk::Lock { wants, wait })
    }

    fn wanted(&mut self, mode: LockMode) -> Wanted {
        let spot = self.spot();
        let mode = match self.rng.below(10) {
            0 => LockMode::Shared,
            1 => LockMode::Exclusive,
            _ => mode,
        };
        let ttl = self.ttl();
        // Not drawn: seeds that once failed keep meaning the same.
        let with_children = ttl.0.is_multiple_of(7);
        let (reason, worktree) = (None, None);
        Wanted { project: spot.project, pattern: spot.pattern, mode, ttl, reason, with_children, worktree }
    }

    /// Spots come in pairs, one for each project; the second is used less, and the whole repository rarely.
    fn spot(&mut self) -> Spot {
        let pairs = self.paths.spots.len() / 2;
        let bound = if self.rng.happens(3) { pairs } else { pairs - 1 };
        let pair = self.rng.below(bound);
        self.paths.spots[2 * pair + usize::from(self.rng.happens(10))].clone()
    }

    /// Where `who` holds something, most of the time.
    fn spots_of(&mut self, who: Principal) -> (comity_core::ProjectId, Vec<comity_core::PathPattern>) {
        let mine = self.rng.happens(60);
        let held: Vec<Fence> = self
            .oracle
            .locks
            .iter()
            .filter(|(_, lock)| !mine || lock.holder == who)
            .map(|(fence, _)| *fence)
            .collect();
        let lock = self.rng.pick(&held).copied().and_then(|fence| self.oracle.locks.get(&fence));
        if let Some(lock) = lock.filter(|_| self.rng.happens(85)) {
            return (lock.want.wanted.project, vec![lock.want.wanted.pattern.clone()]);
        }
        let spot = self.spot();
        let more = self.rng.happens(20).then(|| self.spot().pattern);
        (spot.project, std::iter::once(spot.pattern).chain(more).collect())
    }

    fn guarded_act(&mut self) -> Ask {
        let mode = if self.rng.happens(70) { LockMode::Exclusive } else { LockMode::Shared };
        match self.rng.pick(self.given).cloned() {
            Some((_, spot, fence)) => Ask::Lock(LockAsk::CheckFences {
                project: spot.project,
                held: vec![(spot.pattern, fence)],
                mode,
            }),
            None => Ask::Notice(NoticeAsk::Take),
        }
    }

    fn join(&mut self, living: &[AgentId]) -> Happening {
        if living.len() >= AGENTS_MAX {
            return self.time();
        }
        let parent = self.rng.pick(living).copied().filter(|_| self.rng.happens(55));
        let process = self.rng.happens(30).then_some(Process { pid: 7, start: self.joined });
        let lead = self.rng.happens(20);
        let profile = Profile {
            name: format!("a{}", self.joined).into(),
            role: lead.then(|| "lead".into()),
            team: self
                .rng
                .happens(40)
                .then(|| if self.rng.happens(80) { "red".into() } else { "blue".into() }),
            process,
            // So few that somebody goes on where another has ended.
            session: self.rng.happens(30).then(|| format!("s{}", self.joined % 4).into()),
            ..Profile::default()
        };
        let (agent, token) = (AgentId::from_bits(self.joined), self.token());
        let ask = Ask::Agent(AgentAsk::Join { agent, token, profile: Box::new(profile) });
        Happening::Asked { who: parent.map_or(Principal::Human, Principal::Agent).into(), ask, key: None }
    }

    fn time(&mut self) -> Happening {
        let span = match self.rng.below(20) {
            0..10 => self.rng.between(0, 2_000),
            10..15 => self.rng.between(1_000, 15_000),
            15..17 => self.rng.between(10_000, 60_000),
            // Up to the moment of the next deadline, or one before it.
            17..19 => {
                let until = self.next_deadline.map_or(0, |at| at.since(self.now).0);
                until.saturating_sub(self.rng.between(0, 1))
            }
            _ => self.rng.between(60_000, 300_000),
        };
        Happening::Passed(self.now.plus(Millis(span)))
    }

    fn restart(&mut self) -> Happening {
        let floor = Fence(match self.rng.below(3) {
            0 => 0,
            1 => self.oracle.fence.0,
            _ => self.oracle.fence.0 + self.rng.between(1, 1_000),
        });
        let through_json = self.rng.happens(15);
        let from_snapshot = self.rng.happens(60);
        let machine = self.asks_all.then(|| self.machine_at_start());
        Happening::Restarted { floor, machine, from_snapshot, through_json }
    }

    /// The machine has run on while no server did, or was started again.
    fn machine_at_start(&mut self) -> (u64, Millis) {
        let (run, uptime) = self.machine;
        match self.rng.happens(10) {
            true => (run + 1, Millis(self.rng.between(0, 10_000))),
            false => (run, Millis(uptime.0 + self.rng.between(0, 90_000))),
        }
    }

    fn ttl(&mut self) -> Millis {
        Millis(self.rng.between(1_000, 40_000))
    }

    fn token(&mut self) -> TokenHash {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.rng.bits().to_le_bytes());
        TokenHash(bytes)
    }
}
