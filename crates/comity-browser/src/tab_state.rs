//! What is known of a tab from Firefox's events.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::activity::{BoundedLog, CONSOLE_MAX, ConsoleLine, NETWORK_MAX, NetworkRequest};
use crate::deadline::Deadline;
use crate::ids::{Container, TabId};
use crate::notice::Dialog;
use crate::page::memory::PageMemory;
use crate::turn::TabQueue;

/// Running requests that are counted in one tab.
const RUNNING_MAX: usize = 2000;

/// A tab: its queue, what is known of it, and settings for its pages.
#[derive(Debug)]
pub(crate) struct TabRecord {
    pub(crate) id: TabId,
    pub(crate) container: Container,
    /// Those who act, one after another.
    pub(crate) turn: TabQueue,
    live: Mutex<Live>,
    changed: Condvar,
    /// Those who make outlines, one after another.
    pub(crate) outlining: TabQueue,
    /// References and earlier outlines; held only briefly.
    pub(crate) page: Mutex<PageMemory>,
}

/// What changes while pages load and run.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) dialog: Option<Dialog>,
    /// Counts dialogs that opened and closed.
    pub(crate) dialog_moves: u64,
    pub(crate) is_closed: bool,
    /// Counts whatever happens to the document.
    pub(crate) moves: u64,
    /// Counts changes of the address or the document.
    pub(crate) arrivals: u64,
    pub(crate) console: BoundedLog<ConsoleLine>,
    pub(crate) network: BoundedLog<NetworkRequest>,
    /// Running requests, and when they began.
    running: HashMap<String, Instant>,
    /// When the last request began or ended.
    pub(crate) network_moved: Instant,
    /// When the document that is loading was requested.
    pub(crate) navigation_began: Instant,
    /// The frame that was clicked or typed into last, if it was one: keys go there.
    pub(crate) focused_frame: Option<String>,
    /// Whether we have just told it to go somewhere.
    pub(crate) is_sent: bool,
    /// Firefox's id of the navigation that brought the document.
    pub(crate) navigation: Option<String>,
    /// The last page that the policy refused, and the rule.
    pub(crate) blocked: Option<(String, String)>,
}

impl TabRecord {
    pub(crate) fn new(id: TabId, container: Container, url: String) -> TabRecord {
        let live = Live {
            url,
            title: String::new(),
            dialog: None,
            dialog_moves: 0,
            is_closed: false,
            moves: 0,
            arrivals: 0,
            console: BoundedLog::new(CONSOLE_MAX),
            network: BoundedLog::new(NETWORK_MAX),
            running: HashMap::new(),
            network_moved: Instant::now(),
            navigation_began: Instant::now(),
            focused_frame: None,
            is_sent: false,
            blocked: None,
            navigation: None,
        };
        TabRecord {
            id,
            container,
            turn: TabQueue::default(),
            outlining: TabQueue::default(),
            live: Mutex::new(live),
            changed: Condvar::new(),
            page: Mutex::default(),
        }
    }

    pub(crate) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known, and wakes those who wait for a change.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Live) -> T) -> T {
        let changed = change(&mut self.live());
        self.changed.notify_all();
        changed
    }

    /// Waits for a change, or until the deadline.
    pub(crate) fn wait<'a>(&self, live: MutexGuard<'a, Live>, deadline: &Deadline) -> MutexGuard<'a, Live> {
        let (live, _) =
            self.changed.wait_timeout(live, deadline.left()).unwrap_or_else(PoisonError::into_inner);
        live
    }
}

impl Live {
    pub(crate) fn request_began(&mut self, id: &str) {
        self.network_moved = Instant::now();
        if self.running.len() < RUNNING_MAX {
            self.running.insert(id.to_owned(), Instant::now());
        }
    }

    pub(crate) fn request_ended(&mut self, id: &str) {
        self.network_moved = Instant::now();
        self.running.remove(id);
    }

    /// Requests of the previous document no longer count.
    pub(crate) fn document_came(&mut self) {
        self.focused_frame = None;
        let began = self.navigation_began;
        self.running.retain(|_, since| *since >= began);
    }

    pub(crate) fn is_network_idle(&self) -> bool {
        self.running.is_empty()
    }
}
