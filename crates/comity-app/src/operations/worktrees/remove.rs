//! Puts a worktree into the trash, if no work is in it.

use std::fmt;
use std::path::Path;

use clap::Args;
use comity_core::worktrees::{Worktree, may_change};
use comity_core::{Ask, Refusal, World};
use comity_git::worktree::{InnerPath, Kept, Rules, TRASH_KEPT_FOR};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ask, failure, meant};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};
use crate::trees;

/// Puts a worktree into the trash once it is proven that no work is in it; otherwise says what is in it, and keeps it.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct WorktreeRemove {
    /// Its name; the one that you are in, or your only one, if none is given
    #[arg(value_name = "SLUG")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
}

/// It is in the trash.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeGone {
    /// Its name.
    pub slug: String,
    /// Its name in the trash.
    pub id: String,
    /// How many days it stays there.
    pub kept_days: u64,
}

impl Operation for WorktreeRemove {
    const NAME: &'static str = "worktree_remove";
    const EFFECT: Effect = Effect::Removes;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::Agents;
    const ROUTE: Route = Route { method: "DELETE", path: "/api/worktrees/{slug}" };
    const COMMAND: &'static [&'static str] = &["worktree", "remove"];
    type Output = WorktreeGone;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WorktreeGone>, Failure> {
        let place = app.projects().place(caller)?;
        let worktree = meant(app, caller, &place, self.slug.as_deref())?;
        may_change(&app.engine().world(), caller.who, &worktree)?;
        let driver = app.trees().driver(app.config(), place.repository().common_dir())?;
        let build_dirs = place.settings()?.worktree.build_dirs.iter();
        let build_dirs: Vec<InnerPath> =
            build_dirs.map(|dir| InnerPath::parse(dir).map_err(failure)).collect::<Result<_, _>>()?;
        let in_use = |path: &Path| is_in_use(&app.engine().world(), caller, &worktree, path);
        let rules = Rules { build_dirs: &build_dirs, in_use: &in_use };
        let path = Path::new(&*worktree.tree.path);
        let keep = |kept: Vec<Kept>| -> Failure { kept_for(&worktree, &kept).into() };
        let proof = driver.prove_removable(path, rules).map_err(keep)?;
        let (id, slug) = match trees::hook(&app.config().worktree.remove_hook) {
            Some(hook) => {
                driver.remove_by_hook(&hook, &proof).map_err(keep)?;
                (String::new(), worktree.tree.slug.to_string())
            }
            None => (driver.remove(proof).map_err(keep)?.id, worktree.tree.slug.to_string()),
        };
        let rescue = format!("refs/comity/saved/{id}").into();
        let asked = Ask::RemoveWorktree { project: place.project(), slug: slug.as_str().into(), rescue };
        ask(app, caller.who, asked)?;
        // What has been there for a week goes; what cannot be proven again stays.
        let _ = driver.purge(std::time::SystemTime::now(), TRASH_KEPT_FOR);
        Ok(Plan::Answer(WorktreeGone { slug, id, kept_days: TRASH_KEPT_FOR.as_secs() / 86_400 }))
    }
}

/// Whether somebody else who is here works in it, or its owner's children do.
fn is_in_use(world: &World, caller: &Caller, worktree: &Worktree, path: &Path) -> bool {
    let own = caller.who.agent();
    world.agents.live().filter(|agent| Some(agent.id) != own).any(|agent| {
        let is_inside = agent.profile.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(path));
        let is_owner = worktree.owner.agent() == Some(agent.id);
        is_inside || is_owner
    })
}

fn kept_for(worktree: &Worktree, kept: &[Kept]) -> Refusal {
    let reasons: Vec<String> = kept.iter().map(ToString::to_string).collect();
    Refusal::NotAllowed {
        problem: format!("the worktree {} is kept: {}", worktree.tree.slug, reasons.join("; ")),
        hint: "commit and merge what is in it, or leave it: it is in nobody's way".into(),
    }
}

impl fmt::Display for WorktreeGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorktreeGone { slug, kept_days, .. } = self;
        write!(f, "{slug} is in the trash for {kept_days} days; back with: comity worktree restore {slug}")
    }
}
