//! Looks at the files of lapsed locks: with uncommitted work a lock is kept, else it is free.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use comity_core::locks::{Hold, Lock};
use comity_core::{Ask, Fence, Principal, World};

use crate::engine::{Engine, Job, Nobody};

/// How long git may take; the rules wait a little longer.
const LOOK_MAX: Duration = Duration::from_secs(8);

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
        look(&engine);
        while !engine.feed().is_stopped() && woken.recv().is_ok() {
            look(&engine);
        }
    })
}

fn has_lapsed(world: &World) -> bool {
    world.locks.lapsed().next().is_some()
}

fn look(engine: &Engine) {
    let lapsed: Vec<Lock> = engine.world().locks.lapsed().cloned().collect();
    for lock in lapsed {
        let dirty = has_work(engine, &lock);
        report(engine, lock.fence, dirty);
    }
}

fn report(engine: &Engine, fence: Fence, dirty: bool) {
    let asks = vec![Ask::Inspected { fence, dirty }];
    engine.submit(Job { who: Principal::System.into(), asks, key: None, asker: Box::new(Nobody) });
    engine.drive();
}

/// Whether there is uncommitted work under the lock. What nobody can tell counts as work.
fn has_work(engine: &Engine, lock: &Lock) -> bool {
    debug_assert_eq!(lock.hold, Hold::Lapsed);
    let project = engine.world().projects.get(&lock.wanted.project).cloned();
    let Some(project) = project else { return true };
    let common_dir = Path::new(&*project.common_dir);
    comity_git::has_uncommitted_work(common_dir, &lock.wanted.pattern, project.case, LOOK_MAX).unwrap_or(true)
}
