//! Judges a commit that git is about to make, for people and for agents that know nothing of locks.

use std::fmt;

use comity_core::agents::Life;
use comity_core::display::visible;
use comity_core::limits::HOLDERS_SHOWN_MAX;
use comity_core::locks::{Hold, Lock, LockMode, conflicts};
use comity_core::teams::leader_of;
use comity_core::{PathPattern, Principal, Refusal, World};

use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::commits::Commit;
use crate::operations::locks::{Adopt, Release, keeps_out};
use crate::operations::mail::SendMail;
use crate::projects::PathBase;

/// Ask whether these files may be committed: refused if someone else is at work on one of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardCommit {
    /// The files of the commit, from the top of the worktree
    pub paths: Vec<String>,
}

/// The commit may be made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MayCommit {
    /// How many files it has.
    pub files: usize,
    /// Whose work goes along, and what became of them: agents that a person leads, and that are idle or have ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Operation for GuardCommit {
    type Output = MayCommit;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<MayCommit>, Failure> {
        let place = app.projects().place(caller)?;
        let notes = judge(app, caller.who, &place, &self.paths)?;
        Ok(Plan::Answer(MayCommit { files: self.paths.len(), notes }))
    }
}

/// Refuses a commit of these files, from the top, if somebody else has one of them locked; else says whose work goes along.
pub(super) fn judge(
    app: &Application,
    who: Principal,
    place: &PathBase,
    paths: &[String],
) -> Result<Vec<String>, Refusal> {
    let (project, case) = (place.project(), place.repository().case());
    let now = app.engine().now();
    let world = app.engine().world();
    let (mut in_the_way, mut along) = (Vec::new(), Vec::<(&Lock, Vec<&str>)>::new());
    for path in paths {
        // Names come from git's index, from the top, so no walk is needed.
        let pattern = PathPattern::existing(path, case)?;
        let locks = conflicts(&world, who, project, &pattern, LockMode::Exclusive, usize::MAX);
        for lock in locks.into_iter().filter(|lock| keeps_out(lock, who, &world, now)) {
            if !is_for_the_person(&world, who, lock) {
                in_the_way.push(lock.view(&world, now));
            } else if let Some((_, paths)) = along.iter_mut().find(|(known, _)| known.holder == lock.holder) {
                paths.push(path);
            } else {
                along.push((lock, vec![path]));
            }
        }
        if in_the_way.len() >= HOLDERS_SHOWN_MAX {
            break;
        }
    }
    in_the_way.truncate(HOLDERS_SHOWN_MAX);
    let Some(first) = in_the_way.first() else {
        app.watch().judged(project, who, paths, world.fence);
        return Ok(along.iter().map(|(lock, paths)| along_with(&world, lock, paths)).collect());
    };
    let holders: Vec<String> = in_the_way.iter().map(ToString::to_string).collect();
    let hint = if who == Principal::Human {
        let path = [first.path.as_str()];
        let leave = "leave those files out";
        match (first.state, first.agent) {
            ("held", Some(_)) => {
                let to = ("to", [first.holder.as_str()].into());
                let write = next_call::<SendMail>([to, ("message", "TEXT".into())]);
                let release = next_call::<Release>([
                    ("paths", path.into()),
                    ("from", first.holder.as_str().into()),
                    ("reason", "WHY".into()),
                ]);
                format!("{leave}, or ask {}: {write}; to take the lock: {release}", visible(&first.holder))
            }
            // Who held it may be gone: its work is taken over, not asked for.
            _ => format!("{leave}, or take the work over: {}", next_call::<Adopt>([("paths", path.into())])),
        }
    } else {
        let commit = next_call::<Commit>([("message", "TEXT".into())]);
        format!("commit exactly what is yours: {commit}; or leave those files out")
    };
    Err(Refusal::NotAllowed {
        problem: format!("the commit would have in it what others hold: {}", visible(&holders.join("; "))),
        hint,
    })
}

/// Whether a person commits what an agent of theirs made that is not at work: nobody is disturbed by it.
fn is_for_the_person(world: &World, who: Principal, lock: &Lock) -> bool {
    let Some(agent) = lock.holder.agent().filter(|_| who == Principal::Human) else { return false };
    let is_idle = || world.agents.get(agent).is_some_and(|agent| agent.life == Life::Idle);
    leader_of(world, agent) == Principal::Human && (lock.hold != Hold::Held || is_idle())
}

/// `with the work of claude (ended): src/a.rs, src/b.rs`.
fn along_with(world: &World, lock: &Lock, paths: &[&str]) -> String {
    let is_live = lock.holder.agent().is_some_and(|agent| world.agents.living(agent).is_ok());
    let state = match (is_live, lock.hold) {
        (false, _) => "ended",
        (true, Hold::Held) => "idle",
        (true, Hold::Lapsed | Hold::Orphaned) => "silent",
    };
    let shown = paths[..paths.len().min(HOLDERS_SHOWN_MAX)].join(", ");
    let more = match paths.len().saturating_sub(HOLDERS_SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!("with the work of {} ({state}): {shown}{more}", world.name_of(lock.holder));
    visible(&text).into_owned()
}

impl fmt::Display for MayCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nobody else has one of the {} files locked", self.files)
    }
}
