//! Settings: the user's file, the project's file, then the environment.

mod defaults;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use comity_core::limits;
use comity_core::roles::{Role, Roles};
use comity_core::runs::RunBackend;
use comity_core::world::Timeouts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::span::Span;
pub use defaults::DEFAULTS;

const DAY_SECONDS: u64 = 24 * 60 * 60;
const TRASH_DAYS_MAX: u64 = 3_650;

/// A server's settings.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub agent: AgentConfig,
    /// Roles of the user's own; one with the name of a built-in role replaces it.
    pub roles: BTreeMap<String, Role>,
    pub spawn: SpawnConfig,
    pub lock: LockConfig,
    /// Scarce things that are leased, by name.
    pub pools: BTreeMap<String, PoolConfig>,
    /// About all of them.
    pub pool: AllPoolsConfig,
    pub log: LogConfig,
    pub guard: GuardConfig,
    pub permission: PermissionConfig,
    pub git: GitConfig,
    pub worktree: WorktreeConfig,
    pub browser: BrowserConfig,
    pub http: HttpConfig,
    pub inbox: InboxConfig,
    pub server: ServerConfig,
    /// The settings that were made, by full key such as `lock.ttl`.
    #[serde(skip)]
    pub given: BTreeMap<String, GivenSetting>,
}

/// A setting that somebody made.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenSetting {
    /// As written in TOML.
    pub value: String,
    /// The file or variable that it comes from.
    pub from: String,
}

/// About agents.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// Silence after which an agent of which nothing is known to be alive is dead.
    pub timeout: Option<Span>,
    /// How long an agent may be without its connection.
    pub disconnect_grace: Option<Span>,
    /// How many agents may be here, 1 to 20; 8, if not set.
    pub max: Option<usize>,
}

/// About agents that are started for ready tasks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpawnConfig {
    /// What is started, if somebody is to be: a client by its name, or a command.
    pub auto: Option<String>,
    pub backend: Option<RunBackend>,
    /// How long one without a task stays.
    pub idle: Option<Span>,
}

/// About locks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LockConfig {
    /// How long a lock lasts without a sign of life, unless asked otherwise.
    pub ttl: Option<Span>,
}

/// About one pool.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolConfig {
    /// How many may have a lease of it at a time.
    pub capacity: usize,
}

/// About all pools, the browser's included.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AllPoolsConfig {
    /// How long a slot is kept for whoever asked for space; 30s, if not set.
    pub reservation: Option<Span>,
}

/// About the log.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// Sealed segments of about 10,000 entries that are kept; all, if not set.
    pub keep_segments: Option<usize>,
}

/// About guards.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GuardConfig {
    /// Whether a path that nobody has locked is locked for who writes to it; yes, if not set.
    pub auto_lock: Option<bool>,
    /// Whether hooks ask for permission, too, for agents that somebody leads; no, if not set.
    pub permissions: bool,
    /// What a guard does that cannot ask the server; closed, if not set.
    pub policy: GuardPolicy,
    /// Whether writes without a lock are looked out for; yes, if not set.
    pub watch: Option<bool>,
    /// Whether shell commands run where what others hold is read-only; where that is possible, if not set.
    pub confine: ConfinePolicy,
    /// Whether confined commands of agents in plan mode have a network; no, if not set.
    pub plan_network: bool,
    /// Whether agents may write to the settings of agent programs in a repository; no, if not set.
    pub program_settings: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PermissionConfig {
    /// How long an answer may take.
    pub wait: Option<Span>,
}

/// What a guard does that cannot ask the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardPolicy {
    #[default]
    Closed,
    /// It lets the call go on, and says so.
    Open,
}

