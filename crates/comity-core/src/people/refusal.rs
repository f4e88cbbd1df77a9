//! Refusals about who is a person.

use std::fmt;

use serde::Serialize;

use super::{CHANGES_TOKENS, PASSPHRASE_MISSING};
use crate::calls;
use crate::display::visible;
use crate::next_call::call;
use crate::refusal::{FeatureRefusal, RefusalKind};

/// Why somebody is not taken for a person, or may not act as one.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum PersonRefusal {
    Unproven {
        #[serde(skip)]
        why: String,
    },
    NotPresent {
        /// As in "release another's lock".
        #[serde(skip)]
        act: &'static str,
        /// Why this is not presence.
        #[serde(skip)]
        lacks: String,
    },
}

impl FeatureRefusal for PersonRefusal {
    fn code(&self) -> &'static str {
        match self {
            PersonRefusal::Unproven { .. } => "unproven",
            PersonRefusal::NotPresent { .. } => "not_present",
        }
    }

    fn kind(&self) -> RefusalKind {
        RefusalKind::Forbidden
    }

    fn hint(&self) -> String {
        let create = call(calls::TOKEN_CREATE, [("name", "NAME".into())]);
        match self {
            PersonRefusal::Unproven { .. } => {
                format!(
                    "you may look; to act, use a terminal that was open before the agents came, or set COMITY_TOKEN: an \
                     agent gets a token from its leader, a script from you with: {create}"
                )
            }
            PersonRefusal::NotPresent { lacks, .. } if lacks == PASSPHRASE_MISSING => {
                format!("give it once in this terminal: {}", call(calls::LOGIN, []))
            }
            PersonRefusal::NotPresent { act, .. } if *act == CHANGES_TOKENS => {
                "run it in a terminal that no agent is above; a new state directory gets its first token with: comity \
                 token first"
                    .into()
            }
            PersonRefusal::NotPresent { .. } => {
                format!("run it in a terminal that no agent is above, or give the script a token: {create}")
            }
        }
    }
}

impl fmt::Display for PersonRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PersonRefusal::Unproven { why } => write!(f, "can't tell who you are: {}", visible(why)),
            PersonRefusal::NotPresent { act, lacks } => {
                write!(f, "only a person at a terminal may {act}: {}", visible(lacks))
            }
        }
    }
}
