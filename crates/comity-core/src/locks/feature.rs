//! Asks and events of locks.

use serde::{Deserialize, Serialize};

use super::{LockMode, ReleaseCause, WaitEnding, Wanted};
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::event::{Event, Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent, FollowUp};
use crate::ids::{AgentId, Fence, Principal, ProjectId, Ticket};
use crate::paths::PathPattern;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::{Telling, because};
use crate::teams::leader_of;
use crate::time::Millis;
use crate::world::World;

/// Asks about locks.
#[derive(Clone, PartialEq, Debug)]
pub enum LockAsk {
    /// All or none.
    Lock {
        wants: Vec<Wanted>,
        /// How long to wait in the queue; `None` is refused at once.
        wait: Option<Millis>,
    },
    /// Gives back one's own locks.
    Unlock { project: ProjectId, patterns: Vec<PathPattern> },
    /// Gives back all of one's own locks, in one project or in all.
    UnlockAll { project: Option<ProjectId> },
    /// Takes others' locks away, as the human or a leader.
    Release {
        project: ProjectId,
        /// The locks on these; otherwise those within one, otherwise the narrowest that cover it.
        patterns: Vec<PathPattern>,
        reason: Option<Box<str>>,
    },
    Extend {
        project: ProjectId,
        /// As for `Release`.
        patterns: Vec<PathPattern>,
        ttl: Millis,
        reason: Option<Box<str>>,
    },
    HandOver {
        project: ProjectId,
        /// As for `Release`.
        patterns: Vec<PathPattern>,
        to: Principal,
        reason: Option<Box<str>>,
    },
    /// Takes over orphaned locks, with the uncommitted work.
    Adopt {
        project: ProjectId,
        /// Every lock that overlaps one of these; all must be orphaned.
        patterns: Vec<PathPattern>,
        reason: Option<Box<str>>,
        /// The ref that each is to be put aside into, if that is the purpose.
        into: Vec<(Fence, Box<str>)>,
    },
    /// Records that adopted work was put aside; its locks are free.
    PutAside {
        /// Each lock, and the refs that keep its work.
        aside: Vec<(Fence, Vec<Box<str>>)>,
    },
    /// Records what was found in the files of a lapsed or orphaned lock.
    Inspected {
        fence: Fence,
        /// The files with uncommitted work, if there is any; empty if nobody could tell which.
        left: Option<Vec<Box<str>>>,
    },
    /// Checks that locks are still held with these fences, before a guarded act.
    CheckFences { project: ProjectId, held: Vec<(PathPattern, Fence)>, mode: LockMode },
}