/// Whether shell commands are confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConfinePolicy {
    /// Where the system allows it.
    #[default]
    Auto,
    Off,
    /// Always: a command that cannot be confined does not run.
    Required,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GitConfig {
    /// Git is given up that doesn't answer a quick question, or does nothing in long work, for this long; 30s, if not set.
    pub hung_after: Option<Span>,
    /// The git that the server runs; the system's on the PATH, if not set.
    pub program: Option<std::path::PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeConfig {
    /// Where they are kept; beside the repository, if not set.
    pub dir: Option<std::path::PathBuf>,
    /// How many are kept ready for the next one; 1, if not set.
    pub ready: Option<usize>,
    /// How many days those that were removed stay in the trash; 7, if not set.
    pub trash_days: Option<u64>,
    /// The program that makes one instead of git, with its arguments.
    pub create_hook: Vec<String>,
    /// The program that removes one instead of us, with its arguments.
    pub remove_hook: Vec<String>,
}

/// About the browser that agents share.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrowserConfig {
    /// The program; `firefox-esr` or `firefox` on the PATH, if not set.
    pub path: Option<std::path::PathBuf>,
    /// Whether its window is shown.
    pub visible: bool,
    /// How many tabs there are, 1 to 100; 12, if not set.
    pub tabs: Option<usize>,
    /// Domains that may be visited, such as `*.example.com`; all, if there are none.
    pub allow: Vec<String>,
    /// Domains that may not.
    pub deny: Vec<String>,
    /// What addresses of pages may begin with; http, https and about:blank, if not set.
    pub schemes: Vec<String>,
    /// Whether this machine itself may be visited without a rule; yes, if not set.
    pub loopback: Option<bool>,
    /// Whether agents may run scripts in their tabs; yes, if not set.
    pub evaluate: Option<bool>,
    /// Whether pages may download files, for the agent whose page it is; yes, if not set.
    pub downloads: Option<bool>,
}

/// What a project's worktrees get, and what need not be kept of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectWorktrees {
    /// Files of local settings that are copied.
    pub settings: Vec<String>,
    /// Large directories that are linked.
    pub links: Vec<String>,
    /// Directories whose ignored contents a build recreates.
    pub build_dirs: Vec<String>,
}

/// About the HTTP door.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpConfig {
    /// The port on loopback; the one of last time if it is free, else any.
    pub port: Option<u16>,
    /// No HTTP door at all.
    pub off: bool,
}

/// About the server itself.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InboxConfig {
    /// Whether the desktop shows a notification for each new thing, by `notify-send`; no, if not set.
    pub notify: bool,
}

/// The section `[server]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// It stops when nobody was connected and no agent was here for this long; never, if not set.
    pub idle_exit: Option<Span>,
}

impl Config {
    /// Reads the settings in `files`, later ones over earlier ones, and the environment over all.
    pub fn read(files: &[&Path], env: impl Fn(&str) -> Option<String>) -> Result<Config, String> {
        let config = sources::read(files, env)?;
        check_ttl(&config.lock).map_err(|problem| format!("settings: {problem}"))?;
        crate::pools::check(&config.pools).map_err(|problem| format!("settings: {problem}"))?;
        crate::browser::check(&config.browser)?;
        check_spans(&config).map_err(|problem| format!("settings: {problem}"))?;
        match config.agent.max {
            Some(max) if !(1..=limits::AGENT_LIMIT_MAX).contains(&max) => Err(format!(
                "settings: agent.max is {max}; give a limit from 1 to {}",
                limits::AGENT_LIMIT_MAX
            )),
            _ => Ok(config),
        }
    }

    /// Built-in roles, and those of the settings.
    pub fn roles(&self) -> Roles {
        let mut roles = Roles::default();
        self.roles.iter().for_each(|(name, role)| roles.define(name, role.clone()));
        roles
    }

    /// How many agents may be live, unless a person has set another limit.
    pub fn agents_max(&self) -> usize {
        self.agent.max.unwrap_or(limits::AGENT_LIMIT)
    }

    pub fn patience(&self) -> Timeouts {
        Timeouts {
            agent_timeout: self.agent.timeout.map_or(limits::AGENT_TIMEOUT, |span| span.0),
            disconnect_grace: self.agent.disconnect_grace.map_or(limits::DISCONNECT_GRACE, |span| span.0),
            slot_reservation: self.pool.reservation.map_or(limits::SLOT_RESERVATION_TTL, |span| span.0),
        }
    }

    pub fn trash_days(&self) -> u64 {
        let days = comity_git::worktree::TRASH_KEPT_FOR.as_secs() / DAY_SECONDS;
        self.worktree.trash_days.unwrap_or(days)
    }

    pub(crate) fn trash_kept_for(&self) -> Duration {
        Duration::from_secs(self.trash_days() * DAY_SECONDS)
    }
}

