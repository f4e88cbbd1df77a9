//! Removes a worktree, if it is proven to hold no work.

use std::path::Path;
use std::sync::PoisonError;
use std::time::SystemTime;

use comity_core::redact::redact;
use comity_core::worktrees::{Worktree, WorktreeAsk};
use comity_core::{Ask, Key, Principal, Refusal, World};
use comity_git::worktree::{Driver, InnerPath, KeepCause, KeepReason, RemovalRules, WorktreeHook};

use crate::application::Application;
use crate::catalog::next_call;
use crate::engine::Failed;
use crate::operation::Failure;
use crate::operations::guard::confiner;
use crate::operations::worktrees::WorktreeRestore;
use crate::planted_panic::panic_at;
use crate::worktree_drivers;

/// What became of a worktree that was to be removed.
pub(crate) enum RemovalOutcome {
    /// It is in the trash under this name; one that the user's program has removed has none.
    Gone { id: Option<String> },
    /// It stays, for these reasons.
    Kept(Vec<KeepReason>),
}

/// Proves that a worktree holds no work and moves it to the trash, or says what is in it.
///
/// In each project only one runs at a time: the second finds what the first has done. A call that asks for it gives
/// its key. Before anything is moved, this is recorded: the next server settles what this one does not live to
/// record.
pub(crate) fn settle(
    app: &Application,
    by: Principal,
    worktree: &Worktree,
    key: Option<Key>,
) -> Result<RemovalOutcome, Failure> {
    let project = app.engine().world().projects.get(&worktree.project).cloned();
    let project = project.ok_or_else(|| Failure::fault("the project of the worktree is not known"))?;
    let common_dir = Path::new(&*project.common_dir);
    let (driver, removal) = app.trees().for_removal(app.config(), common_dir)?;
    let _only_one = removal.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_there_still(&app.engine().world(), worktree) {
        let problem = format!("the worktree {} is gone already", worktree.tree.slug);
        return Err(Refusal::NotFound {
            problem,
            hint: format!("back with: {}", next_call::<WorktreeRestore>([("slug", "SLUG".into())])),
        }
        .into());
    }
    // If it cannot be undone, the proof or the crash leftovers show it.
    let _ = driver.take_back_interrupted(Path::new(&*worktree.tree.path));
    let build_dirs = build_dirs(app, common_dir, worktree)?;
    let hook = hook(app, by, worktree)?;
    let mut key = key;
    let removed = remove(app, by, worktree, &driver, &build_dirs, hook.as_ref(), |worktree| {
        if is_released(&app.engine().world(), worktree) {
            return Ok(());
        }
        let asked = WorktreeAsk::Release { project: worktree.project, slug: worktree.tree.slug.clone() };
        app.engine().ask_with_key(by, vec![Ask::Worktree(asked)], key.take()).map(drop)
    });
    let (id, rescue) = match removed {
        Ok(gone) => {
            panic_at("worktree-removed");
            gone
        }
        Err(kept) => match driver.trashed_from(Path::new(&*worktree.tree.path)) {
            // It went before, but the server did not live to record it.
            Ok(Some(trashed)) => (Some(trashed.id), trashed.saved_as.unwrap_or_default()),
            Ok(None) | Err(_) => {
                // The caller is told right here; the reaper does not try it again.
                if worktree.released.is_none() && is_released(&app.engine().world(), worktree) {
                    keep(app, worktree, &in_words(&kept))?;
                }
                return Ok(RemovalOutcome::Kept(kept));
            }
        },
    };
    let (project, slug) = (worktree.project, worktree.tree.slug.clone());
    let asked = Ask::Worktree(WorktreeAsk::Remove { project, slug, rescue: rescue.into() });
    app.engine().ask_with_key(by, vec![asked], key).map_err(failure)?;
    Ok(RemovalOutcome::Gone { id })
}

/// Records that a worktree which was to go stays.
pub(crate) fn keep(app: &Application, worktree: &Worktree, why: &str) -> Result<(), Failure> {
    let (project, slug) = (worktree.project, worktree.tree.slug.clone());
    let asked = WorktreeAsk::Keep { project, slug, why: redact(why).into() };
    app.engine().ask(Principal::System, Ask::Worktree(asked)).map(drop).map_err(failure)
}

