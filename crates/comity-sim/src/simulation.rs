//! One seeded life of a world: chance acts on the rules, and after every step the invariants are checked.

use std::collections::VecDeque;

use comity_core::agents::{Agent, AgentAsk};
use comity_core::locks::{LockAsk, LockEvent};
use comity_core::pools::PoolEvent;
use comity_core::runs::RunAsk;
use comity_core::server::ServerAsk;
use comity_core::world::Timeouts;
use comity_core::{
    Ask, Asker, Event, Fence, Key, Millis, Outcome, Principal, Record, Refusal, Timestamp, World, invariants,
};

use crate::chance::{Happening, Scene};
use crate::failure::SimFailure;
use crate::news::News;
use crate::oracle::{Found, Oracle};
use crate::restart::{SavedSnapshot, fold_again};
use crate::rng::Rng;
use crate::rules::{RealRules, Rules};
use crate::sim_paths::{SimPaths, Spot};

/// Steps that a failure tells of.
const LAST_STEPS: usize = 20;
/// Guarded acts are about one of the locks that were given last.
const GIVEN_MAX: usize = 24;
/// Asks that may come again.
const KEYED_MAX: usize = 32;
/// A refused ask is compared with a whole snapshot once in so many times.
const DEEP_LOOK_EVERY: usize = 200;

/// A world, its log, and the model that watches both.
pub struct Simulation<R: Rules = RealRules> {
    seed: u64,
    steps: u64,
    rng: Rng,
    rules: R,
    paths: SimPaths,
    world: World,
    log: Vec<Record>,
    aside: Option<SavedSnapshot>,
    oracle: Oracle,
    now: Timestamp,
    /// The run of the machine, and how long it had run at a moment.
    machine: (u64, Millis, Timestamp),
    asks_all: bool,
    /// What this step had records about.
    news: News,
    joined: u64,
    keyed: Vec<(Principal, Ask, Key)>,
    given: Vec<(Principal, Spot, Fence)>,
    last: VecDeque<(Timestamp, Happening, &'static str)>,
    /// Called with each step as text, if somebody wants to follow.
    pub follow: Option<fn(&str)>,
}

/// Agents are given up early, so that a short life sees it often.
pub(crate) const PATIENCE: Timeouts = Timeouts {
    agent_timeout: Millis::seconds(120),
    disconnect_grace: Millis::seconds(5),
    slot_reservation: comity_core::limits::SLOT_RESERVATION_TTL,
};

impl Simulation<RealRules> {
    /// A new world under the real rules.
    pub fn new(seed: u64) -> Self {
        Self::under(RealRules, seed)
    }

    /// A new world in which not everything is asked: the stories of seeds that were named before more was.
    pub fn narrow(seed: u64) -> Self {
        Simulation { asks_all: false, ..Self::new(seed) }
    }
}

impl<R: Rules> Simulation<R> {
    /// A new world under these rules.
    pub fn under(rules: R, seed: u64) -> Self {
        Simulation {
            seed,
            steps: 0,
            rng: Rng::new(seed),
            rules,
            paths: SimPaths::new(),
            world: World::new(PATIENCE),
            log: Vec::new(),
            aside: None,
            oracle: Oracle::new(PATIENCE),
            now: Timestamp(0),
            machine: (0, Millis(0), Timestamp(0)),
            asks_all: true,
            news: News::default(),
            joined: 0,
            keyed: Vec::new(),
            given: Vec::new(),
            last: VecDeque::with_capacity(LAST_STEPS + 1),
            follow: None,
        }
    }

    /// Takes so many steps, or stops at the first that goes wrong.
    pub fn run(&mut self, steps: u64) -> Result<(), SimFailure> {
        (0..steps).try_for_each(|_| self.step())
    }

    /// Lets one thing happen, and checks everything.
    pub fn step(&mut self) -> Result<(), SimFailure> {
        self.steps += 1;
        let (run, uptime, at) = self.machine;
        let mut scene = Scene {
            rng: &mut self.rng,
            paths: &self.paths,
            oracle: &self.oracle,
            keyed: &self.keyed,
            given: &self.given,
            joined: self.joined,
            now: self.now,
            next_deadline: self.world.next_deadline(),
            machine: (run, Millis(uptime.0 + self.now.since(at).0)),
            asks_all: self.asks_all,
        };
        let happening = scene.next();
        self.oracle.begin();
        self.news = News::default();
        let ended = self.happen(&happening);
        let word = *ended.as_ref().unwrap_or(&"WRONG");
        let found = ended
            .map(drop)
            .and_then(|()| self.oracle.settled(&self.world, self.now, self.news))
            .and_then(|()| self.world_is_right());
        if let Some(follow) = self.follow {
            follow(&described(self.steps, &(self.now, happening.clone(), word)));
        }
        if self.last.len() == LAST_STEPS {
            self.last.pop_front();
        }
        self.last.push_back((self.now, happening, word));
        found.map_err(|problem| self.failure(problem))
    }

