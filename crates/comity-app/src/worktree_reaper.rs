//! The reaper of released worktrees: they go as soon as they are proven to hold no work, or are kept.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use comity_core::worktrees::Worktree;
use comity_core::{Principal, World};

use crate::application::Application;
use crate::operation::Failure;
use crate::reconciler::{self, Bell};
use crate::removal::{RemovalOutcome, in_words, keep, may_pass, purge, settle};

/// How long after a release somebody may still be at work in it, such as an agent that is ending, before it is
/// checked again.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// How often that is repeated, each time after twice the wait, before it is kept.
const LOOKS_MAX: u32 = 7;

/// Reaps released worktrees until the engine stops, and finishes what a crash has interrupted.
pub fn run(app: &Application) -> std::io::Result<std::thread::JoinHandle<()>> {
    let (app, engine) = (app.clone(), app.engine().clone());
    let (mut waiting, mut has_recovered) = (BusyWorktrees::default(), false);
    let releases = |world: &World| world.worktrees.releases() as u64;
    reconciler::run(&engine, "worktree reaper", Bell::new(), releases, move || {
        if !std::mem::replace(&mut has_recovered, true) {
            recover(&app);
        }
        look(&app, &mut waiting).into()
    })
}

/// Those in which somebody is working, by the record that added them: how often they were checked, and when next.
#[derive(Default)]
struct BusyWorktrees(HashMap<u64, (u32, Instant)>);

/// Checks every released worktree that is due; returns when the next one is.
fn look(app: &Application, waiting: &mut BusyWorktrees) -> Option<Instant> {
    let released: Vec<Worktree> = app.engine().world().worktrees.released().cloned().collect();
    waiting.0.retain(|added, _| released.iter().any(|worktree| worktree.added == *added));
    for worktree in &released {
        let (looks, due) = waiting.0.get(&worktree.added).copied().unwrap_or((0, Instant::now()));
        if due > Instant::now() || app.engine().feed().is_stopped() {
            continue;
        }
        let by = worktree.released.unwrap_or(Principal::System);
        let why = match settle(app, by, worktree, None) {
            Ok(RemovalOutcome::Gone { .. }) => {
                purge(app, worktree);
                continue;
            }
            Ok(RemovalOutcome::Kept(kept)) if may_pass(&kept) && looks + 1 < LOOKS_MAX => {
                let again = Instant::now() + FIRST_WAIT * 2_u32.pow(looks);
                waiting.0.insert(worktree.added, (looks + 1, again));
                continue;
            }
            Ok(RemovalOutcome::Kept(kept)) => in_words(&kept),
            Err(Failure::Refused(refusal)) => refusal.to_string(),
            Err(Failure::Fault(problem)) => problem,
        };
        // It is kept all the same; only nobody is told.
        if let Err(failed) = keep(app, worktree, &why) {
            eprintln!("comity: {}", failed.to_text(crate::Wording::Commands));
        }
    }
    waiting.0.values().map(|(_, due)| *due).min()
}

/// Removes what a killed server left where nobody looks, and watches the worktrees that it made ready.
fn recover(app: &Application) {
    let projects: Vec<_> = app.engine().world().projects.values().cloned().collect();
    for project in projects {
        let common_dir = Path::new(&*project.common_dir);
        if !app.trees().has_any(app.config(), common_dir) {
            continue;
        }
        // A git that outlived that server may take its time.
        let Ok(driver) = app.trees().driver(app.config(), common_dir) else { continue };
        let recovering = move || {
            if let Err(problem) = driver.recover() {
                eprintln!("comity: what is left of worktrees stays for now: {problem}");
            }
        };
        let _tried_again_by_the_next_filling =
            std::thread::Builder::new().name("worktree-pool".into()).spawn(recovering);
    }
}