fn failure(failed: Failed) -> Failure {
    match failed {
        Failed::Refused(refusal) => refusal.into(),
        Failed::Fault(problem) => Failure::Fault(problem),
    }
}

/// Empties the trash of what has been there for as long as the settings say; what cannot be proven again stays.
pub(crate) fn purge(app: &Application, worktree: &Worktree) {
    let project = app.engine().world().projects.get(&worktree.project).cloned();
    let driver = project.map(|project| app.trees().driver(app.config(), Path::new(&*project.common_dir)));
    if let Some(Ok(driver)) = driver {
        // What could not be purged now is tried again after the next removal.
        let _ = driver.purge(SystemTime::now(), app.config().trash_kept_for());
    }
}

/// Whether the only reason to keep it is that somebody is working there, who may be done in a moment.
pub(crate) fn may_pass(kept: &[KeepReason]) -> bool {
    kept.iter().all(|kept| match kept.why {
        KeepCause::InUse | KeepCause::Process | KeepCause::Changed => true,
        KeepCause::NotOurs
        | KeepCause::Locked
        | KeepCause::Modified
        | KeepCause::Untracked
        | KeepCause::Ignored
        | KeepCause::Hidden
        | KeepCause::Unfinished
        | KeepCause::Commits
        | KeepCause::Stash
        | KeepCause::Repository
        | KeepCause::Unknown => false,
    })
}

pub(crate) fn in_words(kept: &[KeepReason]) -> String {
    kept.iter().map(ToString::to_string).collect::<Vec<String>>().join("; ")
}

fn remove(
    app: &Application,
    by: Principal,
    worktree: &Worktree,
    driver: &Driver,
    build_dirs: &[InnerPath],
    hook: Option<&WorktreeHook>,
    release: impl FnOnce(&Worktree) -> Result<(), Failed>,
) -> Result<(Option<String>, String), Vec<KeepReason>> {
    let in_use = |path: &Path| is_in_use(&app.engine().world(), by, worktree, path);
    let proof = driver
        .prove_removable(Path::new(&*worktree.tree.path), RemovalRules { build_dirs, in_use: &in_use })?;
    release(worktree)
        .map_err(|failed| vec![KeepReason::unknown(failure(failed).to_text(crate::Wording::Commands))])?;
    match hook {
        Some(hook) => driver.remove_by_hook(hook, &proof).map(|_| (None, String::new())),
        None => driver.remove(proof).map(|gone| (Some(gone.id), gone.saved_as.unwrap_or_default())),
    }
}

/// The user's program that removes it, if there is one.
fn hook(app: &Application, by: Principal, worktree: &Worktree) -> Result<Option<WorktreeHook>, Failure> {
    let program = &app.config().worktree.remove_hook;
    let removed = Path::new(&*worktree.tree.path);
    let confiner = if program.is_empty() { None } else { confiner(app, by, Some(removed))? };
    Ok(worktree_drivers::hook(program, confiner))
}

fn is_released(world: &World, worktree: &Worktree) -> bool {
    let now = world.worktrees.get(worktree.project, &worktree.tree.slug);
    now.is_some_and(|now| now.released.is_some())
}

fn is_there_still(world: &World, worktree: &Worktree) -> bool {
    let now = world.worktrees.get(worktree.project, &worktree.tree.slug);
    now.is_some_and(|now| now.added == worktree.added)
}

/// The project's directories that a build recreates: from its main checkout, where the worktree's owner does not
/// write.
fn build_dirs(app: &Application, common_dir: &Path, worktree: &Worktree) -> Result<Vec<InnerPath>, Failure> {
    let at = worktree_drivers::main_checkout(common_dir).unwrap_or_else(|| Path::new(&*worktree.tree.path));
    let Ok(place) = app.projects().at(at) else { return Ok(Vec::new()) };
    let dirs = place.settings()?.worktree.build_dirs.iter();
    dirs.map(|dir| InnerPath::parse(dir).map_err(Failure::fault)).collect()
}

/// Whether somebody else who is live works in it, or its owner's children do.
fn is_in_use(world: &World, by: Principal, worktree: &Worktree, path: &Path) -> bool {
    world.agents.live().filter(|agent| Some(agent.id) != by.agent()).any(|agent| {
        let is_inside = agent.profile.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(path));
        let is_owner = worktree.owner.agent() == Some(agent.id);
        is_inside || is_owner
    })
}
