//! One picture of a tab at a time, without holding up other tabs.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use comity_core::Refusal;
use comity_core::pools::SlotId;

use super::lock;
use crate::operation::Failure;

/// How long a picture waits for another one of the same tab.
const WAIT: Duration = Duration::from_secs(3);

/// The tabs that are being captured.
#[derive(Default)]
pub(super) struct Captures {
    taken: Mutex<HashSet<SlotId>>,
    done: Condvar,
}

/// A picture is being taken while this lives.
pub(crate) struct Capturing<'a> {
    captures: &'a Captures,
    slot: SlotId,
}

impl Captures {
    pub(super) fn begin(&self, slot: SlotId) -> Result<Capturing<'_>, Failure> {
        let taken = lock(&self.taken);
        let busy = |taken: &mut HashSet<SlotId>| taken.contains(&slot);
        let waited = self.done.wait_timeout_while(taken, WAIT, busy).unwrap_or_else(PoisonError::into_inner);
        let (mut taken, result) = waited;
        if result.timed_out() && taken.contains(&slot) {
            let problem =
                format!("MUTEX_BUSY: another picture of tab {slot} has been taken for {} s", WAIT.as_secs());
            let hint = "use firefox_get_page_state, which takes no mutex, or try again".into();
            return Err(Refusal::Driver { code: "mutex_busy", problem, hint }.into());
        }
        taken.insert(slot);
        Ok(Capturing { captures: self, slot })
    }
}

impl Drop for Capturing<'_> {
    fn drop(&mut self) {
        lock(&self.captures.taken).remove(&self.slot);
        self.captures.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_has_one_picture_taken_at_a_time_and_others_are_not_held_up() {
        let captures = Captures::default();
        let first = captures.begin(SlotId(1)).expect("free");
        let _other = captures.begin(SlotId(2)).expect("another tab");
        let Err(Failure::Refused(busy)) = captures.begin(SlotId(1)) else { panic!("twice at a time") };
        assert_eq!(busy.code(), "mutex_busy");
        assert!(busy.to_string().starts_with("MUTEX_BUSY: "), "{busy}");
        assert!(busy.hint().contains("firefox_get_page_state"));
        drop(first);
        assert!(captures.begin(SlotId(1)).is_ok());
    }
}
