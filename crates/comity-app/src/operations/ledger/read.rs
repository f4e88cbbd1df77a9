//! Reads the ledger.

use std::fmt;

use clap::Args;
use comity_core::{Record, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Moment, moment};
use crate::application::Application;
use crate::ledger::Entry;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};

/// Entries of one answer, unless asked otherwise.
const LIMIT: usize = 50;
/// Entries of one answer at most.
const LIMIT_MAX: usize = 10_000;
/// Records that are read at a time, from the newest backwards.
const PAGE: u64 = 2_000;

/// Shows what happened: the newest entries, or those after a cursor, filtered by agent, type and time.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct ReadLog {
    /// Only what this agent did and what concerns it: its locks, letters, tasks, tabs, its end (name or id)
    #[arg(long, value_name = "AGENT")]
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "agentId")]
    pub agent: Option<String>,
    /// Only this type, such as lock_acquired
    #[arg(long = "type", value_name = "TYPE")]
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "type")]
    pub kind: Option<String>,
    /// Only since a time, a span ago (10m) or an entry's number
    #[arg(long, value_name = "WHEN")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only after this number, the oldest first: to go on where you stopped
    #[arg(long, value_name = "SEQ")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// At most so many (50)
    #[arg(long, value_name = "N")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// A page of the ledger.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogPage {
    /// The oldest first.
    pub entries: Vec<Entry>,
    /// Give this as `after` to go on.
    pub cursor: u64,
    /// The number of the newest entry there is.
    pub head: u64,
}

impl Operation for ReadLog {
    const NAME: &'static str = "log";
    const EFFECT: Effect = Effect::Reads;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "GET", path: "/api/coordination/activity" };
    const COMMAND: &'static [&'static str] = &["log"];
    type Output = LogPage;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LogPage>, Failure> {
        let limit = self.limit.unwrap_or(LIMIT);
        if limit == 0 || limit > LIMIT_MAX {
            return Err(Refusal::bad_input(
                format!("a limit of {limit} is not possible"),
                format!("1 to {LIMIT_MAX}"),
            )
            .into());
        }
        let filter = Filter::of(&self, app)?;
        let head = app.engine().world().head;
        let records = match self.after {
            Some(after) => forwards(app, after, head, limit, &filter)?,
            None => backwards(app, head, limit, &filter)?,
        };
        let world = app.engine().world();
        let entries: Vec<Entry> =
            records.iter().map(|record| Entry::of(record, &world, caller.who)).collect();
        let cursor = entries.last().map_or(self.after.unwrap_or(head), |last| last.seq);
        Ok(Plan::Answer(LogPage { entries, cursor, head }))
    }
}

struct Filter {
    agent: Option<comity_core::AgentId>,
    kind: Option<String>,
    since: Option<Moment>,
}

impl Filter {
    fn of(asked: &ReadLog, app: &Application) -> Result<Filter, Failure> {
        let agent = match asked.agent.as_deref() {
            None => None,
            Some(name) => Some(match name.parse() {
                Ok(id) => id,
                Err(()) => known_agent(app, name)?,
            }),
        };
        let since = asked.since.as_deref().map(moment).transpose()?;
        Ok(Filter { agent, kind: asked.kind.clone(), since })
    }

    fn takes(&self, record: &Record) -> bool {
        let kind = record.event.kind();
        self.agent.is_none_or(|agent| record.concerns_agent(agent))
            && self.kind.as_deref().is_none_or(|wanted| kind.action == wanted || kind.stream == wanted)
            && !self.is_before(record)
    }

    fn is_before(&self, record: &Record) -> bool {
        match self.since {
            None => false,
            Some(Moment::Seq(seq)) => record.seq < seq,
            Some(Moment::Wall(wall_ms)) => record.wall_ms < wall_ms,
        }
    }
}

/// The newest agent with this name, be it ended.
fn known_agent(app: &Application, name: &str) -> Result<comity_core::AgentId, Failure> {
    let world = app.engine().world();
    let newest =
        world.agents.iter().filter(|agent| *agent.profile.name == *name).max_by_key(|agent| agent.joined);
    match newest {
        Some(agent) => Ok(agent.id),
        None => Err(world
            .agents
            .find(name)
            .map(|agent| agent.id)
            .map_or_else(Failure::from, |_| Failure::fault("unreachable"))),
    }
}

fn forwards(
    app: &Application,
    after: u64,
    head: u64,
    limit: usize,
    filter: &Filter,
) -> Result<Vec<Record>, Failure> {
    let mut found = Vec::new();
    let mut cursor = after;
    while cursor < head && found.len() < limit {
        let page = app.reader()?.read(cursor, PAGE as usize).map_err(Failure::Fault)?;
        let Some(last) = page.last() else { break };
        cursor = last.seq;
        found.extend(
            page.into_iter()
                .filter(|record| record.seq <= head && filter.takes(record))
                .take(limit - found.len()),
        );
    }
    Ok(found)
}

fn backwards(app: &Application, head: u64, limit: usize, filter: &Filter) -> Result<Vec<Record>, Failure> {
    let mut found: Vec<Record> = Vec::new();
    let mut end = head;
    while end > 0 && found.len() < limit {
        let start = end.saturating_sub(PAGE);
        let page = app.reader()?.read(start, (end - start) as usize).map_err(Failure::Fault)?;
        // Times may jump back on the wall, so a page is looked at as a whole before the search ends.
        let all_before = page.iter().all(|record| filter.is_before(record));
        found.extend(page.into_iter().rev().filter(|record| filter.takes(record)).take(limit - found.len()));
        if all_before {
            break;
        }
        end = start;
    }
    found.reverse();
    Ok(found)
}

impl fmt::Display for LogPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entries.is_empty() {
            return f.write_str("nothing of that kind has happened");
        }
        let lines: Vec<String> = self.entries.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
