//! Looks at the files of lapsed locks: with uncommitted work a lock is kept, else it is free. What is kept is looked at
//! again now and then: once its files are clean, it is free by itself.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use comity_core::limits::FILES_LEFT_MAX;
use comity_core::locks::Lock;
use comity_core::{Ask, Fence, Principal, World};

use crate::engine::{Engine, Job, Nobody};
use crate::whereabouts::worktrees_of;

/// How long git may take; the rules wait a little longer.
const LOOK_MAX: Duration = Duration::from_secs(8);
/// How often orphaned work is looked at again, as long as there is some.
const AGAIN: Duration = Duration::from_secs(5);

/// Runs until the engine stops. It sleeps until the log grows, and looks at every lock that has lapsed.
pub fn run(engine: &Engine) -> std::io::Result<std::thread::JoinHandle<()>> {
    let engine = engine.clone();
    std::thread::Builder::new().name("inspector".into()).spawn(move || {
        let (wake, woken) = mpsc::sync_channel::<()>(1);
        let watched = engine.clone();
        let _woken = engine.feed().wake_while(std::sync::Arc::new(move |_| {
            // Most of the time nothing has lapsed: that is found out here, without waking a thread.
            if watched.feed().is_stopped() || has_lapsed(&watched.world()) {
                let _ = wake.try_send(());
            }
        }));
        // Locks may have lapsed before this server started.
        let mut again_at = Instant::now();
        while !engine.feed().is_stopped() {
            let lapsed: Vec<Lock> = engine.world().locks.lapsed().cloned().collect();
            look(&engine, lapsed);
            let has_orphans = engine.world().locks.orphaned().next().is_some();
            if has_orphans && Instant::now() >= again_at {
                let orphaned: Vec<Lock> = engine.world().locks.orphaned().cloned().collect();
                look(&engine, orphaned);
                again_at = Instant::now() + AGAIN;
            }
            let ended = match has_orphans {
                true => woken.recv_timeout(AGAIN) == Err(mpsc::RecvTimeoutError::Disconnected),
                false => woken.recv().is_err(),
            };
            if ended {
                return;
            }
        }
    })
}

fn has_lapsed(world: &World) -> bool {
    world.locks.lapsed().next().is_some()
}

fn look(engine: &Engine, locks: Vec<Lock>) {
    for lock in locks {
        let left = work_left(engine, &lock);
        report(engine, lock.fence, left);
    }
}

fn report(engine: &Engine, fence: Fence, left: Option<Vec<Box<str>>>) {
    let asks = vec![Ask::Inspected { fence, left }];
    engine.submit(Job { who: Principal::System.into(), asks, key: None, asker: Box::new(Nobody) });
    engine.drive();
}

/// The files with uncommitted work under the lock, if there is any. What nobody can tell counts as work.
fn work_left(engine: &Engine, lock: &Lock) -> Option<Vec<Box<str>>> {
    let (project, among) = {
        let world = engine.world();
        (world.projects.get(&lock.wanted.project).cloned(), worktrees_of(&world, lock))
    };
    let Some(project) = project else { return Some(vec![]) };
    let (common_dir, meant) = (Path::new(&*project.common_dir), (&lock.wanted.pattern, &among));
    let found = comity_git::uncommitted_work(common_dir, meant, project.case, LOOK_MAX, FILES_LEFT_MAX);
    let files = found.unwrap_or_else(|_| Some(vec![]))?;
    Some(files.into_iter().map(Into::into).collect())
}
