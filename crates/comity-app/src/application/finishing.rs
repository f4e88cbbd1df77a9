//! Makes outputs once the engine has answered.

use super::{Application, Responder};
use crate::catalog;
use crate::crew::What;
use crate::engine::{Answer, Asker, Waiting};
use crate::operation::{Failure, GoOn, MakeVerdict, Rendered};
use crate::planted::panic_at;

/// Makes the output once the engine has answered.
pub(super) struct Finishing {
    pub(super) app: Application,
    pub(super) who: comity_core::Asker,
    pub(super) finish: catalog::Finish,
    pub(super) responder: Box<dyn Responder>,
}

impl Asker for Finishing {
    fn parked(&mut self, waiting: Waiting) {
        self.responder.parked(waiting);
    }

    fn answer(self: Box<Self>, answer: Answer<'_>) {
        let output = match answer {
            Answer::Done { events, world, now } => {
                panic_at("answer");
                (self.finish)(events, world, now).map_err(Failure::Refused)
            }
            Answer::Refused(refusal) => Err(Failure::Refused(refusal)),
            Answer::Fault(problem) => {
                self.app.metrics().count_fault();
                Err(Failure::Fault(problem))
            }
        };
        if let Err(Failure::Refused(_)) = &output {
            self.app.metrics().count_refusal();
        }
        self.app.respond(&self.who, self.responder, output);
    }
}

/// Goes on once the engine has answered, on a thread of its own: there are no more of them than what was given.
pub(super) struct Following {
    pub(super) app: Application,
    pub(super) who: comity_core::Asker,
    pub(super) then: GoOn<Rendered>,
    pub(super) responder: Box<dyn Responder>,
}

impl Asker for Following {
    fn parked(&mut self, waiting: Waiting) {
        self.responder.parked(waiting);
    }

    fn answer(self: Box<Self>, answer: Answer<'_>) {
        let Following { app, who, then, responder } = *self;
        let failure = match answer {
            Answer::Done { events, .. } => {
                let events = events.to_vec();
                let place = match app.0.crew.place(What::Rest) {
                    Ok(place) => place,
                    Err(no_place) => return app.respond(&who, responder, Err(no_place.into())),
                };
                return place.run(move || {
                    let output = then(&app, &events);
                    app.respond(&who, responder, output);
                });
            }
            Answer::Refused(refusal) => {
                app.metrics().count_refusal();
                Failure::Refused(refusal)
            }
            Answer::Fault(problem) => {
                app.metrics().count_fault();
                Failure::Fault(problem)
            }
        };
        app.respond(&who, responder, Err(failure));
    }
}

/// Makes the verdict once the engine has answered.
pub(super) struct Judging {
    pub(super) app: Application,
    pub(super) who: comity_core::Asker,
    pub(super) finish: MakeVerdict<Rendered>,
    pub(super) responder: Box<dyn Responder>,
}

impl Asker for Judging {
    fn parked(&mut self, waiting: Waiting) {
        self.responder.parked(waiting);
    }

    fn answer(self: Box<Self>, answer: Answer<'_>) {
        let output = match answer {
            Answer::Done { .. } => Ok((self.finish)(Ok(()))),
            Answer::Refused(refusal) => {
                self.app.metrics().count_refusal();
                Ok((self.finish)(Err(refusal)))
            }
            Answer::Fault(problem) => {
                self.app.metrics().count_fault();
                Err(Failure::Fault(problem))
            }
        };
        self.app.respond(&self.who, self.responder, output);
    }
}
