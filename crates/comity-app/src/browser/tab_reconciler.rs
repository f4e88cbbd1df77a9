//! Keeps the browser as the world wants it: closes what was freed, opens again what was lost, and reports losses.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use comity_browser::BrowserEvent;
use comity_core::limits::{RECLAIM_AFTER, RECLAIM_IDLE};
use comity_core::pools::{Loss, PoolAsk, SlotId};
use comity_core::{Ask, Millis, Principal, World};

use super::running::{PATIENCE, wanted};
use super::start::was_left;
use super::{BrowserPhase, BrowserService, TABS, lock, quote};
use crate::application::Application;
use crate::reconciler::{self, Bell, NextLook};

/// A browser without tabs is ended after this long.
const UNUSED: Duration = Duration::from_secs(300);
/// How long it sleeps with nothing to do, unless woken.
const IDLE: Duration = Duration::from_secs(3_600);
/// While the browser runs it is checked at least this often: agents that ended leave containers, and those waiting
/// may be served.
const AGAIN: Duration = Duration::from_secs(60);
/// How long to wait for a start before ending the browser.
const START: Duration = Duration::from_secs(60);
/// Failed starts before tabs are given up.
const STARTS_MAX: u32 = 3;

/// Runs until the engine stops, and then closes the browser.
pub fn run(app: &Application) -> std::io::Result<std::thread::JoinHandle<()>> {
    let app = app.clone();
    std::thread::Builder::new().name("browser".into()).spawn(move || {
        let (bell, heard) = Bell::new();
        *lock(&app.browser().bell) = Some(bell.clone());
        let mut tabs = TabReconciler { app: app.clone(), unused_since: None };
        tabs.begin();
        reconciler::run_here(app.engine(), (bell, heard), tabs_version, || {
            let notices = std::mem::take(&mut *lock(&app.browser().notices));
            notices.into_iter().for_each(|notice| tabs.happened(notice));
            NextLook::after(tabs.look())
        });
        app.browser().end();
        // One that could not be attached to is not left running either.
        if !app.browser().is_moved.load(Ordering::Relaxed) {
            super::start::end_left(&app);
        }
    })
}

/// Changes whenever tabs are taken, freed or waited for.
fn tabs_version(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    if let Some(pool) = world.pools.get(TABS) {
        pool.slots().for_each(|slot| (slot.id, slot.owner).hash(&mut hasher));
        pool.in_line().for_each(|place| place.ticket.hash(&mut hasher));
    }
    hasher.finish()
}

struct TabReconciler {
    app: Application,
    unused_since: Option<Instant>,
}

impl TabReconciler {
    /// Takes over what an earlier server left.
    fn begin(&mut self) {
        let is_wanted = !wanted(&self.app.engine().world()).is_empty();
        if is_wanted {
            self.open_again();
        } else if was_left(&self.app) {
            // Nobody has tabs: whatever still runs there is ended.
            super::start::end_left(&self.app);
        }
    }

    /// Makes the browser as the world wants it; returns when to look again.
    fn look(&mut self) -> Duration {
        let service = self.app.browser();
        let slots = wanted(&self.app.engine().world());
        lock(&service.notes).retain(|id, _| slots.iter().any(|slot| slot.id == *id));
        let Some(running) = service.if_running() else {
            self.unused_since = None;
            return IDLE;
        };
        running.close_unwanted(&self.app, PATIENCE);
        running.remove_empty(&self.app);
        super::downloads::forget_ended(&self.app);
        if !slots.is_empty() {
            self.unused_since = None;
            return self.reclaim().min(AGAIN);
        }
        let unused = self.unused_since.get_or_insert_with(Instant::now).elapsed();
        if unused < UNUSED {
            return UNUSED - unused;
        }
        drop(running);
        service.end();
        IDLE
    }

