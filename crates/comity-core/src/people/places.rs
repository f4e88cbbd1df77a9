//! Places that the human acts from, and which of them the human is asked about ("was it you?").

use serde::{Deserialize, Serialize};

use super::{Asker, Origin, People, PersonEvent, Proof, Unseen};
use crate::agents::{AgentEvent, Process};
use crate::event::Event;
use crate::ids::Principal;
use crate::limits::{LINEAGES_MAX, SHOWN_PLACES_MAX, UNSEEN_ACTS_MAX};
use crate::world::World;

/// Where somebody acts from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The programs, from the outermost down.
    pub lineage: Box<str>,
    /// The terminal's leading process, if somebody else may have opened the terminal: each such terminal is a place
    /// of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<Process>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownPlace {
    lineage: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    window: Option<Process>,
    /// The record since which it is known.
    since: u64,
}

impl KnownPlace {
    fn is(&self, place: &Place) -> bool {
        self.lineage == place.lineage && self.window == place.window
    }
}

impl Origin {
    pub fn place(&self) -> Place {
        Place { lineage: self.lineage.clone(), window: self.window }
    }

    /// Whether a person looks there, not a script: only then can it be shown acts from new places.
    pub fn is_shown_acts(&self) -> bool {
        matches!(self.proof, Proof::Terminal | Proof::Login)
    }
}

impl People {
    fn known(&self, place: &Place) -> Option<&KnownPlace> {
        self.places.iter().find(|known| known.is(place))
    }

    pub(super) fn know(&mut self, place: Place, since: u64) {
        if self.known(&place).is_some() {
            return;
        }
        let Place { lineage, window } = place;
        self.places.push_back(KnownPlace { lineage, window, since });
        if self.places.len() > LINEAGES_MAX {
            // Windows come and go: many of them should not make the human's usual places unknown.
            let first = self.places.iter().position(|known| known.window.is_some()).unwrap_or(0);
            self.places.remove(first);
        }
    }

    /// After a reboot all windows are gone.
    pub(super) fn forget_windows(&mut self) {
        self.places.retain(|known| known.window.is_none());
    }

    /// Unsettled acts from this place.
    fn asked_at<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = &'a Unseen> {
        self.unseen.iter().filter(move |act| act.origin.place() == *place)
    }

    /// Unsettled acts from new places, except those from this one and those that were shown here.
    pub fn unseen<'a, 'p>(&'a self, place: &'p Place) -> impl Iterator<Item = &'a Unseen> + use<'a, 'p> {
        self.unseen.iter().filter(move |act| act.origin.place() != *place && !act.shown.contains(place))
    }

    /// All unsettled acts from new places, oldest first.
    pub fn unsettled(&self) -> impl Iterator<Item = &Unseen> {
        self.unseen.iter()
    }

    /// Keeps an act to ask about. If there are too many, the newest are kept, and how many came before them.
    pub(super) fn ask_about(&mut self, act: Unseen) {
        self.unseen.push_back(act);
        if self.unseen.len() > UNSEEN_ACTS_MAX {
            let gone = self.unseen.pop_front().map_or(0, |act| act.left_out.saturating_add(1));
            if let Some(first) = self.unseen.front_mut() {
                first.left_out = first.left_out.saturating_add(gone);
            }
        }
    }

    /// Notes that all acts up to a record were shown at a place.
    pub(super) fn show(&mut self, up_to: u64, place: &Place) {
        let mut unseen = std::mem::take(&mut self.unseen);
        unseen.retain(|act| !self.is_settled_by(act, up_to, place));
        for act in unseen.iter_mut().filter(|act| act.is_news_at(up_to, place)) {
            if act.shown.len() >= SHOWN_PLACES_MAX {
                act.shown.remove(0);
            }
            act.shown.push(place.clone());
        }
        self.unseen = unseen;
    }

    /// Whether showing acts at a place would show anything new.
    pub(super) fn has_news(&self, up_to: u64, place: &Place) -> bool {
        self.unseen.iter().any(|act| act.is_news_at(up_to, place))
    }

    /// Whether showing an act there settles it: only a place that was known before the act proves that the human saw
    /// it.
    fn is_settled_by(&self, act: &Unseen, up_to: u64, place: &Place) -> bool {
        act.is_news_at(up_to, place) && self.known(place).is_some_and(|known| known.since < act.seq)
    }
}

impl Unseen {
    /// How many acts it stands for: itself, and those dropped before it.
    pub fn acts(&self) -> usize {
        1 + self.left_out as usize
    }

    fn is_news_at(&self, up_to: u64, place: &Place) -> bool {
        self.seq <= up_to && self.origin.place() != *place && !self.shown.contains(place)
    }
}

/// The event that the human acts from an unknown place, if that is so.
///
/// `decided` is what the act decides, if it takes a present person. People open many windows, so another window of
/// known programs is asked about only when something like that is decided there: that is what an agent would open one
/// for. Further decisions at a place are asked about, too, until the human was asked: the first may have been
/// harmless.
pub(crate) fn new_place(
    world: &World,
    asker: &Asker,
    decided: Option<&str>,
    answer: &[Event],
) -> Option<Event> {
    let origin = asker.origin.as_ref().filter(|_| asker.who == Principal::Human)?;
    let ends = |event: &&Event| matches!(event, Event::Agent(AgentEvent::Ended { .. }));
    // What an ended agent gives up comes before its end.
    let main = answer.iter().find(ends).or(answer.first())?;
    let act: Box<str> = main.kind().action.into();
    let place = origin.place();
    let people = &world.people;
    let decides = decided.is_some();
    // Being shown something decides nothing, and agent programs join from wherever they are started.
    let is_shown = matches!(main, Event::Person(PersonEvent::Recognised { .. }));
    let comes_in = matches!(main, Event::Agent(AgentEvent::Joined { .. })) && !decides;
    if is_shown || (comes_in && !people.places.is_empty()) {
        return None;
    }
    let is_usual = !decides
        && match place.window {
            Some(_) => people.places.iter().any(|known| known.lineage == place.lineage),
            None => people.known(&place).is_some(),
        };
    let is_settled = || people.known(&place).is_some() && people.asked_at(&place).next().is_none();
    let is_asked = || people.asked_at(&place).any(|asked| asked.act == act);
    if is_usual || is_settled() || is_asked() {
        return None;
    }
    let Place { lineage, window } = place;
    Some(Event::Person(PersonEvent::ActedFromNewPlace { lineage, window, act }))
}
