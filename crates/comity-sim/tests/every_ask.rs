//! Nothing that can be asked of the rules is forgotten by the simulator.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use comity_core::agents::AgentAsk;
use comity_core::branch_moves::MoveAsk;
use comity_core::commits::CommitAsk;
use comity_core::control::ControlAsk;
use comity_core::decisions::DecisionAsk;
use comity_core::locks::LockAsk;
use comity_core::mail::MailAsk;
use comity_core::notices::NoticeAsk;
use comity_core::people::PersonAsk;
use comity_core::permissions::{PermissionAsk, PlanAnswer};
use comity_core::pools::PoolAsk;
use comity_core::projects::ProjectAsk;
use comity_core::queues::QueueAsk;
use comity_core::reads::ReadAsk;
use comity_core::runs::RunAsk;
use comity_core::server::ServerAsk;
use comity_core::tasks::{TaskAct, TaskAsk};
use comity_core::teams::TeamAsk;
use comity_core::worktrees::WorktreeAsk;
use comity_core::writes::WriteAsk;
use comity_core::{Ask, Asker, Key, Outcome, Record, Refusal, Timestamp, World};
use comity_sim::{LIFE_STEPS, RealRules, Rules, Simulation};

/// Lives in which each of them must have been asked, and agreed to.
const LIVES: u64 = 120;

/// A new ask does not compile until it is in the list, and fails until the simulator asks it.
macro_rules! asks {
    ($($ask:pat,)*) => {
        const ASKS: &[&str] = &[$(stringify!($ask)),*];

        fn name(ask: &Ask) -> &'static str {
            match ask {
                $($ask => stringify!($ask),)*
            }
        }
    };
}

