//! Every order in which two workers, their leader, the human, time and crashes can act on permissions, exhaustively.
//!
//! The real rules decide. Beside them stands a ledger of its own that knows only what was said to whom: nothing may be
//! done without an allow that is explicit, in time, for exactly this input, by somebody who may, and not used before.

mod model_agents;

use std::hash::{Hash, Hasher};

use comity_core::agents::{AgentAsk, Ending};
use comity_core::limits::{PERMISSION_KEPT, PERMISSION_WAIT};
use comity_core::permissions::{
    Answer, AnswerDelivery, PermissionAsk, PermissionEvent, RequestId, RequestState,
};
use comity_core::world::Timeouts;
use comity_core::{AgentId, Ask, Event, Millis, Principal, Record, Refusal, Timestamp, World, expire, run};
use stateright::{Checker, Model, Property};

use model_agents::{LEAD, agent, call, join};

/// The time between two moments: as long as an answer may take.
const TICK: Millis = PERMISSION_WAIT;
/// How many moments an allow may stay unused.
const KEPT_TICKS: u8 = (PERMISSION_KEPT.0 / TICK.0) as u8;
const TICKS_MAX: u8 = 3;
/// Requests in one life.
const REQUESTS_MAX: usize = 2;
const INPUTS: u8 = 2;
const THREADS: usize = 2;
/// The first is started by the leader, the second is in its team.
const WORKERS: [u64; 2] = [2, 3];

/// A fault that is planted in the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// Whoever answers is taken for the human.
    AnyoneAnswers,
    /// What was used can be used again.
    UsedTwice,
    /// An allow is good for another input, too.
    OtherInput,
    /// The rules do not hear of time.
    NoTime,
    /// An answer goes to the newest request of all.
    WrongRequest,
}

struct Permissions {
    fault: Fault,
}

#[derive(Clone, PartialEq, Debug)]
enum Act {
    Requests(u64, u8),
    Uses(u64, u8),
    Answers { who: Principal, request: u64, input: u8, allows: bool },
    Ends(u64),
    TimePasses,
}

/// The world, and what the second ledger knows.
#[derive(Clone, Debug)]
struct Life {
    world: World,
    tick: u8,
    asked: Vec<Asked>,
    wrong: Option<&'static str>,
    /// What was seen on the way, so that nothing holds only because nothing happens.
    uses: u8,
}

/// A request as the second ledger knows it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Asked {
    by: u64,
    input: u8,
    at: u8,
    allowed: Option<u8>,
    used: bool,
}

impl PartialEq for Life {
    fn eq(&self, other: &Life) -> bool {
        let is_same =
            |a: &World, b: &World| a.permissions == b.permissions && a.agents.live().eq(b.agents.live());
        let known = |life: &Life| (life.tick, life.asked.clone(), life.wrong, life.uses);
        known(self) == known(other) && is_same(&self.world, &other.world)
    }
}

/// What can matter for what comes: not when something was settled that nothing can follow from.
impl Hash for Life {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.tick, self.wrong, self.uses.min(1)).hash(hasher);
        for (request, asked) in self.world.permissions.requests().zip(&self.asked) {
            (request.id, request.asker, request.call.hash.0, asked.by, asked.input).hash(hasher);
            match &request.state {
                RequestState::Waiting { to } => (0, to, request.deadline, asked).hash(hasher),
                RequestState::Allowed { by, until, .. } => (1, by, until, asked).hash(hasher),
                RequestState::Used { .. } => (2, asked.used).hash(hasher),
                RequestState::Denied { until, .. } => (3, until, asked.used).hash(hasher),
                RequestState::Expired => 4.hash(hasher),
                RequestState::Lapsed => 5.hash(hasher),
                RequestState::Withdrawn { .. } => 6.hash(hasher),
            }
        }
        for agent in self.world.agents.live() {
            agent.id.hash(hasher);
        }
    }
}

impl Life {
    fn now(&self, fault: Fault) -> Timestamp {
        match fault {
            Fault::NoTime => Timestamp(0),
            _ => Timestamp(u64::from(self.tick) * TICK.0),
        }
    }

    fn ask(&mut self, fault: Fault, who: Principal, ask: PermissionAsk) -> Result<Vec<Record>, Refusal> {
        let now = self.now(fault);
        run(&mut self.world, who, &Ask::Permission(ask), None, now, 0).map(|outcome| outcome.records)
    }

    fn lives(&self, number: u64) -> bool {
        self.world.agents.living(AgentId::from_bits(number)).is_ok()
    }

