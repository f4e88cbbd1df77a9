//! Takes others' locks away.

use comity_core::Ask;
use comity_core::locks::LockAsk;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{LockChanges, changed, must_name_paths, stored_reason};
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Takes locks away from whoever holds them: for people, and for agents over those they lead. The holder is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Every lock that overlaps one of these goes
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// Why, for the holder
    pub reason: Option<String>,
}

impl Operation for Release {
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        must_name_paths(&self.paths)?;
        let place = app.projects().place(caller)?;
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        let finish = |events: &[_], _: &_, _| changed("released", events);
        let asks =
            vec![Ask::Lock(LockAsk::Release { project, patterns, reason: stored_reason(self.reason) })];
        Ok(Plan::change(asks, finish))
    }
}
