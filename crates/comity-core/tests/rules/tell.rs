//! How a script's outcome reads: one line for each thing that happened.

use std::collections::BTreeMap;

use comity_core::agents::AgentEvent;
use comity_core::branch_moves::MoveEvent;
use comity_core::commits::CommitEvent;
use comity_core::locks::{LockEvent, LockMode, ReleaseCause, WaitEnding, Wanted};
use comity_core::notices::NoticeEvent;
use comity_core::projects::ProjectEvent;
use comity_core::reads::ReadEvent;
use comity_core::server::ServerEvent;
use comity_core::worktrees::WorktreeEvent;
use comity_core::writes::WriteEvent;
use comity_core::{Event, Fence, Principal, Refusal, Ticket, Timestamp, World};

/// Remembers what fences and tickets stand for, so that events can be told after the fact.
#[derive(Default)]
pub(crate) struct Teller {
    locks: BTreeMap<Fence, (String, Principal)>,
    waits: BTreeMap<Ticket, Principal>,
}

impl Teller {
    /// Says what happened, in a line.
    pub(crate) fn tell(&mut self, world: &World, event: &Event) -> String {
        let name = |who: Principal| world.name_of(who);
        let agent = |id| world.name_of(Principal::Agent(id));
        match event {
            Event::Server(ServerEvent::Started { fence_floor, .. }) => {
                format!("the server started, above {fence_floor:?}")
            }
            Event::Project(ProjectEvent::Added { .. }) => "a project".into(),
            Event::Agent(AgentEvent::Joined { profile, .. }) => match profile.parent {
                Some(parent) => format!("{} joined under {}", profile.name, agent(parent)),
                None => format!("{} joined", profile.name),
            },
            Event::Agent(AgentEvent::TokenAdded { agent: id, .. }) => {
                format!("{} got a further token", agent(*id))
            }
            Event::Agent(AgentEvent::ProcessKnown { agent: id, .. }) => {
                format!("the process of {} is known", agent(*id))
            }
            Event::Agent(AgentEvent::Seen { agent: id }) => format!("{} was seen", agent(*id)),
            Event::Agent(AgentEvent::Idled { agent: id, idle }) => {
                format!("{} is {}", agent(*id), if *idle { "idle" } else { "running" })
            }
            Event::Agent(AgentEvent::Disconnected { agent: id }) => format!("{} disconnected", agent(*id)),
            Event::Agent(AgentEvent::Ended { agent: id, ending, cause }) => {
                format!("{} {} ({cause})", agent(*id), ending.word())
            }
            Event::Lock(LockEvent::Acquired { fence, holder, wanted, .. }) => {
                self.locks.insert(*fence, (wanted.pattern.readable(), *holder));
                format!("{} got {} ({fence:?})", name(*holder), what(wanted))
            }
            Event::Lock(LockEvent::Renewed { fence, ttl, .. }) => {
                format!("{} renewed for {ttl} ({fence:?})", self.lock(world, *fence))
            }
            Event::Lock(LockEvent::Released { fence, cause, .. }) => {
                let lock = self.lock(world, *fence);
                match cause {
                    ReleaseCause::GivenBack => format!("{lock} given back"),
                    ReleaseCause::HolderEnded => format!("{lock} released with its holder"),
                    ReleaseCause::TakenAway { .. } => format!("{lock} taken away"),
                    ReleaseCause::PutAside { .. } => format!("{lock} put aside"),
                    ReleaseCause::Upgraded => format!("{lock} given up for an exclusive one"),
                }
            }
            Event::Lock(LockEvent::Lapsed { fence, .. }) => format!("{} lapsed", self.lock(world, *fence)),
            Event::Lock(LockEvent::Expired { fence, .. }) => format!("{} expired", self.lock(world, *fence)),
            Event::Lock(LockEvent::Orphaned { fence, .. }) => {
                format!("{} orphaned", self.lock(world, *fence))
            }
            Event::Lock(LockEvent::Extended { fence, ttl, .. }) => {
                format!("{} extended to {ttl}", self.lock(world, *fence))
            }
            Event::Lock(LockEvent::HandedOver { fence, new_fence, to, .. }) => {
                let old = self.lock(world, *fence);
                let path = self.locks[fence].0.clone();
                self.locks.insert(*new_fence, (path, *to));
                format!("{old} handed to {} ({new_fence:?})", name(*to))
            }
            Event::Lock(LockEvent::WaitStarted { ticket, who, wants, wait }) => {
                self.waits.insert(*ticket, *who);
                let wants: Vec<String> = wants.iter().map(what).collect();
                format!("{} waits for {} ({ticket:?}, {wait})", name(*who), wants.join(" and "))
            }
            Event::Lock(LockEvent::WaitEnded { ticket, ending }) => {
                let who = self.waits.get(ticket).map(|who| name(*who)).unwrap_or_default();
                match ending {
                    WaitEnding::Granted { fences } => format!("{who} has waited ({fences:?})"),
                    WaitEnding::TimedOut => format!("{who} has waited in vain"),
                    WaitEnding::Cancelled => format!("{who} gave up waiting"),
                    WaitEnding::Orphaned => format!("{who} waits no more for what was left"),
                    WaitEnding::AskerEnded => format!("{who} waits no more"),
                }
            }
            Event::Read(ReadEvent::FileKnown { file, .. }) => format!("{} is known", file.path),
            Event::Write(WriteEvent::Unlocked(write)) => write.sentence(world),
            Event::Commit(CommitEvent::Unguarded(commit)) => commit.sentence(world),
            Event::Move(MoveEvent::Intended(it)) => format!("a branch is to move to {}", it.new),
            Event::Move(MoveEvent::Undone { commit, of, .. }) => {
                format!("{} did not move it to {commit}", name(*of))
            }
            Event::Commit(CommitEvent::Made { commit, .. }) => {
                format!("{} files were committed", commit.files_total)
            }
            Event::Worktree(WorktreeEvent::Added { tree, .. }) => format!("worktree {} is there", tree.slug),
            Event::Worktree(WorktreeEvent::Released { slug, .. }) => format!("worktree {slug} may go"),
            Event::Worktree(WorktreeEvent::Kept { slug, why, .. }) => {
                format!("worktree {slug} is kept: {why}")
            }
            Event::Worktree(WorktreeEvent::Removed { slug, .. }) => {
                format!("worktree {slug} is in the trash")
            }
            Event::Worktree(WorktreeEvent::PassedOn { slug, .. }) => format!("worktree {slug} is another's"),
            Event::Worktree(WorktreeEvent::BranchMerged { source, target, .. }) => {
                format!("{source} is in {target}")
            }
            Event::Worktree(WorktreeEvent::MergeConflicted { source, target, .. }) => {
                format!("{source} and {target} conflict")
            }
            Event::Server(ServerEvent::NothingChanged {}) => "nothing changed".to_owned(),
            Event::Mail(event) => format!("{event:?}"),
            Event::Control(event) => format!("{event:?}"),
            Event::Decision(event) => format!("{event:?}"),
            Event::Team(event) => format!("{event:?}"),
            Event::Permission(event) => format!("{event:?}"),
            Event::Task(event) => crate::tasks::words::told(world, event),
            Event::Pool(event) => crate::pools::words::told(world, event),
            Event::Server(ServerEvent::EntriesRefused { why, count }) => format!("{count} not let in: {why}"),
            Event::Server(ServerEvent::KeyReused { op }) => format!("a used key came with {op}"),
            Event::Agent(AgentEvent::Limited { max }) => format!("{max} agents may be here"),
            Event::Notice(NoticeEvent::Taken { agent: id, .. }) => format!("{} was told", agent(*id)),
            Event::Agent(AgentEvent::Named { agent: id, name }) => format!("{} is called {name}", agent(*id)),
            Event::Person(event) => format!("{event:?}"),
            Event::Run(event) => format!("{event:?}"),
        }
    }

