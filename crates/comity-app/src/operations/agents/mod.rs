//! Agents: who is here, joining and leaving.

mod attach;
mod bye;
mod join;
mod limit;
mod list;

pub use attach::Attach;
pub use bye::Bye;
pub use join::Join;
pub use limit::AgentLimit;
pub use list::ListAgents;
