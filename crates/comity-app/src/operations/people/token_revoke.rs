//! Revokes a token.

use std::fmt;

use comity_core::Ask;
use comity_core::people::PersonAsk;

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Revoke a token: from now on, whoever presents it is refused.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// Name of the token
    pub name: String,
}

/// The token is worthless.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Revoked {
    pub name: String,
}

impl Operation for RevokeToken {
    type Output = Revoked;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<Revoked>, Failure> {
        let revoke = PersonAsk::RevokeToken { name: self.name.as_str().into() };
        let name = self.name;
        Ok(Plan::change(vec![Ask::Person(revoke)], move |_, _, _| Revoked { name }))
    }
}

impl fmt::Display for Revoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "revoked {}", self.name)
    }
}
