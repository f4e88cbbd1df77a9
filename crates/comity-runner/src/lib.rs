//! Runs agent programs and leaves nothing of them behind.
//!
//! Above each program stands a guardian, a small process that ends with all that the program has started: when the program
//! ends, when it is told to, and when the runner is gone. Knows nothing of agents, teams and operations.

mod acp;
mod cgroup;
mod detect;
#[doc(hidden)]
pub mod guardian;
mod launch;
mod pipes;
mod process_tree;
mod protocol;
mod runner;
mod scrollback;
mod terminal;
mod tmux;

pub use acp::{
    AcpActivity, AcpAsk, AcpChange, AcpCost, AcpNews, AcpServer, AcpStart, AcpState, AcpToolCall, AcpTurnEnd,
    AcpUsage, AcpVariable, AcpWish,
};
pub use comity_confine::{PROXY_PORT, PathAccess, Sandbox, ShownPath};
pub use detect::{Backend, Surroundings, detect};
pub use launch::{Exit, Program, Size};
pub use process_tree::{ProcessId, descendants};
pub use runner::{
    Launch, LaunchPlace, Notify, ProxyListener, Runner, RunnerError, RunnerEvent, RunnerOptions,
};
pub use scrollback::Output;
pub use tmux::{Pane, PaneCommand, Tmux, TmuxError, TmuxPlace};
