//! Whatever is in somebody's inbox can be answered by whoever has it, with the answers that it is shown with.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use comity_core::control::ControlAsk;
use comity_core::decisions::DecisionAsk;
use comity_core::inbox::{InboxItem, first, waiting_at};
use comity_core::limits::MAIL_LEASE_MAX;
use comity_core::locks::LockAsk;
use comity_core::mail::{MailAsk, OfferFilter};
use comity_core::people::{Origin, PersonAsk, Proof};
use comity_core::permissions::{Answer, PermissionAsk, PlanAnswer};
use comity_core::pools::PoolAsk;
use comity_core::runs::RunAsk;
use comity_core::tasks::{TaskAct, TaskAsk};
use comity_core::teams::TeamAsk;
use comity_core::{Ask, Asker, Key, Outcome, Principal, Record, Refusal, Timestamp, World, decide};
use comity_sim::{LIFE_STEPS, RealRules, Rules, Simulation};

const LIVES: u64 = 40;
/// Every so many asks, all inboxes are gone through.
const LOOK_EVERY: usize = 5;

/// What an item of the inbox of `who` is answered with.
fn answers(world: &World, who: Principal, item: &InboxItem<'_>) -> Vec<Ask> {
    let act = |task: &comity_core::tasks::Task, act| {
        Ask::Task(TaskAsk::Act { on: task.name(), attempt: None, act })
    };
    match item {
        InboxItem::Shutdown(_) => {
            let own = who.agent().and_then(|agent| world.shutdowns.of(agent));
            let request = own.map(|(request, _)| request).expect("it is asked to end");
            let reject = ControlAsk::RejectShutdown { request, reason: "not yet".into() };
            let approve = ControlAsk::ApproveShutdown { request, pane: None, backend: None };
            vec![Ask::Control(reject), Ask::Control(approve)]
        }
        InboxItem::Permission(request) => {
            let (tool, hash) = (request.call.tool.clone(), request.call.hash);
            [Answer::Deny { reason: None }, Answer::Allow { kept: None }]
                .map(|answer| PermissionAsk::Answer { request: request.id, tool: tool.clone(), hash, answer })
                .map(Ask::Permission)
                .to_vec()
        }
        InboxItem::Plan(plan) => {
            let answer = PlanAnswer::Reject { feedback: "smaller steps".into() };
            vec![Ask::Permission(PermissionAsk::AnswerPlan { plan: plan.id, answer })]
        }
        InboxItem::NewPlaces { last, .. } => {
            vec![Ask::Person(PersonAsk::Recognise { up_to: last.seq, place: at_home().place() })]
        }
        InboxItem::Orphan(lock) => {
            let (project, patterns) = (lock.wanted.project, vec![lock.wanted.pattern.clone()]);
            vec![Ask::Lock(LockAsk::Release { project, patterns, reason: None })]
        }
        InboxItem::Review(task) => {
            let reason = "a test is missing".into();
            vec![act(task, TaskAct::Accept), act(task, TaskAct::SendBack { reason })]
        }
        InboxItem::Death(task) => {
            vec![act(task, TaskAct::Assign { to: Principal::Human }), act(task, TaskAct::Cancel)]
        }
        InboxItem::GaveUp(run) => vec![Ask::Run(RunAsk::Note { run: run.id })],
        InboxItem::Failed(task) => vec![act(task, TaskAct::Retry), act(task, TaskAct::Skip)],
        InboxItem::LockWanted { lock, .. } => {
            let (project, patterns) = (lock.wanted.project, vec![lock.wanted.pattern.clone()]);
            vec![Ask::Lock(LockAsk::Release { project, patterns, reason: None })]
        }
        InboxItem::Space { pool, .. } => vec![Ask::Pool(PoolAsk::Grant { pool: pool.name.clone() })],
        InboxItem::Decision(decision) => [true, false]
            .map(|confirm| DecisionAsk::Settle { id: decision.id, confirm, reason: None })
            .map(Ask::Decision)
            .to_vec(),
        InboxItem::Wish(agent) => vec![Ask::Team(TeamAsk::Admit { agent: agent.id, team: None })],
        InboxItem::Mail { .. } => {
            let what = OfferFilter::All;
            vec![Ask::Mail(MailAsk::Take {
                bytes_max: 1 << 20,
                letters_max: 50,
                what,
                lease: MAIL_LEASE_MAX,
            })]
        }
        InboxItem::Task(task) => vec![act(task, TaskAct::GiveBack)],
        InboxItem::Ready(task) => vec![act(task, TaskAct::Claim)],
    }
}

/// The real rules; now and then every inbox is gone through.
#[derive(Clone, Default)]
struct Answering {
    asks: usize,
    answered: Rc<Cell<[usize; 16]>>,
}

impl Answering {
    fn look(&self, world: &World) {
        let agents = world.agents.live().map(|agent| Principal::Agent(agent.id));
        for who in agents.chain([Principal::Human]) {
            // Work that nobody has waits for no one in particular: it is what comes first if nothing else does.
            let ready = world.projects.keys().filter_map(|project| first(world, who, Some(*project)));
            let ready = ready.filter(|item| matches!(item, InboxItem::Ready(_)));
            let asker = Asker { who, origin: Some(Arc::new(at_home())) };
            for item in waiting_at(world, &asker).into_iter().chain(ready) {
                for ask in answers(world, who, &item) {
                    if let Err(refusal) = decide(world, &who.into(), &ask) {
                        panic!("{} has {item:?}, and is refused {ask:?}: {refusal}", world.name_of(who));
                    }
                }
                let mut answered = self.answered.get();
                answered[kind(&item)] += 1;
                self.answered.set(answered);
            }
        }
    }
}

fn kind(item: &InboxItem<'_>) -> usize {
    match item {
        InboxItem::Shutdown(_) => 0,
        InboxItem::Permission(_) => 1,
        InboxItem::Plan(_) => 2,
        InboxItem::Orphan(_) => 3,
        InboxItem::Death(_) => 4,
        InboxItem::Review(_) => 5,
        InboxItem::Failed(_) => 6,
        InboxItem::Space { .. } => 7,
        InboxItem::Decision(_) => 8,
        InboxItem::Wish(_) => 9,
        InboxItem::Mail { .. } => 10,
        InboxItem::Task(_) => 11,
        InboxItem::Ready(_) => 12,
        InboxItem::NewPlaces { .. } => 13,
        InboxItem::LockWanted { .. } => 14,
        InboxItem::GaveUp(_) => 15,
    }
}

/// Where the human looks, and has done nothing.
fn at_home() -> Origin {
    Origin {
        proof: Proof::Terminal,
        process: None,
        terminal: None,
        lineage: "sshd > fish > comity".into(),
        window: None,
    }
}

impl Rules for Answering {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        self.asks += 1;
        if self.asks.is_multiple_of(LOOK_EVERY) {
            self.look(world);
        }
        RealRules.run(world, asker, ask, key, now)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        RealRules.expire(world, now)
    }
}

#[test]
fn whatever_is_in_an_inbox_can_be_answered() {
    let rules = Answering::default();
    for seed in 0..LIVES {
        let mut simulation = Simulation::under(rules.clone(), seed);
        simulation.run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
    }
    let answered = rules.answered.get();
    println!("{answered:?}");
    assert!(answered.iter().all(|count| *count > 0), "some never came: {answered:?}");
}
