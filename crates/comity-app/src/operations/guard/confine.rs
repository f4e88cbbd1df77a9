//! Says what a command of the caller is to be confined to: what others hold is read-only for it.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use comity_core::locks::{Lock, LockMode, conflicts};
use comity_core::permissions::mode_of;
use comity_core::projects::Project;
use comity_core::roles::Mode;
use comity_core::{CaseRule, PathPattern, Principal, ProjectId, Refusal, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::own;
use crate::application::Application;
use crate::config::ConfinePolicy;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::operations::locks::keeps_out;

/// Locks of others that a command is confined by.
const LOCKS_MAX: usize = 1_000;

/// Asks what a shell command of the caller must not write to: what comity-confine asks before it runs one.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct GuardConfine {}

/// What a command is confined to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Confines {
    /// What guard.confine says: auto, off or required.
    pub policy: ConfinePolicy,
    /// Whether nothing at all may be written to: the caller is in plan mode.
    pub sealed: bool,
    /// Whether there is a network.
    pub network: bool,
    /// What others hold, project by project.
    pub held: Vec<HeldPaths>,
    /// What is Comity's own: its state and the person's settings.
    pub own: Vec<String>,
}

/// What others hold of a project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldPaths {
    /// The project's worktrees.
    pub roots: Vec<String>,
    /// Paths, directories and globs, from the top of a worktree.
    pub patterns: Vec<String>,
    /// Whether names in them are folded: the project takes `A` and `a` for one name.
    pub folded: bool,
}

impl Operation for GuardConfine {
    const NAME: &'static str = "guard_confine";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::Internal;
    const ROUTE: Route = Route { method: "POST", path: "/api/guard/confine" };
    const COMMAND: &'static [&'static str] = &["guard", "confine"];
    type Output = Confines;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Confines>, Failure> {
        confines(app, caller.who).map(Plan::Answer)
    }
}

/// What commands of somebody are confined to.
pub(crate) fn confines(app: &Application, who: Principal) -> Result<Confines, Failure> {
    let guard = &app.config().guard;
    let mut confines =
        Confines { policy: guard.confine, sealed: false, network: true, held: Vec::new(), own: Vec::new() };
    let is_free = match who {
        Principal::Human | Principal::System => true,
        // Whoever is nobody holds nothing: all that is held is others'.
        Principal::Agent(_) | Principal::Nobody => guard.confine == ConfinePolicy::Off,
    };
    if is_free {
        return Ok(confines);
    }
    let projects: Vec<(Project, Vec<String>)> = {
        let world = app.engine().world();
        confines.sealed = who.agent().is_some_and(|agent| mode_of(&world, agent) == Mode::Plan);
        let now = app.engine().now();
        let held = |project: &ProjectId| {
            let locks = locks_of_others(&world, who, *project);
            let locks = locks.into_iter().filter(|lock| keeps_out(lock, &world, now));
            locks.map(|lock| lock.wanted.pattern.as_str().to_owned()).collect::<Vec<String>>()
        };
        let projects = world.projects.iter();
        projects.map(|(id, project)| (project.clone(), held(id))).collect()
    };
    confines.network = !confines.sealed || guard.plan_network;
    confines.own = own::paths(app).into_iter().map(spelled).collect::<Result<_, Refusal>>()?;
    for (project, patterns) in projects.into_iter().filter(|(_, patterns)| !patterns.is_empty()) {
        let common_dir = Path::new(&*project.common_dir);
        if project.common_dir.contains(char::REPLACEMENT_CHARACTER) && !common_dir.exists() {
            return Err(unspelled(common_dir).into());
        }
        let roots = comity_git::worktrees(common_dir).map_err(Failure::fault)?;
        let roots = roots.into_iter().map(spelled).collect::<Result<_, Refusal>>()?;
        confines.held.push(HeldPaths { roots, patterns, folded: project.case == CaseRule::Folded });
    }
    Ok(confines)
}

/// A path as text. One that is none cannot be told, so nothing there would be held.
fn spelled(path: PathBuf) -> Result<String, Refusal> {
    path.into_os_string().into_string().map_err(|path| unspelled(Path::new(&path)))
}

fn unspelled(path: &Path) -> Refusal {
    Refusal::bad_input(
        format!(
            "the path {} is not UTF-8, so what others hold there cannot be kept from commands",
            path.display()
        ),
        "move it, or remove the worktree",
    )
}

/// The locks in a project that keep somebody from writing.
pub(super) fn locks_of_others(world: &World, who: Principal, project: ProjectId) -> Vec<&Lock> {
    let Ok(everything) = PathPattern::parse("**", CaseRule::Exact) else { return Vec::new() };
    conflicts(world, who, project, &everything, LockMode::Exclusive, LOCKS_MAX)
}

impl Confines {
    /// Whether a command may write to everything.
    pub(super) fn is_nothing(&self) -> bool {
        !self.sealed && self.network && self.held.is_empty() && self.own.is_empty()
    }
}

impl fmt::Display for Confines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held: usize = self.held.iter().map(|project| project.patterns.len()).sum();
        match (self.policy, self.sealed) {
            (ConfinePolicy::Off, _) => f.write_str("commands are not confined: guard.confine is off"),
            (_, true) => f.write_str("everything is read-only: you are in plan mode"),
            (_, false) if held == 0 => f.write_str("nobody else holds anything"),
            (_, false) => write!(f, "{held} held by others and read-only for your commands"),
        }
    }
}
