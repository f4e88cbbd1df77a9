//! Operations that may take long: they run on other threads, and an act is not done twice.

use comity_core::{Key, Refusal};

use super::{Application, Call, Responder};
use crate::catalog::Entry;
use crate::crew::{LONG_MAX, NoPlace, What};
use crate::moves::Moves;
use crate::operation::{Caller, Effect, Failure};
use crate::planted::panic_at;
use crate::repeats::outcome_unknown;
use crate::taken::Taken;

impl Application {
    /// How many long operations run.
    pub fn long_operations(&self) -> usize {
        self.0.crew.long()
    }

    /// The branches that it moves.
    pub(crate) fn moves(&self) -> &Moves {
        &self.0.moves
    }

    /// Takes an operation that may take long, unless it is being done or was answered already.
    pub(super) fn take_long(
        &self,
        entry: &'static Entry,
        caller: &Caller,
        call: &Call<'_>,
        key: Option<Key>,
        responder: Box<dyn Responder>,
    ) {
        let is_act = entry.effect == Effect::Acts;
        let kept = key.as_ref().filter(|_| entry.is_kept());
        let responder = match kept {
            Some(key) => self.0.repeats.first((caller.who, key.clone()), is_act, responder),
            None => Some(responder),
        };
        let Some(responder) = responder else { return };
        if call.again && is_act {
            return responder.respond(Err(outcome_unknown().into()), vec![]);
        }
        let responder = self.keep_alive(caller, responder);
        self.run_beside(entry, caller.clone(), call, key, responder);
    }

    /// Runs an operation that may take long on another thread.
    fn run_beside(
        &self,
        entry: &'static Entry,
        caller: Caller,
        call: &Call<'_>,
        key: Option<Key>,
        responder: Box<dyn Responder>,
    ) {
        let place = match self.0.crew.place(What::Long) {
            Ok(place) => place,
            Err(no_place) => return self.respond(&caller.asker(), responder, Err(no_place.into())),
        };
        let (app, input, text) = (self.clone(), call.input.to_owned(), call.text);
        place.run(move || {
            panic_at("long");
            if app.run(entry, &caller, (&input, text), key, responder) != Taken::Answered {
                app.engine().drive();
            }
        });
    }
}

impl From<NoPlace> for Failure {
    fn from(no_place: NoPlace) -> Failure {
        let problem = match no_place {
            NoPlace::AllBusy => format!("{LONG_MAX} long operations run already"),
            NoPlace::NoThread(error) => format!("the system gives no more threads: {error}"),
        };
        Refusal::LimitReached { problem, hint: "try again in a moment".into() }.into()
    }
}
