//! What all callers and the reading thread share.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::connection::BidiConnection;
use crate::error::{BrowserError, Result};
use crate::ids::TabId;
use crate::notice::BrowserEvent;
use crate::policy::Policy;
use crate::tab_state::TabRecord;

pub(crate) type Listener = Box<dyn Fn(BrowserEvent) + Send + Sync>;

/// One browser, as all callers see it.
pub(crate) struct SharedBrowser {
    pub(crate) connection: BidiConnection,
    pub(crate) policy: RwLock<Policy>,
    contexts: Mutex<Contexts>,
    listener: Listener,
}

/// Tabs, and the frames in them.
#[derive(Default, Debug)]
pub(crate) struct Contexts {
    pub(crate) tabs: HashMap<TabId, Arc<TabRecord>>,
    /// The tab that each frame is in.
    pub(crate) frames: HashMap<String, TabId>,
    /// Tabs that we are opening, and whose ids we do not know yet.
    pub(crate) opening: usize,
    /// Tabs that came meanwhile: ours, or somebody else's.
    pub(crate) parked: Vec<BrowserEvent>,
}

impl SharedBrowser {
    pub(crate) fn new(connection: BidiConnection, policy: Policy, listener: Listener) -> SharedBrowser {
        SharedBrowser { connection, policy: RwLock::new(policy), contexts: Mutex::default(), listener }
    }

    pub(crate) fn contexts(&self) -> MutexGuard<'_, Contexts> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn policy(&self) -> Policy {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn tab(&self, id: &TabId) -> Result<Arc<TabRecord>> {
        let found = self.contexts().tabs.get(id).cloned();
        found.ok_or_else(|| match self.connection.has_ended() {
            true => BrowserError::Died,
            false => BrowserError::NoSuchTab { tab: id.to_string() },
        })
    }

    /// The tab that a context is, or is in.
    pub(crate) fn tab_of(&self, context: &str) -> Option<Arc<TabRecord>> {
        let contexts = self.contexts();
        let id = TabId(context.to_owned());
        let id = contexts.frames.get(context).unwrap_or(&id);
        contexts.tabs.get(id).cloned()
    }

    pub(crate) fn tell(&self, notice: BrowserEvent) {
        (self.listener)(notice);
    }
}

impl fmt::Debug for SharedBrowser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("connection", &self.connection).finish_non_exhaustive()
    }
}
