//! Start with a log of 1,000,000 events, made by the rules and sealed as housekeeping does it.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use comity_app::engine::{BACKLOG_RECORDS_MAX, HOT_RECORDS_MAX, HOT_RECORDS_QUIET};
use comity_app::log::{Checkpoint, Durability, Log, LogReader, SqliteLog, StartPoint};
use comity_core::agents::{AgentAsk, Profile};
use comity_core::locks::{LockAsk, LockMode, Wanted};
use comity_core::projects::ProjectAsk;
use comity_core::server::ServerAsk;
use comity_core::world::Timeouts;
use comity_core::{
    AgentId, Ask, CaseRule, Fence, Key, Millis, PathPattern, Principal, ProjectId, Record, Timestamp,
    TokenHash, World,
};

use crate::Bench;
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::BenchServer;

const EVENTS: usize = 1_000_000;
const AGENTS: u64 = 20;
/// Paths that each agent locks and unlocks in turn; half of them are held at any time.
const PATHS: u64 = 100;
const BATCH: usize = 500;
const STARTS: usize = 5;
const GOAL: Goal = Goal::AtMost(500.0 * 1e6);
const HOUR: Millis = Millis::hours(24);

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let home = bench.stage.dir().join("restart");
    let made = std::fs::DirBuilder::new().mode(0o700).create(&home);
    made.map_err(|error| format!("{}: {error}", home.display()))?;
    let events = bench.scaled(EVENTS);
    let mut history = LogBuilder::begin(&home)?;
    history.write(events)?;
    let LogBuilder { log, reader, .. } = history;
    drop(log);
    starts(bench, &format!("{events} events, killed while writing"))?;
    while hot(&reader, events) > HOT_RECORDS_QUIET && reader.seal_next()? {}
    reader.checkpoint(Checkpoint::Whole);
    drop(reader);
    starts(bench, &format!("{events} events, left in peace"))
}

fn starts(bench: &mut Bench, name: &str) -> Result<(), String> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        times.push(BenchServer::start(&bench.stage, "restart")?.ready_after.as_nanos() as f64);
    }
    bench.measured(name, Unit::Nanoseconds, &times, Some(GOAL));
    Ok(())
}

fn hot(reader: &LogReader, head: usize) -> u64 {
    (head as u64).saturating_sub(reader.segments().sealed_up_to())
}

/// A log as it is written.
struct LogBuilder {
    world: World,
    log: SqliteLog,
    reader: LogReader,
    batch: Vec<Record>,
    moved_at: u64,
    now: u64,
}

impl LogBuilder {
    fn begin(home: &Path) -> Result<LogBuilder, String> {
        let StartPoint { log, world } = SqliteLog::open(home, Timeouts::default())?;
        let reader = log.reader()?;
        let mut history = LogBuilder { world, log, reader, batch: Vec::new(), moved_at: 0, now: 0 };
        history.ask(
            Principal::System,
            Ask::Server(ServerAsk::Start {
                fence_floor: Fence(0),
                version: "0".into(),
                boot: None,
                uptime: None,
            }),
        )?;
        let (common_dir, case) = ("/srv/project/.git".into(), CaseRule::Exact);
        history
            .ask(Principal::System, Ask::Project(ProjectAsk::Add { project: project(), common_dir, case }))?;
        for agent in 0..AGENTS {
            let profile = Profile { name: format!("agent{agent}").into(), ..Profile::default() };
            let token = TokenHash([agent as u8; 32]);
            let agent = AgentId::from_bits(agent);
            history.ask(
                Principal::Human,
                Ask::Agent(AgentAsk::Join { agent, token, profile: Box::new(profile) }),
            )?;
        }
        Ok(history)
    }

    /// Lets agents lock and unlock until there are so many events.
    fn write(&mut self, events: usize) -> Result<(), String> {
        for turn in 0.. {
            if self.world.head >= events as u64 {
                break;
            }
            let agent = turn % AGENTS;
            let step = turn / AGENTS;
            let who = Principal::Agent(AgentId::from_bits(agent));
            let pattern = |n: u64| {
                let text = format!("src/agent{agent}/part{}.rs", n % PATHS);
                PathPattern::parse(&text, CaseRule::Exact).map_err(|refusal| refusal.to_string())
            };
            if step >= PATHS / 2 {
                let patterns = vec![pattern(step - PATHS / 2)?];
                self.ask(who, Ask::Lock(LockAsk::Unlock { project: project(), patterns }))?;
            }
            let wanted = Wanted {
                project: project(),
                pattern: pattern(step)?,
                mode: LockMode::Exclusive,
                ttl: HOUR,
                reason: Some("fixing the login".into()),
                with_children: false,
                worktree: Some("/srv/app".into()),
            };
            self.ask(who, Ask::Lock(LockAsk::Lock { wants: vec![wanted], wait: None }))?;
        }
        self.append()
    }

    fn ask(&mut self, who: Principal, ask: Ask) -> Result<(), String> {
        self.now += 1;
        let key = Key::new(&format!("{:032x}", self.now));
        let now = Timestamp(self.now);
        let outcome = comity_core::run(&mut self.world, who, &ask, key.as_ref(), now, self.now as i64);
        self.batch.extend(outcome.map_err(|refusal| refusal.to_string())?.records);
        if self.batch.len() >= BATCH { self.append() } else { Ok(()) }
    }

    fn append(&mut self) -> Result<(), String> {
        self.log.append(&self.batch, Durability::Live).map_err(|error| error.to_string())?;
        let head = self.batch.last().map_or(0, |record| record.seq);
        self.batch.clear();
        // As the server does while it is written to all the time.
        if head.saturating_sub(self.moved_at) >= BACKLOG_RECORDS_MAX {
            self.reader.checkpoint(Checkpoint::Again);
            self.moved_at = head;
        }
        if hot(&self.reader, head as usize) > HOT_RECORDS_MAX {
            self.reader.seal_next()?;
        }
        Ok(())
    }
}

fn project() -> ProjectId {
    ProjectId::from_bits(1)
}
