//! Hands locks over.

use comity_core::locks::LockAsk;
use comity_core::{Ask, Principal};

use super::{LockChanges, changed, must_name_paths, stored_reason, wider};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Hand locks over to another agent, which is told: your own, those of agents you lead, or anyone's if you are the human.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandOver {
    /// The lock on each, those within a directory, or the narrowest around it
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// The agent's name or id, or human
    pub to: String,
    /// Why, for the new holder
    pub reason: Option<String>,
}

impl Operation for HandOver {
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        must_name_paths(&self.paths)?;
        let place = app.projects().place_of(caller, &self.paths)?;
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        let world = app.engine().world();
        let to = match self.to.as_str() {
            "human" => Principal::Human,
            name => Principal::Agent(world.agents.find(name)?.id),
        };
        let notes = wider(&world, project, &patterns);
        let finish = move |events: &[_], _: &_, _| LockChanges { notes, ..changed("handed over", events) };
        let asks =
            vec![Ask::Lock(LockAsk::HandOver { project, patterns, to, reason: stored_reason(self.reason) })];
        Ok(Plan::change(asks, finish))
    }
}
