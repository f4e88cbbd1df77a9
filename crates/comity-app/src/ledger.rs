//! The ledger: the log as people read it.

mod families;
mod moves;
mod pools;
mod tasks;

use std::fmt;

use comity_core::event::Event;
use comity_core::locks::{ReleaseCause, WaitEnding};
use comity_core::mail::{MailEvent, may_read};
use comity_core::{Principal, Record, World};
use schemars::JsonSchema;
use serde::Serialize;

/// One entry of the ledger.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// Gap-free number.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// When, as a date and time.
    pub at: String,
    /// Name of who acted.
    pub actor: String,
    /// Id of the agent that acted.
    #[serde(rename = "agentId", skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Where the human acted from: process, terminal and programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<serde_json::Value>,
    /// What the agent that acted is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What kind of thing happened.
    pub action: &'static str,
    /// The name on the event stream.
    pub event: &'static str,
    /// The agents that it concerns, besides who acted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub concerns: Vec<Concerned>,
    /// What happened, in a sentence.
    pub summary: String,
    /// Everything that is known of it.
    pub details: serde_json::Value,
}

/// An agent that an entry concerns.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Concerned {
    /// Its id.
    #[serde(rename = "agentId")]
    pub agent: String,
    /// Its name.
    pub name: String,
}

fn concerned(record: &Record, world: &World) -> Vec<Concerned> {
    let all = record.concerned().into_iter();
    all.map(|id| Concerned { agent: id.to_string(), name: world.name_of(Principal::Agent(id)) }).collect()
}

impl Entry {
    /// Reads a record as `reader` may see it; names come from the world.
    pub fn of(record: &Record, world: &World, reader: Principal) -> Entry {
        let agent = record.by.agent();
        let role = agent.and_then(|id| world.agents.get(id)).and_then(|agent| agent.profile.role.as_deref());
        Entry {
            seq: record.seq,
            at_ms: record.wall_ms,
            at: date(record.wall_ms),
            actor: world.name_of(record.by),
            agent: agent.map(|agent| agent.to_string()),
            from: record.from.as_deref().and_then(|from| serde_json::to_value(from).ok()),
            role: role.map(str::to_owned),
            action: record.event.kind().action,
            event: record.event.kind().stream,
            concerns: concerned(record, world),
            summary: comity_core::display::visible(&summary(record, world, reader)).into_owned(),
            details: match is_private(record, world, reader) {
                true => without_letter(details(&record.event)),
                false => details(&record.event),
            },
        }
    }
}

/// All that an event says, in one flat object.
fn details(event: &Event) -> serde_json::Value {
    let mut flat = serde_json::Map::new();
    if let Ok(serde_json::Value::Object(tagged)) = serde_json::to_value(event) {
        for (kind, body) in tagged {
            let (kind, body) = match is_of_a_family(event) {
                true => inner(&kind, body),
                false => (kind, body),
            };
            flat.insert("type".into(), kind.into());
            flat.extend(body.as_object().cloned().unwrap_or_default());
        }
    }
    if let Some(serde_json::Value::Object(wanted)) = flat.remove("wanted") {
        flat.extend(wanted);
    }
    if let Some(serde_json::Value::Object(letter)) = flat.remove("letter") {
        flat.extend(letter);
    }
    if let Some(serde_json::Value::Object(profile)) = flat.get_mut("profile") {
        profile.remove("since");
    }
    // The hash of a token is no secret, but nobody needs it either; nor what makes a repeat harmless.
    flat.remove("token");
    flat.remove("key");
    flat.remove("client_id");
    flat.remove("hash");
    flat.remove("verifier");
    flat.into()
}

/// Whether it is a letter between others.
fn is_private(record: &Record, world: &World, reader: Principal) -> bool {
    match &record.event {
        Event::Mail(MailEvent::Sent { letter, .. }) => !may_read(world, reader, record.by, &letter.to),
        _ => false,
    }
}

/// Who wrote to whom is everybody's; what about is not.
fn without_letter(mut details: serde_json::Value) -> serde_json::Value {
    if let Some(details) = details.as_object_mut() {
        details.retain(|name, _| ["type", "id", "to"].contains(&&**name));
        details.insert("private".into(), true.into());
    }
    details
}

