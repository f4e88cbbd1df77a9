//! Says how the server is.

use std::fmt;

use comity_core::Principal;
use comity_core::display::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::moves;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::watch::WatchView;

/// Says where the server is, who you are to it, and what there is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {}

/// The server.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerStatus {
    /// Its process.
    pub pid: u32,
    /// Its state directory.
    pub home: String,
    /// Its socket.
    pub socket: String,
    /// Its HTTP address.
    pub url: String,
    /// Its version.
    pub version: String,
    /// Who you are to it: an agent's name, or "human".
    pub you: String,
    /// Agents that are here.
    pub agents: usize,
    /// Locks that are held.
    pub locks: usize,
    /// Locks over uncommitted work that their holder left.
    pub orphaned: usize,
    /// What waits for you: see the inbox.
    pub inbox: usize,
    /// Asks that wait.
    pub waits: usize,
    /// Commits and merges that were begun, and of which it could not be found out yet what came of them.
    pub unsettled: usize,
    /// The number of the newest entry of the log.
    pub head: u64,
    /// The watcher of files.
    pub watch: WatchView,
}

impl Operation for Status {
    type Output = ServerStatus;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<ServerStatus>, Failure> {
        let (server, unsettled) = (app.server(), moves::unsettled(app));
        let world = app.engine().world();
        Ok(Plan::Answer(ServerStatus {
            pid: server.pid,
            home: server.home.display().to_string(),
            socket: server.socket.display().to_string(),
            url: server.url.clone(),
            version: server.version.clone(),
            you: match caller.who {
                Principal::Agent(_) => world.name_of(caller.who),
                Principal::Human | Principal::System | Principal::Nobody => caller.who.to_string(),
            },
            agents: world.agents.live().count(),
            locks: world.locks.len(),
            orphaned: world.locks.orphaned().count(),
            inbox: comity_core::inbox::count(&world, caller.who),
            waits: world.locks.waits().count(),
            unsettled,
            head: world.head,
            watch: app.watch().view(),
        }))
    }
}

impl fmt::Display for ServerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ServerStatus { pid, home, url, version, you, agents, locks, waits, head, .. } = self;
        writeln!(f, "comity {version} runs as process {pid}")?;
        writeln!(f, "state   {home}")?;
        if !url.is_empty() {
            writeln!(f, "web     {url}")?;
        }
        writeln!(f, "you     {you}")?;
        let (agents, locks) = (counted(*agents, "agent"), counted(*locks, "lock"));
        writeln!(f, "now     {agents}, {locks}, {waits} waiting, {head} log entries")?;
        if self.orphaned > 0 {
            writeln!(
                f,
                "alerts  {} of uncommitted work: comity alerts",
                counted(self.orphaned, "orphaned lock")
            )?;
        }
        if self.inbox > 0 {
            writeln!(f, "inbox   {}: comity inbox", counted(self.inbox, "thing"))?;
        }
        if self.unsettled > 0 {
            writeln!(f, "open    {}, not recorded yet", counted(self.unsettled, "commit"))?;
        }
        write!(f, "watched {}", self.watch)
    }
}
