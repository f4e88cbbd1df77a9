//! Takes over orphaned work.

use comity_core::Ask;
use comity_core::locks::LockAsk;

use super::{LockChanges, changed, must_name_paths, stored_reason};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Take over uncommitted work that someone left behind: its orphaned locks become yours, and its files stay as they are.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adopt {
    /// Every orphaned lock that overlaps one of these
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// Why, for the log
    pub reason: Option<String>,
}

impl Operation for Adopt {
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        must_name_paths(&self.paths)?;
        let finish = |events: &[_]| changed("adopted", events);
        if let Some(events) = app.answered(caller) {
            return Ok(Plan::Answer(finish(&events)));
        }
        super::lock::refuse_planners(app, caller)?;
        let place = app.projects().place_of(caller, &self.paths)?;
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        let asks = vec![Ask::Lock(LockAsk::Adopt {
            project,
            patterns,
            reason: stored_reason(self.reason),
            into: vec![],
        })];
        Ok(Plan::change(asks, move |events: &[_], _: &_, _| finish(events)))
    }
}
