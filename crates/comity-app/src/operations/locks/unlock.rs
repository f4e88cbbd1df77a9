//! Gives locks back.

use comity_core::locks::LockAsk;
use comity_core::{Ask, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{LockChanges, changed};
use crate::application::Application;
use crate::catalog::next_call;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Release your own locks: these paths, everything below a directory, or all of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unlock {
    /// What you locked
    #[serde(default, deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// Everything you hold, in every project
    #[serde(default)]
    pub all: bool,
}

impl Operation for Unlock {
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        let ask = match (self.all, self.paths.is_empty()) {
            (true, true) => Ask::Lock(LockAsk::UnlockAll),
            (false, false) => {
                let place = app.projects().place(caller)?;
                Ask::Lock(LockAsk::Unlock {
                    project: place.project(),
                    patterns: place.resolve_all(&self.paths)?,
                })
            }
            _ => {
                return Err(Refusal::bad_input(
                    "name paths, or all, and not both",
                    format!("such as: {}", next_call::<Unlock>([("paths", ["PATH"].into())])),
                )
                .into());
            }
        };
        let finish = |events: &[_], _: &_, _| changed("unlocked", events);
        Ok(Plan::change(vec![ask], finish))
    }
}
