//! Looks back: the state of everything at a moment.

use std::fmt;

use comity_core::display::counted;
use comity_core::world::Timeouts;
use comity_core::{Refusal, World};

use super::facts::{WorldDiff, WorldFact, facts_of, in_columns};
use super::{Moment, moment};
use crate::clock::wall_ms as wall_now;
use crate::ledger::date;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::locks::LockView;

/// Records that are folded at a time.
const PAGE: usize = 5_000;

/// Show everything as it was at some moment, or what changed between two: exact, by replaying the log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// 14:06, "10 minutes ago", 10m, 2026-11-16T14:06 or an entry's number
    #[serde(deserialize_with = "text_or_number")]
    pub at: String,
    /// Another moment: shows what is different then
    #[serde(default, deserialize_with = "text_or_number_or_none")]
    pub diff: Option<String>,
}

/// The world at a moment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Past {
    /// The last entry that had happened.
    pub seq: u64,
    /// The names of the agents that were here.
    pub agents: Vec<String>,
    pub locks: Vec<LockView>,
    pub waits: usize,
    /// Everything there was: agents, locks, tasks, mail, permissions, pools, worktrees, decisions, teams.
    pub facts: Vec<WorldFact>,
    /// What is different at the other moment, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<WorldDiff>,
    /// A hash of the whole state, to compare with.
    pub hash: String,
}

impl Operation for Replay {
    type Output = Past;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Past>, Failure> {
        let world = world_at(app, moment(&self.at)?)?;
        let now = world.now;
        let facts = facts_of(&world);
        let diff = self.diff.as_deref().map(|other| -> Result<WorldDiff, Failure> {
            let other = world_at(app, moment(other)?)?;
            Ok(WorldDiff::between((world.head, &facts), (other.head, &facts_of(&other))))
        });
        let mut agents: Vec<String> =
            world.agents.live().map(|agent| agent.profile.name.to_string()).collect();
        agents.sort();
        Ok(Plan::Answer(Past {
            seq: world.head,
            agents,
            locks: world.locks.iter().map(|lock| LockView::of(lock, &world, now)).collect(),
            waits: world.locks.waits().count(),
            facts,
            diff: diff.transpose()?,
            hash: state_hash(&world),
        }))
    }
}

/// A hash of every fact of a world.
pub(crate) fn state_hash(world: &World) -> String {
    let facts = serde_json::to_vec(&comity_core::snapshot::Snapshot::of(world)).unwrap_or_default();
    blake3::hash(&facts).to_hex().to_string()
}

fn world_at(app: &Application, moment: Moment) -> Result<World, Failure> {
    let head = app.engine().world().head;
    let seq = match moment {
        Moment::Seq(seq) if seq > head => {
            let problem = format!("there is no entry {seq} yet: the newest is {head}");
            return Err(Refusal::bad_input(problem, "ask for one that there is").into());
        }
        Moment::Seq(seq) => seq,
        Moment::Wall(wall_ms) if wall_ms > wall_now() => {
            let problem = format!("{} is in the future", date(wall_ms));
            return Err(Refusal::bad_input(problem, "ask for a moment that has been").into());
        }
        Moment::Wall(wall_ms) => last_before(app, wall_ms, head)?,
    };
    let reader = app.reader()?;
    let (mut world, _) =
        reader.segments().world_at_or_before(seq, Timeouts::default()).map_err(Failure::Fault)?;
    while world.head < seq {
        let left = usize::try_from(seq - world.head).unwrap_or(PAGE).min(PAGE);
        let page = reader.read(world.head, left).map_err(Failure::Fault)?;
        if page.first().is_none_or(|record| record.seq != world.head + 1) {
            return Err(Refusal::NotFound {
                problem: format!("the log before entry {seq} is no longer kept"),
                hint: "ask for a later time".into(),
            }
            .into());
        }
        page.iter().for_each(|record| world.apply(record));
    }
    Ok(world)
}

/// The last record that was written at this time or before.
fn last_before(app: &Application, wall_ms: i64, head: u64) -> Result<u64, Failure> {
    let mut end = head;
    while end > 0 {
        let start = end.saturating_sub(PAGE as u64);
        let page = app.reader()?.read(start, (end - start) as usize).map_err(Failure::Fault)?;
        if let Some(last) = page.iter().rev().find(|record| record.wall_ms <= wall_ms) {
            return Ok(last.seq);
        }
        end = start;
    }
    Ok(0)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PointInput {
    Number(u64),
    Text(String),
}

impl From<PointInput> for String {
    fn from(point: PointInput) -> String {
        match point {
            PointInput::Number(number) => number.to_string(),
            PointInput::Text(text) => text,
        }
    }
}

fn text_or_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    PointInput::deserialize(deserializer).map(String::from)
}

fn text_or_number_or_none<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Option::<PointInput>::deserialize(deserializer).map(|point| point.map(String::from))
}

impl fmt::Display for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(diff) = &self.diff {
            return diff.fmt(f);
        }
        let (agents, locks) = (counted(self.agents.len(), "agent"), counted(self.locks.len(), "lock"));
        write!(f, "after entry {}: {agents}, {locks}, {} waiting", self.seq, self.waits)?;
        in_columns(f, self.facts.iter().map(|fact| ("", fact)))
    }
}
