//! People: how a person is proven, what takes a present person, and the tokens that stand in for one.
//!
//! Any person acts in the human's name, but only a *present* one decides: to answer a permission request or take from
//! others, a person must be at a terminal, be logged in, or hold a token that a present person made.

mod feature;
mod places;
mod presence;
mod refusal;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agents::{Process, Since, check_name};
use crate::calls;
use crate::event::{Event, Record};
use crate::ids::{Principal, TokenHash};
use crate::limits::{AGENT_GROUPS_MAX, HUMAN_TOKENS_MAX};
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::world::World;

pub use places::Place;
pub(crate) use places::new_place;
pub(crate) use presence::check;
pub use refusal::PersonRefusal;

/// What is missing for a person at a terminal, while a passphrase is set.
pub const PASSPHRASE_MISSING: &str = "the passphrase was not given in this terminal";

pub(crate) const CHANGES_TOKENS: &str = "change tokens or the passphrase";

/// How it is known that the human acts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Proof {
    /// A terminal that was not opened by an agent.
    Terminal,
    Login,
    Token(Box<str>),
    /// Only that no agent started it: a person, perhaps not present.
    Lineage {
        /// Why that is no presence.
        lacks: Box<str>,
    },
}

/// Where an act in the human's name came from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    pub proof: Proof,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<Process>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub terminal: Option<Box<str>>,
    /// The programs, from the outermost down to the one that asked.
    pub lineage: Box<str>,
    /// The terminal's leading process, if that is a window of a multiplexer that an agent may have opened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<Process>,
}

/// Who asks, and how that is proven.
#[derive(Clone, PartialEq, Debug)]
pub struct Asker {
    pub who: Principal,
    pub origin: Option<Arc<Origin>>,
}

/// Asks about people.
#[derive(Clone, PartialEq, Debug)]
pub enum PersonAsk {
    MakeToken {
        name: Box<str>,
        hash: TokenHash,
    },
    RevokeToken {
        name: Box<str>,
    },
    /// Sets or removes the passphrase that presence requires.
    SetPassphrase {
        verifier: Option<Box<str>>,
    },
    /// The human was shown what was done from new places.
    Recognise {
        up_to: u64,
        place: Place,
    },
}

/// What happened to people.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PersonEvent {
    TokenMade {
        name: Box<str>,
        hash: TokenHash,
    },
    TokenRevoked {
        name: Box<str>,
    },
    /// The passphrase was set or removed.
    PassphraseSet {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        verifier: Option<Box<str>>,
    },
    /// The human acted from an unknown place.
    ActedFromNewPlace {
        /// The programs, from the outermost down.
        lineage: Box<str>,
        /// The window of a multiplexer, if that counts as a place of its own.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        window: Option<Process>,
        /// As the ledger calls it.
        act: Box<str>,
    },
    /// The human was shown what was done from new places. That settles acts that are newer than the place where it
    /// was shown.
    Recognised {
        up_to: u64,
        lineage: Box<str>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        window: Option<Process>,
    },
}

/// A token that stands in for the human.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HumanToken {
    pub hash: TokenHash,
    /// On the wall clock.
    pub made_ms: i64,
}

/// An act from a new place that the human has not been shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unseen {
    /// The record of it.
    pub seq: u64,
    pub wall_ms: i64,
    pub origin: Origin,
    /// As the ledger calls it.
    pub act: Box<str>,
    /// Where it was shown without that settling it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    shown: Vec<Place>,
    /// How many earlier acts from new places were dropped, and are only in the log.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub left_out: u32,
}

/// What is known of the people who use this state directory.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct People {
    tokens: BTreeMap<Box<str>, HumanToken>,
    passphrase: Option<Box<str>>,
    places: VecDeque<places::KnownPlace>,
    unseen: VecDeque<Unseen>,
    boot: Option<Box<str>>,
    /// By process group: the earliest start of an agent's processes since boot. No name means any group.
    first_agents: BTreeMap<Box<str>, u64>,
}

impl Proof {
    pub(crate) fn is_presence(&self) -> bool {
        match self {
            Proof::Terminal | Proof::Login | Proof::Token(_) => true,
            Proof::Lineage { .. } => false,
        }
    }
}

impl From<Principal> for Asker {
    /// Somebody whose proof does not matter.
    fn from(who: Principal) -> Asker {
        Asker { who, origin: None }
    }
}

impl Asker {
    pub fn is_present_human(&self) -> bool {
        self.who == Principal::Human && self.origin.as_ref().is_none_or(|origin| origin.proof.is_presence())
    }
}

impl People {
    /// The name of the token with this hash.
    pub fn token(&self, hash: &TokenHash) -> Option<&str> {
        self.tokens.iter().find(|(_, token)| token.hash == *hash).map(|(name, _)| &**name)
    }

