//! Remembers the answers to asks with an idempotency key, so that a repeat gets the same answer.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::ids::{Key, Principal};
use crate::limits::ANSWERS_MAX;

/// The events of recent asks by key. Bounded: the oldest are forgotten first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    order: VecDeque<(Principal, Key)>,
    #[serde(with = "crate::snapshot::pairs")]
    events: BTreeMap<(Principal, Key), Vec<Event>>,
}

impl Answers {
    /// What the ask of `who` with this key led to, if that is still remembered.
    pub fn get(&self, who: Principal, key: &Key) -> Option<&[Event]> {
        self.events.get(&(who, key.clone())).map(Vec::as_slice)
    }

    /// Whether `who` has used this key for another call.
    pub fn is_taken(&self, who: Principal, key: &Key) -> bool {
        is_taken(&self.events, who, key)
    }

    pub(crate) fn remember(&mut self, who: Principal, key: &Key, event: &Event) {
        let entry = (who, key.clone());
        if !self.events.contains_key(&entry) {
            if self.order.len() >= ANSWERS_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.events.remove(&oldest);
            }
            self.order.push_back(entry.clone());
        }
        self.events.entry(entry).or_default().push(event.clone());
    }
}

/// Whether the map has the same key for another call.
pub fn is_taken<V>(by_key: &BTreeMap<(Principal, Key), V>, who: Principal, key: &Key) -> bool {
    let Some(beginning) = key.without_call() else { return false };
    let is_same_key =
        |(of, other): &(Principal, Key)| *of == who && other.as_str().starts_with(beginning.as_str());
    let same = by_key
        .range((who, beginning.clone())..)
        .map(|(entry, _)| entry)
        .take_while(|entry| is_same_key(entry));
    same.into_iter().any(|(_, other)| other != key)
}
