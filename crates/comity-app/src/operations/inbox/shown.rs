//! Which list somebody has seen last, so that a bare number means a line of it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use comity_core::Principal;

use super::InboxEntry;
use crate::operation::Caller;

/// Remembered lists; a restart forgets all of them.
const LISTS_MAX: usize = 256;

/// An entry as it was shown: its name, and the repository that it is about.
type ShownEntry = (String, Option<String>);

/// The list that each has seen last, per terminal.
#[derive(Default)]
pub(crate) struct ShownLists(Mutex<BTreeMap<(Principal, u32), Vec<ShownEntry>>>);

impl ShownLists {
    pub(super) fn remember(&self, caller: &Caller, entries: &[InboxEntry]) {
        let Some(key) = key(caller) else { return };
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() >= LISTS_MAX && !lists.contains_key(&key) {
            lists.pop_first();
        }
        lists.insert(key, entries.iter().map(shown).collect());
    }

    /// The entry in this line, counted from 1.
    pub(super) fn line(&self, caller: &Caller, number: usize) -> Option<ShownEntry> {
        let lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.get(&key(caller)?)?.get(number.checked_sub(1)?).cloned()
    }
}

pub(super) fn shown(entry: &InboxEntry) -> ShownEntry {
    (entry.entry.clone(), entry.project.clone())
}

/// A caller over HTTP has no terminal: another window may show another list.
fn key(caller: &Caller) -> Option<(Principal, u32)> {
    let nearest = caller.lineage.as_deref()?.links.first()?;
    Some((caller.who, nearest.session))
}
