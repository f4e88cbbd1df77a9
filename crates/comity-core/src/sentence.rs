//! Events as people read them. What is said of an event stands with its feature, and nowhere else.

use crate::event::Record;
use crate::ids::{AgentId, Principal};
use crate::world::World;

pub(crate) struct Telling<'a> {
    pub world: &'a World,
    pub record: &'a Record,
    /// Who reads it: letters between others stay theirs.
    pub reader: Principal,
}

impl Telling<'_> {
    pub(crate) fn by(&self) -> String {
        self.name(self.record.by)
    }

    pub(crate) fn name(&self, who: Principal) -> String {
        self.world.name_of(who)
    }

    pub(crate) fn agent(&self, id: AgentId) -> String {
        self.world.name_of(Principal::Agent(id))
    }
}

impl Record {
    /// What happened, in a sentence for `reader`; names come from the world.
    pub fn sentence(&self, world: &World, reader: Principal) -> String {
        self.event.feature().sentence(&Telling { world, record: self, reader })
    }
}

/// A reason after a sentence, if there is one.
pub(crate) fn because(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}
