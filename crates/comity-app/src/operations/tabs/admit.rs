//! Admits somebody to a context.

use std::fmt;

use comity_core::Ask;
use comity_core::display::visible;
use comity_core::pools::PoolAsk;

use super::somebody;
use crate::browser::TABS;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Let another agent open tabs in a context you made, with the cookies and logins in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdmitToContext {
    /// The context's name
    pub context: String,
    /// The agent's name or id
    pub agent: String,
}

impl Operation for AdmitToContext {
    type Output = Admitted;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Admitted>, Failure> {
        let world = app.engine().world();
        let whom = somebody(&world, &self.agent)?;
        let admitted = Admitted { context: self.context.clone(), agent: world.name_of(whom) };
        let ask = PoolAsk::Admit { pool: TABS.into(), context: self.context.into(), whom };
        Ok(Plan::change(vec![Ask::Pool(ask)], move |_, _, _| admitted))
    }
}

/// Who was let in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Admitted {
    /// The name of the context.
    pub context: String,
    /// Who may open tabs in it.
    pub agent: String,
}

impl fmt::Display for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may open tabs in the context {:?}", self.agent, visible(&self.context))
    }
}