/// What happened to locks and those who wait for them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LockEvent {
    #[serde(rename = "lock_acquired")]
    Acquired {
        fence: Fence,
        holder: Principal,
        wanted: Wanted,
        /// The ticket, if the holder had to wait.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ticket: Option<Ticket>,
    },
    /// A holder asked again for what it holds.
    #[serde(rename = "lock_renewed")]
    Renewed {
        fence: Fence,
        path: Box<str>,
        ttl: Millis,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    #[serde(rename = "lock_released")]
    Released {
        fence: Fence,
        path: Box<str>,
        cause: ReleaseCause,
    },
    /// A lock expired, or its holder ended; its files are inspected before anybody else gets it.
    #[serde(rename = "lock_lapsed")]
    Lapsed {
        fence: Fence,
        path: Box<str>,
    },
    /// A lapsed lock had no uncommitted work and is free.
    #[serde(rename = "lock_expired")]
    Expired {
        fence: Fence,
        path: Box<str>,
    },
    /// A lapsed lock has uncommitted work, and is kept until the human or the leader decides.
    #[serde(rename = "lock_orphaned")]
    Orphaned {
        fence: Fence,
        path: Box<str>,
        /// Some of the files with uncommitted work; empty if nobody could tell.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        files: Vec<Box<str>>,
    },
    #[serde(rename = "lock_extended")]
    Extended {
        fence: Fence,
        path: Box<str>,
        ttl: Millis,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    #[serde(rename = "lock_handed_over")]
    HandedOver {
        fence: Fence,
        path: Box<str>,
        new_fence: Fence,
        to: Principal,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
        /// The ref that its work is about to be put aside into, if that is the purpose.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        into: Option<Box<str>>,
    },
    WaitStarted {
        ticket: Ticket,
        who: Principal,
        wants: Vec<Wanted>,
        wait: Millis,
    },
    WaitEnded {
        ticket: Ticket,
        ending: WaitEnding,
    },
}

/// Serves the queue.
pub(crate) const FOLLOW_UP: FollowUp =
    FollowUp { follows: may_serve_queue, next: super::waiting::next_grant };

fn may_serve_queue(event: &Event) -> bool {
    match event {
        Event::Lock(event) => match event {
            LockEvent::Released { .. }
            | LockEvent::Expired { .. }
            | LockEvent::HandedOver { .. }
            // Those whom the new waiter waits for may now go before others that wait for it.
            | LockEvent::WaitStarted { .. }
            | LockEvent::WaitEnded { .. } => true,
            LockEvent::Acquired { .. }
            | LockEvent::Renewed { .. }
            | LockEvent::Lapsed { .. }
            | LockEvent::Orphaned { .. }
            | LockEvent::Extended { .. } => false,
        },
        Event::Pool(_) | Event::Permission(_) | Event::Task(_) => true,
        _ => false,
    }
}

impl FeatureAsk for LockAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let who = asker.who;
        let events = match self {
            LockAsk::Lock { wants, wait } => return super::lock(world, who, wants, *wait),
            LockAsk::Unlock { project, patterns } => super::unlock(world, who, *project, patterns)?,
            LockAsk::UnlockAll { project } => super::unlock_all(world, who, *project),
            LockAsk::Release { project, patterns, reason } => {
                super::release(world, who, *project, patterns, reason.clone())?
            }
            LockAsk::Extend { project, patterns, ttl, reason } => {
                super::extend(world, who, *project, patterns, *ttl, reason.clone())?
            }
            LockAsk::HandOver { project, patterns, to, reason } => {
                super::hand_over(world, who, *project, patterns, *to, reason.clone())?
            }
            LockAsk::Adopt { project, patterns, reason, into } => {
                super::adopt(world, who, *project, patterns, reason.clone(), into)?
            }
            LockAsk::PutAside { aside } => super::put_aside(world, who, aside)?,
            LockAsk::Inspected { fence, left } => super::inspected(world, *fence, left.as_deref()),
            LockAsk::CheckFences { project, held, mode } => {
                super::check_fences(world, who, *project, held, *mode)?;
                vec![]
            }
        };
        Ok(events.into())
    }

    fn takes_presence(&self, world: &World) -> Option<&'static str> {
        let (project, patterns, act) = match self {
            LockAsk::Release { project, patterns, .. } => (project, patterns, "release another's lock"),
            LockAsk::Extend { project, patterns, .. } => (project, patterns, "extend another's lock"),
            LockAsk::HandOver { project, patterns, .. } => (project, patterns, "hand over another's lock"),
            LockAsk::Adopt { project, patterns, .. } => (project, patterns, "take over another's work"),
            LockAsk::Lock { .. }
            | LockAsk::Unlock { .. }
            | LockAsk::UnlockAll { .. }
            | LockAsk::PutAside { .. }
            | LockAsk::Inspected { .. }
            | LockAsk::CheckFences { .. } => return None,
        };
        let locks = patterns.iter().flat_map(|pattern| world.locks.overlapping(*project, pattern));
        locks.into_iter().any(|lock| lock.holder != Principal::Human).then_some(act)
    }

    fn is_work(&self) -> bool {
        match self {
            LockAsk::Lock { .. }
            | LockAsk::Unlock { .. }
            | LockAsk::UnlockAll { .. }
            | LockAsk::HandOver { .. }
            | LockAsk::Adopt { .. } => true,
            LockAsk::Release { .. }
            | LockAsk::Extend { .. }
            | LockAsk::PutAside { .. }
            | LockAsk::Inspected { .. }
            | LockAsk::CheckFences { .. } => false,
        }
    }
}

event_types!(LockEvent {
    LockEvent::Acquired { .. } => live("lock_acquired", "lock:acquired"),
    LockEvent::Renewed { .. } => live("lock_renewed", "lock:renewed").housekeeping(),
    LockEvent::Released { .. } => live("lock_released", "lock:released"),
    LockEvent::Lapsed { .. } => live("lock_lapsed", "lock:lapsed").housekeeping(),
    LockEvent::Expired { .. } => live("lock_expired", "lock:expired"),
    LockEvent::Orphaned { .. } => live("lock_orphaned", "lock:orphaned"),
    LockEvent::Extended { .. } => live("lock_extended", "lock:extended"),
    // On the disk before the files change: otherwise a power cut could leave work that nobody finds.
    LockEvent::HandedOver { into: Some(_), .. } => durable("lock_handed_over", "lock:handed_over"),
    LockEvent::HandedOver { .. } => live("lock_handed_over", "lock:handed_over"),
    LockEvent::WaitStarted { .. } => live("wait_started", "wait:started"),
    LockEvent::WaitEnded { .. } => live("wait_ended", "wait:ended").housekeeping(),
});

