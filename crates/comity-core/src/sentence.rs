//! Events as people read them. Each event's sentence stands with its feature, and nowhere else.

use crate::event::Record;
use crate::ids::{AgentId, Principal};
use crate::world::World;

/// What the human is called in what the human reads.
const YOU: &str = "you";

pub(crate) struct Telling<'a> {
    pub world: &'a World,
    pub record: &'a Record,
    /// The reader: letters between others stay private.
    pub reader: Principal,
}

impl Telling<'_> {
    pub(crate) fn by(&self) -> String {
        self.name(self.record.by)
    }

    pub(crate) fn name(&self, who: Principal) -> String {
        match (who, self.reader) {
            (Principal::Human, Principal::Human) => YOU.to_owned(),
            _ => self.world.name_of(who),
        }
    }

    /// A name with a verb: `ann is`, `you are`.
    pub(crate) fn does(&self, who: Principal, of_others: &str, of_you: &str) -> String {
        let name = self.name(who);
        let verb = if name == YOU { of_you } else { of_others };
        format!("{name} {verb}")
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
