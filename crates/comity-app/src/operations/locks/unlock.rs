//! Gives locks back.

use std::collections::BTreeMap;

use comity_core::locks::{LockAsk, LockEvent};
use comity_core::next_call::Argument;
use comity_core::{Ask, Event, Fence, ProjectId, Refusal, World};

use super::left_dirty::WrittenUnder;
use super::{LockChanges, changed, project_name};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Release your locks: these paths, all below a directory, or all of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unlock {
    /// What you locked
    #[serde(default, deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// Everything you hold in this repository
    #[serde(default)]
    pub all: bool,
    /// Everything you hold, in other repositories too
    #[serde(default)]
    pub all_projects: bool,
}

impl Operation for Unlock {
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        let here = app.projects().scope(caller, false);
        let ask = match (self.all || self.all_projects, self.paths.is_empty()) {
            (true, true) => LockAsk::UnlockAll { project: here.filter(|_| !self.all_projects) },
            (false, false) => {
                let place = app.projects().place(caller)?;
                LockAsk::Unlock { project: place.project(), patterns: place.resolve_all(&self.paths)? }
            }
            _ => {
                return Err(Refusal::bad_input(
                    "name paths, or all, and not both",
                    format!("such as: {}", next_call::<Unlock>([("paths", ["PATH"].into())])),
                )
                .into());
            }
        };
        let (world, now) = (app.engine().world(), app.engine().now());
        let is_meant = |project| match &ask {
            LockAsk::UnlockAll { project: only } => only.is_none_or(|only| only == project),
            _ => here == Some(project),
        };
        let own = || world.locks.of(caller.who).filter(|lock| is_meant(lock.wanted.project));
        let given_up = GivenUp {
            here,
            elsewhere: world.locks.of(caller.who).filter(|lock| !is_meant(lock.wanted.project)).count(),
            tells_elsewhere: self.all,
            projects: own().map(|lock| (lock.fence, lock.wanted.project)).collect(),
        };
        let written = WrittenUnder::among(&world, now, own());
        let asks = vec![Ask::Lock(ask)];
        if written.is_empty() {
            return Ok(Plan::change(asks, move |events: &[_], world: &_, _| given_up.told(events, world)));
        }
        Ok(Plan::change_then(asks, move |app, events| {
            let mut told = given_up.told(events, &app.engine().world());
            told.notes.extend(written.notes(events));
            Ok(told)
        }))
    }
}

/// What the caller held before.
struct GivenUp {
    here: Option<ProjectId>,
    projects: BTreeMap<Fence, ProjectId>,
    /// How many locks there are in other repositories, which stay.
    elsewhere: usize,
    tells_elsewhere: bool,
}

impl GivenUp {
    fn told(&self, events: &[Event], world: &World) -> LockChanges {
        let project = |event: &Event| match event {
            Event::Lock(LockEvent::Released { fence, .. }) => self.projects.get(fence).copied(),
            _ => None,
        };
        let projects: Vec<ProjectId> = events.iter().filter_map(project).collect();
        let mut told = changed("unlocked", events);
        if projects.len() == told.paths.len() && projects.iter().any(|project| Some(*project) != self.here) {
            told.projects = projects.into_iter().map(|project| project_name(world, project)).collect();
        }
        if self.tells_elsewhere && self.elsewhere > 0 {
            let stay = comity_core::display::counted(self.elsewhere, "lock");
            let all = next_call::<Unlock>([("all_projects", Argument::Yes)]);
            told.notes.push(format!("you hold {stay} in other repositories: {all}"));
        }
        told
    }
}
