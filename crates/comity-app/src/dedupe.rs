//! Repeated acts with the same key: they are answered again, and done once.
//!
//! What changes the world is remembered with it; a click or a typed text is not, so this server remembers it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comity_core::{Key, Principal, Refusal, answers};

use crate::application::{CallOutput, Responder};
use crate::catalog::next_call;
use crate::operation::{Failure, Rendered};
use crate::operations::tabs::TabState;

/// Remembered answers; the oldest are dropped first.
const ANSWERS_MAX: usize = 256;

/// Who asked, with the key of the call.
type Act = (Principal, Key);

/// Running acts, and the answers of finished ones.
#[derive(Clone, Default)]
pub(crate) struct Dedupe(Arc<Mutex<Acts>>);

#[derive(Default)]
struct Acts {
    by_key: BTreeMap<Act, CallState>,
    done: VecDeque<Act>,
}

enum CallState {
    /// It runs; these wait for the answer, too.
    Running(Vec<Box<dyn Responder>>),
    Done(CallOutput),
}

/// Answers the first caller, and all who repeated the call meanwhile.
struct SharedResponder {
    dedupe: Dedupe,
    /// Whether it may have been half done without anybody knowing.
    is_act: bool,
    act: Option<Act>,
    responder: Option<Box<dyn Responder>>,
}

impl Dedupe {
    /// The responder for an act to be done; `None` if it runs, or was just answered.
    pub(crate) fn first(
        &self,
        act: Act,
        is_act: bool,
        responder: Box<dyn Responder>,
    ) -> Option<Box<dyn Responder>> {
        let mut acts = self.locked();
        match acts.by_key.get_mut(&act) {
            None => {
                acts.by_key.insert(act.clone(), CallState::Running(Vec::new()));
                let (dedupe, act) = (self.clone(), Some(act));
                Some(Box::new(SharedResponder { dedupe, is_act, act, responder: Some(responder) }))
            }
            Some(CallState::Running(waiting)) => {
                waiting.push(responder);
                None
            }
            Some(CallState::Done((output, notices))) => {
                let (output, notices) = (output.clone(), notices.clone());
                drop(acts);
                responder.respond(output, notices);
                None
            }
        }
    }

    pub(crate) fn is_taken(&self, who: Principal, key: &Key) -> bool {
        answers::is_taken(&self.locked().by_key, who, key)
    }

    /// Remembers an answer; returns those who wait for it.
    fn done(&self, act: Act, output: CallOutput) -> Vec<Box<dyn Responder>> {
        let mut acts = self.locked();
        acts.done.push_back(act.clone());
        if acts.done.len() > ANSWERS_MAX
            && let Some(oldest) = acts.done.pop_front()
        {
            acts.by_key.remove(&oldest);
        }
        match acts.by_key.insert(act, CallState::Done(output)) {
            Some(CallState::Running(waiting)) => waiting,
            Some(CallState::Done(_)) | None => Vec::new(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Acts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedResponder {
    fn answer(&mut self, output: Result<Rendered, Failure>, notices: Vec<String>) {
        let waiting = match self.act.take() {
            Some(act) => self.dedupe.done(act, (output.clone(), notices.clone())),
            None => Vec::new(),
        };
        for responder in self.responder.take().into_iter().chain(waiting) {
            responder.respond(output.clone(), notices.clone());
        }
    }
}

impl Responder for SharedResponder {
    fn respond(mut self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>) {
        self.answer(output, notices);
    }
}

impl Drop for SharedResponder {
    fn drop(&mut self) {
        match &self.act {
            None => {}
            // Its thread panicked, perhaps after it was done.
            Some(_) if self.is_act => self.answer(Err(outcome_unknown().into()), vec![]),
            Some(act) => {
                // It was never answered, so the next call does it.
                let forgotten = self.dedupe.locked().by_key.remove(act);
                drop(forgotten);
            }
        }
    }
}

/// The refusal when the outcome of an act is unknown.
pub(crate) fn outcome_unknown() -> Refusal {
    Refusal::Driver {
        code: "outcome_unknown",
        problem: "the server ended before it answered; perhaps this was done, and perhaps not".into(),
        hint: format!(
            "look at the page before you do it again: {}",
            next_call::<TabState>([("tabId", "TAB".into())])
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    struct SentAnswers(mpsc::Sender<String>);

    impl Responder for SentAnswers {
        fn respond(self: Box<Self>, output: Result<Rendered, Failure>, _: Vec<String>) {
            let said = output
                .map_or_else(|failure| failure.to_text(crate::Wording::Commands), |rendered| rendered.json);
            self.0.send(said).expect("somebody listens");
        }
    }

    fn act(number: usize) -> Act {
        (Principal::Human, Key::new(&format!("key {number}")).expect("a key"))
    }

    fn said(json: &str) -> Result<Rendered, Failure> {
        Ok(Rendered { json: json.into(), text: None, receipt: None })
    }

    #[test]
    fn an_act_is_done_once_and_everybody_is_answered() {
        let (dedupe, (sender, heard)) = (Dedupe::default(), mpsc::channel());
        let ask = |number| dedupe.first(act(number), number == 4, Box::new(SentAnswers(sender.clone())));
        let first = ask(1).expect("it is to be done");
        assert!(ask(1).is_none(), "it runs");
        assert!(heard.try_recv().is_err(), "nobody is answered before it is done");
        first.respond(said("1"), vec![]);
        assert!(ask(1).is_none(), "it is done");
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), ["1", "1", "1"]);
        // A refusal is an answer, too.
        let refusal = Refusal::bad_input("no such page", "look");
        ask(2).expect("another one").respond(Err(refusal.into()), vec![]);
        assert!(ask(2).is_none());
        assert_eq!(heard.try_iter().count(), 2);
        // One that ended without an answer can be asked for again.
        drop(ask(3).expect("it is to be done"));
        assert!(ask(3).is_some());
        // But not if it may have been done.
        drop(ask(4).expect("it is to be done"));
        assert!(ask(4).is_none());
        assert_eq!(heard.try_iter().filter(|said| said.contains("perhaps not")).count(), 2);
    }

    #[test]
    fn the_oldest_answers_go() {
        let (dedupe, (sender, heard)) = (Dedupe::default(), mpsc::channel());
        let ask = |number| dedupe.first(act(number), false, Box::new(SentAnswers(sender.clone())));
        for number in 0..=ANSWERS_MAX {
            ask(number).expect("it is to be done").respond(said("1"), vec![]);
        }
        assert_eq!(dedupe.locked().by_key.len(), ANSWERS_MAX);
        assert!(ask(0).is_some() && ask(1).is_none());
        assert_eq!(heard.try_iter().count(), ANSWERS_MAX + 2);
    }
}
