//! Gives locks more time.

use comity_core::Ask;
use comity_core::locks::LockAsk;

use super::{LockChanges, changed, must_name_paths, stored_reason, wider};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::span::Span;

/// Give locks more time, counted from now: your own, those of agents you lead, or anyone's if you are the human.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Extend {
    /// The lock on each, those within a directory, or the narrowest around it
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// How long from now, such as 30m
    pub ttl: Span,
    /// Why, for the holder
    pub reason: Option<String>,
}

impl Operation for Extend {
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        must_name_paths(&self.paths)?;
        let place = app.projects().place_of(caller, &self.paths)?;
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        let notes = wider(&app.engine().world(), project, &patterns);
        let finish = move |events: &[_], _: &_, _| LockChanges { notes, ..changed("extended", events) };
        let asks = vec![Ask::Lock(LockAsk::Extend {
            project,
            patterns,
            ttl: self.ttl.0,
            reason: stored_reason(self.reason),
        })];
        Ok(Plan::change(asks, finish))
    }
}
