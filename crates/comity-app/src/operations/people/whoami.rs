//! Shows who the caller is to Comity, and why.

use std::fmt;

use comity_core::Principal;
use comity_core::people::Proof;

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Show who Comity thinks you are and how it knows: an agent, you at a terminal, a script of yours, or nobody.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Whoami {}

/// Who the caller is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Known {
    /// An agent's name, human or nobody.
    pub you: String,
    /// Whether it is the human, and may decide.
    pub present: bool,
    /// How that is known, or what is missing.
    pub why: String,
    /// The programs from the outermost one down to the one that asks.
    pub lineage: Option<String>,
    pub terminal: Option<String>,
}

impl Operation for Whoami {
    type Output = Known;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Known>, Failure> {
        let world = app.engine().world();
        let own = caller.who.agent().and_then(|agent| world.agents.get(agent)?.profile.process);
        let lineage = caller.lineage.as_ref();
        let by_process =
            lineage.and_then(|line| line.links.iter().find(|link| Some(link.process) == own).cloned());
        let is_shown = caller.who.agent().is_none() || by_process.is_some();
        let lineage = lineage.filter(|_| is_shown);
        let proof = caller.origin.as_ref().map(|origin| &origin.proof);
        let (you, why) = match (caller.who, proof) {
            (Principal::Nobody, _) => ("nobody".into(), caller.unproven().to_string()),
            (Principal::Agent(_), _) => (
                world.name_of(caller.who),
                by_process.as_ref().map_or_else(
                    || "by its token".to_owned(),
                    |link| format!("{} (process {}) has joined", link.name, link.process.pid),
                ),
            ),
            (_, Some(Proof::Terminal)) => ("human".into(), "at a terminal that no agent is above".into()),
            (_, Some(Proof::Login)) => ("human".into(), "logged in".into()),
            (_, Some(Proof::Token(name))) => ("human".into(), format!("by the token {name}")),
            (_, Some(Proof::Lineage { lacks })) => {
                ("human".into(), format!("no agent is above, but {lacks}"))
            }
            (who, None) => (who.to_string(), "known to the server".into()),
        };
        Ok(Plan::Answer(Known {
            you,
            present: caller.asker().is_present_human(),
            why,
            lineage: lineage.map(|lineage| lineage.names()),
            terminal: lineage.and_then(|lineage| lineage.links.first()?.terminal_name()),
        }))
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match (&*self.you, self.present) {
            ("human", true) => "you, present".to_owned(),
            ("human", false) => "a person, not present".to_owned(),
            (name, _) => name.to_owned(),
        };
        write!(f, "{who}: {}", self.why)?;
        if let Some(lineage) = &self.lineage {
            write!(f, "\nprograms  {}", comity_core::display::visible(lineage))?;
        }
        match &self.terminal {
            Some(terminal) => write!(f, "\nterminal  {terminal}"),
            None => Ok(()),
        }
    }
}
