//! Reads the ledger.

use std::collections::{HashSet, VecDeque};
use std::fmt;

use comity_core::{AgentId, ProjectId, Record, Refusal, event};
use serde_json::Value;

use super::{Moment, moment};
use crate::ledger::Entry;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::page_size::{self, PageSize};
use crate::project_scope::AgentProjects;
use crate::semaphore::{Semaphore, SemaphorePermit};

const LIMIT_MAX: usize = 10_000;
/// Bytes of the entries in one answer, unless a single one has more: large letters must not add up to what no door
/// can carry.
const BYTES_MAX: usize = 1024 * 1024;
/// Records that are searched at a time, from the newest backwards: few at first, as they may be large.
const STRETCH: u64 = 64;
/// The same, further back.
const STRETCH_MAX: u64 = 2_048;
/// Answers that are assembled at a time.
const AT_A_TIME: usize = 4;
/// What is read from the disk at a time.
const PAGE: PageSize = PageSize { records: 500, bytes: 256 * 1024 };

/// Show what happened: the newest entries, or those after a cursor, filtered by agent, type and time.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadLog {
    /// Only what this agent did and what concerns it (name or id)
    #[serde(alias = "agentId")]
    pub agent: Option<String>,
    /// Only this type, such as lock_acquired, or group, such as lock
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Include housekeeping, such as locks being renewed
    #[serde(default)]
    pub all: bool,
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
    /// Only since then: 14:06, "10 minutes ago", 10m, 2026-11-16T14:06 or an entry's number
    pub since: Option<String>,
    /// Only after this number, oldest first: to go on where you stopped
    pub after: Option<u64>,
    /// Only before this number, to look further back
    pub before: Option<u64>,
    /// At most this many (50)
    pub limit: Option<usize>,
}

impl ReadLog {
    pub const LIMIT: usize = 50;
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
    /// Whether fewer than asked for are here because they are large: ask again, `before` the first one or `after` the
    /// last one.
    pub more: bool,
    /// Held until it is written as JSON, which takes longer than to read it.
    #[serde(skip)]
    #[schemars(skip)]
    _permit: SemaphorePermit<'static>,
}

impl Operation for ReadLog {
    type Output = LogPage;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LogPage>, Failure> {
        let limit = self.limit.unwrap_or(ReadLog::LIMIT);
        if limit == 0 || limit > LIMIT_MAX {
            return Err(Refusal::bad_input(
                format!("a limit of {limit} is not possible"),
                format!("1 to {LIMIT_MAX}"),
            )
            .into());
        }
        let filter = Filter::of(&self, app, caller)?;
        let permit = READERS.acquire();
        let head = app.engine().world().head;
        let room = PageSize { records: limit, bytes: BYTES_MAX };
        let found = match (self.after, self.before) {
            (Some(_), Some(_)) => {
                let hint = "give one of them";
                return Err(Refusal::bad_input("after and before do not go together", hint).into());
            }
            (Some(after), None) => forwards(app, after, head, room, &filter)?,
            (None, before) => {
                let end = before.map_or(head, |before| head.min(before.saturating_sub(1)));
                backwards(app, end, room, &filter)?
            }
        };
        let places = self.all_projects.then(|| AgentProjects::known(app));
        let world = app.engine().world();
        let project = |record: &Record| {
            let project = world.projects.get(&project_of(record, places.as_ref()?)?)?;
            Some(project.name().to_owned())
        };
        let entry =
            |record: &Record| Entry { project: project(record), ..Entry::of(record, &world, caller.who) };
        let entries: Vec<Entry> = found.records.iter().map(entry).collect();
        let cursor = entries.last().map_or(self.after.unwrap_or(head), |last| last.seq);
        Ok(Plan::Answer(LogPage { entries, cursor, head, more: found.is_cut, _permit: permit }))
    }
}

/// Prefix of the names of agents that only test whether a guard works, and end at once.
pub const CANARY: &str = "canary-of-init-";

static READERS: Semaphore = Semaphore::new(AT_A_TIME);

struct Filter {
    agent: Option<comity_core::AgentId>,
    kind: Option<String>,
    hides_housekeeping: bool,
    /// Agents that only tested the guards; what they did is housekeeping, too.
    canaries: HashSet<AgentId>,
    project: Option<ProjectFilter>,
    since: Option<Moment>,
}

impl Filter {
    fn of(asked: &ReadLog, app: &Application, caller: &Caller) -> Result<Filter, Failure> {
        let agent = match asked.agent.as_deref() {
            None => None,
            Some(name) => Some(match name.parse() {
                Ok(id) => id,
                Err(()) => known_agent(app, name)?,
            }),
        };
        let since = asked.since.as_deref().map(moment).transpose()?;
        let kind = asked.kind.clone();
        kind.as_deref().map_or(Ok(()), event::check_type)?;
        // A cursor goes over all records: programs count them.
        let hides_housekeeping = !asked.all && kind.is_none() && asked.after.is_none();
        let is_of_one = agent.is_none() && asked.after.is_none();
        let project = is_of_one.then(|| app.projects().scope(caller, asked.all_projects)).flatten();
        let project = project.map(|project| ProjectFilter { project, places: AgentProjects::known(app) });
        let world = app.engine().world();
        let is_canary = |agent: &&comity_core::agents::Agent| agent.profile.name.starts_with(CANARY);
        let canaries = match hides_housekeeping && agent.is_none() {
            true => world.agents.iter().filter(is_canary).map(|agent| agent.id).collect(),
            false => HashSet::new(),
        };
        Ok(Filter { agent, kind, hides_housekeeping, canaries, project, since })
    }

