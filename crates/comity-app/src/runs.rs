//! Keeps programs running as the world wants it: starts what is due, ends what is to end, and tells what became of each.

mod acp;
mod acp_call;
mod acp_start;
mod clients;
mod launch;
mod place;
mod prompt;
mod text;
mod worktree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use comity_core::agents::Process;
use comity_core::runs::{
    AgentRun, RunAsk, RunBackend, RunExit, RunId, RunProgram, RunState, Staffing, next_staffing,
};
use comity_core::{AgentId, Ask, Principal, World, limits};
use comity_runner::{
    Exit, Launch, LaunchPlace, ProcessId, Program, Runner, RunnerError, RunnerEvent, RunnerOptions, Survivor,
};

use crate::application::Application;
use crate::processes::{ProcessMark, is_alive, mark};
use crate::reconciler::{self, Bell};
use crate::tokens::{Token, random_agent_id};
pub(crate) use place::{RunPlace, place_for};

/// How long a program has to end after it was asked.
const GRACE: Duration = Duration::from_secs(5);

/// The programs that this server runs.
#[derive(Default)]
pub struct RunService {
    parts: Mutex<RunParts>,
}

#[derive(Default)]
struct RunParts {
    runner: Option<Arc<Runner>>,
    /// What became of programs, and is not in the log yet.
    happened: Vec<RunNews>,
    bell: Option<Bell>,
    acp: acp::AcpBooks,
}

/// What the reconciler is told.
enum RunNews {
    OfRunner(RunnerEvent),
    /// An agent has the worktree that it was to have, or why it has none.
    Worktree(Placed),
}

/// An agent that can be launched now.
struct Placed {
    run: RunId,
    agent: AgentId,
    token: Token,
    directory: Result<PathBuf, String>,
}

impl RunService {
    fn tell(&self, news: RunNews) {
        let mut parts = self.parts();
        parts.happened.push(news);
        parts.bell.iter().for_each(Bell::ring);
    }

    fn parts(&self) -> MutexGuard<'_, RunParts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The runner, if it was needed yet.
    pub(crate) fn runner(&self) -> Option<Arc<Runner>> {
        self.parts().runner.clone()
    }
}

/// The name of an agent's program towards the runner.
pub(crate) fn key(agent: AgentId) -> String {
    agent.to_string()
}

/// Runs until the engine stops; then all programs end but for those that survive. Gives the thread's handle.
pub fn run(app: &Application) -> std::io::Result<std::thread::JoinHandle<()>> {
    let app = app.clone();
    std::thread::Builder::new().name("runs".into()).spawn(move || {
        let (bell, heard) = Bell::new();
        app.runs().parts().bell = Some(bell.clone());
        let mut runs = RunReconciler { app: app.clone(), told: BTreeMap::new(), staffing: staffing(&app) };
        runs.take_over();
        let looks_at_tasks = runs.staffing.is_some();
        let version = move |world: &World| match looks_at_tasks {
            true => world.head,
            // Workers start as soon as their leader's plan is approved. There are fewer agents than that.
            false => {
                let changes = world.runs.changes() + world.agents.changes() as u64;
                changes.wrapping_mul(1 << 16).wrapping_add(world.permissions.planning() as u64)
            }
        };
        reconciler::run_here(app.engine(), (bell, heard), version, || {
            let happened = std::mem::take(&mut app.runs().parts().happened);
            for news in happened {
                match news {
                    RunNews::OfRunner(event) => runs.happened(event),
                    RunNews::Worktree(placed) => runs.placed(placed),
                }
            }
            let answers = std::mem::take(&mut app.runs().parts().acp.answers);
            answers.into_iter().for_each(|answer| acp::answered(&app, answer));
            runs.look().into()
        });
        let runner = app.runs().parts().runner.take();
        runner.iter().for_each(|runner| runner.stop());
    })
}

struct RunReconciler {
    app: Application,
    /// The ends that the runner was told, and whether by force.
    told: BTreeMap<AgentId, bool>,
    /// How agents are started for ready tasks, if they are.
    staffing: Option<Staffing>,
}

impl RunReconciler {
    /// Takes over what survived the server before this one; all else has ended with that.
    fn take_over(&mut self) {
        let active: Vec<AgentRun> = self.app.engine().world().runs.active().cloned().collect();
        let mut survivors = Vec::new();
        for run in active {
            let running = run.agent().and_then(|agent| Some((agent, self.process(agent)?)));
            match running.filter(|(_, process)| run.spec.survives && is_alive(*process)) {
                Some((agent, Process { pid, start })) => survivors.push(Survivor {
                    key: key(agent),
                    program: ProcessId { pid, start },
                    place: run.spec.backend.is_pane().then(|| place::of_panes(&run.spec).ok()).flatten(),
                }),
                None if matches!(run.state, RunState::Due(_) | RunState::Interrupted) => {}
                None => self.tell(RunAsk::Interrupt { run: run.id }),
            }
        }
        if !survivors.is_empty()
            && let Err(problem) = self.runner(survivors)
        {
            eprintln!("comity: {problem}");
        }
    }

