//! Every ask there is, and whether it takes a present human: one that is added does not compile until it is judged.

use comity_core::Ask;
use comity_core::agents::AgentAsk;
use comity_core::branch_moves::MoveAsk;
use comity_core::commits::CommitAsk;
use comity_core::control::ControlAsk;
use comity_core::decisions::DecisionAsk;
use comity_core::locks::LockAsk;
use comity_core::mail::MailAsk;
use comity_core::notices::NoticeAsk;
use comity_core::people::PersonAsk;
use comity_core::permissions::PermissionAsk;
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

/// Who may ask something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AskRight {
    /// It decides about others: of people only who is present.
    Decides,
    /// It is about what is one's own.
    Own,
    /// Only the server itself asks it, or a door that has proven it.
    System,
}

macro_rules! judged {
    ($($right:ident { $($ask:pat,)+ })*) => {
        /// All of them.
        pub(crate) const ALL: &[(&str, AskRight)] = &[$($((stringify!($ask), AskRight::$right),)+)*];

        /// How an ask is called in that list.
        pub(crate) fn name_of(ask: &Ask) -> &'static str {
            match ask {
                $($($ask => stringify!($ask),)+)*
            }
        }
    };
}

judged! {
    Decides {
        Ask::Agent(AgentAsk::Limit { .. }),
        Ask::Agent(AgentAsk::End { .. }),
        Ask::Lock(LockAsk::Release { .. }),
        Ask::Lock(LockAsk::Extend { .. }),
        Ask::Lock(LockAsk::HandOver { .. }),
        Ask::Lock(LockAsk::Adopt { .. }),
        Ask::Worktree(WorktreeAsk::Release { .. }),
        Ask::Control(ControlAsk::RequestShutdown { .. }),
        Ask::Control(ControlAsk::ForceShutdown { .. }),
        Ask::Decision(DecisionAsk::Settle { .. }),
        Ask::Team(TeamAsk::Admit { .. }),
        Ask::Team(TeamAsk::Delete { .. }),
        Ask::Permission(PermissionAsk::Answer { .. }),
        Ask::Permission(PermissionAsk::AddRule { .. }),
        Ask::Permission(PermissionAsk::RemoveRule { .. }),
        Ask::Permission(PermissionAsk::SetMode { .. }),
        Ask::Permission(PermissionAsk::AnswerPlan { .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::Accept, .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::SendBack { .. }, .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::Assign { .. }, .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::Pause, .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::Resume, .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::Retry, .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::Reopen, .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::Skip, .. }),
        Ask::Task(TaskAsk::Act { act: TaskAct::Cancel, .. }),
        Ask::Pool(PoolAsk::Free { .. }),
        Ask::Pool(PoolAsk::Extend { .. }),
        Ask::Pool(PoolAsk::HandOver { .. }),
        Ask::Pool(PoolAsk::Share { .. }),
        Ask::Pool(PoolAsk::Unshare { .. }),
        Ask::Pool(PoolAsk::Admit { .. }),
        Ask::Run(RunAsk::Want { .. }),
        Ask::Run(RunAsk::WantTeam { .. }),
        Ask::Run(RunAsk::Resume { .. }),
        Ask::Run(RunAsk::End { .. }),
        Ask::Run(RunAsk::Reach { .. }),
        Ask::Person(PersonAsk::MakeToken { .. }),
        Ask::Person(PersonAsk::RevokeToken { .. }),
        Ask::Person(PersonAsk::SetPassphrase { .. }),
        Ask::Person(PersonAsk::Recognise { .. }),
    }
    Own {
        Ask::Project(ProjectAsk::Add { .. }),
        Ask::Agent(AgentAsk::Join { .. }),
        Ask::Agent(AgentAsk::Attach { .. }),
        Ask::Agent(AgentAsk::AttachBeside { .. }),
        Ask::Agent(AgentAsk::Name { .. }),
        Ask::Agent(AgentAsk::Idle { .. }),
        Ask::Lock(LockAsk::Lock { .. }),
        Ask::Lock(LockAsk::Unlock { .. }),
        Ask::Lock(LockAsk::UnlockAll { .. }),
        Ask::Lock(LockAsk::PutAside { .. }),
        Ask::Lock(LockAsk::CheckFences { .. }),
        Ask::Queue(QueueAsk::Cancel { .. }),
        Ask::Read(ReadAsk::KnowFile { .. }),
        Ask::Move(MoveAsk::Intend(..)),
        Ask::Worktree(WorktreeAsk::Add { .. }),
        Ask::Worktree(WorktreeAsk::RecordConflict { .. }),
        Ask::Mail(MailAsk::Send(..)),
        Ask::Mail(MailAsk::Take { .. }),
        Ask::Mail(MailAsk::Acknowledge { .. }),
        Ask::Mail(MailAsk::Return { .. }),
        Ask::Control(ControlAsk::ApproveShutdown { .. }),
        Ask::Control(ControlAsk::RejectShutdown { .. }),
        Ask::Control(ControlAsk::ReportIdle { .. }),
        Ask::Decision(DecisionAsk::Decide { .. }),
        Ask::Team(TeamAsk::Create { .. }),
        Ask::Permission(PermissionAsk::Request { .. }),
        Ask::Permission(PermissionAsk::Use { .. }),
        Ask::Permission(PermissionAsk::Withdraw { .. }),
        Ask::Permission(PermissionAsk::SubmitPlan { .. }),
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
        Ask::Pool(PoolAsk::Take(..)),
        Ask::Pool(PoolAsk::Request { .. }),
        Ask::Pool(PoolAsk::CancelRequest { .. }),
        Ask::Pool(PoolAsk::Grant { .. }),
        Ask::Pool(PoolAsk::EnterContext { .. }),
        Ask::Run(RunAsk::Note { .. }),
        Ask::Notice(NoticeAsk::Take),
    }
    System {
        Ask::Server(ServerAsk::Start { .. }),
        Ask::Server(ServerAsk::NoteRefusedEntries { .. }),
        Ask::Server(ServerAsk::NoteReusedKey { .. }),
        Ask::Agent(AgentAsk::AddToken { .. }),
        Ask::Agent(AgentAsk::KnowProcess { .. }),
        Ask::Agent(AgentAsk::Seen { .. }),
        Ask::Agent(AgentAsk::Disconnect { .. }),
        Ask::Lock(LockAsk::Inspected { .. }),
        Ask::Write(WriteAsk::SawUnlocked(..)),
        Ask::Commit(CommitAsk::SawUnguarded(..)),
        Ask::Move(MoveAsk::Settle { .. }),
        Ask::Worktree(WorktreeAsk::Keep { .. }),
        Ask::Worktree(WorktreeAsk::Remove { .. }),
        Ask::Run(RunAsk::Staff { .. }),
        Ask::Run(RunAsk::Start { .. }),
        Ask::Run(RunAsk::Started { .. }),
        Ask::Run(RunAsk::Exited { .. }),
        Ask::Run(RunAsk::Interrupt { .. }),
        Ask::Run(RunAsk::KnowSession { .. }),
        Ask::Run(RunAsk::FallBack { .. }),
        Ask::Pool(PoolAsk::Configure { .. }),
        Ask::Pool(PoolAsk::MarkOpened { .. }),
        Ask::Pool(PoolAsk::Note { .. }),
        Ask::Pool(PoolAsk::Lose { .. }),
        Ask::Pool(PoolAsk::Reclaim { .. }),
    }
}
