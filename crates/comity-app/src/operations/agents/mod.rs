//! Agents: who is here, joining and leaving.

mod attach;
mod bye;
mod diff;
mod join;
mod limit;
mod list;
mod show;
mod why;

use crate::catalog::{CatalogEntry, DELETE, GET, Group, POST};
use crate::identity::WayIn;
use crate::operation::HelpSection;
pub use attach::Attach;
pub use bye::Bye;
use comity_core::calls;
pub use diff::Diff;
pub use join::Join;
pub use limit::AgentLimit;
pub use list::{AgentView, ListAgents};
pub use show::ShowAgent;
pub use why::Why;

pub(crate) const GROUPS: &[Group] = &[("agent", "Who is here")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Join>(      calls::AGENT_JOIN,   "agent join <name>", POST,   "/api/agents")        .changes().lets_in(WayIn::Join).examples(&["agent join ann --role developer"]),
    CatalogEntry::of::<ListAgents>("agents",       "agent list",        GET,    "/api/agents").long().for_agents().unlisted(&["all_projects"]).also(&["ps", "agent ls"]),
    CatalogEntry::of::<ShowAgent>( "agent_show",   "show <agent>",      GET,    "/api/agents/{agent}").long().also(&["agent show"]).under(HelpSection::GoingOn),
    CatalogEntry::of::<Diff>(      "diff",         "diff <of>",         GET,    "/api/diff")          .long().under(HelpSection::GoingOn),
    CatalogEntry::of::<Why>(       "why",          "why <subject>",     GET,    "/api/why").under(HelpSection::GoingOn),
    CatalogEntry::of::<Bye>(       calls::AGENT_BYE,    "agent bye <agent>", DELETE, "/api/agents/{agent}").removes().also(&["agent end", "agent rm"]),
    CatalogEntry::of::<AgentLimit>(calls::AGENT_LIMIT,  "agent limit <max>", POST,   "/api/agents/limit")  .changes(),
    CatalogEntry::of::<Attach>(    "agent_attach", "",                  POST,   "/api/agents/attach") .changes().internal().lets_in(WayIn::Join),
];
