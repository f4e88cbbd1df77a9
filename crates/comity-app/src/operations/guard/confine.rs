//! What a command of the caller is confined to: what others hold is read-only for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use comity_core::locks::Lock;
use comity_core::paths::Alternative;
use comity_core::permissions::mode_of;
use comity_core::projects::Project;
use comity_core::roles::Mode;
use comity_core::{CaseRule, PathPattern, Principal, ProjectId, Refusal, Timestamp, World};

use super::{own, program_settings, shell};
use crate::config::ConfinePolicy;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::locks::keeps_out;

/// Others' locks in a project that a command is confined by one by one.
pub(super) const LOCKS_MAX: usize = 1_000;
const EVERYTHING: &str = "**";

/// Ask what a shell command of the caller must not write to: what comity-confine asks before it runs one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardConfine {}

/// What a command is confined to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Confines {
    /// What guard.confine says: auto, off or required.
    pub policy: ConfinePolicy,
    /// Whether nothing at all may be written to: the caller is in plan mode.
    pub sealed: bool,
    pub network: bool,
    /// What others hold, project by project.
    pub held: Vec<HeldPaths>,
    /// What is Comity's own: its state and the person's settings; and settings of agent programs in repositories.
    pub own: Vec<String>,
    /// What of that cannot be read either: letters of others, and their tabs.
    pub hidden: Vec<String>,
}

/// What others hold of a project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldPaths {
    pub roots: Vec<String>,
    /// Paths, directories and globs, from the top of a worktree.
    pub patterns: Vec<String>,
    /// Whether names in them are folded: the project takes `A` and `a` for one name.
    pub folded: bool,
}

impl Operation for GuardConfine {
    type Output = Confines;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Confines>, Failure> {
        let who = match caller.who {
            Principal::Agent(agent) => {
                let words = || caller.lineage.as_deref().map(shell::words).unwrap_or_default();
                // The caller also ends the last word.
                let line = || words().into_iter().rfind(|word| !word.is_empty());
                Principal::Agent(app.command_within(agent, line, caller.process()))
            }
            who => who,
        };
        let mut confines = confines(app, who, caller.cwd.as_deref())?;
        // Who goes on after its agent's end does no more than that did.
        if who == Principal::Nobody
            && confines.policy != ConfinePolicy::Off
            && app.ended_above(caller).is_some_and(|ended| app.is_planning(Principal::Agent(ended)))
        {
            (confines.sealed, confines.network) = (true, app.config().guard.plan_network);
        }
        shell::note(app, caller, confines.sealed);
        Ok(Plan::Answer(confines))
    }
}

/// What somebody's commands are confined to.
pub(crate) fn confines(app: &Application, who: Principal, cwd: Option<&Path>) -> Result<Confines, Failure> {
    let guard = &app.config().guard;
    let mut confines = Confines {
        policy: guard.confine,
        sealed: false,
        network: true,
        held: Vec::new(),
        own: Vec::new(),
        hidden: Vec::new(),
    };
    let is_free = match who {
        Principal::Human | Principal::System => true,
        // Nobody holds nothing: everything that is held is others'.
        Principal::Agent(_) | Principal::Nobody => guard.confine == ConfinePolicy::Off,
    };
    if is_free {
        return Ok(confines);
    }
    let projects: Vec<(Project, Vec<PathPattern>)> = {
        let world = app.engine().world();
        confines.sealed = who.agent().is_some_and(|agent| mode_of(&world, agent) == Mode::Plan);
        let mut held: BTreeMap<ProjectId, Vec<PathPattern>> = BTreeMap::new();
        for lock in locks_of_others(&world, who, app.engine().now()) {
            held.entry(lock.wanted.project).or_default().push(lock.wanted.pattern.clone());
        }
        held.into_iter()
            .filter_map(|(id, patterns)| Some((world.projects.get(&id)?.clone(), patterns)))
            .collect()
    };
    confines.network = !confines.sealed || guard.plan_network;
    let own = own::paths(app).into_iter().chain(program_settings::paths(app, cwd));
    confines.own = own.map(spelled).collect::<Result<_, Refusal>>()?;
    confines.hidden = own::hidden(app, who).into_iter().map(spelled).collect::<Result<_, Refusal>>()?;
    for (project, patterns) in projects {
        let common_dir = Path::new(&*project.common_dir);
        if project.common_dir.contains(char::REPLACEMENT_CHARACTER) && !common_dir.exists() {
            return Err(unspelled(common_dir).into());
        }
        let roots = comity_git::worktrees(common_dir).map_err(Failure::fault)?;
        let roots = roots.into_iter().map(spelled).collect::<Result<_, Refusal>>()?;
        let patterns = at_most(LOCKS_MAX, &patterns);
        confines.held.push(HeldPaths { roots, patterns, folded: project.case == CaseRule::Folded });
    }
    Ok(confines)
}

/// A path as text. One that is not text could not be passed on, so nothing there would be protected.
fn spelled(path: PathBuf) -> Result<String, Refusal> {
    path.into_os_string().into_string().map_err(|path| unspelled(Path::new(&path)))
}

fn unspelled(path: &Path) -> Refusal {
    Refusal::bad_input(
        format!(
            "the path {} is not UTF-8, so what others hold there can't be kept from commands",
            path.display()
        ),
        "move it, or remove the worktree",
    )
}

/// The locks that keep somebody from writing.
pub(super) fn locks_of_others(world: &World, who: Principal, now: Timestamp) -> impl Iterator<Item = &Lock> {
    world.locks.iter().filter(move |lock| keeps_out(lock, who, world, now))
}

/// The texts of patterns. If there are too many, directories stand for what is locked below them, the deepest first.
fn at_most(most: usize, patterns: &[PathPattern]) -> Vec<String> {
    let depth = |pattern: &PathPattern| pattern.alternatives().iter().map(|one| one.prefix().count()).max();
    let deepest = patterns.iter().filter_map(depth).max().unwrap_or(0);
    let mut texts: BTreeSet<String> = patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect();
    for depth in (1..deepest).rev() {
        if texts.len() <= most {
            break;
        }
        texts = patterns.iter().map(|pattern| cut_off(pattern, depth).as_str().to_owned()).collect();
    }
    if texts.len() <= most { texts.into_iter().collect() } else { vec![EVERYTHING.into()] }
}

/// The pattern, with a directory in place of what is deeper.
fn cut_off(pattern: &PathPattern, depth: usize) -> PathPattern {
    let cut = |one: &Alternative| {
        let names: Vec<String> = one.prefix().map(str::to_owned).collect();
        let above = names.get(..depth).filter(|above| above.len() < names.len());
        above.and_then(|above| Alternative::new(above, &[], true).ok()).unwrap_or_else(|| one.clone())
    };
    PathPattern::of(pattern.alternatives().iter().map(cut).collect())
}

impl Confines {
    /// Whether a command may write everywhere.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(most: usize, patterns: &str, expected: &str) {
        let parsed = patterns.split(' ').map(|text| PathPattern::parse(text, CaseRule::Exact).expect(text));
        assert_eq!(at_most(most, &parsed.collect::<Vec<_>>()).join(" "), expected, "{most}: {patterns}");
    }

    #[test]
    fn directories_stand_for_too_many_locks() {
        check(3, "a/b/1 a/b/2 c/3", "a/b/1 a/b/2 c/3");
        check(2, "a/b/1 a/b/2 c/3", "a/b/ c/3");
        check(2, "a/b/1 a/c/2 a/3 d/4", "a/ d/");
        check(1, "a/b/*.rs a/b/x/{1,2}", "a/");
        check(1, "a b", "**");
    }
}
