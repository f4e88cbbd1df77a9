//! The cases, one file each.

mod browser;
mod check;
mod classifier;
mod command;
mod commit;
mod confine;
mod hook;
mod inbox;
mod index;
mod lock;
mod mail;
mod mcp;
mod registry;
mod restart;
mod runs;
mod sim;
mod start;
mod tail;
mod task;
mod throughput;
mod witness;
mod worktree;

use super::Bench;

/// Something to measure.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&mut Bench) -> Result<(), String>,
}

/// All of them, in the order in which they run.
pub(super) const ALL: &[Case] = &[
    Case { name: "check", about: "may I touch this path, over an open connection", run: check::run },
    Case { name: "index", about: "the index of locked paths, against a naive scan", run: index::run },
    Case { name: "lock", about: "one lock, against a ping-pong and a commit", run: lock::run },
    Case { name: "registry", about: "lock and unlock, against a registry behind HTTP", run: registry::run },
    Case { name: "throughput", about: "ten clients at once, against an echo server", run: throughput::run },
    Case { name: "tail", about: "the slowest of 40,000 writes", run: tail::run },
    Case { name: "mcp", about: "lock and unlock through MCP, and its memory", run: mcp::run },
    Case {
        name: "hook",
        about: "the hook, against a program that does nothing, curl and node",
        run: hook::run,
    },
    Case {
        name: "confine",
        about: "a confined command, against a bare one, and ways into a held file",
        run: confine::run,
    },
    Case {
        name: "classifier",
        about: "generated lines that are called read-only, in real shells",
        run: classifier::run,
    },
    Case { name: "commit", about: "a scoped commit, against git commit, and the guard", run: commit::run },
    Case { name: "worktree", about: "worktrees made, taken and released, against git", run: worktree::run },
    Case { name: "mail", about: "mail of many processes, and how soon a receiver is awake", run: mail::run },
    Case {
        name: "command",
        about: "a command as a process, against an empty program and a commit",
        run: command::run,
    },
    Case { name: "inbox", about: "1,000 things that wait for somebody, against 10", run: inbox::run },
    Case {
        name: "witness",
        about: "a durable batch with the witness of the log's head, and without",
        run: witness::run,
    },
    Case {
        name: "task",
        about: "from the end of a task to the agent that waits for the next",
        run: task::run,
    },
    Case {
        name: "browser",
        about: "commands, pictures and page states of the shared browser",
        run: browser::run,
    },
    Case { name: "runs", about: "programs in terminals and panes, and their ends", run: runs::run },
    Case { name: "start", about: "start, idle memory and time, sizes", run: start::run },
    Case { name: "restart", about: "start with 1,000,000 events in the log", run: restart::run },
    Case { name: "sim", about: "steps of the simulator", run: sim::run },
];