    /// Takes back unused tabs while somebody waits; returns when to look again.
    fn reclaim(&self) -> Duration {
        let now = self.app.engine().now();
        let (waited, slots): (Option<Millis>, Vec<SlotId>) = {
            let world = self.app.engine().world();
            let Some(pool) = world.pools.get(TABS) else { return IDLE };
            let waited = pool.in_line().next().map(|first| now.since(first.since));
            (waited, pool.slots().map(|slot| slot.id).collect())
        };
        let Some(waited) = waited else { return IDLE };
        if waited < RECLAIM_AFTER {
            return Duration::from_millis(RECLAIM_AFTER.0 - waited.0);
        }
        let service = self.app.browser();
        let mut next = IDLE;
        for slot in slots {
            let idle = now.since(service.note(&self.app, slot, |note| note.used));
            if idle < RECLAIM_IDLE {
                next = next.min(Duration::from_millis(RECLAIM_IDLE.0 - idle.0));
                continue;
            }
            // Refused while it would not be fair.
            let _ = self.app.engine().ask(Principal::System, Ask::Pool(PoolAsk::Reclaim { slot, idle }));
        }
        next
    }

    fn happened(&mut self, notice: BrowserEvent) {
        let service = self.app.browser();
        match notice {
            BrowserEvent::TabOpened { tab, container, url, opener } => {
                service.popped_up(&self.app, &tab, &container, &url, opener.as_ref());
            }
            BrowserEvent::TabClosed { tab } => {
                let lost = service.if_running().and_then(|running| running.slot_of(&tab));
                if let Some(slot) = lost {
                    self.lose(slot, Loss::ClosedByUser);
                }
            }
            BrowserEvent::PageLost { tab, url } => {
                if let Some(slot) = service.if_running().and_then(|running| running.slot_of(&tab)) {
                    let was = quote(&url);
                    let gone = format!("the page at {was} was gone: it crashed, or left by itself");
                    service.remark(&self.app, slot, gone);
                }
            }
            BrowserEvent::DialogOpened { tab, dialog } => {
                if let Some(slot) = service.if_running().and_then(|running| running.slot_of(&tab)) {
                    let says = quote(&dialog.message);
                    service.remark(
                        &self.app,
                        slot,
                        format!("the page shows a dialog ({}: {says})", dialog.kind),
                    );
                }
            }
            BrowserEvent::Download(download) => service.downloaded(&self.app, &download),
            BrowserEvent::Died => {
                {
                    let mut phase = lock(&service.phase);
                    // Unless whoever found it dead has already started another one.
                    if matches!(&*phase, BrowserPhase::On(running) if !running.browser.is_alive()) {
                        *phase = BrowserPhase::Off;
                    }
                }
                self.open_again();
            }
        }
    }

    /// Opens all tabs of the world; those that fail repeatedly are lost.
    fn open_again(&self) {
        let mut failed = Vec::new();
        for _ in 0..STARTS_MAX {
            failed = self.open_all();
            if failed.is_empty() {
                return;
            }
        }
        failed.into_iter().for_each(|slot| self.lose(slot, Loss::BrowserDied));
    }

    /// Opens all tabs of the world; returns those that failed.
    fn open_all(&self) -> Vec<SlotId> {
        let service = self.app.browser();
        let slots: Vec<SlotId> = wanted(&self.app.engine().world()).iter().map(|slot| slot.id).collect();
        let mut failed = Vec::new();
        for (at, slot) in slots.iter().enumerate() {
            if self.app.engine().feed().is_stopped() {
                return Vec::new();
            }
            if service.tab(&self.app, *slot, PATIENCE).is_ok() {
                continue;
            }
            if service.if_running().is_none() {
                // It cannot be started: the others need not try.
                failed.extend(&slots[at..]);
                return failed;
            }
            failed.push(*slot);
        }
        failed
    }

    fn lose(&self, slot: SlotId, loss: Loss) {
        // Refused if it was freed in the meantime.
        let _ = self.app.engine().ask(Principal::System, Ask::Pool(PoolAsk::Lose { slot, loss }));
    }
}

impl BrowserService {
    /// Ends the browser, after its start if it is starting.
    fn end(&self) {
        let is_starting = |phase: &mut BrowserPhase| matches!(phase, BrowserPhase::Starting);
        let waited = self.moved.wait_timeout_while(lock(&self.phase), START, is_starting);
        let (mut phase, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let BrowserPhase::On(running) = &*phase else { return };
        let running = running.clone();
        // Nobody may start another one with the same profile meanwhile.
        *phase = BrowserPhase::Ending;
        drop(phase);
        running.browser.close();
        *lock(&self.phase) = BrowserPhase::Off;
        self.moved.notify_all();
    }
}
