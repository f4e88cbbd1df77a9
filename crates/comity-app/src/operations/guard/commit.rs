//! Judges a commit that git is about to make, for people and for agents that know nothing of locks.

use std::fmt;

use comity_core::display::visible;
use comity_core::limits::HOLDERS_SHOWN_MAX;
use comity_core::locks::{LockMode, conflicts};
use comity_core::{PathPattern, Principal, Refusal};

use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::commits::Commit;
use crate::operations::locks::{Release, keeps_out};
use crate::projects::PathBase;

/// Ask whether these files may be committed: refused if someone else has locked one of them.
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
}

impl Operation for GuardCommit {
    type Output = MayCommit;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<MayCommit>, Failure> {
        let place = app.projects().place(caller)?;
        judge(app, caller.who, &place, &self.paths)?;
        Ok(Plan::Answer(MayCommit { files: self.paths.len() }))
    }
}

/// Refuses a commit of these files (from the top) if somebody else has one of them locked.
pub(super) fn judge(
    app: &Application,
    who: Principal,
    place: &PathBase,
    paths: &[String],
) -> Result<(), Refusal> {
    let (project, case) = (place.project(), place.repository().case());
    let now = app.engine().now();
    let world = app.engine().world();
    let mut in_the_way = Vec::new();
    for path in paths {
        // Names come from git's index, from the top, so no walk is needed.
        let pattern = PathPattern::existing(path, case)?;
        let locks = conflicts(&world, who, project, &pattern, LockMode::Exclusive, HOLDERS_SHOWN_MAX);
        let locks = locks.into_iter().filter(|lock| keeps_out(lock, who, &world, now));
        in_the_way.extend(locks.map(|lock| lock.view(&world, now)));
        if in_the_way.len() >= HOLDERS_SHOWN_MAX {
            break;
        }
    }
    let Some(first) = in_the_way.first() else {
        app.watch().judged(project, who, paths, world.fence);
        return Ok(());
    };
    let holders: Vec<String> = in_the_way.iter().map(ToString::to_string).collect();
    let hint = if who == Principal::Human {
        let from = if first.agent.is_some() { first.holder.as_str() } else { "human" };
        let release = next_call::<Release>([
            ("paths", [first.path.as_str()].into()),
            ("from", from.into()),
            ("reason", "WHY".into()),
        ]);
        format!("leave those files out, or write to {}; to take the lock: {release}", visible(&first.holder))
    } else {
        let commit = next_call::<Commit>([("message", "TEXT".into())]);
        format!("commit exactly what is yours: {commit}; or leave those files out")
    };
    Err(Refusal::NotAllowed {
        problem: format!("the commit would have in it what others hold: {}", visible(&holders.join("; "))),
        hint,
    })
}

impl fmt::Display for MayCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nobody else has one of the {} files locked", self.files)
    }
}
