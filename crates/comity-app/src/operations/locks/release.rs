//! Releases others' locks.

use comity_core::locks::{Hold, LockAsk, meant_by};
use comity_core::teams::leads;
use comity_core::{Ask, PathPattern, Principal, ProjectId, Refusal, World};

use super::left_dirty::WrittenUnder;
use super::{LockChanges, changed, must_name_paths, stored_reason, wider};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Release locks: your own, those over work that was left behind, or, with from, somebody else's. People may do that, and agents over those they lead; the holder is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The lock on each, those within a directory, or the narrowest around it
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// Whose locks: needed if somebody is using them
    pub from: Option<String>,
    /// Why, for the holder
    pub reason: Option<String>,
}

impl Operation for Release {
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        must_name_paths(&self.paths)?;
        let place = app.projects().place_of(caller, &self.paths)?;
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        let (world, now) = (app.engine().world(), app.engine().now());
        refuse_unnamed(&world, caller.who, (project, &patterns), self.from.as_deref())?;
        let notes = wider(&world, project, &patterns);
        let meant = patterns.iter().flat_map(|pattern| meant_by(&world, project, pattern));
        let written = WrittenUnder::among(&world, now, meant);
        let asks =
            vec![Ask::Lock(LockAsk::Release { project, patterns, reason: stored_reason(self.reason) })];
        let told = move |events: &[_]| LockChanges { notes, ..changed("released", events) };
        if written.is_empty() {
            return Ok(Plan::change(asks, move |events: &[_], _: &_, _| told(events)));
        }
        Ok(Plan::change_then(asks, move |_, events| {
            let mut told = told(events);
            told.notes.extend(written.notes(events));
            Ok(told)
        }))
    }
}

/// Refuses to take a lock that somebody uses, unless that one was named.
fn refuse_unnamed(
    world: &World,
    who: Principal,
    (project, patterns): (ProjectId, &[PathPattern]),
    from: Option<&str>,
) -> Result<(), Refusal> {
    let named = match from {
        None => None,
        Some("human" | "you") => Some(Principal::Human),
        Some(name) => Some(Principal::Agent(world.agents.find(name)?.id)),
    };
    let locks = patterns.iter().flat_map(|pattern| meant_by(world, project, pattern));
    // The rules tell whoever may not decide about a lock.
    let may_decide = |holder: Principal| match holder.agent() {
        Some(agent) => leads(world, who, agent),
        None => who == Principal::Human,
    };
    let mut used =
        locks.filter(|lock| lock.hold == Hold::Held && lock.holder != who && may_decide(lock.holder));
    match used.find(|lock| Some(lock.holder) != named) {
        None => Ok(()),
        Some(lock) => {
            let (holder, path) = (world.name_of(lock.holder), lock.wanted.pattern.readable());
            let name = if lock.holder == Principal::Human { "human" } else { &holder };
            let release = next_call::<Release>([
                ("paths", [path.as_str()].into()),
                ("from", name.into()),
                ("reason", "WHY".into()),
            ]);
            Err(Refusal::NotAllowed {
                problem: format!("{path} is locked by {holder}"),
                hint: format!("to take it from {holder}: {release}"),
            })
        }
    }
}