    fn process(&self, agent: AgentId) -> Option<Process> {
        self.app.engine().world().agents.get(agent)?.profile.process
    }

    /// The runner; it is started when it is needed first.
    fn runner(&self, survivors: Vec<Survivor>) -> Result<Arc<Runner>, RunnerError> {
        if let Some(runner) = self.app.runs().runner() {
            return Ok(runner);
        }
        let options = RunnerOptions {
            directory: self.app.home().join("runs"),
            guardian: self.app.server().guardian.clone(),
            survivors,
        };
        let app = self.app.clone();
        let notify = move |event| app.runs().tell(RunNews::OfRunner(event));
        let runner = Arc::new(Runner::start(options, Box::new(notify))?);
        self.app.runs().parts().runner = Some(Arc::clone(&runner));
        Ok(runner)
    }

    fn happened(&mut self, event: RunnerEvent) {
        let (key, news) = match event {
            RunnerEvent::Started { key, program, .. } | RunnerEvent::TakenOver { key, program } => {
                (key, ProgramNews::Runs(Process { pid: program.pid, start: program.start }))
            }
            RunnerEvent::NotStarted { key, why } => {
                (key, ProgramNews::Exited(RunExit::NotStarted(why.into())))
            }
            RunnerEvent::Ended { key, exit } => (key, ProgramNews::Exited(of_runner(exit))),
            RunnerEvent::Acp { key, news } => {
                return key.parse().map_or((), |agent| acp::heard(&self.app, agent, news));
            }
        };
        let Ok(agent) = key.parse::<AgentId>() else { return };
        let Some(run) = self.app.engine().world().runs.of(agent).map(|run| run.id) else { return };
        match news {
            ProgramNews::Runs(process) => {
                // Whoever is marked and not known is nobody, so it is told first.
                self.tell(RunAsk::Started { run, agent, process });
                mark(process, ProcessMark::Agent);
                let spec = self.app.engine().world().runs.get(run).map(|run| run.spec.clone());
                if let Some(spec) = spec.filter(|spec| spec.text_commands) {
                    text::obey(&self.app, agent, PathBuf::from(&*spec.cwd));
                }
            }
            ProgramNews::Exited(exit) => self.exited(run, agent, exit),
        }
    }

    fn exited(&mut self, run: RunId, agent: AgentId, exit: RunExit) {
        self.told.remove(&agent);
        acp::gone(&self.app, agent);
        launch::forget(&self.app, agent);
        self.tell(RunAsk::Exited { run, agent, exit });
    }

    /// Starts what is due and ends what is to end; says when there is more to do.
    fn look(&mut self) -> Option<Instant> {
        let staffed = self.staff();
        let next = self.look_at_all();
        next.into_iter().chain(staffed).min()
    }

    /// Lets agents be wanted for ready tasks; says when to look again.
    fn staff(&self) -> Option<Instant> {
        let staffing = self.staffing.as_ref()?;
        self.tell(RunAsk::Staff { staffing: staffing.clone() });
        let at = next_staffing(&self.app.engine().world(), staffing)?;
        Some(Instant::now() + Duration::from_millis(at.since(self.app.engine().now()).0))
    }

    fn look_at_all(&mut self) -> Option<Instant> {
        let active: Vec<AgentRun> = self.app.engine().world().runs.active().cloned().collect();
        let mut next = None;
        for run in active {
            match run.state {
                RunState::Due(at) => {
                    let left = at.since(self.app.engine().now());
                    match left.0 {
                        0 => self.start(&run),
                        left => {
                            let due = Instant::now() + Duration::from_millis(left);
                            next = next.into_iter().chain([due]).min();
                        }
                    }
                }
                RunState::Ending { agent, force, .. } => self.end(run.id, agent, force),
                RunState::Starting(_)
                | RunState::Running { .. }
                | RunState::Interrupted
                | RunState::Over { .. } => {}
            }
        }
        next
    }

    fn start(&mut self, run: &AgentRun) {
        let (Ok(agent), Ok(token)) = (random_agent_id(), Token::random()) else { return };
        let start = Ask::Run(RunAsk::Start { run: run.id, agent, token: token.hash() });
        if self.app.engine().ask(Principal::System, start).is_err() {
            // It waits for room, or for a name: whoever ends makes this look again.
            return;
        }
        let placed = |directory| Placed { run: run.id, agent, token, directory };
        let has = {
            let world = self.app.engine().world();
            let own = world.worktrees.iter().find(|tree| tree.owner == Principal::Agent(agent));
            own.map(|tree| PathBuf::from(&*tree.tree.path))
        };
        match has {
            Some(directory) => self.placed(placed(Ok(directory))),
            None if run.spec.worktree => worktree::make(&self.app, &run.spec, placed(Err(String::new()))),
            None => self.placed(placed(Ok(PathBuf::from(&*run.spec.cwd)))),
        }
    }