/// Whether the event is one of several about the same thing, with a name of its own inside.
fn is_of_a_family(event: &Event) -> bool {
    matches!(
        event,
        Event::Mail(_)
            | Event::Control(_)
            | Event::Decision(_)
            | Event::Team(_)
            | Event::Permission(_)
            | Event::Task(_)
            | Event::Pool(_)
            | Event::Person(_)
    )
}

/// `{"team": {"created": {...}}}` is read as `team_created`.
fn inner(family: &str, tagged: serde_json::Value) -> (String, serde_json::Value) {
    let member = tagged.as_object().and_then(|object| object.iter().next());
    match member {
        Some((kind, body)) => (format!("{family}_{kind}"), body.clone()),
        None => (family.to_owned(), tagged),
    }
}

/// A moment on the wall, in UTC.
pub fn date(wall_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(wall_ms).map_or_else(|_| wall_ms.to_string(), |at| format!("{at:.3}"))
}

fn summary(record: &Record, world: &World, reader: Principal) -> String {
    let name = |who: Principal| world.name_of(who);
    let agent_name = |id: &comity_core::AgentId| world.name_of(Principal::Agent(*id));
    let because =
        |reason: &Option<Box<str>>| reason.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
    let by = name(record.by);
    match &record.event {
        Event::ServerStarted { version, .. } => format!("comity {version} started"),
        Event::ProjectAdded { common_dir, .. } => format!("project {common_dir}"),
        Event::AgentJoined { profile, .. } => match &profile.role {
            Some(role) => format!("{} joined as {role}", profile.name),
            None => format!("{} joined", profile.name),
        },
        Event::AgentNamed { agent, name } => format!("{agent} is called {name}"),
        Event::EntriesRefused { why, count: 1 } => {
            format!("a caller was not let in at the HTTP port: {}", comity_core::display::visible(why))
        }
        Event::EntriesRefused { why, count } => {
            format!(
                "{count} callers were not let in at the HTTP port, the last because: {}",
                comity_core::display::visible(why)
            )
        }
        Event::KeyReused { op } => {
            format!("{by} asked for {op} with the key of another call, and was refused")
        }
        Event::AgentsLimited { max } => format!("{by} let {max} agents be here at most"),
        Event::AgentTokenAdded { agent, .. } => format!("{} connected another process", agent_name(agent)),
        Event::AgentProcessKnown { agent, process } => {
            format!("{} is process {}", agent_name(agent), process.pid)
        }
        Event::AgentSeen { agent } => format!("{} is alive", agent_name(agent)),
        Event::AgentIdled { agent, idle: true } => format!("{} is idle", agent_name(agent)),
        Event::AgentIdled { agent, idle: false } => format!("{} works", agent_name(agent)),
        Event::AgentDisconnected { agent } => format!("{} lost its connection", agent_name(agent)),
        Event::AgentEnded { agent, ending, cause } => {
            format!("{} {}: {cause}", agent_name(agent), ending.word())
        }
        Event::LockAcquired { holder, wanted, .. } => {
            let shared = if wanted.mode == comity_core::locks::LockMode::Shared { " shared" } else { "" };
            format!("{} locked {}{shared}{}", name(*holder), wanted.pattern, because(&wanted.reason))
        }
        Event::LockRenewed { path, reason, .. } => {
            format!("{by} renewed {}{}", path, because(reason))
        }
        Event::LockReleased { path, cause, .. } => match cause {
            ReleaseCause::GivenBack => format!("{by} unlocked {}", path),
            ReleaseCause::HolderEnded => format!("{} was released: its holder ended", path),
            ReleaseCause::TakenAway { reason } => format!("{by} released {}{}", path, because(reason)),
            ReleaseCause::PutAside { of, into } => match &into[..] {
                [] => format!("{by} freed {path}: there was no work of {} in it any more", name(*of)),
                into => {
                    format!("{by} put the work of {} on {path} aside into {}", name(*of), into.join(", "))
                }
            },
            ReleaseCause::Upgraded => format!("{by} goes on from shared to exclusive on {}", path),
        },
        Event::LockLapsed { path, .. } => format!("{path} was given up; its files are being looked at"),
        Event::LockExpired { path, .. } => format!("{} expired", path),
        Event::LockOrphaned { path, files, .. } => match &files[..] {
            [] => format!("{path} is orphaned: uncommitted work was left"),
            [only] if only == path => format!("{path} is orphaned: uncommitted work was left"),
            files => format!("{path} is orphaned: uncommitted work was left in {}", files.join(", ")),
        },
        Event::LockExtended { path, ttl, reason, .. } => {
            format!("{by} extended {} to {ttl}{}", path, because(reason))
        }
        Event::LockHandedOver { path, into: Some(into), .. } => {
            format!("{by} took {path} over, to put its work aside into {into}")
        }
        Event::LockHandedOver { path, to, reason, .. } => {
            format!("{by} handed {} over to {}{}", path, name(*to), because(reason))
        }
        Event::WaitStarted { who, wants, wait, .. } => {
            let paths: Vec<String> = wants.iter().map(|wanted| wanted.pattern.readable()).collect();
            format!("{} waits for {}, {wait} at most", name(*who), paths.join(", "))
        }
        Event::WaitEnded { ticket, ending } => match ending {
            WaitEnding::Granted { .. } => format!("wait {ticket} was served"),
            WaitEnding::TimedOut => format!("wait {ticket} timed out"),
            WaitEnding::Cancelled => format!("wait {ticket} was given up"),
            WaitEnding::AskerEnded => format!("wait {ticket} ended with its agent"),
        },
        Event::FileKnown { file, .. } => format!("{by} knows {}", file.path),
        Event::UnlockedWrite(write) => write.summary(world),
        Event::CommitUnguarded(commit) => commit.summary(world),
        Event::MoveIntended(intended) => moves::intended(&by, intended),
        Event::MoveUndone { commit, branch, of, .. } => moves::undone(&name(*of), commit, branch.as_deref()),
        Event::Committed { commit, recovered, .. } => {
            let files = crate::operations::commits::files(commit.files_total);
            let later = moves::found_later(*recovered);
            format!("{by} committed {files} as {}: {}{later}", moves::short(&commit.id), commit.subject)
        }
        Event::WorktreeAdded { tree, .. } => {
            format!("{by} works in the worktree {} on {}", tree.slug, tree.branch)
        }
        Event::WorktreeReleased { slug, .. } => format!("{by} released the worktree {slug}"),
        Event::WorktreeKept { slug, why, .. } => format!("the worktree {slug} is kept: {why}"),
        Event::WorktreeRemoved { slug, rescue, .. } => {
            format!("{by} put the worktree {slug} into the trash; {rescue} keeps its commits")
        }
        Event::BranchMerged { source, target, commit, files_total, recovered, .. } => {
            let (short, later) = (moves::short(commit), moves::found_later(*recovered));
            let files = crate::operations::commits::files(*files_total);
            format!("{by} merged {source} into {target} as {short}: {files}{later}")
        }
        Event::MergeConflicted { source, target, paths, .. } => {
            format!("{source} and {target} both changed {}", paths.join(", "))
        }
        Event::Mail(event) => families::mail(&by, event, world, !is_private(record, world, reader)),
        Event::Control(event) => families::control(&by, event, world),
        Event::Decision(event) => families::decision(&by, event),
        Event::Team(event) => families::team(&by, event, world),
        Event::Person(event) => families::person(&by, event, record.from.as_deref()),
        Event::Permission(event) => crate::operations::permissions::told::summary(event, &by, world),
        Event::Task(event) => tasks::summary(&by, event, world),
        Event::Pool(event) => pools::summary(&by, event, world),
        Event::NothingChanged {} => format!("{by} asked for what was so already"),
        Event::NoticesTaken { agent, .. } => format!("{} was told what waited for it", agent_name(agent)),
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { seq, at, action, summary, .. } = self;
        write!(f, "{seq:>6}  {at}  {action:<16}  {summary}")
    }
}