    /// The rules' own list, each part gone through whenever there is a new record about it. The model above compares
    /// the world with the records after every step, so that a change without a record does not pass.
    fn world_is_right(&self) -> Found {
        if self.news.locks {
            comity_core::locks::check(&self.world)?;
        }
        if self.news.permissions {
            comity_core::permissions::check(&self.world)?;
        }
        if self.news.tasks {
            comity_core::tasks::check(&self.world)?;
        }
        if self.news.pools {
            comity_core::pools::check(&self.world)?;
        }
        if self.news.mail { invariants::check_mail(&self.world) } else { Ok(()) }
    }

    /// The last steps as text, the newest last.
    pub fn last_steps(&self) -> Vec<String> {
        let first = self.steps + 1 - self.last.len() as u64;
        self.last.iter().zip(first..).map(|(step, number)| described(number, step)).collect()
    }

    /// All records so far.
    pub fn log(&self) -> &[Record] {
        &self.log
    }

    fn failure(&self, problem: String) -> SimFailure {
        SimFailure { seed: self.seed, step: self.steps, problem, last_steps: self.last_steps() }
    }

    /// Lets it happen; says in a word how it ended.
    fn happen(&mut self, happening: &Happening) -> Result<&'static str, String> {
        match happening {
            Happening::Asked { who, ask, key } => self.asked(who, ask, key.as_ref()),
            Happening::Repeated { who, ask, key } => self.repeated(*who, ask, key),
            Happening::Passed(until) => {
                self.now = self.now.max(*until);
                let records = self.rules.expire(&mut self.world, self.now);
                self.observe(records)?;
                match self.world.next_deadline().filter(|at| *at <= self.now) {
                    Some(at) => Err(format!("something was due at {at:?} and is still due")),
                    None => Ok("passed"),
                }
            }
            Happening::Restarted { floor, machine, from_snapshot, through_json } => {
                let aside = self.aside.as_ref().filter(|_| *from_snapshot);
                self.world = fold_again(&self.world, &self.log, aside, *through_json)?;
                if let Some((run, uptime)) = *machine {
                    self.machine = (run, uptime, self.now);
                }
                let ask = Ask::Server(ServerAsk::Start {
                    fence_floor: *floor,
                    version: "simulated".into(),
                    boot: machine.map(|(run, _)| run.to_string().into()),
                    uptime: machine.map(|(_, uptime)| uptime),
                });
                self.asked(&Principal::System.into(), &ask, None)
            }
            Happening::Snapshot => {
                self.aside = Some(SavedSnapshot::of(&self.world)?);
                Ok("taken")
            }
        }
    }

