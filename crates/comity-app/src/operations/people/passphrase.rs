//! Sets the passphrase that presence requires.

use std::fmt;

use comity_core::people::PersonAsk;
use comity_core::{Ask, Refusal};

use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::people::Login;
use crate::tokens;

const CHARS_MIN: usize = 8;
const BYTES_MAX: usize = 1_024;

/// Set or remove your passphrase. Once it is set, every terminal asks for it before you can decide anything there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetPassphrase {
    /// The new passphrase; the command line asks for it
    #[schemars(extend("writeOnly" = true))]
    pub passphrase: Option<String>,
    /// Remove the passphrase
    #[serde(default)]
    pub remove: bool,
}

/// Whether a passphrase is set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PassphraseSet {
    pub needed: bool,
    /// Whether one was set before.
    pub was_needed: bool,
}

impl Operation for SetPassphrase {
    type Output = PassphraseSet;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<PassphraseSet>, Failure> {
        // Whoever may not change it is told before the given ones are checked.
        let removal = Ask::Person(PersonAsk::SetPassphrase { verifier: None });
        comity_core::decide(&app.engine().world(), &caller.asker(), &removal)?;
        let needed = self.passphrase.is_some();
        let was_needed = app.engine().world().people.passphrase().is_some();
        let verifier = match (&self.passphrase, self.remove) {
            (None, true) => None,
            (None, false) | (Some(_), true) => {
                let hint = "give the new one, or say that it is to be removed";
                return Err(Refusal::bad_input("a passphrase is set or removed", hint).into());
            }
            (Some(text), false) if text.chars().count() < CHARS_MIN => {
                let hint = format!("use at least {CHARS_MIN} characters");
                return Err(Refusal::bad_input("this passphrase is too short", hint).into());
            }
            (Some(text), false) if text.len() > BYTES_MAX => {
                let hint = format!("use at most {BYTES_MAX} bytes");
                return Err(Refusal::bad_input("this passphrase is too long", hint).into());
            }
            (Some(text), false) => Some(tokens::verifier(text).map_err(Failure::fault)?.into_boxed_str()),
        };
        // Whoever sets it has given it. If this is refused, no passphrase is ever stored as this one is.
        if let Some((lineage, verifier)) = caller.lineage.as_ref().zip(verifier.as_deref()) {
            app.unlock_terminal(lineage, verifier);
        }
        let asks = vec![Ask::Person(PersonAsk::SetPassphrase { verifier })];
        Ok(Plan::change(asks, move |_, _, _| PassphraseSet { needed, was_needed }))
    }
}

impl fmt::Display for PassphraseSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.needed {
            true => {
                write!(f, "passphrase set; give it once in each terminal with: {}", next_call::<Login>([]))
            }
            false if self.was_needed => f.write_str("passphrase removed"),
            false => f.write_str("no passphrase was set"),
        }
    }
}
