//! Being present: at a terminal, by the passphrase, and at the HTTP door.

use std::fmt;

use comity_core::{Principal, Refusal};

use crate::catalog::next_call;
use crate::identity::WayIn;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::tokens;

/// Prove that you are present: enter the passphrase for this terminal, if one is set, and get a link that is logged in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The passphrase, if one is set
    #[schemars(extend("writeOnly" = true))]
    pub passphrase: Option<String>,
}

/// The login.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoggedIn {
    /// A link that logs a browser in, once, within 10 minutes.
    pub url: String,
    /// The bearer token of this login: it is good for 12 hours, and no longer than this server runs.
    pub token: String,
}

impl Operation for Login {
    type Output = LoggedIn;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LoggedIn>, Failure> {
        match caller.who {
            Principal::Human => {}
            Principal::Nobody if caller.way_in() == Some(WayIn::LogIn) => {}
            Principal::Nobody => return Err(caller.unproven().into()),
            Principal::Agent(_) | Principal::System => {
                let problem = "only a person logs in".into();
                return Err(Refusal::NotAllowed { problem, hint: "agents use COMITY_TOKEN".into() }.into());
            }
        }
        let needed = app.engine().world().people.passphrase().map(str::to_owned);
        let caller = match (needed, &self.passphrase) {
            (None, _) => caller.clone(),
            (Some(_), None) => {
                let problem = "a passphrase is set".into();
                return Err(Refusal::NotAllowed {
                    problem,
                    hint: format!("give it with: {}", next_call::<Login>([])),
                }
                .into());
            }
            (Some(verifier), Some(given)) => {
                if !tokens::verify(&verifier, given) {
                    let problem = "this is not the passphrase".into();
                    return Err(Refusal::NotAllowed {
                        problem,
                        hint: format!("try again: {}", next_call::<Login>([])),
                    }
                    .into());
                }
                let lineage = caller.lineage.clone();
                if let Some(lineage) = &lineage {
                    app.unlock_terminal(lineage, &verifier);
                }
                let identity = lineage.as_ref().map(|lineage| app.recognise(lineage));
                match identity {
                    Some(identity) => Caller { lineage, ..Caller::identified(identity, caller.cwd.clone()) },
                    None => caller.clone(),
                }
            }
        };
        if caller.who != Principal::Human {
            return Err(caller.unproven().into());
        }
        caller.check_presence("log in")?;
        let token = app.identities().log_in().map_err(Failure::fault)?;
        let code = app.identities().new_link().map_err(Failure::fault)?;
        let url = format!("{}/#login={code}", app.server().url);
        Ok(Plan::Answer(LoggedIn { url, token }))
    }
}

impl fmt::Display for LoggedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "you are logged in; open this in a browser, once, within 10 minutes:\n{}", self.url)
    }
}