    fn takes(&self, record: &Record) -> bool {
        let kind = record.event.kind();
        self.agent.is_none_or(|agent| record.concerns_agent(agent))
            && self.kind.as_deref().is_none_or(|wanted| kind.is_called(wanted))
            && !(self.hides_housekeeping && kind.is_housekeeping)
            && !self.is_of_canary(record)
            && !self.is_before(record)
            && self.project.as_ref().is_none_or(|project| project.takes(record))
    }

    fn is_of_canary(&self, record: &Record) -> bool {
        !self.canaries.is_empty()
            && record.by.agent().into_iter().chain(record.concerned()).any(|id| self.canaries.contains(&id))
    }

    fn is_before(&self, record: &Record) -> bool {
        match self.since {
            None => false,
            Some(Moment::Seq(seq)) => record.seq < seq,
            Some(Moment::Wall(wall_ms)) => record.wall_ms < wall_ms,
        }
    }
}

/// Leaves out what is known to have happened in another repository.
struct ProjectFilter {
    project: ProjectId,
    places: AgentProjects,
}

impl ProjectFilter {
    fn takes(&self, record: &Record) -> bool {
        project_of(record, &self.places).is_none_or(|place| place == self.project)
    }
}

/// The repository in which something happened: the one that it names, else that of whoever did it or whom it concerns.
fn project_of(record: &Record, places: &AgentProjects) -> Option<ProjectId> {
    let named = serde_json::to_value(&record.event).ok().and_then(|event| named_project(&event));
    let doer = || places.get(record.by.agent()?);
    let concerned = || record.concerned().iter().find_map(|agent| places.get(*agent));
    named.or_else(doer).or_else(concerned)
}

/// The project that an event names.
fn named_project(event: &Value) -> Option<ProjectId> {
    let fields = event.as_object()?;
    let own = fields.get("project").and_then(|project| serde_json::from_value(project.clone()).ok());
    own.or_else(|| fields.values().find_map(named_project))
}

/// The newest agent with this name, even if it has ended.
pub(in crate::operations) fn known_agent(
    app: &Application,
    name: &str,
) -> Result<comity_core::AgentId, Failure> {
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

struct FoundRecords {
    records: Vec<Record>,
    /// Whether there would be more if they were smaller.
    is_cut: bool,
}

fn forwards(
    app: &Application,
    after: u64,
    head: u64,
    page: PageSize,
    filter: &Filter,
) -> Result<FoundRecords, Failure> {
    let mut found = FoundRecords { records: Vec::new(), is_cut: false };
    let mut room = page.room();
    let mut cursor = after;
    while cursor < head {
        let read = app.reader()?.read_page(cursor, PAGE).map_err(Failure::Fault)?;
        let Some(last) = read.last() else { break };
        cursor = last.seq;
        for record in read.into_iter().filter(|record| record.seq <= head && filter.takes(record)) {
            found.is_cut = !room.takes(page_size::of_record(&record));
            if found.is_cut {
                return Ok(found);
            }
            found.records.push(record);
            if found.records.len() == page.records {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

fn backwards(app: &Application, end: u64, page: PageSize, filter: &Filter) -> Result<FoundRecords, Failure> {
    let mut found = FoundRecords { records: Vec::new(), is_cut: false };
    let (mut end, mut left, mut stretch) = (end, page, STRETCH);
    while end > 0 && left.records > 0 && !found.is_cut {
        let start = end.saturating_sub(stretch);
        stretch = STRETCH_MAX.min(stretch * 2);
        let (newest, all_before) = newest_of(app, (start, end), left, filter)?;
        left.records -= newest.records.len();
        left.bytes = left.bytes.saturating_sub(newest.records.iter().map(page_size::of_record).sum());
        // One that is larger than what is left comes with the next answer.
        let fits = found.records.is_empty() || left.bytes > 0;
        found.is_cut = newest.is_cut || !fits;
        if fits {
            found.records.extend(newest.records.into_iter().rev());
        }
        if all_before {
            break;
        }
        end = start;
    }
    found.records.reverse();
    Ok(found)
}

/// The newest records of a stretch that fit into a page, and whether all of it is before what is asked for: the wall
/// clock may jump back, so the whole stretch is checked before the search ends.
fn newest_of(
    app: &Application,
    (start, end): (u64, u64),
    page: PageSize,
    filter: &Filter,
) -> Result<(FoundRecords, bool), Failure> {
    let mut newest: VecDeque<(Record, usize)> = VecDeque::new();
    let (mut bytes, mut is_cut, mut all_before, mut cursor) = (0, false, true, start);
    while cursor < end {
        let read = app.reader()?.read_page(cursor, PAGE).map_err(Failure::Fault)?;
        let Some(last) = read.last() else { break };
        cursor = last.seq;
        for record in read.into_iter().take_while(|record| record.seq <= end) {
            all_before &= filter.is_before(&record);
            if !filter.takes(&record) {
                continue;
            }
            let size = page_size::of_record(&record);
            bytes += size;
            newest.push_back((record, size));
            while newest.len() > page.records || (bytes > page.bytes && newest.len() > 1) {
                is_cut |= newest.len() <= page.records;
                let Some((_, size)) = newest.pop_front() else { break };
                bytes -= size;
            }
        }
    }
    // Those dropped because there were too many were not cut off by their size.
    let is_cut = is_cut && newest.len() < page.records;
    Ok((FoundRecords { records: newest.into_iter().map(|(record, _)| record).collect(), is_cut }, all_before))
}

impl fmt::Display for LogPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entries.is_empty() {
            return f.write_str("nothing to show");
        }
        let lines: Vec<String> = self.entries.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
