//! Makes a worktree.

use std::fmt;
use std::sync::Arc;

use clap::Args;
use comity_core::worktrees::Tree;
use comity_core::{Ask, Principal};
use comity_git::worktree::{Branch, Driver, InnerPath, Made, NewWorktree, Setup, Slug};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ask, failure};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};
use crate::operations::guard::confiner;
use crate::projects::Place;
use crate::removal::settle;
use crate::trees;

/// Gives you a worktree and a branch of your own.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct WorktreeAdd {
    /// Its name; yours if left out
    #[arg(value_name = "SLUG")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Where it begins; where the main checkout is if left out
    #[arg(long, value_name = "REF")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Its branch; comity/SLUG, if none is given
    #[arg(long, value_name = "NAME")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// The new worktree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeMade {
    /// Its name.
    pub slug: String,
    /// Where it is.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// The commit that it begins at.
    pub base: String,
    /// Files that were copied into it.
    pub copied: Vec<String>,
    /// Directories that are linked to those of the main checkout.
    pub linked: Vec<String>,
    /// What you should know.
    pub notes: Vec<String>,
}

impl Operation for WorktreeAdd {
    const NAME: &'static str = "worktree_add";
    const EFFECT: Effect = Effect::Changes;
    const WRITES_FILES: bool = true;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::Agents;
    const ROUTE: Route = Route { method: "POST", path: "/api/worktrees" };
    const COMMAND: &'static [&'static str] = &["worktree", "add"];
    type Output = WorktreeMade;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WorktreeMade>, Failure> {
        let place = app.projects().place(caller)?;
        let name = match (self.slug, caller.who) {
            (Some(slug), _) => slug,
            (None, Principal::Agent(_)) => app.engine().world().name_of(caller.who),
            (None, Principal::Human | Principal::System | Principal::Nobody) => {
                let hint = "name it: comity worktree add SLUG";
                return Err(comity_core::Refusal::bad_input("a worktree needs a name", hint).into());
            }
        };
        let slug = Slug::parse(&name).map_err(failure)?;
        make_room(app, &place, &slug);
        let branch = self.branch.as_deref().map(Branch::parse).transpose().map_err(failure)?;
        let driver = app.trees().driver(app.config(), place.repository().common_dir())?;
        let setup = setup(&place)?;
        let base = self.base.as_deref().unwrap_or("HEAD");
        let new = NewWorktree { slug: &slug, branch: branch.as_ref(), base, setup: &setup };
        let program = &app.config().worktree.create_hook;
        let confiner = if program.is_empty() { None } else { confiner(app, caller.who, None)? };
        let made = match trees::hook(program, confiner) {
            Some(hook) => driver.create_by_hook(&hook, &new),
            None => driver.claim_or_create(&new),
        };
        let made = made.map_err(|no| match failure(no) {
            Failure::Fault(problem) => {
                Failure::Fault(format!("{problem}; work in the shared directory, with locks"))
            }
            refused => refused,
        })?;
        let output = output(&made);
        let tree = Box::new(Tree {
            slug: output.slug.as_str().into(),
            path: output.path.as_str().into(),
            branch: output.branch.as_str().into(),
            base: output.base.as_str().into(),
        });
        if let Some(introduced) = { place.introduce(&app.engine().world()) } {
            ask(app, Principal::System, introduced)?;
        }
        ask(app, caller.who, Ask::AddWorktree { project: place.project(), tree })?;
        keep_ready(app, driver, base);
        Ok(Plan::Answer(output))
    }
}

/// Waits for one of the same name that was released, if it is still on its way. If it is kept, the name is taken.
fn make_room(app: &Application, place: &Place, slug: &Slug) {
    let before = app.engine().world().worktrees.get(place.project(), slug.as_str()).cloned();
    if let Some(worktree) = before
        && let Some(by) = worktree.released
    {
        // If it is kept, the caretaker finds that, too, and tells who has released it.
        let _ = settle(app, by, &worktree);
    }
}

/// Makes the next one ready, beside everything else.
fn keep_ready(app: &Application, driver: Arc<Driver>, base: &str) {
    let ready = app.config().worktree.ready.unwrap_or(1);
    if ready == 0 || !app.config().worktree.create_hook.is_empty() {
        return;
    }
    let base = base.to_owned();
    let filling = move || {
        if let Err(problem) = driver.fill(&base, ready) {
            eprintln!("comity: no worktree could be made ready: {problem}");
        }
    };
    // Without it the next one only takes longer.
    let _ = std::thread::Builder::new().name("worktree-pool".into()).spawn(filling);
}

fn setup(place: &Place) -> Result<Setup, Failure> {
    let settings = &place.settings()?.worktree;
    let paths = |texts: &[String]| -> Result<Vec<InnerPath>, Failure> {
        texts.iter().map(|text| InnerPath::parse(text).map_err(failure)).collect()
    };
    Ok(Setup { settings: paths(&settings.settings)?, links: paths(&settings.links)? })
}

fn output(made: &Made) -> WorktreeMade {
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let mut notes = vec![
        "paths that you know are of another checkout: translate them, and read the files again".to_owned(),
    ];
    let unlinked = made.setup.linked.iter().filter(|linked| !linked.is_ignored);
    notes.extend(unlinked.map(|linked| {
        format!(
            "git does not ignore the link {}; a pattern without a slash at its end would",
            linked.link.path.as_str()
        )
    }));
    notes.extend(made.setup.skipped.iter().map(|one| format!("{}: {}", one.path.display(), one.why)));
    if made.unfiltered > 0 {
        let count = made.unfiltered;
        notes.push(format!("{count} files are as they are stored: a filter of the repository was not run"));
    }
    notes.extend(made.warnings.iter().cloned());
    WorktreeMade {
        slug: made.slug.as_str().to_owned(),
        path: text(&made.path),
        branch: made.branch.as_ref().map(|branch| branch.as_str().to_owned()).unwrap_or_default(),
        base: made.base.commit.as_str().to_owned(),
        copied: made.setup.copied.iter().map(|copied| text(copied.path.as_ref())).collect(),
        linked: made.setup.linked.iter().map(|linked| linked.link.path.as_str().to_owned()).collect(),
        notes,
    }
}

impl fmt::Display for WorktreeMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorktreeMade { slug, path, branch, base, .. } = self;
        let short = base.get(..10).unwrap_or(base);
        write!(f, "{slug} is ready: cd {path}\n  on {branch}, from {short}")?;
        self.notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
    }
}
