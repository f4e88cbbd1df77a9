//! Shows the server's status.

use std::fmt;

use comity_core::display::{counted, visible};
use comity_core::{Principal, Timestamp, World};

use crate::branch_moves;
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::agents::AgentView;
use crate::operations::inbox::ListInbox;
use crate::operations::ledger::ListAlerts;
use crate::operations::worktrees::WaitingMerge;
use crate::watch::WatchView;

/// Show where the server is, who you are to it, and what there is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {}

/// Where the server is, and how much there is of what.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerStatus {
    pub pid: u32,
    pub home: String,
    pub socket: String,
    pub url: String,
    pub version: String,
    /// Who you are to it: an agent's name, or "human".
    pub you: String,
    pub agents: usize,
    pub locks: usize,
    /// Locks over uncommitted work that their holder left.
    pub orphaned: usize,
    /// What waits for you: see the inbox.
    pub inbox: usize,
    /// Agents that wait for others, are held up until somebody decides, or are silent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held_up: Vec<HeldUp>,
    pub waits: usize,
    /// Merges in the repository you are in that wait to be taken where their branch is checked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<WaitingMerge>,
    /// Commits and merges that were begun, and of which it could not be found out yet what came of them.
    pub unsettled: usize,
    /// The number of the newest entry of the log.
    pub head: u64,
    pub watch: WatchView,
}

/// An agent that does not go on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldUp {
    pub name: String,
    /// waiting, blocked or silent.
    pub activity: &'static str,
    /// What it waits for, of whom and for how long, or how long it has been silent.
    pub doing: String,
}

/// Live agents that cannot go on.
fn held_up(world: &World, now: Timestamp, caller: &Caller) -> Vec<HeldUp> {
    let views = world.agents.live().map(|agent| AgentView::of(agent, world, now, caller));
    views
        .filter_map(|view| Some(HeldUp { name: view.name, activity: view.activity, doing: view.doing? }))
        .collect()
}

/// Merges that wait here. If they cannot be found out, that is not worth an error.
fn waiting_merges(app: &Application, caller: &Caller) -> Vec<WaitingMerge> {
    let Ok(place) = app.projects().place(caller) else { return vec![] };
    app.waiting_merges(place.project(), place.repository().common_dir())
}

impl Operation for Status {
    type Output = ServerStatus;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<ServerStatus>, Failure> {
        let (server, unsettled) = (app.server(), branch_moves::unsettled(app));
        let merges = waiting_merges(app, caller);
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
            inbox: app.inbox_count(&world, &caller.asker()),
            held_up: held_up(&world, app.engine().now(), caller),
            waits: world.locks.waits().count(),
            merges,
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
                "alerts  {} of uncommitted work: {}",
                counted(self.orphaned, "orphaned lock"),
                next_call::<ListAlerts>([])
            )?;
        }
        for (at, agent) in self.held_up.iter().enumerate() {
            let label = if at == 0 { "agents" } else { "" };
            writeln!(f, "{label:8}{} {}", agent.name, visible(&agent.doing))?;
        }
        for (at, merge) in self.merges.iter().enumerate() {
            let label = if at == 0 { "merges" } else { "" };
            writeln!(f, "{label:8}{merge}")?;
        }
        if self.inbox > 0 {
            writeln!(f, "inbox   {}: {}", counted(self.inbox, "thing"), next_call::<ListInbox>([]))?;
        }
        if self.unsettled > 0 {
            writeln!(f, "open    {}, not recorded yet", counted(self.unsettled, "commit"))?;
        }
        write!(f, "watched {}", self.watch)
    }
}
