//! What the application remembers of mail besides the world: what was mentioned, and what hooks have offered.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use comity_core::mail::{Newest, Receipt};
use comity_core::{Principal, World};

use crate::search::MailIndex;

/// All of it. A restart forgets it, and nothing is lost by that.
pub(crate) struct MailDesk {
    /// The index of all mail.
    pub(crate) index: MailIndex,
    offers: Mutex<BTreeMap<Principal, Receipt>>,
    mentioned: Mutex<BTreeMap<Principal, Newest>>,
}

impl MailDesk {
    pub(crate) fn below(home: &Path) -> MailDesk {
        MailDesk { index: MailIndex::below(home), offers: Mutex::default(), mentioned: Mutex::default() }
    }

    /// The mail that hooks offered last, until the agent's next hook shows that it arrived.
    pub(crate) fn hook_offers(&self) -> MutexGuard<'_, BTreeMap<Principal, Receipt>> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says once that something new waits for an agent.
    pub(crate) fn mention(&self, world: &World, who: Principal) -> Option<String> {
        let mailbox = world.mail.of(who)?;
        let newest = mailbox.newest();
        let mut mentioned = self.mentioned.lock().unwrap_or_else(PoisonError::into_inner);
        let last = mentioned.entry(who).or_default();
        if !newest.is_news_after(*last) {
            return None;
        }
        *last = newest.or(*last);
        let letters: usize = mailbox.senders().map(|(_, letters)| letters).sum();
        Some(match letters {
            0 => "a control message waits for you: see it with next".into(),
            1 => "a letter waits for you: read it with next".into(),
            letters => format!("{letters} letters wait for you: read them with next"),
        })
    }
}
