//! Judges a commit that git is about to make, for people and for agents that know nothing of locks.

use std::fmt;

use comity_core::display::visible;
use comity_core::limits::HOLDERS_SHOWN_MAX;
use comity_core::locks::{LockMode, conflicts};
use comity_core::{PathPattern, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::operations::locks::keeps_out;

/// Asks whether a commit of these files may be made: refused if somebody else has one of them locked.
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
        let (project, case) = (place.project(), place.repository().case());
        let now = app.engine().now();
        let world = app.engine().world();
        let mut in_the_way = Vec::new();
        for path in &self.paths {
            // Names come from git's index, from the top: nothing is to be walked.
            let pattern = PathPattern::existing(path, case)?;
            let locks =
                conflicts(&world, caller.who, project, &pattern, LockMode::Exclusive, HOLDERS_SHOWN_MAX);
            let locks = locks.into_iter().filter(|lock| keeps_out(lock, caller.who, &world, now));
            in_the_way.extend(
                locks.map(|lock| (visible(&pattern.readable()).into_owned(), lock.view(&world, now))),
            );
            if in_the_way.len() >= HOLDERS_SHOWN_MAX {
                break;
            }
        }
        match in_the_way.first() {
            None => {
                app.watch().judged(project, &self.paths);
                Ok(Plan::Answer(MayCommit { files: self.paths.len() }))
            }
            Some((path, _)) => Err(Refusal::Locked {
                path: path.clone(),
                holders: in_the_way.iter().map(|(_, holder)| holder.clone()).collect(),
                waiting: 0,
            }
            .into()),
        }
    }
}

impl fmt::Display for MayCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nobody else has one of the {} files locked", self.files)
    }
}