    fn states(&self) -> Vec<RequestState> {
        self.world.permissions.requests().map(|request| request.state.clone()).collect()
    }

    /// Whether the rules refuse this: then nothing changes, and no copy of the world is needed to see it.
    fn refuses(&self, act: &Act) -> bool {
        let (who, ask) = match act {
            Act::Uses(by, input) => (agent(*by), PermissionAsk::Use { call: call(*input) }),
            Act::Answers { who, request, input, allows } => {
                let answer =
                    if *allows { Answer::Allow { kept: None } } else { Answer::Deny { reason: None } };
                let (request, tool, hash) = (RequestId(*request), "Bash".into(), call(*input).hash);
                (*who, PermissionAsk::Answer { request, tool, hash, answer })
            }
            Act::Requests(..) | Act::Ends(_) | Act::TimePasses => return false,
        };
        comity_core::decide(&self.world, &who.into(), &Ask::Permission(ask)).is_err()
    }

    fn requests(&mut self, fault: Fault, by: u64, input: u8) -> bool {
        let ask = PermissionAsk::Request { call: call(input), wait: TICK, hearing: AnswerDelivery::Waits };
        let Ok(records) = self.ask(fault, agent(by), ask) else { return false };
        let is_new =
            |record: &Record| matches!(record.event, Event::Permission(PermissionEvent::Asked { .. }));
        if !records.iter().any(is_new) {
            return false;
        }
        self.asked.push(Asked { by, input, at: self.tick, allowed: None, used: false });
        true
    }

    fn uses(&mut self, fault: Fault, by: u64, input: u8) -> bool {
        let mut done = self.ask(fault, agent(by), PermissionAsk::Use { call: call(input) });
        if fault == Fault::OtherInput && done.is_err() {
            done = self.ask(fault, agent(by), PermissionAsk::Use { call: call(1 - input) });
        }
        if done.is_err() {
            return false;
        }
        let tick = self.tick;
        let good = self.asked.iter_mut().find(|asked| {
            let in_time = asked.allowed.is_some_and(|at| tick < at + KEPT_TICKS);
            asked.by == by && asked.input == input && !asked.used && in_time
        });
        match good {
            Some(asked) => asked.used = true,
            None => self.wrong = Some("something was done that nobody allowed"),
        }
        if fault == Fault::UsedTwice {
            self.allow_again();
        }
        self.uses += 1;
        true
    }

    /// The planted fault: the request is as if it had not been used.
    fn allow_again(&mut self) {
        let is_used = |state: &RequestState| matches!(state, RequestState::Used { .. });
        let used = self.world.permissions.requests().filter(|request| is_used(&request.state)).last();
        let Some(request) = used.map(|request| request.id) else { return };
        let (by, ground, keep) =
            (Principal::Human, comity_core::permissions::AllowedBy::Answer, PERMISSION_KEPT);
        let event = Event::Permission(PermissionEvent::Allowed { request, by, ground, keep });
        let (seq, now) = (self.world.head, self.world.now);
        self.world.apply(&Record {
            seq,
            now,
            wall_ms: 0,
            by,
            from: None,
            concerns: vec![],
            key: None,
            event,
        });
    }

    fn answers(&mut self, fault: Fault, who: Principal, request: u64, input: u8, allows: bool) -> bool {
        let before = self.states();
        let answer = if allows { Answer::Allow { kept: None } } else { Answer::Deny { reason: None } };
        let as_whom = if fault == Fault::AnyoneAnswers { Principal::Human } else { who };
        let (mut to, mut hash) = (request, call(input).hash);
        if fault == Fault::WrongRequest
            && let Some(last) = self.world.permissions.requests().last()
        {
            (to, hash) = (last.id.0, last.call.hash);
        }
        let ask = PermissionAsk::Answer { request: RequestId(to), tool: "Bash".into(), hash, answer };
        if self.ask(fault, as_whom, ask).is_err() {
            return false;
        }
        if who != Principal::Human && who != agent(LEAD) {
            self.wrong = Some("somebody answered who may not");
        }
        let at = request as usize - 1;
        let reached = before.iter().zip(self.states()).enumerate().filter(|(_, (was, is))| *was != is);
        if reached.map(|(number, _)| number).any(|number| number != at) {
            self.wrong = Some("an answer reached another request");
        }
        match self.asked.get_mut(at) {
            Some(asked) if asked.input == input && self.tick == asked.at => {
                asked.allowed = allows.then_some(self.tick);
            }
            _ => self.wrong = Some("an answer was taken that was late, or about something else"),
        }
        true
    }