    pub fn tokens(&self) -> impl Iterator<Item = (&str, &HumanToken)> {
        self.tokens.iter().map(|(name, token)| (&**name, token))
    }

    pub fn passphrase(&self) -> Option<&str> {
        self.passphrase.as_deref()
    }

    /// Whether a process with this start time may be an agent's: an agent of a matching group came before it.
    pub fn may_be_an_agents(&self, start: u64, is_group: impl Fn(Option<&str>) -> bool) -> bool {
        let named = |group: &str| is_group(Some(group).filter(|group| !group.is_empty()));
        self.first_agents.iter().any(|(group, first)| *first <= start && named(group))
    }

    /// The machine's boot id at the last server start.
    pub(crate) fn boot(&self) -> Option<&str> {
        self.boot.as_deref()
    }

    pub(crate) fn booted(&mut self, boot: Option<&str>) {
        if self.boot.as_deref() != boot {
            self.boot = boot.map(Into::into);
            self.first_agents.clear();
            self.forget_windows();
        }
    }

    pub(crate) fn agent_came(&mut self, since: Option<&Since>) {
        let Some(Since { start, group }) = since else { return };
        let mut group = group.clone().unwrap_or_default();
        if self.first_agents.len() >= AGENT_GROUPS_MAX && !self.first_agents.contains_key(&group) {
            group = Box::default();
        }
        let first = self.first_agents.entry(group).or_insert(*start);
        *first = (*first).min(*start);
    }
}

fn decide(world: &World, who: Principal, ask: &PersonAsk) -> Result<Vec<Event>, Refusal> {
    if who != Principal::Human && who != Principal::System {
        return Err(Refusal::NotAllowed {
            problem: "tokens and the passphrase are the human's".into(),
            hint: "ask the human; an agent's own token is in COMITY_TOKEN".into(),
        });
    }
    let event = match ask {
        PersonAsk::MakeToken { name, hash } => return make_token(world, name, *hash),
        PersonAsk::RevokeToken { name } => match world.people.tokens.contains_key(name) {
            true => PersonEvent::TokenRevoked { name: name.clone() },
            false => {
                let problem = format!("there is no token {name:?}");
                return Err(Refusal::NotFound {
                    problem,
                    hint: format!("list them with: {}", call(calls::TOKENS, [])),
                });
            }
        },
        PersonAsk::SetPassphrase { verifier } => PersonEvent::PassphraseSet { verifier: verifier.clone() },
        PersonAsk::Recognise { up_to, place } => match world.people.has_news(*up_to, place) {
            true => {
                let Place { lineage, window } = place.clone();
                PersonEvent::Recognised { up_to: *up_to, lineage, window }
            }
            false => return Ok(vec![]),
        },
    };
    Ok(vec![Event::Person(event)])
}

fn make_token(world: &World, name: &str, hash: TokenHash) -> Result<Vec<Event>, Refusal> {
    check_name("a token's name", name)?;
    let people = &world.people;
    if people.tokens.contains_key(name) {
        let hint = format!(
            "choose another name, or revoke it with: {}",
            call(calls::TOKEN_REVOKE, [("name", name.into())])
        );
        return Err(Refusal::bad_input(format!("there is a token {name:?} already"), hint));
    }
    if people.tokens.len() >= HUMAN_TOKENS_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("there are {HUMAN_TOKENS_MAX} tokens already"),
            hint: format!("revoke one with: {}", call(calls::TOKEN_REVOKE, [("name", "NAME".into())])),
        });
    }
    if people.token(&hash).is_some() || world.agents.by_token(&hash).is_ok() {
        return Err(Refusal::bad_input("this token was given out before", "ask again"));
    }
    Ok(vec![Event::Person(PersonEvent::TokenMade { name: name.into(), hash })])
}

fn apply(world: &mut World, record: &Record, event: &PersonEvent) {
    let people = &mut world.people;
    match event {
        PersonEvent::TokenMade { name, hash } => {
            let token = HumanToken { hash: *hash, made_ms: record.wall_ms };
            people.tokens.insert(name.clone(), token);
        }
        PersonEvent::TokenRevoked { name } => drop(people.tokens.remove(name)),
        PersonEvent::PassphraseSet { verifier } => people.passphrase = verifier.clone(),
        PersonEvent::ActedFromNewPlace { lineage, window, act } => {
            // The very first place is where the state directory was made: there is nobody to ask about it.
            if let Some(origin) = record.from.as_deref().filter(|_| !people.places.is_empty()) {
                let (seq, wall_ms) = (record.seq, record.wall_ms);
                let (origin, act) = (origin.clone(), act.clone());
                people.ask_about(Unseen { seq, wall_ms, origin, act, shown: vec![], left_out: 0 });
            }
            people.know(Place { lineage: lineage.clone(), window: *window }, record.seq);
        }
        PersonEvent::Recognised { up_to, lineage, window } => {
            people.show(*up_to, &Place { lineage: lineage.clone(), window: *window });
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
