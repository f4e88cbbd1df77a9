//! Notices: what a caller is told besides the answer.

use std::sync::{Arc, Mutex, PoisonError};

use comity_core::limits::LINEAGES_MAX;
use comity_core::notices::NoticeAsk;
use comity_core::people::{Origin, Place, Unseen};
use comity_core::{Ask, Asker, Principal};

use super::Application;
use crate::catalog::next_call;
use crate::ledger::{ago, plain};
use crate::operations::people::ShowNewPlaces;

impl Application {
    /// The caller's notices, which count as given with this answer.
    pub(super) fn notices_for(&self, asker: &Asker) -> Vec<String> {
        let who = asker.who;
        let (mut notices, mut told) = (Vec::from_iter(self.new_places(asker)), false);
        if let Principal::Agent(id) = who {
            let world = self.engine().world();
            let waiting = world.agents.get(id).map(|agent| &agent.notices[..]).unwrap_or_default();
            notices.extend(waiting.iter().map(|notice| notice.what.to_string()));
            told = !notices.is_empty();
            notices.extend(self.mail_memory().mention(&world, who));
        }
        if told {
            self.engine().tell(who, vec![Ask::Notice(NoticeAsk::Take)]);
            self.engine().wake();
        }
        notices
    }

    /// The notice that somebody acted as the human from new places: given once at each place, until there is more.
    /// Showing and settling the acts takes a command of its own.
    fn new_places(&self, asker: &Asker) -> Option<String> {
        let is_human = |origin: &&Arc<Origin>| asker.who == Principal::Human && origin.is_shown_acts();
        let place = asker.origin.as_ref().filter(is_human)?.place();
        let world = self.engine().world();
        let unseen: Vec<&Unseen> = world.people.unseen(&place).collect();
        let last = unseen.last()?;
        let count = unseen.iter().map(|act| act.acts()).sum();
        self.0.told_places.begins_to_tell(place, last.seq).then(|| new_places(count, last))
    }
}

/// Up to which record each place was told of acts from new places; a restart forgets it.
#[derive(Default)]
pub(super) struct ToldPlaces(Mutex<Vec<(Place, u64)>>);

impl ToldPlaces {
    fn begins_to_tell(&self, place: Place, up_to: u64) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = told.iter().position(|(known, _)| *known == place);
        if before.is_some_and(|at| told[at].1 >= up_to) {
            return false;
        }
        if let Some(at) = before.or((told.len() >= LINEAGES_MAX).then_some(0)) {
            told.remove(at);
        }
        told.push((place, up_to));
        true
    }
}

fn new_places(count: usize, last: &Unseen) -> String {
    let them = if count == 1 { "it" } else { "them" };
    format!("{}; was it you? look at {them}: {}", acted_as_you(count, last), next_call::<ShowNewPlaces>([]))
}

/// `3 things were done as you from new places, the last 2m ago: lock acquired, from tmux > sh > comity`.
fn acted_as_you(count: usize, last: &Unseen) -> String {
    let when = ago(crate::clock::wall_ms(), last.wall_ms);
    let what = format!("{}, from {}", plain(&last.act), last.origin.lineage);
    match count {
        1 => format!("something was done as you from a new place, {when}: {what}"),
        _ => format!("{count} things were done as you from new places, the last {when}: {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::Wording;

    #[test]
    fn many_acts_are_one_note() {
        let unseen = |left_out: u32| -> Unseen {
            let origin = serde_json::json!({ "proof": "terminal", "lineage": "tmux > sh > comity" });
            let act = serde_json::json!({
                "seq": 7, "wall_ms": 0, "origin": origin, "act": "lock_released", "left_out": left_out,
            });
            serde_json::from_value(act).expect("an act")
        };
        let said = |count: usize| Wording::Commands.spell(&new_places(count, &unseen(0))).into_owned();
        assert!(said(1).starts_with("something was done as you from a new place, "), "{}", said(1));
        assert!(
            said(1)
                .ends_with("lock released, from tmux > sh > comity; was it you? look at it: comity places")
        );
        assert!(
            said(12).starts_with("12 things were done as you from new places, the last "),
            "{}",
            said(12)
        );
        assert_eq!(unseen(8).acts(), 9, "those that are only in the log count");
    }

    #[test]
    fn a_place_is_told_once_of_each_act() {
        let told = ToldPlaces::default();
        let place = |name: &str| Place { lineage: name.into(), window: None };
        let tells = |name: &str, up_to: u64| told.begins_to_tell(place(name), up_to);
        assert_eq!(
            [tells("sh", 3), tells("sh", 3), tells("sh", 4), tells("zsh", 4)],
            [true, false, true, true]
        );
    }
}
