//! The ledger: the log as people read it.

use std::fmt;

use comity_core::event::Event;
use comity_core::mail::{MailEvent, may_read};
use comity_core::{Millis, Principal, Record, World};
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
    /// The repository in which it happened, where those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
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
    #[serde(rename = "agentId")]
    pub agent: String,
    pub name: String,
}

fn concerned(record: &Record, world: &World) -> Vec<Concerned> {
    let all = record.concerned().into_iter();
    all.map(|id| Concerned { agent: id.to_string(), name: world.name_of(Principal::Agent(id)) }).collect()
}

impl Entry {
    /// A record as `reader` may see it; names come from the world.
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
            project: None,
            action: record.event.kind().action,
            event: record.event.kind().stream,
            concerns: concerned(record, world),
            summary: comity_core::display::visible(&record.sentence(world, reader)).into_owned(),
            details: match is_private(record, world, reader) {
                true => without_letter(details(&record.event)),
                false => details(&record.event),
            },
        }
    }
}

/// Everything that an event says, in one flat object.
fn details(event: &Event) -> serde_json::Value {
    let mut flat = serde_json::Map::new();
    if let Ok(serde_json::Value::Object(tagged)) = serde_json::to_value(event) {
        for (kind, body) in tagged {
            let (kind, body) = match event.is_stored_with_feature() {
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
    // The hash of a token is no secret, but nobody needs it; nor the key that makes a repeat harmless.
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

/// Everybody may know who wrote to whom, but not about what.
fn without_letter(mut details: serde_json::Value) -> serde_json::Value {
    if let Some(details) = details.as_object_mut() {
        details.retain(|name, _| ["type", "id", "to"].contains(&&**name));
        details.insert("private".into(), true.into());
    }
    details
}

/// `{"team": {"created": {...}}}` is read as `team_created`.
fn inner(family: &str, tagged: serde_json::Value) -> (String, serde_json::Value) {
    let member = tagged.as_object().and_then(|object| object.iter().next());
    match member {
        Some((kind, body)) => (format!("{family}_{kind}"), body.clone()),
        None => (family.to_owned(), tagged),
    }
}

/// A wall-clock time, in UTC.
pub fn date(wall_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(wall_ms).map_or_else(|_| wall_ms.to_string(), |at| format!("{at:.3}"))
}

/// A moment on the wall as whoever asks reads it: the time if it was today, else the day, too.
pub fn local(wall_ms: i64) -> String {
    let zone = crate::time_zone::current();
    let Ok(at) = jiff::Timestamp::from_millisecond(wall_ms) else { return wall_ms.to_string() };
    let (at, now) = (at.to_zoned(zone.clone()), jiff::Timestamp::now().to_zoned(zone));
    match at.date() == now.date() {
        true => at.strftime("%H:%M:%S").to_string(),
        false => at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    }
}

/// How long ago a wall-clock time was: `just now`, `12s ago`, `3m ago`.
pub fn ago(now_ms: i64, wall_ms: i64) -> String {
    Millis(u64::try_from(now_ms.saturating_sub(wall_ms)).unwrap_or(0)).ago()
}

/// An event's name as words: `lock acquired`.
pub(crate) fn plain(action: &str) -> String {
    action.replace('_', " ")
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { seq, at_ms, action, summary, project, .. } = self;
        write!(f, "{seq:>6}  {}  {action:<20}  {summary}", local(*at_ms))?;
        match project {
            Some(project) => write!(f, "  in {}", comity_core::display::visible(project)),
            None => Ok(()),
        }
    }
}
