//! People: how a person is proven, what takes a present human, and the tokens that stand in for one.
//!
//! A person acts in the human's name, yet only a *present* human decides: whoever answers a permission or takes from
//! others has to be at a terminal, logged in, or hold a token that a present human made.

mod presence;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agents::{Process, Since, check_name};
use crate::event::{Event, EventType, Record, durable, live};
use crate::ids::{Principal, TokenHash};
use crate::limits::{AGENT_GROUPS_MAX, HUMAN_TOKENS_MAX, LINEAGES_MAX, UNSEEN_ACTS_MAX};
use crate::refusal::Refusal;
use crate::world::World;

pub(crate) use presence::check;

/// What a person lacks who is at a terminal, while a passphrase is set.
pub const PASSPHRASE_MISSING: &str = "the passphrase was not given in this terminal";

/// Acts that need a present human, even one without a token.
pub(crate) const CHANGES_TOKENS: &str = "change tokens or the passphrase";

/// How it is known that the human acts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Proof {
    /// A terminal that no agent is above.
    Terminal,
    /// A login at the HTTP door.
    Login,
    /// A token with this name.
    Token(Box<str>),
    /// Only that no agent is above it: a person, perhaps not present.
    Lineage {
        /// Why that is no presence.
        lacks: Box<str>,
    },
}

/// Where an act in the human's name came from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// How it is known that it is the human's.
    pub proof: Proof,
    /// The process that asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<Process>,
    /// Its terminal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub terminal: Option<Box<str>>,
    /// The programs from the outermost one down to the one that asked.
    pub lineage: Box<str>,
}

/// Who asks, and how that is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Asker {
    /// Who.
    pub who: Principal,
    /// Where from, if it is the human.
    pub origin: Option<Arc<Origin>>,
}

/// What can be asked about people.
#[derive(Clone, PartialEq, Debug)]
pub enum PersonAsk {
    /// Makes a token that stands in for the human.
    MakeToken {
        /// What it is called.
        name: Box<str>,
        /// Its hash.
        hash: TokenHash,
    },
    /// Makes a token worthless.
    RevokeToken {
        /// Which.
        name: Box<str>,
    },
    /// Sets the passphrase that presence takes from now on, or does away with it.
    SetPassphrase {
        /// What is stored of it.
        verifier: Option<Box<str>>,
    },
    /// The human has been shown what was done from new places.
    Recognise {
        /// Up to this record.
        up_to: u64,
        /// Where: the programs from the outermost one down.
        lineage: Box<str>,
    },
}

/// What happened to people.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PersonEvent {
    /// A token was made.
    TokenMade {
        /// What it is called.
        name: Box<str>,
        /// Its hash.
        hash: TokenHash,
    },
    /// A token is worthless from now on.
    TokenRevoked {
        /// Which.
        name: Box<str>,
    },
    /// The passphrase was set, or done away with.
    PassphraseSet {
        /// What is stored of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        verifier: Option<Box<str>>,
    },
    /// The human acted from a place that was not known.
    ActedFromNewPlace {
        /// The programs from the outermost one down.
        lineage: Box<str>,
        /// What was done, as the ledger calls it.
        act: Box<str>,
    },
    /// The human was shown what was done from new places, at one that is older than what was done.
    Recognised {
        /// Up to this record.
        up_to: u64,
        /// Where: the programs from the outermost one down.
        lineage: Box<str>,
    },
}

/// A token that stands in for the human.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HumanToken {
    /// Its hash.
    pub hash: TokenHash,
    /// When it was made, on the wall.
    pub made_ms: i64,
}

/// An act from a new place that the human has not been shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unseen {
    /// The record that tells of it.
    pub seq: u64,
    /// When, on the wall.
    pub wall_ms: i64,
    /// Where it came from.
    pub origin: Origin,
    /// What was done, as the ledger calls it.
    pub act: Box<str>,
}

/// A place that the human has acted from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    lineage: Box<str>,
    /// The record since which it is known.
    since: u64,
}

/// What is known of the people who use this state directory.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct People {
    tokens: BTreeMap<Box<str>, HumanToken>,
    passphrase: Option<Box<str>>,
    places: VecDeque<Place>,
    unseen: VecDeque<Unseen>,
    boot: Option<Box<str>>,
    /// By group, when the first agent's processes can have started since the machine did. No name is any group.
    first_agents: BTreeMap<Box<str>, u64>,
}

impl Proof {
    /// Whether it proves a present human.
    pub fn is_presence(&self) -> bool {
        match self {
            Proof::Terminal | Proof::Login | Proof::Token(_) => true,
            Proof::Lineage { .. } => false,
        }
    }
}

impl From<Principal> for Asker {
    /// Somebody whose proof is not in question.
    fn from(who: Principal) -> Asker {
        Asker { who, origin: None }
    }
}

impl Asker {
    /// Whether it is the human, present.
    pub fn is_present_human(&self) -> bool {
        self.who == Principal::Human && self.origin.as_ref().is_none_or(|origin| origin.proof.is_presence())
    }
}

impl People {
    /// The name of the token with this hash.
    pub fn token(&self, hash: &TokenHash) -> Option<&str> {
        self.tokens.iter().find(|(_, token)| token.hash == *hash).map(|(name, _)| &**name)
    }

    /// All tokens by name.
    pub fn tokens(&self) -> impl Iterator<Item = (&str, &HumanToken)> {
        self.tokens.iter().map(|(name, token)| (&**name, token))
    }

    /// What is stored of the passphrase, if one is set.
    pub fn passphrase(&self) -> Option<&str> {
        self.passphrase.as_deref()
    }

