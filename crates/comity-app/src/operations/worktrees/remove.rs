//! Lets a worktree go: it is put into the trash once it is proven that no work is in it.

use std::fmt;

use clap::Args;
use comity_core::worktrees::may_change;
use comity_core::{Ask, Principal, Refusal};
use comity_git::worktree::TRASH_KEPT_FOR;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::meant;
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};
use crate::removal::{Verdict, in_words, purge, settle};

/// Releases a worktree: it goes into the trash once it is proven that no work is in it, else you are told why it stays.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct WorktreeRemove {
    /// Its name; the one that you are in if left out
    #[arg(value_name = "SLUG")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Wait until it is known whether it can go; people always do
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
}

/// A worktree that goes, or is gone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeGoes {
    /// Its name.
    pub slug: String,
    /// Whether it is gone; else it goes as soon as it is proven that no work is in it.
    pub gone: bool,
    /// Its name in the trash, if it is there.
    pub id: Option<String>,
    /// How many days it stays there.
    pub kept_days: u64,
}

impl Operation for WorktreeRemove {
    const NAME: &'static str = "worktree_remove";
    const EFFECT: Effect = Effect::Removes;
    const WRITES_FILES: bool = true;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::Agents;
    const ROUTE: Route = Route { method: "DELETE", path: "/api/worktrees/{slug}" };
    const COMMAND: &'static [&'static str] = &["worktree", "remove"];
    type Output = WorktreeGoes;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WorktreeGoes>, Failure> {
        let place = app.projects().place(caller)?;
        let worktree = meant(app, caller, &place, self.slug.as_deref())?;
        may_change(&app.engine().world(), caller.who, &worktree)?;
        if worktree.owner != caller.who {
            caller.check_presence("remove another's worktree")?;
        }
        let (project, slug) = (worktree.project, worktree.tree.slug.to_string());
        let kept_days = TRASH_KEPT_FOR.as_secs() / 86_400;
        if matches!(caller.who, Principal::Agent(_)) && !self.wait {
            let asks = vec![Ask::ReleaseWorktree { project, slug: slug.as_str().into() }];
            let finish =
                Box::new(move |_: &_, _: &_, _| WorktreeGoes { slug, gone: false, id: None, kept_days });
            return Ok(Plan::Change { asks, finish });
        }
        match settle(app, caller.who, &worktree)? {
            Verdict::Gone { id } => {
                let app = app.clone();
                // Without it the trash is emptied after the next removal.
                let purging = move || purge(&app, &worktree);
                let _ = std::thread::Builder::new().name("worktree-trash".into()).spawn(purging);
                Ok(Plan::Answer(WorktreeGoes { slug, gone: true, id, kept_days }))
            }
            Verdict::Kept(kept) => Err(Refusal::NotAllowed {
                problem: format!("the worktree {slug} is kept: {}", in_words(&kept)),
                hint: "commit and merge what is in it, or leave it: it is in nobody's way".into(),
            }
            .into()),
        }
    }
}

impl fmt::Display for WorktreeGoes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorktreeGoes { slug, kept_days, .. } = self;
        match self.gone {
            true => write!(
                f,
                "{slug} is in the trash for {kept_days} days; back with: comity worktree restore {slug}"
            ),
            false => write!(
                f,
                "{slug} is released: it goes into the trash when it is proven that no work is in it; you are told if it \
                 is kept"
            ),
        }
    }
}
