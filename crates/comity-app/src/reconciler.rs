//! Threads that keep something true: they sleep until the world has changed in a way that matters to them, somebody
//! rings, or a time has come that they set.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use comity_core::World;

use crate::engine::Engine;
use crate::planted_panic::panic_at;

/// Wakes a reconciler; ringing twice is like ringing once.
#[derive(Clone)]
pub(crate) struct Bell(SyncSender<()>);

/// When a reconciler looks again, unless it is woken before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NextLook {
    At(Instant),
    /// Only when it is woken.
    Woken,
}

impl Bell {
    /// A bell, and its receiver.
    pub(crate) fn new() -> (Bell, Receiver<()>) {
        let (bell, heard) = sync_channel(1);
        (Bell(bell), heard)
    }

    pub(crate) fn ring(&self) {
        let _ = self.0.try_send(());
    }
}

impl NextLook {
    pub(crate) fn after(pause: Duration) -> NextLook {
        NextLook::At(Instant::now() + pause)
    }
}

impl From<Option<Instant>> for NextLook {
    fn from(at: Option<Instant>) -> NextLook {
        at.map_or(NextLook::Woken, NextLook::At)
    }
}

/// Runs a reconciler on a thread with this name; see [`run_here`].
pub(crate) fn run(
    engine: &Engine,
    name: &str,
    bell: (Bell, Receiver<()>),
    version: impl Fn(&World) -> u64 + Send + Sync + 'static,
    reconcile: impl FnMut() -> NextLook + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let engine = engine.clone();
    std::thread::Builder::new().name(name.into()).spawn(move || run_here(&engine, bell, version, reconcile))
}

/// Runs `reconcile` at once, and then whenever `version` of the world has changed, the bell rings or its time has
/// come, until the engine stops. `version` is called after every batch, so it has to be quick.
pub(crate) fn run_here(
    engine: &Engine,
    (bell, heard): (Bell, Receiver<()>),
    version: impl Fn(&World) -> u64 + Send + Sync + 'static,
    mut reconcile: impl FnMut() -> NextLook,
) {
    let _waking = engine.feed().wake_while(on_change(engine, version, move || bell.ring()));
    while !engine.feed().is_stopped() {
        panic_at(std::thread::current().name().unwrap_or_default());
        let woken = match reconcile() {
            NextLook::Woken => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
            NextLook::At(at) => heard.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        if woken == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

/// A waker that acts when `version` of the world has changed, and when the engine stops.
pub fn on_change(
    engine: &Engine,
    version: impl Fn(&World) -> u64 + Send + Sync + 'static,
    act: impl Fn() + Send + Sync + 'static,
) -> crate::engine::Waker {
    let known = AtomicU64::new(version(&engine.world()));
    let engine = engine.clone();
    Arc::new(move |_| {
        let now = version(&engine.world());
        if known.swap(now, Ordering::Relaxed) != now || engine.feed().is_stopped() {
            act();
        }
    })
}
