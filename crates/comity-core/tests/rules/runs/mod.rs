//! RU7, RU8: what Comity starts comes back when it crashes, ends with whoever wanted it, and ends once.

mod crashes;
mod ends;
mod staffing;
mod starts;
mod team;

use comity_core::agents::{AgentAsk, Process, Profile};
use comity_core::runs::{AgentRun, RunAsk, RunBackend, RunEvent, RunExit, RunId, RunProgram, RunSpec};
use comity_core::snapshot::Snapshot;
use comity_core::world::Timeouts;
use comity_core::{
    AgentId, Ask, Asker, Event, Millis, Principal, Record, Refusal, Timestamp, TokenHash, World, expire,
    invariants, run,
};
use expect_test::Expect;

use crate::people::{id, present};

/// A world in which programs are started; every record is told.
struct Crew {
    world: World,
    log: Vec<Record>,
    now: Timestamp,
    agents: u64,
}

impl Crew {
    fn new() -> Crew {
        Crew { world: World::new(Timeouts::default()), log: vec![], now: Timestamp(1), agents: 0 }
    }

    fn ask(&mut self, who: impl Into<Asker>, ask: Ask) -> Result<Vec<Event>, Refusal> {
        let due = expire(&mut self.world, self.now, 0);
        self.log.extend(due);
        let outcome = run(&mut self.world, who, &ask, None, self.now, 0)?;
        self.log.extend(outcome.records);
        invariants::check(&self.world).unwrap_or_else(|wrong| panic!("after {ask:?}: {wrong}"));
        Ok(outcome.answer)
    }

    fn system(&mut self, ask: RunAsk) -> Result<Vec<Event>, Refusal> {
        self.ask(Principal::System, Ask::Run(ask))
    }

    fn joins(&mut self, name: &str, role: Option<&str>) -> Principal {
        let agent = self.next_agent();
        let profile = Profile { name: name.into(), role: role.map(Into::into), ..Profile::default() };
        let join = AgentAsk::Join { agent, token: token(self.agents), profile: Box::new(profile) };
        self.ask(present(), Ask::Agent(join)).expect("joined");
        Principal::Agent(agent)
    }

    fn next_agent(&mut self) -> AgentId {
        self.agents += 1;
        id(self.agents)
    }

    fn wants(&mut self, who: impl Into<Asker>, spec: RunSpec) -> Result<RunId, Refusal> {
        let answer = self.ask(who, Ask::Run(RunAsk::Want { spec: Box::new(spec) }))?;
        match answer.first() {
            Some(Event::Run(RunEvent::Wanted { run, .. })) => Ok(*run),
            other => panic!("{other:?}"),
        }
    }

    fn starts(&mut self, run: RunId) -> Result<AgentId, Refusal> {
        let agent = self.next_agent();
        self.system(RunAsk::Start { run, agent, token: token(self.agents) })?;
        let process = Process { pid: 1_000 + u32::try_from(self.agents).expect("few"), start: 7 };
        self.system(RunAsk::Started { run, agent, process })?;
        Ok(agent)
    }

    fn exits(&mut self, run: RunId, agent: AgentId, exit: RunExit) {
        self.system(RunAsk::Exited { run, agent, exit }).expect("told");
    }

    fn run(&self, run: RunId) -> &AgentRun {
        self.world.runs.get(run).expect("a run")
    }

    fn pass(&mut self, span: Millis) {
        self.now = self.now.plus(span);
    }

    /// What happened since, in sentences; the log folds to the same world, from a snapshot, too.
    fn check(&self, since: usize, expect: &Expect) {
        let told: Vec<String> =
            self.log[since..].iter().map(|record| record.sentence(&self.world, Principal::Human)).collect();
        expect.assert_eq(&told.join("\n"));
        let mut again = World::new(Timeouts::default());
        self.log.iter().for_each(|record| again.apply(record));
        assert_eq!(Snapshot::of(&again), Snapshot::of(&self.world));
        let text = serde_json::to_string(&Snapshot::of(&self.world)).expect("JSON");
        let read: Snapshot = serde_json::from_str(&text).expect("a snapshot");
        assert_eq!(Snapshot::of(&read.restore(Timeouts::default())), Snapshot::of(&self.world));
    }
}

fn token(number: u64) -> TokenHash {
    let mut bytes = [9; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    TokenHash(bytes)
}

pub(crate) fn spec(name: &str) -> RunSpec {
    RunSpec {
        name: name.into(),
        program: RunProgram::Client("claude".into()),
        role: None,
        team: None,
        model: None,
        cwd: "/r".into(),
        project: None,
        task: None,
        prompt: None,
        backend: RunBackend::Process,
        plan: false,
        beside: None,
        survives: false,
        text_commands: false,
        worktree: false,
        leader: None,
        staffed: false,
    }
}
