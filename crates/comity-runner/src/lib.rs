//! Runs agent programs and leaves nothing of them behind.
//!
//! Above each program stands a guardian, a small process that ends with all that the program has started: when the program
//! ends, when it is told to, and when the runner is gone. Knows nothing of agents, teams and operations.

mod acp;
mod cgroup;
mod detect;
#[doc(hidden)]
pub mod guardian;
mod iterm2;
mod launch;
mod panes;
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
pub use detect::{Surroundings, detect, detect_iterm2, find};
pub use launch::{Exit, Program, Size};
pub use panes::{Pane, PaneCommand, PaneError, PanePlace};
pub use process_tree::{ProcessId, descendants};
pub use runner::{Launch, LaunchPlace, Notify, Runner, RunnerError, RunnerEvent, RunnerOptions, Survivor};
pub use scrollback::Output;
pub use tmux::{Tmux, TmuxPlace};
