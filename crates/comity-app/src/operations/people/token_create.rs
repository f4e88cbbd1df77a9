//! Makes a token that stands in for the human.

use std::fmt;

use comity_core::people::{PersonAsk, PersonEvent};
use comity_core::{Ask, Event, Refusal};

use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::people::RevokeToken;
use crate::tokens::Token;

/// Create a token with which a script acts as you. You do this at a terminal; the token works until you revoke it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// What it is for, such as ci
    pub name: String,
}

/// The new token.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Created {
    pub name: String,
    /// The secret: set COMITY_TOKEN to it, or send it as the bearer token. It is not shown again.
    pub token: String,
}

impl Operation for CreateToken {
    type Output = Created;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<Created>, Failure> {
        let token = Token::for_human().map_err(Failure::fault)?;
        let make = PersonAsk::MakeToken { name: self.name.as_str().into(), hash: token.hash() };
        let name = self.name;
        let then = move |_: &Application, events: &[Event]| {
            // A repeat's answer is about the first token, whose secret is not stored.
            let is_this_one = events.iter().any(
                |event| matches!(event, Event::Person(PersonEvent::TokenMade { hash, .. }) if *hash == token.hash()),
            );
            match is_this_one {
                true => Ok(Created { name, token: token.reveal().to_owned() }),
                false => {
                    let problem = format!("the token {name} was made, but its secret was lost on the way");
                    let hint = format!(
                        "revoke it with: {}, and make another",
                        next_call::<RevokeToken>([("name", name.to_string().into())])
                    );
                    Err(Refusal::NotFound { problem, hint }.into())
                }
            }
        };
        Ok(Plan::change_then(vec![Ask::Person(make)], then))
    }
}

impl fmt::Display for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Created { name, token } = self;
        write!(
            f,
            "{token}\nset COMITY_TOKEN to it where the script runs; revoke it with: {}",
            next_call::<RevokeToken>([("name", name.as_str().into())])
        )
    }
}
