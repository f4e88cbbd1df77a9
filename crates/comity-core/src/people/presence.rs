//! What takes a present person, and what a person may do without being present.

use super::{Asker, PersonRefusal, Proof};
use crate::agents::AgentAsk;
use crate::features::Ask;
use crate::ids::Principal;
use crate::refusal::Refusal;
use crate::world::World;

/// Callers that are nobody may change nothing, and persons who are not present may decide nothing.
pub(crate) fn check(world: &World, asker: &Asker, ask: &Ask) -> Result<(), Refusal> {
    // An unknown agent program may join; the door judges whether it is one.
    let comes_in = matches!(ask, Ask::Agent(AgentAsk::Join { .. }) | Ask::Agent(AgentAsk::Attach { .. }));
    if asker.who == Principal::Nobody && !comes_in {
        return Err(Refusal::Person(PersonRefusal::Unproven { why: "nothing proves who you are".into() }));
    }
    let proof = asker.origin.as_ref().filter(|_| asker.who == Principal::Human).map(|origin| &origin.proof);
    match proof {
        Some(Proof::Lineage { lacks }) => match ask.feature().takes_presence(world) {
            Some(act) => Err(Refusal::Person(PersonRefusal::NotPresent { act, lacks: lacks.to_string() })),
            None => Ok(()),
        },
        Some(Proof::Terminal | Proof::Login | Proof::Token(_)) | None => Ok(()),
    }
}
