//! Lists the tokens that stand in for the human.

use std::fmt;

use comity_core::Principal;

use crate::catalog::next_call;
use crate::ledger::{date, local};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::people::CreateToken;

/// List the tokens with which scripts act as you; the secrets themselves are stored nowhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTokens {}

/// Tokens that still work; none of them can be read again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tokens {
    /// By name.
    pub tokens: Vec<TokenView>,
}

/// A token, without what whoever has it could use.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenView {
    pub name: String,
    pub made: String,
    #[serde(skip)]
    made_ms: i64,
}

impl Operation for ListTokens {
    type Output = Tokens;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Tokens>, Failure> {
        if caller.who == Principal::Nobody {
            return Err(caller.unproven().into());
        }
        if caller.who != Principal::Human {
            return Err(comity_core::Refusal::NotAllowed {
                problem: "the tokens of scripts are the human's".into(),
                hint: "ask the human".into(),
            }
            .into());
        }
        caller.check_presence("list tokens")?;
        let world = app.engine().world();
        let tokens = world.people.tokens();
        let tokens = tokens.map(|(name, token)| TokenView {
            name: name.to_owned(),
            made: date(token.made_ms),
            made_ms: token.made_ms,
        });
        Ok(Plan::Answer(Tokens { tokens: tokens.collect() }))
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tokens.is_empty() {
            return f.write_str(&format!(
                "no tokens; create one with: {}",
                next_call::<CreateToken>([("name", "NAME".into())])
            ));
        }
        let rows: Vec<Vec<String>> =
            self.tokens.iter().map(|token| vec![token.name.clone(), local(token.made_ms)]).collect();
        f.write_str(&comity_core::table::table(&["NAME", "MADE"], &rows))
    }
}
