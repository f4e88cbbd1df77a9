//! Says why something does not go on.

use std::fmt;

use comity_core::display::visible;
use comity_core::why::{Chain, ChainLink};
use comity_core::{Principal, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Say why a path, a task or an agent is held up: who waits for whom, to whoever can end it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// A path, a task or an agent (for a path that is also a name: ./NAME)
    pub subject: String,
}

/// A chain of waiting.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyChain {
    /// What it is about: path, task or agent.
    pub kind: &'static str,
    /// Each says why what is above it with less depth does not go on.
    pub links: Vec<WhyLink>,
}

/// One link of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyLink {
    /// How deep it is in the chain, from 0.
    pub depth: usize,
    /// What is so.
    pub text: String,
    /// Whom it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
}

impl Operation for Why {
    type Output = WhyChain;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WhyChain>, Failure> {
        let (now, world) = (app.engine().now(), app.engine().world());
        let chain = Chain::new(&world, caller.who, now);
        if let Ok(agent) = world.agents.find(&self.subject) {
            return Ok(Plan::Answer(shown("agent", chain.of_agent(agent), &world)));
        }
        let place = match (app.projects().place(caller), world.agents.find(&self.subject)) {
            (Ok(place), _) => place,
            (Err(_), Err(unknown)) => return Err(unknown.into()),
            (Err(failure), Ok(_)) => return Err(failure),
        };
        if let Some(task) = world.tasks.get(place.project(), &self.subject) {
            return Ok(Plan::Answer(shown("task", chain.of_task(task), &world)));
        }
        let pattern = place.resolve(&self.subject)?;
        Ok(Plan::Answer(shown("path", chain.of_path(place.project(), &pattern), &world)))
    }
}

fn shown(kind: &'static str, links: Vec<ChainLink>, world: &World) -> WhyChain {
    let who = |who: Principal| world.name_of(who);
    let links =
        links.into_iter().map(|link| WhyLink { depth: link.depth, text: link.text, who: link.who.map(who) });
    WhyChain { kind, links: links.collect() }
}

impl fmt::Display for WhyChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, link) in self.links.iter().enumerate() {
            let line_break = if at > 0 { "\n" } else { "" };
            write!(f, "{line_break}{:indent$}{}", "", visible(&link.text), indent = 2 * link.depth)?;
        }
        Ok(())
    }
}
