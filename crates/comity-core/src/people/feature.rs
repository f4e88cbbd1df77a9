//! People as a feature: names and sentences of events.

use super::{CHANGES_TOKENS, PersonAsk, PersonEvent};
use crate::decide::AskResult;
use crate::event::{Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::AgentId;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

impl FeatureAsk for PersonAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        Ok(super::decide(world, asker.who, self)?.into())
    }

    fn takes_presence(&self, _: &World) -> Option<&'static str> {
        Some(CHANGES_TOKENS)
    }
}

event_types!(PersonEvent {
    PersonEvent::TokenMade { .. } => durable("human_token_made", "human:token_made"),
    PersonEvent::TokenRevoked { .. } => durable("human_token_revoked", "human:token_revoked"),
    PersonEvent::PassphraseSet { .. } => durable("passphrase_set", "human:passphrase_set"),
    PersonEvent::ActedFromNewPlace { .. } => live("acted_from_new_place", "human:new_place"),
    PersonEvent::Recognised { .. } => live("new_place_shown", "human:new_place_shown").housekeeping(),
});

impl FeatureEvent for PersonEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        super::apply(world, record, self);
    }

    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        vec![]
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let by = telling.by();
        match self {
            PersonEvent::TokenMade { name, .. } => format!("{by} created the token {name}"),
            PersonEvent::TokenRevoked { name } => format!("{by} revoked the token {name}"),
            PersonEvent::PassphraseSet { verifier: Some(_) } => format!("{by} set a passphrase"),
            PersonEvent::PassphraseSet { verifier: None } => format!("{by} removed the passphrase"),
            PersonEvent::ActedFromNewPlace { lineage, window, act } => {
                let from = telling.record.from.as_deref();
                let terminal = from.and_then(|from| from.terminal.as_deref()).unwrap_or("no terminal");
                let window = window.map_or("", |_| ", in a window opened since agents came");
                format!("{by} acted from a new place ({act}): {lineage}{window}, {terminal}")
            }
            PersonEvent::Recognised { .. } => format!("{by} was shown what was done from new places"),
        }
    }
}
