//! The browser that agents share. The world says which tabs there are and whose they are; this makes it so.
//!
//! Nobody else talks to Firefox. It starts when the first tab is wanted, outlives a killed server, and is taken over
//! by the next one: tabs are recognized by their containers and addresses, and missing ones are opened again.

mod captures;
mod cell;
mod downloads;
mod errors;
mod handover;
mod popups;
mod running;
mod start;
mod tab_reconciler;
mod untrusted;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use comity_browser::{BrowserError, BrowserEvent, Tab};
use comity_core::Timestamp;
use comity_core::pools::SlotId;

use crate::application::Application;
use crate::operation::Failure;
use crate::planted_panic::panic_at;
use crate::reconciler::Bell;
pub(crate) use captures::Capturing;
pub(crate) use downloads::{DOWNLOADS, KeptDownload, SCREENSHOTS, kept_of, make_screenshots_dir, owner_name};
pub(crate) use errors::{failure, told};
pub(crate) use handover::in_words;
use running::RunningBrowser;
pub(crate) use running::label;
pub(crate) use start::check;
pub use tab_reconciler::run;
pub(crate) use untrusted::{in_a_line, quote, show_hidden, title, write_page};

pub(crate) use comity_core::pools::TABS;
/// The default.
pub(crate) const TABS_MAX: usize = 12;
/// Remarks that wait for the next command on a tab.
const REMARKS_MAX: usize = 20;

#[derive(Default)]
enum BrowserPhase {
    #[default]
    Off,
    Starting,
    Failed(BrowserError),
    On(Arc<RunningBrowser>),
    Ending,
}

/// The browser, as operations see it.
#[derive(Default)]
pub struct BrowserService {
    phase: Mutex<BrowserPhase>,
    moved: Condvar,
    /// Unprocessed events of the browser.
    notices: Mutex<Vec<BrowserEvent>>,
    bell: Mutex<Option<Bell>>,
    notes: Mutex<HashMap<SlotId, TabMemory>>,
    captures: captures::Captures,
    /// Set when the state directory was moved or removed.
    is_moved: AtomicBool,
}

/// What is known of a tab beside the world.
struct TabMemory {
    /// The last command on it, on the engine's clock.
    used: Timestamp,
    /// Its full address: the log has it without secrets.
    url: Option<String>,
    /// Pending remarks for its owner.
    remarks: Vec<String>,
}

impl BrowserService {
    /// The tab of a slot; opened if necessary.
    pub(crate) fn tab(&self, app: &Application, slot: SlotId, timeout: Duration) -> Result<Tab, Failure> {
        let deadline = Instant::now() + timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let running = self.running(app, left()).map_err(failure)?;
        running.tab(app, slot, None, left())
    }

    /// Opens the tab of a slot that was just taken, in a named context if there is one.
    pub(crate) fn open(
        &self,
        app: &Application,
        slot: SlotId,
        context: Option<&str>,
        timeout: Duration,
    ) -> Result<Tab, Failure> {
        let deadline = Instant::now() + timeout;
        let left = || deadline.saturating_duration_since(Instant::now());
        let running = self.running(app, left()).map_err(failure)?;
        running.tab(app, slot, context, left())
    }

    /// Closes the tabs that nobody has any more, so that whoever freed one sees it gone.
    pub(crate) fn close_freed(&self, app: &Application, timeout: Duration) {
        if let Some(running) = self.if_running() {
            running.close_unwanted(app, timeout.min(running::PATIENCE));
        }
    }

    /// The running browser; started if necessary.
    fn running(&self, app: &Application, timeout: Duration) -> Result<Arc<RunningBrowser>, BrowserError> {
        let deadline = Instant::now() + timeout;
        let mut phase = lock(&self.phase);
        let mut has_waited = false;
        panic_at("browser call");
        loop {
            match &*phase {
                BrowserPhase::On(running) if running.browser.is_alive() => return Ok(running.clone()),
                BrowserPhase::Failed(error) if has_waited => return Err(error.clone()),
                BrowserPhase::Starting | BrowserPhase::Ending => {}
                BrowserPhase::Off | BrowserPhase::Failed(_) | BrowserPhase::On(_) => {
                    self.start(app)?;
                    *phase = BrowserPhase::Starting;
                }
            }
            has_waited = true;
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(BrowserError::Timeout { what: "starting Firefox".into(), after: timeout });
            }
            phase = self.moved.wait_timeout(phase, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Refuses an address that the policy forbids, before a tab is taken for it.
    pub(crate) fn check(&self, app: &Application, url: &str) -> Result<(), Failure> {
        let policy = start::policy(&app.config().browser).map_err(failure)?;
        policy.check(url, comity_browser::policy::LoadKind::Page).map_err(failure)
    }

    /// The current addresses and titles of tabs, as far as they answer.
    pub(crate) fn shown(&self, timeout: Duration) -> HashMap<SlotId, (String, String)> {
        self.if_running().map(|running| running.shown(timeout.min(running::PATIENCE))).unwrap_or_default()
    }

    fn if_running(&self) -> Option<Arc<RunningBrowser>> {
        match &*lock(&self.phase) {
            BrowserPhase::On(running) => Some(running.clone()),
            BrowserPhase::Off | BrowserPhase::Starting | BrowserPhase::Failed(_) | BrowserPhase::Ending => {
                None
            }
        }
    }

    /// Records where a tab is after a command.
    pub(crate) fn settled(&self, app: &Application, slot: SlotId, tab: &Tab) {
        self.touch(app, slot);
        if let Some(running) = self.if_running() {
            running.moved(app, slot, tab);
        }
    }

    /// Notes that a command is given to a tab.
    pub(crate) fn touch(&self, app: &Application, slot: SlotId) {
        let now = app.engine().now();
        self.note(app, slot, |note| note.used = now);
    }

    /// Pending remarks for the owner of a tab; each is given once.
    pub(crate) fn take_remarks(&self, slot: SlotId) -> Vec<String> {
        let mut notes = lock(&self.notes);
        notes.get_mut(&slot).map(|note| std::mem::take(&mut note.remarks)).unwrap_or_default()
    }

    /// Waits for other pictures of the same tab.
    pub(crate) fn capture(&self, slot: SlotId) -> Result<Capturing<'_>, Failure> {
        self.captures.begin(slot)
    }

    fn remark(&self, app: &Application, slot: SlotId, text: String) {
        self.note(app, slot, |note| {
            if note.remarks.len() < REMARKS_MAX {
                note.remarks.push(text);
            }
        });
    }

    fn note<T>(&self, app: &Application, slot: SlotId, change: impl FnOnce(&mut TabMemory) -> T) -> T {
        let used = app.engine().now();
        let mut notes = lock(&self.notes);
        change(notes.entry(slot).or_insert_with(|| TabMemory { used, url: None, remarks: Vec::new() }))
    }

    fn whole_url(&self, slot: SlotId) -> Option<String> {
        lock(&self.notes).get(&slot)?.url.clone()
    }

    /// From here on another server's profile may be at the path.
    pub(crate) fn leave_files(&self) {
        self.is_moved.store(true, Ordering::Relaxed);
    }

    fn happened(&self, notice: BrowserEvent) {
        lock(&self.notices).push(notice);
        if let Some(bell) = &*lock(&self.bell) {
            bell.ring();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