    fn ends(&mut self, number: u64) {
        let id = AgentId::from_bits(number);
        let ask = Ask::Agent(AgentAsk::End { agent: id, ending: Ending::Failed, cause: "crashed".into() });
        let now = self.world.now;
        let _ = run(&mut self.world, Principal::System, &ask, None, now, 0);
    }
}

impl Model for Permissions {
    type State = Life;
    type Action = Act;

    fn init_states(&self) -> Vec<Life> {
        let mut world = World::new(Timeouts::default());
        for (number, name, by) in
            [(LEAD, "lead", Principal::Human), (2, "ann", agent(LEAD)), (3, "bob", Principal::Human)]
        {
            join(&mut world, number, name, by);
        }
        vec![Life { world, tick: 0, asked: vec![], wrong: None, uses: 0 }]
    }

    fn actions(&self, life: &Life, acts: &mut Vec<Act>) {
        for worker in WORKERS {
            for input in 0..INPUTS {
                acts.push(Act::Uses(worker, input));
                if life.asked.len() < REQUESTS_MAX {
                    acts.push(Act::Requests(worker, input));
                }
            }
        }
        // One more than there are: an unknown one.
        for request in 1..=life.asked.len() as u64 + 1 {
            for who in [Principal::Human, agent(LEAD), agent(WORKERS[0]), agent(WORKERS[1])] {
                for (input, allows) in [(0, true), (1, true), (0, false), (1, false)] {
                    acts.push(Act::Answers { who, request, input, allows });
                }
            }
        }
        acts.extend([LEAD, WORKERS[0], WORKERS[1]].into_iter().filter(|one| life.lives(*one)).map(Act::Ends));
        if life.tick < TICKS_MAX {
            acts.push(Act::TimePasses);
        }
    }

    fn next_state(&self, last: &Life, act: Act) -> Option<Life> {
        if self.fault == Fault::None && last.refuses(&act) {
            return None;
        }
        let mut life = last.clone();
        let changed = match act {
            Act::Requests(by, input) => life.requests(self.fault, by, input),
            Act::Uses(by, input) => life.uses(self.fault, by, input),
            Act::Answers { who, request, input, allows } => {
                life.answers(self.fault, who, request, input, allows)
            }
            Act::Ends(number) => {
                life.ends(number);
                true
            }
            Act::TimePasses => {
                life.tick += 1;
                let now = life.now(self.fault);
                expire(&mut life.world, now, 0);
                life.world.now = now;
                true
            }
        };
        if changed && comity_core::invariants::check(&life.world).is_err() {
            life.wrong = Some("an invariant does not hold");
        }
        changed.then_some(life)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let right = Property::always("right", |_, life: &Life| life.wrong.is_none());
        if self.fault != Fault::None {
            return vec![right];
        }
        vec![
            right,
            Property::sometimes("something is done", |_, life: &Life| life.uses > 0),
            Property::sometimes("an allow lapses", |_, life: &Life| {
                life.states().iter().any(|state| matches!(state, RequestState::Lapsed))
            }),
            Property::sometimes("a request goes on to the human", |_, life: &Life| {
                let to_human = RequestState::Waiting { to: Principal::Human };
                !life.lives(LEAD) && life.states().contains(&to_human)
            }),
        ]
    }
}

#[test]
fn nothing_is_done_that_nobody_allowed() {
    let checker = Permissions { fault: Fault::None }.checker().threads(THREADS).spawn_dfs().join();
    println!("{} states", checker.unique_state_count());
    checker.assert_properties();
    assert!(checker.unique_state_count() > 5_000, "only {} states", checker.unique_state_count());
}

#[test]
fn a_planted_fault_is_found() {
    for (fault, problem) in [
        (Fault::AnyoneAnswers, "somebody answered who may not"),
        (Fault::UsedTwice, "something was done that nobody allowed"),
        (Fault::OtherInput, "something was done that nobody allowed"),
        (Fault::NoTime, ""),
        (Fault::WrongRequest, ""),
    ] {
        let checker = Permissions { fault }.checker().spawn_bfs().join();
        let found = checker.discovery("right").unwrap_or_else(|| panic!("{fault:?} was not found"));
        let wrong = found.last_state().wrong.unwrap_or_default();
        assert!(wrong.contains(problem), "{fault:?}: {wrong}");
    }
}
