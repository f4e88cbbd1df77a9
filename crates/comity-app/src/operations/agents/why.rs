//! Explains why something is held up.

use std::fmt;

use comity_core::agents::Agent;
use comity_core::display::visible;
use comity_core::why::{ChainLink, WaitChain};
use comity_core::{PathPattern, Principal, ProjectId, Refusal, World};

use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::locks::ListLocks;
use crate::operations::tasks::TaskList;
use crate::projects::PathBase;

use super::ListAgents;

/// Say why a path, a task or an agent is held up: who waits for whom, down to who can change that.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// A path, a task, an agent, a pool, or an entry such as d1 or p9 (for a path that is also a name: ./NAME)
    pub subject: String,
}

/// A chain of waiting.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhyChain {
    /// What it is about: path, task, agent, pool, decision, permission or plan.
    pub kind: &'static str,
    /// Each says why what is above it with less depth does not go on.
    pub links: Vec<WhyLink>,
}

/// A step of the chain: who or what waits, and for what.
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
        let chain = || WaitChain::new(&world, caller.who, now);
        let subject = self.subject.as_str();
        if let Ok(agent) = world.agents.find(subject) {
            return Ok(Plan::Answer(shown("agent", chain().of_agent(agent), &world)));
        }
        let place = app.projects().place(caller).ok();
        let task = place.as_ref().and_then(|place| world.tasks.get(place.project(), subject));
        if let Some(task) = task {
            return Ok(Plan::Answer(shown("task", chain().of_task(task), &world)));
        }
        let path = match &place {
            Some(place) => self.path(place, &world)?,
            None => None,
        };
        if let Some((project, pattern)) = path {
            return Ok(Plan::Answer(shown("path", chain().of_path(project, &pattern), &world)));
        }
        let other = self.numbered(&world, chain()).or_else(|| {
            let (pool, ended) = (world.pools.get(subject), last_ended(&world, subject));
            let pool = pool.map(|pool| ("pool", chain().of_pool(pool)));
            pool.or_else(|| Some(("agent", chain().of_ended(ended?))))
        });
        match other {
            Some((kind, links)) => Ok(Plan::Answer(shown(kind, links, &world))),
            None => Err(Refusal::NotFound {
                problem: format!("there is no path, task or agent {}", visible(subject)),
                hint: format!(
                    "see what there is: {}, {}, {}",
                    next_call::<ListAgents>([]),
                    next_call::<TaskList>([]),
                    next_call::<ListLocks>([])
                ),
            }
            .into()),
        }
    }
}

impl Why {
    /// The path, if it exists, or somebody has it or waits for it.
    fn path(&self, place: &PathBase, world: &World) -> Result<Option<(ProjectId, PathPattern)>, Refusal> {
        let (project, pattern) = (place.project(), place.resolve(&self.subject)?);
        let is_used = !world.locks.overlapping(project, &pattern).is_empty()
            || !world.locks.waits_overlapping(project, &pattern).is_empty();
        let is_there = || place.missing(&pattern).is_none();
        Ok((is_used || is_there()).then_some((project, pattern)))
    }

    /// A decision, a request or a plan, by its number: d1, p9, plan3.
    fn numbered(&self, world: &World, chain: WaitChain<'_>) -> Option<(&'static str, Vec<ChainLink>)> {
        let (word, number) = self.subject.split_at(self.subject.find(|c: char| c.is_ascii_digit())?);
        let number: u64 = number.parse().ok()?;
        match word {
            "d" => {
                let decision = world.decisions.iter().find(|decision| decision.id.0 == number)?;
                Some(("decision", chain.of_decision(decision)))
            }
            "p" => {
                let request = world.permissions.requests().find(|request| request.id.0 == number)?;
                Some(("permission", chain.of_request(request)))
            }
            "plan" => {
                let plan = world.permissions.plans().find(|plan| plan.id.0 == number)?;
                Some(("plan", chain.of_plan(plan)))
            }
            _ => None,
        }
    }
}

/// The last ended agent with that name.
fn last_ended<'w>(world: &'w World, name: &str) -> Option<&'w Agent> {
    let ended = world.agents.iter().filter(|agent| !agent.is_live() && *agent.profile.name == *name);
    ended.max_by_key(|agent| agent.joined)
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
