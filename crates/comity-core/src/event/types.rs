//! The names of all types of events.

use std::cmp::Reverse;

use super::EventType;
use crate::features::TYPES;
use crate::refusal::Refusal;

/// How many names are suggested for one that does not exist.
const NEAR_MAX: usize = 5;

/// All types. Some occur twice, because only some of their events wait for the disk.
pub fn types() -> impl Iterator<Item = &'static EventType> {
    TYPES.iter().copied().flatten()
}

/// Whether events of this type are what Comity does for itself.
pub fn is_housekeeping(action: &str) -> bool {
    types().any(|kind| kind.action == action && kind.is_housekeeping)
}

/// Whether `wanted` names a type: one of its two names, or the first word of several stream names, such as `lock`.
pub fn is_type(wanted: &str, (action, stream): (&str, &str)) -> bool {
    wanted == action || wanted == stream || stream.split(':').next() == Some(wanted)
}

/// Refuses an unknown type.
pub fn check_type(wanted: &str) -> Result<(), Refusal> {
    if types().any(|kind| kind.is_called(wanted)) {
        return Ok(());
    }
    let is_like = |word: &str, other: &str| {
        word.len() > 3 && other.len() > 3 && word[..4.min(word.len())] == other[..4.min(other.len())]
    };
    let words_shared = |action: &str| {
        let words = wanted.split(['_', ':']).filter(|word| word.is_ascii());
        words.filter(|word| action.split('_').any(|other| is_like(word, other))).count()
    };
    let mut near: Vec<&str> = types().map(|kind| kind.action).collect();
    near.sort_unstable();
    near.dedup();
    near.retain(|action| words_shared(action) > 0);
    near.sort_by_key(|action| Reverse(words_shared(action)));
    near.truncate(NEAR_MAX);
    let hint = match &near[..] {
        [] => "use a type such as lock_acquired, or a group such as lock, mail or task".to_owned(),
        near => format!("did you mean {}?", near.join(", ")),
    };
    Err(Refusal::bad_input(format!("there is no event type {wanted:?}"), hint))
}
