//! What the application remembers of mail besides the world: what was mentioned, and what hooks have offered.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use comity_core::mail::{Newest, Receipt};
use comity_core::{Principal, World};

use crate::catalog::next_call;
use crate::operations::mail::Next;
use crate::search::MailIndex;
use crate::tokens::Token;

/// Above this, agents without mail are forgotten.
const REMEMBERED_MAX: usize = 1_000;

/// How notices of waiting mail begin.
const MENTIONS: [&str; 3] =
    ["a control message waits for you", "a letter waits for you", "letters wait for you"];

/// Whether a notice only says that mail waits: doors that can show the mail itself do that instead.
pub fn is_mention(notice: &str) -> bool {
    MENTIONS.iter().any(|mention| notice.split(": ").next().is_some_and(|said| said.ends_with(mention)))
}

/// A restart forgets it, and nothing is lost by that.
pub(crate) struct MailMemory {
    pub(crate) index: MailIndex,
    offers: Mutex<BTreeMap<Principal, (Token, Receipt)>>,
    mentioned: Mutex<BTreeMap<Principal, Newest>>,
}

impl MailMemory {
    pub(crate) fn below(home: &Path) -> MailMemory {
        MailMemory { index: MailIndex::below(home), offers: Mutex::default(), mentioned: Mutex::default() }
    }

    /// Remembers what a hook has offered to an agent; returns what only that hook can prove its delivery with.
    pub(crate) fn put_hook_offer(&self, who: Principal, receipt: Receipt) -> Option<String> {
        let proof = Token::random().ok()?;
        let text = proof.reveal().to_owned();
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        if offers.len() >= REMEMBERED_MAX {
            // What nobody has proven by now is offered again.
            offers.clear();
        }
        offers.insert(who, (proof, receipt));
        Some(text)
    }

    /// The offer that this proves, once.
    pub(crate) fn take_hook_offer(&self, proof: &str) -> Option<(Principal, Receipt)> {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let who = *offers.iter().find(|(_, (known, _))| known.reveal() == proof)?.0;
        offers.remove(&who).map(|(_, receipt)| (who, receipt))
    }

    /// Mentions once that something new waits for an agent.
    pub(crate) fn mention(&self, world: &World, who: Principal) -> Option<String> {
        let mailbox = world.mail.of(who)?;
        let newest = mailbox.newest();
        let mut mentioned = self.mentioned.lock().unwrap_or_else(PoisonError::into_inner);
        if mentioned.len() >= REMEMBERED_MAX {
            mentioned.retain(|who, _| world.mail.of(*who).is_some());
        }
        let last = mentioned.entry(who).or_default();
        if !newest.is_news_after(*last) {
            return None;
        }
        *last = newest.or(*last);
        let letters: usize = mailbox.senders().map(|(_, letters)| letters).sum();
        Some(match letters {
            0 => format!("{}: see it with {}", MENTIONS[0], next_call::<Next>([])),
            1 => format!("{}: read it with {}", MENTIONS[1], next_call::<Next>([])),
            letters => format!("{letters} {}: read them with {}", MENTIONS[2], next_call::<Next>([])),
        })
    }
}
