//! Releases a worktree: it goes to the trash once it is proven to hold no work.

use std::fmt;

use comity_core::worktrees::{WorktreeAsk, WorktreeEvent, may_change};
use comity_core::{Ask, Event, Principal, Refusal};

use super::{failure, meant};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::worktrees::WorktreeRestore;
use crate::planted_panic::panic_at;
use crate::projects::PathBase;
use crate::removal::{RemovalOutcome, in_words, purge, settle};

/// Remove a worktree: it goes into the trash once it is proven that no work is in it; otherwise you are told why it stays.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeRemove {
    /// Its name; the one you are in if omitted
    pub slug: Option<String>,
    /// Wait until it is known whether it can go; people always wait
    #[serde(default)]
    pub wait: bool,
}

/// A worktree that goes, or is gone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeGoes {
    pub slug: String,
    /// Whether it is gone; else it goes as soon as it is proven that no work is in it.
    pub gone: bool,
    /// Its name in the trash, if it is there.
    pub id: Option<String>,
    /// How many days it stays there.
    pub kept_days: u64,
}

impl Operation for WorktreeRemove {
    type Output = WorktreeGoes;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WorktreeGoes>, Failure> {
        let place = app.projects().place(caller)?;
        let waits = self.wait || !matches!(caller.who, Principal::Agent(_));
        if let Some(done) = done_before(app, caller, &place, waits)? {
            return Ok(Plan::Answer(done));
        }
        let worktree = meant(app, caller, &place, self.slug.as_deref())?;
        may_change(&app.engine().world(), caller.who, &worktree)?;
        if worktree.owner != caller.who {
            caller.check_presence("remove another's worktree")?;
        }
        let (project, slug) = (worktree.project, worktree.tree.slug.to_string());
        if !waits {
            let asks = vec![Ask::Worktree(WorktreeAsk::Release { project, slug: slug.as_str().into() })];
            let kept_days = app.config().trash_days();
            let finish = move |_: &_, _: &_, _| WorktreeGoes::soon(slug, kept_days);
            return Ok(Plan::change(asks, finish));
        }
        let settled = match settle(app, caller.who, &worktree, caller.key.clone()) {
            Ok(settled) => settled,
            // When the call is repeated, the next server may have done the rest.
            Err(failure) => {
                return match done_before(app, caller, &place, waits)? {
                    Some(done) => Ok(Plan::Answer(done)),
                    None => Err(failure),
                };
            }
        };
        match settled {
            RemovalOutcome::Gone { id } => {
                let (app, kept_days) = (app.clone(), app.config().trash_days());
                // Otherwise the trash is emptied after the next removal.
                let purging = move || {
                    panic_at("worktree-trash");
                    purge(&app, &worktree);
                };
                let _ = std::thread::Builder::new().name("worktree-trash".into()).spawn(purging);
                Ok(Plan::Answer(WorktreeGoes { gone: true, id, ..WorktreeGoes::soon(slug, kept_days) }))
            }
            RemovalOutcome::Kept(kept) => Err(Refusal::NotAllowed {
                problem: format!("the worktree {slug} is kept: {}", in_words(&kept)),
                hint: "commit and merge what is in it, or leave it: it is in nobody's way".into(),
            }
            .into()),
        }
    }
}

/// What the same call, by its key, has already done, if the server ended before it could answer.
fn done_before(
    app: &Application,
    caller: &Caller,
    place: &PathBase,
    waits: bool,
) -> Result<Option<WorktreeGoes>, Failure> {
    let is_on_its_way = |slug: &str| {
        let world = app.engine().world();
        let worktree = world.worktrees.get(place.project(), slug);
        worktree.is_some_and(|worktree| worktree.released.is_some() || worktree.kept.is_some())
    };
    let soon = |slug| WorktreeGoes::soon(slug, app.config().trash_days());
    let goes = app.answered(caller).into_iter().flatten().find_map(|event| match event {
        Event::Worktree(WorktreeEvent::Removed { slug, .. }) => {
            Some(WorktreeGoes { gone: true, ..soon(slug.into()) })
        }
        Event::Worktree(WorktreeEvent::Released { slug, .. }) if !waits => Some(soon(slug.into())),
        Event::Worktree(WorktreeEvent::Released { slug, .. }) if !is_on_its_way(&slug) => {
            Some(WorktreeGoes { gone: true, ..soon(slug.into()) })
        }
        _ => None,
    });
    let Some(mut goes) = goes else { return Ok(None) };
    if !goes.gone {
        return Ok(Some(goes));
    }
    let driver = app.trees().driver(app.config(), place.repository().common_dir())?;
    let trashed = driver.trashed().map_err(failure)?;
    let named = trashed.iter().filter(|one| one.slug.as_ref().is_some_and(|slug| slug.as_str() == goes.slug));
    goes.id = named.max_by_key(|one| one.removed_at).map(|one| one.id.clone());
    Ok(Some(goes))
}

impl WorktreeGoes {
    fn soon(slug: String, kept_days: u64) -> WorktreeGoes {
        WorktreeGoes { slug, gone: false, id: None, kept_days }
    }
}

impl fmt::Display for WorktreeGoes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorktreeGoes { slug, kept_days, .. } = self;
        match self.gone {
            true => write!(
                f,
                "{slug} is in the trash for {kept_days} days; back with: {}",
                next_call::<WorktreeRestore>([("slug", slug.as_str().into())])
            ),
            false => write!(
                f,
                "{slug} is released: it goes to the trash once Comity has proven that no work is in it; if it stays, you \
                 are told"
            ),
        }
    }
}