asks! {
    Ask::Server(ServerAsk::Start { .. }),
    Ask::Server(ServerAsk::NoteRefusedEntries { .. }),
    Ask::Server(ServerAsk::NoteReusedKey { .. }),
    Ask::Project(ProjectAsk::Add { .. }),
    Ask::Agent(AgentAsk::Join { .. }),
    Ask::Agent(AgentAsk::Attach { .. }),
    Ask::Agent(AgentAsk::AttachBeside { .. }),
    Ask::Agent(AgentAsk::Name { .. }),
    Ask::Agent(AgentAsk::Limit { .. }),
    Ask::Agent(AgentAsk::AddToken { .. }),
    Ask::Agent(AgentAsk::KnowProcess { .. }),
    Ask::Agent(AgentAsk::Seen { .. }),
    Ask::Agent(AgentAsk::Idle { .. }),
    Ask::Agent(AgentAsk::Disconnect { .. }),
    Ask::Agent(AgentAsk::End { .. }),
    Ask::Lock(LockAsk::Lock { .. }),
    Ask::Lock(LockAsk::Unlock { .. }),
    Ask::Lock(LockAsk::UnlockAll { .. }),
    Ask::Lock(LockAsk::Release { .. }),
    Ask::Lock(LockAsk::Extend { .. }),
    Ask::Lock(LockAsk::HandOver { .. }),
    Ask::Lock(LockAsk::Adopt { .. }),
    Ask::Lock(LockAsk::PutAside { .. }),
    Ask::Lock(LockAsk::Inspected { .. }),
    Ask::Lock(LockAsk::CheckFences { .. }),
    Ask::Queue(QueueAsk::Cancel { .. }),
    Ask::Read(ReadAsk::KnowFile { .. }),
    Ask::Write(WriteAsk::SawUnlocked(_)),
    Ask::Commit(CommitAsk::SawUnguarded(_)),
    Ask::Move(MoveAsk::Intend(_)),
    Ask::Move(MoveAsk::Settle { has_moved: true, .. }),
    Ask::Move(MoveAsk::Settle { has_moved: false, .. }),
    Ask::Worktree(WorktreeAsk::Add { .. }),
    Ask::Worktree(WorktreeAsk::Release { .. }),
    Ask::Worktree(WorktreeAsk::Keep { .. }),
    Ask::Worktree(WorktreeAsk::Remove { .. }),
    Ask::Worktree(WorktreeAsk::RecordConflict { .. }),
    Ask::Mail(MailAsk::Send(_)),
    Ask::Mail(MailAsk::Take { .. }),
    Ask::Mail(MailAsk::Acknowledge { .. }),
    Ask::Mail(MailAsk::Return { .. }),
    Ask::Control(ControlAsk::ForceShutdown { .. }),
    Ask::Control(ControlAsk::RequestShutdown { .. }),
    Ask::Control(ControlAsk::ApproveShutdown { .. }),
    Ask::Control(ControlAsk::RejectShutdown { .. }),
    Ask::Control(ControlAsk::ReportIdle { .. }),
    Ask::Decision(DecisionAsk::Decide { .. }),
    Ask::Decision(DecisionAsk::Settle { confirm: true, .. }),
    Ask::Decision(DecisionAsk::Settle { confirm: false, .. }),
    Ask::Team(TeamAsk::Create { .. }),
    Ask::Team(TeamAsk::Admit { .. }),
    Ask::Team(TeamAsk::Delete { .. }),
    Ask::Permission(PermissionAsk::Request { .. }),
    Ask::Permission(PermissionAsk::Use { .. }),
    Ask::Permission(PermissionAsk::Withdraw { .. }),
    Ask::Permission(PermissionAsk::Answer { .. }),
    Ask::Permission(PermissionAsk::AddRule { .. }),
    Ask::Permission(PermissionAsk::RemoveRule { .. }),
    Ask::Permission(PermissionAsk::SetMode { .. }),
    Ask::Permission(PermissionAsk::SubmitPlan { .. }),
    Ask::Permission(PermissionAsk::AnswerPlan { answer: PlanAnswer::Approve { .. }, .. }),
    Ask::Permission(PermissionAsk::AnswerPlan { answer: PlanAnswer::Reject { .. }, .. }),
    Ask::Task(TaskAsk::Declare { .. }),
    Ask::Task(TaskAsk::Link { .. }),
    Ask::Task(TaskAsk::ClaimNext { .. }),
    Ask::Task(TaskAsk::Seek { .. }),
    Ask::Task(TaskAsk::Take),
    Ask::Task(TaskAsk::Act { act: TaskAct::Claim, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Start { .. }, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Done { .. }, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Fail { .. }, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::GiveBack, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Accept, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::SendBack { .. }, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Assign { .. }, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Pause, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Resume, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Retry, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Reopen, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Skip, .. }),
    Ask::Task(TaskAsk::Act { act: TaskAct::Cancel, .. }),
    Ask::Pool(PoolAsk::Configure { .. }),
    Ask::Pool(PoolAsk::Take(_)),
    Ask::Pool(PoolAsk::MarkOpened { .. }),
    Ask::Pool(PoolAsk::Note { .. }),
    Ask::Pool(PoolAsk::Free { .. }),
    Ask::Pool(PoolAsk::Lose { .. }),
    Ask::Pool(PoolAsk::Extend { .. }),
    Ask::Pool(PoolAsk::Request { .. }),
    Ask::Pool(PoolAsk::CancelRequest { .. }),
    Ask::Pool(PoolAsk::Grant { .. }),
    Ask::Pool(PoolAsk::HandOver { .. }),
    Ask::Pool(PoolAsk::Share { .. }),
    Ask::Pool(PoolAsk::Unshare { .. }),
    Ask::Pool(PoolAsk::EnterContext { .. }),
    Ask::Pool(PoolAsk::Admit { .. }),
    Ask::Pool(PoolAsk::Reclaim { .. }),
    Ask::Person(PersonAsk::MakeToken { .. }),
    Ask::Person(PersonAsk::RevokeToken { .. }),
    Ask::Person(PersonAsk::SetPassphrase { .. }),
    Ask::Person(PersonAsk::Recognise { .. }),
    Ask::Notice(NoticeAsk::Take),
    Ask::Run(RunAsk::Want { .. }),
    Ask::Run(RunAsk::WantTeam { .. }),
    Ask::Run(RunAsk::Staff { .. }),
    Ask::Run(RunAsk::Note { .. }),
    Ask::Run(RunAsk::KnowSession { .. }),
    Ask::Run(RunAsk::FallBack { .. }),
    Ask::Run(RunAsk::Start { .. }),
    Ask::Run(RunAsk::Started { .. }),
    Ask::Run(RunAsk::Exited { .. }),
    Ask::Run(RunAsk::Interrupt { .. }),
    Ask::Run(RunAsk::End { .. }),
    Ask::Run(RunAsk::Resume { .. }),
    Ask::Run(RunAsk::Reach { .. }),
}

/// The real rules, and how often each ask was made and led to something.
#[derive(Clone, Default)]
struct Counted(Rc<RefCell<BTreeMap<&'static str, (usize, usize)>>>);

impl Rules for Counted {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        let outcome = RealRules.run(world, asker, ask, key, now);
        let mut counts = self.0.borrow_mut();
        let (asked, agreed) = counts.entry(name(ask)).or_default();
        *asked += 1;
        *agreed += usize::from(outcome.as_ref().is_ok_and(|outcome| !outcome.records.is_empty()));
        outcome
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        RealRules.expire(world, now)
    }
}

#[test]
fn everything_is_asked_and_agreed_to() {
    let counted = Counted::default();
    for seed in 0..LIVES {
        let mut simulation = Simulation::under(counted.clone(), seed);
        simulation.run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
    }
    let counts = counted.0.borrow();
    for ask in ASKS {
        println!("{:>6?} {ask}", counts.get(ask).copied().unwrap_or_default());
    }
    // To check fences writes nothing down.
    let is_silent = |ask: &str| ask.contains("CheckFences");
    let never = |ask: &&&str| {
        let (asked, agreed) = counts.get(**ask).copied().unwrap_or_default();
        asked == 0 || (agreed == 0 && !is_silent(ask))
    };
    let missing: Vec<&&str> = ASKS.iter().filter(never).collect();
    assert!(missing.is_empty(), "never asked, or always refused: {missing:#?}");
}