    fn lock(&self, world: &World, fence: Fence) -> String {
        let (path, holder) = &self.locks[&fence];
        format!("{path} of {}", world.name_of(*holder))
    }
}

fn what(wanted: &Wanted) -> String {
    match wanted.mode {
        LockMode::Exclusive => wanted.pattern.readable(),
        LockMode::Shared => format!("{} shared", wanted.pattern.readable()),
    }
}

/// A refusal as a person sees it: its code, its sentence, its next step.
pub(crate) fn refusal(no: &Refusal) -> String {
    format!("refused ({}): {no}; {}", no.code(), comity_core::next_call::spell_plainly(&no.hint()))
}

/// All locks: on what, whose, why, how old, for how long.
pub(crate) fn locks(world: &World, now: Timestamp) -> Vec<String> {
    let told = world.locks.iter().map(|lock| format!("{:?}: {}", lock.fence, lock.view(world, now)));
    told.collect()
}

/// The queue, the first in line first.
pub(crate) fn queue(world: &World, now: Timestamp) -> Vec<String> {
    let waits = world.locks.waits().enumerate();
    let told = waits.map(|(at, wait)| {
        let wants: Vec<String> = wait.wants.iter().map(what).collect();
        let (who, left) = (world.name_of(wait.who), wait.deadline.since(now));
        format!("{}. {who} for {}, {left} left", at + 1, wants.join(" and "))
    });
    told.collect()
}

/// Everybody who is or was here.
pub(crate) fn agents(world: &World) -> Vec<String> {
    world.agents.iter().map(|agent| format!("{}: {}", agent.profile.name, agent.life.word())).collect()
}