    fn asked(&mut self, asker: &Asker, ask: &Ask, key: Option<&Key>) -> Result<&'static str, String> {
        let who = asker.who;
        let before = (self.world.head, self.world.next_deadline());
        let deep =
            (self.rng.below(DEEP_LOOK_EVERY) == 0).then(|| comity_core::snapshot::Snapshot::of(&self.world));
        match self.rules.run(&mut self.world, asker, ask, key, self.now) {
            Ok(outcome) => self.agreed(who, ask, key, outcome),
            Err(refusal) => {
                self.refusal_is_right(who, ask, &refusal)?;
                let same = before == (self.world.head, self.world.next_deadline())
                    && deep.is_none_or(|deep| deep == comity_core::snapshot::Snapshot::of(&self.world));
                if same { Ok(refusal.code()) } else { Err("a refusal changed something".into()) }
            }
        }
    }

    fn agreed(
        &mut self,
        who: Principal,
        ask: &Ask,
        key: Option<&Key>,
        outcome: Outcome,
    ) -> Result<&'static str, String> {
        let Outcome { records, answer, parked } = outcome;
        let answered = records.iter().map(|record| &record.event).take(answer.len());
        if !answered.eq(answer.iter()) {
            return Err("the answer is not what was recorded".into());
        }
        let comes_in = |ask: &AgentAsk| {
            matches!(ask, AgentAsk::Join { .. } | AgentAsk::Attach { .. } | AgentAsk::AttachBeside { .. })
        };
        let is_new = match ask {
            Ask::Agent(ask) => comes_in(ask),
            Ask::Run(ask) => matches!(ask, RunAsk::Start { .. }),
            _ => false,
        };
        if is_new {
            self.joined += 1;
        }
        if let Ask::Lock(LockAsk::CheckFences { .. }) = ask
            && !self.may_act(who, ask)
        {
            return Err("a guarded act with a stale fence was let through".into());
        }
        self.oracle.answer_is_right(&self.paths, who, ask, &answer)?;
        self.observe(records)?;
        if let Some(ticket) = parked
            && self.oracle.ticket < ticket
        {
            return Err(format!("{ticket:?} was promised, but nobody waits there"));
        }
        if let Some(key) = key.filter(|_| !answer.is_empty()) {
            if self.keyed.len() == KEYED_MAX {
                self.keyed.remove(0);
            }
            self.keyed.push((who, ask.clone(), key.clone()));
        }
        Ok(if parked.is_some() { "waits" } else { "done" })
    }

    fn refusal_is_right(&self, who: Principal, ask: &Ask, refusal: &Refusal) -> Found {
        match ask {
            Ask::Lock(LockAsk::CheckFences { .. }) if self.oracle.is_alive(who) && self.may_act(who, ask) => {
                Err(format!("a guarded act with a current fence was refused: {refusal}"))
            }
            _ => self.oracle.refusal_is_right(&self.paths, who, ask),
        }
    }

    /// Whether every fence is the current one, as the model sees it.
    fn may_act(&self, who: Principal, ask: &Ask) -> bool {
        let Ask::Lock(LockAsk::CheckFences { project, held, mode }) = ask else { return true };
        held.iter().all(|(pattern, fence)| {
            self.oracle.locks.get(fence).is_some_and(|lock| {
                lock.holder == who
                    && lock.hold == comity_core::locks::Hold::Held
                    && lock.want.mode >= *mode
                    && lock.want.files & self.paths.files(*project, pattern) != 0
            })
        })
    }

    /// The same ask with the same key gets the same answer, and nothing changes.
    fn repeated(&mut self, who: Principal, ask: &Ask, key: &Key) -> Result<&'static str, String> {
        let head = self.world.head;
        let outcome = self.rules.run(&mut self.world, &who.into(), ask, Some(key), self.now);
        let Ok(Outcome { records, answer, parked }) = outcome else {
            return Err("a repeat was refused".into());
        };
        if !records.is_empty() || self.world.head != head {
            return Err("a repeat changed something".into());
        }
        if self.oracle.answers.get(&(who, key.clone())) != Some(&answer) {
            return Err("a repeat got another answer than the first".into());
        }
        let waiting = answer.iter().find_map(|event| match event {
            Event::Lock(LockEvent::WaitStarted { ticket, .. }) => Some(*ticket),
            Event::Pool(PoolEvent::Queued { ticket, wait: Some(_), .. }) => Some(*ticket),
            _ => None,
        });
        match waiting.filter(|ticket| self.oracle.is_waiting(*ticket)) == parked {
            true => Ok("repeated"),
            false => Err("a repeat did not find its place in the queue".into()),
        }
    }

    fn observe(&mut self, records: Vec<Record>) -> Found {
        for record in records {
            self.oracle.observe(&self.paths, &record)?;
            // What somebody is told of is found in the log by their name.
            let is_told = |agent: &&Agent| agent.notices.iter().rev().any(|notice| notice.id == record.seq);
            if let Some(agent) =
                self.world.agents.iter().filter(is_told).find(|agent| !record.concerns_agent(agent.id))
            {
                return Err(format!(
                    "{} is told of record {}, which does not concern it",
                    agent.id, record.seq
                ));
            }
            self.news.hear(&record.event);
            if let Event::Lock(LockEvent::Acquired { fence, holder, wanted, .. }) = &record.event {
                if self.given.len() == GIVEN_MAX {
                    self.given.remove(0);
                }
                let (project, pattern) = (wanted.project, wanted.pattern.clone());
                self.given.push((*holder, Spot { project, pattern }, *fence));
            }
            self.log.push(record);
        }
        Ok(())
    }
}

fn described(number: u64, (now, happening, word): &(Timestamp, Happening, &'static str)) -> String {
    match happening {
        Happening::Asked { who, ask, key: None } => {
            format!("{number} @{} {}: {ask:?} -> {word}", now.0, who.who)
        }
        Happening::Asked { who, ask, key: Some(key) } => {
            format!("{number} @{} {}: {ask:?} with {key:?} -> {word}", now.0, who.who)
        }
        other => format!("{number} @{} {other:?} -> {word}", now.0),
    }
}