impl FeatureEvent for LockEvent {
    fn may_close_cycle(&self) -> bool {
        matches!(
            self,
            LockEvent::WaitStarted { .. } | LockEvent::HandedOver { .. } | LockEvent::Acquired { .. }
        )
    }

    fn apply(&self, world: &mut World, record: &Record) {
        super::table::apply(world, record, self);
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        let holder = |fence: &Fence| before.and_then(|world| world.locks.get(*fence)).map(|lock| lock.holder);
        match self {
            LockEvent::Acquired { holder, .. } => agents([*holder]),
            // Tells the former holder where its work is.
            LockEvent::Released { fence, cause: ReleaseCause::PutAside { of, .. }, .. } => {
                agents(holder(fence).into_iter().chain([*of]))
            }
            LockEvent::Renewed { fence, .. }
            | LockEvent::Released { fence, .. }
            | LockEvent::Lapsed { fence, .. }
            | LockEvent::Expired { fence, .. }
            | LockEvent::Extended { fence, .. } => agents(holder(fence)),
            // The holder's leader decides about the work.
            LockEvent::Orphaned { fence, .. } => {
                let holder = holder(fence);
                let agent = holder.and_then(Principal::agent);
                let leader = before.zip(agent).map(|(world, agent)| leader_of(world, agent));
                agents(holder.into_iter().chain(leader))
            }
            LockEvent::HandedOver { fence, to, .. } => agents(holder(fence).into_iter().chain([*to])),
            LockEvent::WaitStarted { who, .. } => agents([*who]),
            LockEvent::WaitEnded { ticket, .. } => {
                agents(before.and_then(|world| world.locks.wait(*ticket)).map(|wait| wait.who))
            }
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let (by, name) = (telling.by(), |who: &Principal| telling.name(*who));
        let because = |reason: &Option<Box<str>>| because(reason.as_deref());
        match self {
            LockEvent::Acquired { holder, wanted, .. } => {
                let shared = if wanted.mode == LockMode::Shared { " shared" } else { "" };
                format!("{} locked {}{shared}{}", name(holder), wanted.pattern, because(&wanted.reason))
            }
            LockEvent::Renewed { path, reason, .. } => format!("{by} renewed {path}{}", because(reason)),
            LockEvent::Released { path, cause, .. } => match cause {
                ReleaseCause::GivenBack => format!("{by} unlocked {path}"),
                ReleaseCause::HolderEnded => format!("{path} was released: its holder ended"),
                ReleaseCause::TakenAway { reason } => format!("{by} released {path}{}", because(reason)),
                ReleaseCause::PutAside { of, into } => match &into[..] {
                    [] => format!("{by} freed {path}: none of the work of {} was left in it", name(of)),
                    into => {
                        format!("{by} set the work of {} on {path} aside in {}", name(of), into.join(", "))
                    }
                },
                ReleaseCause::Upgraded => format!("{by} replaced its lock on {path}"),
            },
            LockEvent::Lapsed { path, .. } => {
                format!("{path} lapsed; its files are being checked for uncommitted work")
            }
            LockEvent::Expired { path, .. } => format!("{path} expired"),
            LockEvent::Orphaned { path, files, .. } => match &files[..] {
                [] => format!("{path} is orphaned: uncommitted work was left"),
                [only] if only == path => format!("{path} is orphaned: uncommitted work was left"),
                files => format!("{path} is orphaned: uncommitted work was left in {}", files.join(", ")),
            },
            LockEvent::Extended { path, ttl, reason, .. } => {
                format!("{by} extended {path} to {ttl}{}", because(reason))
            }
            LockEvent::HandedOver { path, into: Some(into), .. } => {
                format!("{by} took {path} over, to put its work aside into {into}")
            }
            LockEvent::HandedOver { path, to, reason, .. } => {
                format!("{by} handed {path} over to {}{}", name(to), because(reason))
            }
            LockEvent::WaitStarted { who, wants, wait, .. } => {
                let paths: Vec<String> = wants.iter().map(|wanted| wanted.pattern.readable()).collect();
                let waits = telling.does(*who, "began to wait", "began to wait");
                format!("{waits} for {}, for up to {wait}", paths.join(", "))
            }
            LockEvent::WaitEnded { ticket, ending } => match ending {
                WaitEnding::Granted { .. } => format!("wait {ticket} was granted"),
                WaitEnding::TimedOut => format!("wait {ticket} timed out"),
                WaitEnding::Cancelled => format!("wait {ticket} was cancelled"),
                WaitEnding::Orphaned => {
                    format!("wait {ticket} ended: its lock was left with uncommitted work")
                }
                WaitEnding::AskerEnded => format!("wait {ticket} ended with its agent"),
            },
        }
    }
}
