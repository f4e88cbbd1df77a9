//! Shows who is here.

use std::fmt;

use comity_core::activity::Activity;
use comity_core::agents::{Agent, Life};
use comity_core::table::table;
use comity_core::{Millis, Principal, Timestamp, World};

use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::project_scope::{ProjectScope, ScopeView};

/// List who is here, what each is for, and how many locks each holds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAgents {
    /// Include agents that have ended
    #[serde(default)]
    pub all: bool,
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
}

/// Who is here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentList {
    /// By name.
    pub agents: Vec<AgentView>,
    #[serde(flatten)]
    pub scope: ScopeView,
}

/// One agent, as it is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentView {
    pub agent: String,
    pub name: String,
    /// starting, running, idle, completed, failed, terminated or exited.
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The name of the agent above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The model it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The repository that it works in, where those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// starting, working, idle, waiting (for others), blocked (somebody has to decide), silent or ended.
    pub activity: &'static str,
    /// The same in words: what it waits for, of whom and for how long, or how long it has been silent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<WantView>,
    /// Since its last sign of life.
    pub seen_ms_ago: u64,
    /// Whether it has not been heard of since this server started.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub seen_before_start: bool,
    pub locks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Whether this is the caller.
    pub you: bool,
}

/// Something that an agent waits for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WantView {
    /// What it is.
    pub what: String,
    /// Who can give it.
    pub from: Vec<String>,
    /// For how long it has been waiting.
    pub age_ms: u64,
}

impl Operation for ListAgents {
    type Output = AgentList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<AgentList>, Failure> {
        let scope = ProjectScope::of_agents(app, caller, self.all_projects);
        let now = app.engine().now();
        let world = app.engine().world();
        let meant = world.agents.iter().filter(|agent| self.all || agent.is_live());
        let (shown, others): (Vec<&Agent>, Vec<&Agent>) = meant.partition(|agent| scope.shows(agent.id));
        let view = |agent: &Agent| AgentView {
            project: scope.name(&world, agent.id),
            ..AgentView::of(agent, &world, now, caller)
        };
        let mut agents: Vec<AgentView> = shown.into_iter().map(view).collect();
        agents.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Plan::Answer(AgentList { agents, scope: scope.view(others.len()) }))
    }
}

/// `waits for src/a.rs (ann, 3m)`, `silent for 9m`.
fn in_words(activity: &Activity, wants: &[WantView]) -> Option<String> {
    let each = |want: &WantView| {
        let since = Millis(want.age_ms).rough();
        let from = want.from.iter().map(|from| format!("{from}, ")).collect::<String>();
        format!("{} ({from}{since})", want.what)
    };
    let all = || wants.iter().map(each).collect::<Vec<_>>().join(" and ");
    match activity {
        Activity::Waiting(_) => Some(format!("waits for {}", all())),
        Activity::Blocked(_) => Some(format!("blocked on {}", all())),
        Activity::Silent(silence) => Some(format!("silent for {}", silence.rough())),
        Activity::Starting | Activity::Working | Activity::Idle | Activity::Ended => None,
    }
}

impl AgentView {
    pub(in crate::operations) fn of(
        agent: &Agent,
        world: &World,
        now: Timestamp,
        caller: &Caller,
    ) -> AgentView {
        let owned = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
        let who = Principal::Agent(agent.id);
        let name = |who: &Principal| if *who == caller.who { "you".to_owned() } else { world.name_of(*who) };
        let activity = Activity::of(world, agent, now);
        let wants = activity.wants().iter().map(|want| WantView {
            what: want.what.clone(),
            from: want.from.iter().map(name).collect(),
            age_ms: now.since(want.since).0,
        });
        let waits_for: Vec<WantView> = wants.collect();
        AgentView {
            agent: agent.id.to_string(),
            name: agent.profile.name.to_string(),
            state: agent.life.word(),
            role: owned(&agent.profile.role),
            team: owned(&agent.profile.team),
            parent: agent.profile.parent.map(|parent| world.name_of(Principal::Agent(parent))),
            model: owned(&agent.profile.model),
            cwd: owned(&agent.profile.cwd),
            project: None,
            pid: agent.profile.process.map(|process| process.pid),
            activity: activity.word(),
            doing: in_words(&activity, &waits_for),
            waits_for,
            seen_ms_ago: now.since(agent.seen).0,
            seen_before_start: agent.is_live() && agent.silent_since_uptime.is_some(),
            locks: world.locks.of(who).count(),
            cause: match &agent.life {
                Life::Ended { cause, .. } => Some(cause.to_string()),
                Life::Starting | Life::Running | Life::Idle => None,
            },
            you: caller.who == who,
        }
    }
}

impl fmt::Display for AgentList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<Vec<String>> = self.agents.iter().map(AgentView::row).collect();
        let headers =
            ["NAME", "STATE", "DOING", "ROLE", "TEAM", "LEADER", "MODEL", "LOCKS", "PROJECT", "SEEN"];
        let list = (!rows.is_empty()).then(|| table(&headers, &rows));
        f.write_str(&self.scope.whole::<ListAgents>(list, "no agents"))
    }
}

impl AgentView {
    /// When it was last heard of: the rules' clock starts over with each server, so that no restart costs an agent
    /// time.
    fn seen(&self) -> String {
        match self.seen_before_start {
            true => "before the restart".to_owned(),
            false => Millis(self.seen_ms_ago).rough_ago(),
        }
    }

    fn row(&self) -> Vec<String> {
        let shown = |text: &Option<String>| {
            text.as_deref().map(|text| comity_core::display::visible(text).into_owned()).unwrap_or_default()
        };
        vec![
            if self.you { format!("{} (you)", self.name) } else { self.name.clone() },
            self.state.to_string(),
            shown(&self.doing.clone().or_else(|| self.cause.clone())),
            shown(&self.role),
            shown(&self.team),
            shown(&self.parent),
            shown(&self.model),
            if self.locks > 0 { self.locks.to_string() } else { String::new() },
            shown(&self.project),
            self.seen(),
        ]
    }
}

impl fmt::Display for AgentView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = comity_core::display::visible;
        write!(f, "{}  {}", self.name, self.state)?;
        if let Some(doing) = &self.doing {
            write!(f, "  {}", shown(doing))?;
        }
        for (label, value) in
            [("", &self.role), ("team ", &self.team), ("below ", &self.parent), ("", &self.model)]
        {
            if let Some(value) = value {
                write!(f, "  {label}{}", shown(value))?;
            }
        }
        match self.locks {
            0 => {}
            1 => f.write_str("  1 lock")?,
            n => write!(f, "  {n} locks")?,
        }
        match &self.cause {
            Some(cause) => write!(f, "  ({})", shown(cause))?,
            None => write!(f, "  seen {}", self.seen())?,
        }
        if self.you { f.write_str("  (you)") } else { Ok(()) }
    }
}