    /// Launches an agent where it works, unless it was stopped meanwhile.
    fn placed(&mut self, placed: Placed) {
        let Placed { run, agent, token, directory } = placed;
        let is_meant = |run: &AgentRun| run.state == RunState::Starting(agent);
        let Some(wanted) = self.app.engine().world().runs.get(run).cloned().filter(is_meant) else { return };
        let launched = directory
            .and_then(|directory| launch::program(&self.app, &wanted, agent, &token, directory))
            .and_then(|program| self.launch(wanted, agent, &token, program));
        if let Err(why) = launched {
            self.exited(run, agent, RunExit::NotStarted(why.into()));
        }
    }

    /// Launches a program where its run wants it. Where there is no pane for it, it runs in another way from then on.
    fn launch(
        &mut self,
        mut wanted: AgentRun,
        agent: AgentId,
        token: &Token,
        mut program: Program,
    ) -> Result<(), String> {
        let runner = self.runner(Vec::new()).map_err(|problem| problem.to_string())?;
        loop {
            launch::show_in(&mut program, wanted.spec.backend);
            let place = match wanted.spec.backend {
                RunBackend::Process => Ok(LaunchPlace::Process),
                RunBackend::Acp => {
                    let start = acp_start::start(&self.app, &wanted, agent, token)?;
                    Ok(LaunchPlace::Acp(Box::new(start)))
                }
                RunBackend::Tmux | RunBackend::Iterm2 => place::of_panes(&wanted.spec).map(LaunchPlace::Pane),
            };
            let why = match place {
                Ok(place) => {
                    let launch = Launch { key: key(agent), program: program.clone(), place };
                    // The server's own files are nobody else's; an agent's are as its user wants them.
                    match comity_git::as_user(|| runner.launch(vec![launch])) {
                        Ok(()) => return Ok(()),
                        Err(RunnerError::Pane(problem)) => problem.to_string(),
                        Err(problem) => return Err(problem.to_string()),
                    }
                }
                Err(why) => why.to_owned(),
            };
            let Some(to) = wanted.spec.fallback() else { return Err(why) };
            self.tell(RunAsk::FallBack { run: wanted.id, agent, why: why.into() });
            (wanted.spec.backend, wanted.spec.beside) = (to, None);
        }
    }

    fn end(&mut self, run: RunId, agent: AgentId, force: bool) {
        if self.told.get(&agent).is_some_and(|told| *told >= force) {
            return;
        }
        let grace = if force { Duration::ZERO } else { GRACE };
        let ended = self.app.runs().runner().map(|runner| runner.end(&key(agent), grace));
        match ended {
            Some(Ok(())) => drop(self.told.insert(agent, force)),
            // Nothing of it runs.
            Some(Err(RunnerError::NotRunning(_))) | None => self.exited(run, agent, RunExit::Unseen),
            // Its guardian has not come yet: what comes of that is told, and this looks again.
            Some(Err(_)) => {}
        }
    }

    fn tell(&self, ask: RunAsk) {
        if let Err(problem) = self.app.engine().ask(Principal::System, Ask::Run(ask)) {
            eprintln!("comity: what became of a program can't be recorded: {problem:?}");
        }
    }
}

enum ProgramNews {
    Runs(Process),
    Exited(RunExit),
}

fn of_runner(exit: Exit) -> RunExit {
    match exit {
        Exit::Code(code) => RunExit::Code(code),
        Exit::Signal(signal) => RunExit::Signal(signal),
        Exit::Unseen => RunExit::Unseen,
    }
}

/// How agents are started for ready tasks, as the settings say.
fn staffing(app: &Application) -> Option<Staffing> {
    let spawn = &app.config().spawn;
    let backend = spawn.backend.unwrap_or(RunBackend::Process);
    let program = program(spawn.auto.as_deref().filter(|agent| !agent.trim().is_empty())?, backend);
    let idle_max = spawn.idle.map_or(limits::RUN_STAFF_IDLE_MAX, |span| span.0);
    Some(Staffing { program, backend, idle_max })
}

/// A client by its name, or a command, which a shell reads if it has several words.
pub(crate) fn program(agent: &str, backend: RunBackend) -> RunProgram {
    let agent = agent.trim();
    let is_known = match backend {
        RunBackend::Process | RunBackend::Tmux | RunBackend::Iterm2 => clients::find(agent).is_some(),
        RunBackend::Acp => acp_start::command(agent).is_ok(),
    };
    match agent.split_whitespace().count() {
        1 if is_known => RunProgram::Client(agent.into()),
        1 => RunProgram::Command(vec![agent.into()]),
        _ => RunProgram::Command(["sh", "-c", agent].map(Into::into).to_vec()),
    }
}