    /// What was done from new places and not shown yet, unless it was done from this one.
    pub fn unseen<'a>(&'a self, lineage: &'a str) -> impl Iterator<Item = &'a Unseen> {
        self.unseen.iter().filter(move |act| &*act.origin.lineage != lineage)
    }

    /// Whether a process that started then may be an agent's: one in a group for which this is true came before.
    pub fn may_be_an_agents(&self, start: u64, is_group: impl Fn(Option<&str>) -> bool) -> bool {
        let named = |group: &str| is_group(Some(group).filter(|group| !group.is_empty()));
        self.first_agents.iter().any(|(group, first)| *first <= start && named(group))
    }

    /// The run of the machine in which the last server started.
    pub(crate) fn boot(&self) -> Option<&str> {
        self.boot.as_deref()
    }

    pub(crate) fn booted(&mut self, boot: Option<&str>) {
        if self.boot.as_deref() != boot {
            self.boot = boot.map(Into::into);
            self.first_agents.clear();
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

    fn place(&self, lineage: &str) -> Option<&Place> {
        self.places.iter().find(|place| &*place.lineage == lineage)
    }

    /// Whether showing an act there settles it: only a place that was known before the act proves that the human saw it.
    fn is_settled_by(&self, act: &Unseen, up_to: u64, lineage: &str) -> bool {
        let is_older = self.place(lineage).is_some_and(|place| place.since < act.seq);
        act.seq <= up_to && is_older && &*act.origin.lineage != lineage
    }
}

impl PersonEvent {
    pub(crate) fn kind(&self) -> EventType {
        match self {
            PersonEvent::TokenMade { .. } => durable("human_token_made", "human:token_made"),
            PersonEvent::TokenRevoked { .. } => durable("human_token_revoked", "human:token_revoked"),
            PersonEvent::PassphraseSet { .. } => durable("passphrase_set", "human:passphrase_set"),
            PersonEvent::ActedFromNewPlace { .. } => live("acted_from_new_place", "human:new_place"),
            PersonEvent::Recognised { .. } => live("new_place_shown", "human:new_place_shown"),
        }
    }
}

/// That the human acts from a place that is not known, if that is so.
pub(crate) fn new_place(world: &World, asker: &Asker, answer: &[Event]) -> Option<Event> {
    let origin = asker.origin.as_ref().filter(|_| asker.who == Principal::Human)?;
    let act = answer.first()?.kind().action.into();
    let lineage = origin.lineage.clone();
    match world.people.place(&lineage) {
        Some(_) => None,
        None => Some(Event::Person(PersonEvent::ActedFromNewPlace { lineage, act })),
    }
}

pub(crate) fn decide(world: &World, who: Principal, ask: &PersonAsk) -> Result<Vec<Event>, Refusal> {
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
                return Err(Refusal::NotFound { problem, hint: "list them with: comity token list".into() });
            }
        },
        PersonAsk::SetPassphrase { verifier } => PersonEvent::PassphraseSet { verifier: verifier.clone() },
        PersonAsk::Recognise { up_to, lineage } => {
            let people = &world.people;
            match people.unseen.iter().any(|act| people.is_settled_by(act, *up_to, lineage)) {
                true => PersonEvent::Recognised { up_to: *up_to, lineage: lineage.clone() },
                false => return Ok(vec![]),
            }
        }
    };
    Ok(vec![Event::Person(event)])
}

fn make_token(world: &World, name: &str, hash: TokenHash) -> Result<Vec<Event>, Refusal> {
    check_name("a token's name", name)?;
    let people = &world.people;
    if people.tokens.contains_key(name) {
        let hint = format!("choose another name, or revoke it with: comity token revoke {name}");
        return Err(Refusal::bad_input(format!("there is a token {name:?} already"), hint));
    }
    if people.tokens.len() >= HUMAN_TOKENS_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("there are {HUMAN_TOKENS_MAX} tokens already"),
            hint: "revoke one with: comity token revoke NAME".into(),
        });
    }
    if people.token(&hash).is_some() || world.agents.by_token(&hash).is_ok() {
        return Err(Refusal::bad_input("this token was given out before", "ask again"));
    }
    Ok(vec![Event::Person(PersonEvent::TokenMade { name: name.into(), hash })])
}

pub(crate) fn apply(world: &mut World, record: &Record, event: &PersonEvent) {
    let people = &mut world.people;
    match event {
        PersonEvent::TokenMade { name, hash } => {
            let token = HumanToken { hash: *hash, made_ms: record.wall_ms };
            people.tokens.insert(name.clone(), token);
        }
        PersonEvent::TokenRevoked { name } => drop(people.tokens.remove(name)),
        PersonEvent::PassphraseSet { verifier } => people.passphrase = verifier.clone(),
        PersonEvent::ActedFromNewPlace { lineage, act } => {
            // The first place of all is where the state directory was made: there is nobody to ask about it.
            if let Some(origin) = record.from.as_deref().filter(|_| !people.places.is_empty()) {
                let (seq, wall_ms) = (record.seq, record.wall_ms);
                people.unseen.push_back(Unseen { seq, wall_ms, origin: origin.clone(), act: act.clone() });
                people.unseen.truncate(UNSEEN_ACTS_MAX);
            }
            people.places.push_back(Place { lineage: lineage.clone(), since: record.seq });
            if people.places.len() > LINEAGES_MAX {
                people.places.pop_front();
            }
        }
        PersonEvent::Recognised { up_to, lineage } => {
            let mut unseen = std::mem::take(&mut people.unseen);
            unseen.retain(|act| !people.is_settled_by(act, *up_to, lineage));
            people.unseen = unseen;
        }
    }
}
