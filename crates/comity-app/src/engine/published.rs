//! The world that everybody reads, and a guard against reading it twice at a time.
//!
//! A second look waits behind a writer that waits for the first one to end: for ever, on one thread. That needs bad luck,
//! so debug builds refuse every second look, every batch that is run under one, every wait for a turn (who has that may look,
//! too), every run of git and every page of the log that is read: what takes long would stop everybody.

use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use comity_core::World;

pub(super) struct PublishedWorld(RwLock<World>);

/// The world as the log has it. While this exists, nothing is published.
pub struct WorldView<'a> {
    world: RwLockReadGuard<'a, World>,
    #[cfg(debug_assertions)]
    _look: look::OnlyLook,
}

impl PublishedWorld {
    pub(super) fn new(world: World) -> PublishedWorld {
        PublishedWorld(RwLock::new(world))
    }

    #[track_caller]
    pub(super) fn view(&self) -> WorldView<'_> {
        #[cfg(debug_assertions)]
        let _look = look::OnlyLook::begin();
        let world = self.0.read().unwrap_or_else(PoisonError::into_inner);
        WorldView {
            world,
            #[cfg(debug_assertions)]
            _look,
        }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut World)) {
        assert_nobody_looks();
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// In debug builds: asserts that this thread may wait for whoever publishes.
#[track_caller]
pub(crate) fn assert_nobody_looks() {
    #[cfg(debug_assertions)]
    look::assert_none();
}

impl Deref for WorldView<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

#[cfg(debug_assertions)]
mod look {
    use std::cell::Cell;

    thread_local! {
        static IS_LOOKING: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) struct OnlyLook(());

    impl OnlyLook {
        #[track_caller]
        pub(super) fn begin() -> OnlyLook {
            assert_none();
            IS_LOOKING.set(true);
            OnlyLook(())
        }
    }

    impl Drop for OnlyLook {
        fn drop(&mut self) {
            IS_LOOKING.set(false);
        }
    }

    #[track_caller]
    pub(super) fn assert_none() {
        // Destructors may look after a panic: a second panic would hide the first.
        assert!(!IS_LOOKING.get() || std::thread::panicking(), "this thread is looking at the world already");
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn one_look_after_the_other() {
        let world = PublishedWorld::new(World::default());
        drop(world.view());
        drop(world.view());
        world.change(|_| {});
    }

    #[test]
    #[should_panic(expected = "looking at the world already")]
    fn no_look_within_a_look() {
        let world = PublishedWorld::new(World::default());
        let _first = world.view();
        world.view();
    }

    #[test]
    #[should_panic(expected = "looking at the world already")]
    fn no_batch_within_a_look() {
        let world = PublishedWorld::new(World::default());
        let _first = world.view();
        assert_nobody_looks();
    }
}
