//! Programs that are wanted, start, crash and end, as the server would tell of them, and as it should not.

use comity_core::agents::Process;
use comity_core::runs::{
    Reached, RunAsk, RunBackend, RunBeside, RunExit, RunId, RunProgram, RunSpec, Staffing,
};
use comity_core::tasks::TaskRef;
use comity_core::{AgentId, Ask, Millis, Principal};

use super::Scene;
use crate::oracle::runs::RunPhase;

/// So few that names come again.
const NAMES: u64 = 5;

impl Scene<'_> {
    pub(super) fn run(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let all: Vec<RunId> = self.oracle.runs.keys().copied().collect();
        let some = self.rng.pick(&all).copied();
        if self.rng.happens(15) {
            return self.staff(living);
        }
        let Some(run) = some.filter(|_| !self.rng.happens(20)) else { return self.want(living) };
        if let Some((reached, by)) = self.running().filter(|_| self.rng.happens(20)) {
            let how = if self.rng.happens(50) { Reached::Attached } else { Reached::Interrupted };
            let who = if self.rng.happens(80) { by } else { self.anybody(living) };
            return (who, Ask::Run(RunAsk::Reach { run: reached, how }));
        }
        let (ask, is_told) = match self.rng.below(100) {
            0..60 => (self.next_of_run(run), true),
            60..70 => {
                let (force, again) = (self.rng.happens(40), self.rng.happens(30));
                (RunAsk::End { run, force, again }, false)
            }
            70..78 => (RunAsk::Resume { run }, false),
            78..80 => (RunAsk::Note { run }, false),
            80..82 => (RunAsk::Interrupt { run }, true),
            82..85 => (RunAsk::FallBack { run, agent: self.agent_of(run), why: "no room".into() }, true),
            85..87 => {
                let session = format!("s{}", self.rng.below(3)).into();
                (RunAsk::KnowSession { agent: self.agent_of(run), session }, true)
            }
            87..90 => {
                let how = if self.rng.happens(50) { Reached::Attached } else { Reached::Interrupted };
                (RunAsk::Reach { run, how }, false)
            }
            _ => (RunAsk::Exited { run, agent: self.agent_of(run), exit: self.exit() }, true),
        };
        let who = match is_told && !self.rng.happens(3) {
            true => Principal::System,
            false if self.rng.happens(50) => self.oracle.runs[&run].by,
            false => self.anybody(living),
        };
        (who, Ask::Run(ask))
    }

    fn want(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let leads: Vec<AgentId> = living.iter().copied().filter(|id| self.oracle.is_lead(*id)).collect();
        let lead = self.rng.pick(&leads).copied().filter(|_| self.rng.happens(60));
        let who = match lead {
            Some(lead) => Principal::Agent(lead),
            None if self.rng.happens(80) => Principal::Human,
            None => self.anybody(living),
        };
        let project = self.paths.spots[0].project;
        let task = self.rng.happens(30).then(|| TaskRef { project, task: self.some_task() });
        let spec = RunSpec {
            name: format!("r{}", self.rng.between(1, NAMES)).into(),
            program: match self.rng.below(3) {
                0 => RunProgram::Client("claude".into()),
                1 => RunProgram::Command(vec!["make".into()]),
                _ => RunProgram::Command(vec!["make".into(), "all".into()]),
            },
            role: self.rng.happens(20).then(|| "lead".into()),
            team: self.rng.happens(20).then(|| "red".into()),
            model: None,
            cwd: "/repo".into(),
            project: None,
            task: task.clone(),
            prompt: None,
            backend: if self.rng.happens(50) { RunBackend::Tmux } else { RunBackend::Process },
            beside: task.is_none().then(|| RunBeside::Tmux { server: "/s".into(), pane: "%1".into() }),
            plan: self.rng.happens(20),
            survives: self.rng.happens(20),
            text_commands: false,
            worktree: false,
            leader: None,
            staffed: false,
        };
        let spec = Box::new(spec);
        let workers = (0..self.rng.below(3)).map(|_| {
            let name = format!("r{}", self.rng.between(1, NAMES)).into();
            RunSpec { name, role: None, plan: false, ..(*spec).clone() }
        });
        let workers: Vec<RunSpec> = workers.collect();
        let ask = match workers.is_empty() {
            true => RunAsk::Want { spec },
            false => RunAsk::WantTeam { leader: spec, workers },
        };
        (who, Ask::Run(ask))
    }

    /// Somebody for ready tasks, as the server asks again and again.
    fn staff(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let staffing = Staffing {
            program: RunProgram::Client("claude".into()),
            backend: RunBackend::Process,
            idle_max: Millis::minutes(10),
        };
        let who = if self.rng.happens(95) { Principal::System } else { self.anybody(living) };
        (who, Ask::Run(RunAsk::Staff { staffing }))
    }

    /// What happens to it next, if all goes well, or nearly.
    fn next_of_run(&mut self, run: RunId) -> RunAsk {
        let (agent, crashes) = (self.agent_of(run), self.rng.happens(30));
        match self.oracle.runs[&run].phase {
            RunPhase::Due(_) => {
                RunAsk::Start { run, agent: AgentId::from_bits(self.joined), token: self.token() }
            }
            RunPhase::Starting(_) if !crashes => {
                RunAsk::Started { run, agent, process: Process { pid: 9, start: self.joined } }
            }
            RunPhase::Interrupted | RunPhase::Over => RunAsk::Resume { run },
            RunPhase::Starting(_) | RunPhase::Running(_) | RunPhase::Ending(..) => {
                RunAsk::Exited { run, agent, exit: self.exit() }
            }
        }
    }

    /// One that runs, and who had it started.
    fn running(&mut self) -> Option<(RunId, Principal)> {
        let runs = self.oracle.runs.iter().filter(|(_, run)| matches!(run.phase, RunPhase::Running(_)));
        let runs: Vec<(RunId, Principal)> = runs.map(|(id, run)| (*id, run.by)).collect();
        self.rng.pick(&runs).copied()
    }

    fn agent_of(&mut self, run: RunId) -> AgentId {
        self.oracle.runs[&run].phase.agent().unwrap_or(AgentId::from_bits(self.joined))
    }

    fn exit(&mut self) -> RunExit {
        match self.rng.below(10) {
            0..2 => RunExit::Code(0),
            2..6 => RunExit::Code(3),
            6..8 => RunExit::Signal(9),
            8 => RunExit::Unseen,
            _ => RunExit::NotStarted("no such file".into()),
        }
    }
}
