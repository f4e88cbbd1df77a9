//! Inspects the files of lapsed locks: a lock with uncommitted work is kept, otherwise it becomes free. Kept ones are
//! inspected again, less and less often: once the files are clean, they become free.
//!
//! All locks of a project are inspected together, each project on its own thread, so that a hanging one delays no
//! other; and nobody's first inspection waits for a repeated one elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use comity_core::limits::FILES_LEFT_MAX;
use comity_core::locks::{Hold, Lock, LockAsk};
use comity_core::{Ask, Fence, Principal, ProjectId, World};

use crate::engine::Engine;
use crate::lock_worktrees::may_be_in;
use crate::planted_panic::panic_at;
use crate::reconciler::{self, Bell, NextLook};

/// How long git may take; the rules wait a little longer.
const LOOK_MAX: Duration = Duration::from_secs(8);
/// The shortest and the longest time between inspections of orphaned work.
const AGAIN: Duration = Duration::from_secs(5);
const AGAIN_MAX: Duration = Duration::from_secs(60);
/// Projects that are inspected at a time; the others wait.
const LOOKS_MAX: usize = 16;

/// Inspects every lapsed lock until the engine stops.
pub fn run(engine: &Engine) -> std::io::Result<std::thread::JoinHandle<()>> {
    let (bell, heard) = Bell::new();
    let mut locks = LapsedLocks {
        engine: engine.clone(),
        bell: bell.clone(),
        looks: Looks::default(),
        again: BTreeMap::new(),
        soon: Duration::ZERO,
    };
    let lapsed = |world: &World| {
        let fences = world.locks.lapsed().map(|lock| lock.fence.0);
        fences.fold(0, |all: u64, fence| all.wrapping_mul(31).wrapping_add(fence))
    };
    reconciler::run(engine, "lapsed locks", (bell, heard), lapsed, move || locks.look_at_all())
}

struct LapsedLocks {
    engine: Engine,
    bell: Bell,
    looks: Looks,
    again: BTreeMap<ProjectId, NextOrphanLook>,
    /// How soon newly found orphaned work is inspected: at once for what earlier servers left.
    soon: Duration,
}

/// When the orphaned work of a project is inspected again.
struct NextOrphanLook {
    at: Instant,
    pause: Duration,
    known: BTreeSet<Fence>,
}

/// Inspections in progress: of the lapsed or the orphaned locks of a project.
#[derive(Clone, Default)]
struct Looks(Arc<Mutex<BTreeSet<(ProjectId, bool)>>>);

impl LapsedLocks {
    fn look_at_all(&mut self) -> NextLook {
        let locks = |hold| by_project(&self.engine.world(), hold);
        let (lapsed, orphaned) = (locks(Hold::Lapsed), locks(Hold::Orphaned));
        for (project, locks) in lapsed {
            self.look(project, locks, Hold::Lapsed);
        }
        self.look_again(orphaned);
        self.soon = AGAIN;
        self.again.values().map(|again| again.at).min().into()
    }

    /// Inspects orphaned work that is due.
    fn look_again(&mut self, orphaned: BTreeMap<ProjectId, Vec<Lock>>) {
        let (now, soon) = (Instant::now(), self.soon);
        self.again.retain(|project, _| orphaned.contains_key(project));
        for (project, locks) in orphaned {
            let known: BTreeSet<Fence> = locks.iter().map(|lock| lock.fence).collect();
            let new = NextOrphanLook { at: now + soon, pause: AGAIN, known: BTreeSet::new() };
            let again = self.again.entry(project).or_insert(new);
            if !known.is_subset(&again.known) {
                (again.pause, again.at) = (AGAIN, again.at.min(now + soon));
            }
            again.known = known;
            if again.at <= now {
                again.at = now + again.pause;
                again.pause = (again.pause * 2).min(AGAIN_MAX);
                self.look(project, locks, Hold::Orphaned);
            }
        }
    }

    /// Inspects locks of one project on another thread, unless that is in progress.
    fn look(&self, project: ProjectId, locks: Vec<Lock>, hold: Hold) {
        let what = (project, hold == Hold::Lapsed);
        {
            let mut looks = self.looks.all();
            if looks.len() >= LOOKS_MAX || !looks.insert(what) {
                return;
            }
        }
        let (engine, looks, bell) = (self.engine.clone(), self.looks.clone(), self.bell.clone());
        let work = move || {
            panic_at("look");
            look(&engine, project, &locks);
            looks.all().remove(&what);
            // More may have lapsed meanwhile.
            bell.ring();
        };
        if std::thread::Builder::new().name("look".into()).spawn(work).is_err() {
            // The rules take what was not inspected in time for work, and it is inspected again.
            self.looks.all().remove(&what);
        }
    }
}

impl Looks {
    fn all(&self) -> MutexGuard<'_, BTreeSet<(ProjectId, bool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn by_project(world: &World, hold: Hold) -> BTreeMap<ProjectId, Vec<Lock>> {
    let mut all: BTreeMap<ProjectId, Vec<Lock>> = BTreeMap::new();
    let mut add = |lock: &Lock| all.entry(lock.wanted.project).or_default().push(lock.clone());
    match hold {
        Hold::Lapsed => world.locks.lapsed().for_each(&mut add),
        Hold::Orphaned => world.locks.orphaned().for_each(&mut add),
        Hold::Held => {}
    }
    all
}

/// Looks for uncommitted work under locks of one project, and tells the engine. What nobody can tell counts as work.
fn look(engine: &Engine, project: ProjectId, locks: &[Lock]) {
    let (project, within) = {
        let world = engine.world();
        let within: Vec<_> = locks.iter().map(|lock| may_be_in(&world, lock)).collect();
        (world.projects.get(&project).cloned(), within)
    };
    let found = project.map(|project| {
        let meant: Vec<_> = locks.iter().map(|lock| &lock.wanted.pattern).zip(&within).collect();
        let (at, case) = (Path::new(&*project.common_dir), project.case);
        comity_git::uncommitted_works(at, &meant, case, LOOK_MAX, FILES_LEFT_MAX)
    });
    let mut found = found.into_iter().flatten();
    for lock in locks {
        let files = found.next().and_then(Result::ok).unwrap_or_else(|| Some(vec![]));
        let left = files.map(|files| files.into_iter().map(Into::into).collect());
        let asks = vec![Ask::Lock(LockAsk::Inspected { fence: lock.fence, left })];
        engine.tell(Principal::System, asks);
    }
    engine.run_pending();
}
