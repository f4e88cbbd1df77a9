//! Answers, with what the caller has to be told besides.

use comity_core::people::{PersonAsk, Proof, Unseen};
use comity_core::{Ask, Principal};

use super::{Application, Responder};
use crate::engine::{Job, Nobody};
use crate::operation::{Failure, Rendered};

impl Application {
    /// Answers, and tells the agent what waits for it.
    pub(super) fn respond(
        &self,
        asker: &comity_core::Asker,
        responder: Box<dyn Responder>,
        output: Result<Rendered, Failure>,
    ) {
        let who = asker.who;
        let (mut notices, mut told) = (self.new_places(asker), false);
        if let Principal::Agent(id) = who {
            let world = self.engine().world();
            let waiting = world.agents.get(id).map(|agent| &agent.notices[..]).unwrap_or_default();
            notices.extend(waiting.iter().map(|notice| notice.what.to_string()));
            told = !notices.is_empty();
            notices.extend(self.mail_desk().mention(&world, who));
        }
        if told {
            let asks = vec![Ask::TakeNotices];
            self.engine().submit(Job { who: who.into(), asks, key: None, asker: Box::new(Nobody) });
            self.engine().kick();
        }
        responder.respond(output, notices);
    }

    /// What was done in the human's name from places that were new, for a human who looks; each is shown until that is somewhere older.
    fn new_places(&self, asker: &comity_core::Asker) -> Vec<String> {
        let origin = asker.origin.as_ref().filter(|origin| {
            asker.who == Principal::Human && matches!(origin.proof, Proof::Terminal | Proof::Login)
        });
        let Some(origin) = origin else { return vec![] };
        let (notices, up_to) = {
            let world = self.engine().world();
            let unseen: Vec<_> = world.people.unseen(&origin.lineage).collect();
            let up_to = unseen.last().map(|act| act.seq);
            (unseen.iter().map(|act| new_place(act)).collect::<Vec<_>>(), up_to)
        };
        if let Some(up_to) = up_to {
            let lineage = origin.lineage.clone();
            let asks = vec![Ask::Person(PersonAsk::Recognise { up_to, lineage })];
            self.engine().submit(Job { who: asker.clone(), asks, key: None, asker: Box::new(Nobody) });
            self.engine().kick();
        }
        notices
    }
}

fn new_place(act: &Unseen) -> String {
    let at = crate::ledger::date(act.wall_ms);
    let terminal = act.origin.terminal.as_deref().unwrap_or("no terminal");
    format!(
        "somebody acted as you from a new place at {at}: {} ({terminal}), {}; was it you? see: comity log",
        act.origin.lineage, act.act
    )
}