/// What a project's own `comity.toml` may set: only what concerns work in the project, and nothing about the server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectConfig {
    pub lock: LockConfig,
    pub worktree: ProjectWorktrees,
    /// Pools that work in the project needs; the person's own settings override them.
    pub pools: BTreeMap<String, PoolConfig>,
}

impl ProjectConfig {
    /// Reads the file at the top of a worktree; a missing one sets nothing.
    pub fn read(root: &Path) -> Result<ProjectConfig, String> {
        let path = root.join("comity.toml");
        match crate::plain_file::read_to_string(&path) {
            Ok(text) => {
                let config: ProjectConfig =
                    toml::from_str(&text).map_err(|error| sources::in_file(&path, &text, &error))?;
                config.check().map_err(|problem| format!("{}: {problem}", path.display()))?;
                Ok(config)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(ProjectConfig::default()),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    /// What the file at the top of a worktree sets, by full key.
    pub fn given(root: &Path) -> BTreeMap<String, GivenSetting> {
        let path = root.join("comity.toml");
        let table: toml::Table = std::fs::read_to_string(&path)
            .ok()
            .and_then(|text| toml::from_str(&text).ok())
            .unwrap_or_default();
        let from = path.display().to_string();
        let given = sources::flat(&table).into_iter();
        given.map(|(key, value)| (key, GivenSetting { value, from: from.clone() })).collect()
    }

    fn check(&self) -> Result<(), String> {
        check_ttl(&self.lock)?;
        crate::pools::check(&self.pools)?;
        let ProjectWorktrees { settings, links, build_dirs } = &self.worktree;
        for (name, paths) in [("settings", settings), ("links", links), ("build_dirs", build_dirs)] {
            for path in paths {
                comity_git::worktree::InnerPath::parse(path)
                    .map_err(|no| format!("worktree.{name}: {no}"))?;
            }
        }
        Ok(())
    }
}

fn check_ttl(lock: &LockConfig) -> Result<(), String> {
    match lock.ttl.map(|span| span.0) {
        Some(ttl) if !(limits::LOCK_TTL_MIN..=limits::LOCK_TTL_MAX).contains(&ttl) => Err(format!(
            "lock.ttl is {ttl}; give one from {} to {}",
            limits::LOCK_TTL_MIN,
            limits::LOCK_TTL_MAX
        )),
        _ => Ok(()),
    }
}

fn check_spans(config: &Config) -> Result<(), String> {
    let (least, most) = (limits::SLOT_RESERVATION_MIN, limits::SLOT_RESERVATION_MAX);
    if let Some(reservation) = config.pool.reservation
        && !(least..=most).contains(&reservation.0)
    {
        return Err(format!("pool.reservation is {}; give one from {least} to {most}", reservation.0));
    }
    match config.worktree.trash_days {
        Some(days) if !(1..=TRASH_DAYS_MAX).contains(&days) => {
            Err(format!("worktree.trash_days is {days}; give one from 1 to {TRASH_DAYS_MAX}"))
        }
        _ => Ok(()),
    }
}

/// Environment variables and the settings that they stand for.
pub const ENVIRONMENT: &[(&str, &str, &str)] = &[
    ("COMITY_AGENT_TIMEOUT", "agent", "timeout"),
    ("COMITY_DISCONNECT_GRACE", "agent", "disconnect_grace"),
    ("MAX_AGENTS", "agent", "max"),
    ("COMITY_AGENT_MAX", "agent", "max"),
    ("COMITY_LOCK_TTL", "lock", "ttl"),
    ("COMITY_GUARD_POLICY", "guard", "policy"),
    ("COMITY_PERMISSION_WAIT", "permission", "wait"),
    ("COMITY_GUARD_WATCH", "guard", "watch"),
    ("COMITY_GUARD_CONFINE", "guard", "confine"),
    ("COMITY_HTTP_PORT", "http", "port"),
    ("COMITY_LOG_KEEP_SEGMENTS", "log", "keep_segments"),
    ("COMITY_IDLE_EXIT", "server", "idle_exit"),
    ("COMITY_GIT_HUNG_AFTER", "git", "hung_after"),
    ("COMITY_GIT_PROGRAM", "git", "program"),
    ("COMITY_WORKTREE_READY", "worktree", "ready"),
    ("SLOT_RESERVATION_TTL_MS", "pool", "reservation"),
];
