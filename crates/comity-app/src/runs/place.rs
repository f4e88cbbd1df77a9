//! Where an agent's program appears: as it was asked for, or as it suits the terminal that it was asked from.

use comity_core::runs::{RunBackend, RunBeside, RunSpec};
use comity_core::{Refusal, World};
use comity_git::find_program;
use comity_runner::{PanePlace, Surroundings, TmuxPlace, detect, detect_iterm2};

use crate::operation::Caller;

/// The tmux server and the session of our own.
const TMUX: &str = "comity";

/// How a program runs, and beside what its pane is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RunPlace {
    pub(crate) backend: RunBackend,
    pub(crate) beside: Option<RunBeside>,
}

impl From<RunBackend> for RunPlace {
    fn from(backend: RunBackend) -> Self {
        Self { backend, beside: None }
    }
}

/// Where a program runs that somebody wants, from some terminal.
pub(crate) fn place_for(
    world: &World,
    caller: &Caller,
    wished: Option<&str>,
    terminal: &Surroundings,
) -> Result<RunPlace, Refusal> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let wished = wished.unwrap_or("process");
    // What an agent starts is where that agent is, whatever its terminal says.
    let of_agent = caller.who.agent().map(|agent| world.runs.of(agent).map(|run| &run.spec));
    let own = if of_agent.is_none() { terminal.clone() } else { Surroundings::default() };
    let like_agent = of_agent.flatten().filter(|spec| match spec.backend {
        RunBackend::Tmux => wished == "tmux" || wished == "auto",
        RunBackend::Iterm2 => wished == "iterm2" || wished == "auto",
        RunBackend::Process | RunBackend::Acp => false,
    });
    if let Some(spec) = like_agent {
        return Ok(RunPlace { backend: spec.backend, beside: spec.beside.clone() });
    }
    match wished {
        "process" => Ok(RunBackend::Process.into()),
        "acp" => Ok(RunBackend::Acp.into()),
        "auto" => Ok(detect(&own, &path, own_session()).map_or(RunBackend::Process.into(), of_pane)),
        "tmux" => match find_program(PROGRAM) {
            Some(program) => {
                let place = own.leader().unwrap_or_else(own_session);
                Ok(of_pane(PanePlace::Tmux { program, place }))
            }
            None => Err(Refusal::bad_input(NO_TMUX, "use process or acp")),
        },
        "iterm2" => detect_iterm2(&own, &path).map(of_pane).ok_or_else(|| {
            let hint =
                "call from a session of iTerm2, install it2, and allow iTerm2's Python API; or use process";
            Refusal::bad_input("iTerm2 can't be asked for its sessions", hint)
        }),
        other => {
            let hint = "use process, tmux, iterm2, auto or acp";
            Err(Refusal::bad_input(format!("{other:?} is not a backend"), hint))
        }
    }
}

const PROGRAM: &str = "tmux";
const NO_TMUX: &str = "there is no tmux on the server's PATH";

fn own_session() -> TmuxPlace {
    TmuxPlace::Own { socket: TMUX.into(), session: TMUX.into() }
}

fn of_pane(place: PanePlace) -> RunPlace {
    match place {
        PanePlace::Tmux { place: TmuxPlace::Own { .. }, .. } => RunBackend::Tmux.into(),
        PanePlace::Tmux { place: TmuxPlace::Beside { server, pane }, .. } => RunPlace {
            backend: RunBackend::Tmux,
            beside: Some(RunBeside::Tmux { server: server.to_string_lossy().into(), pane: pane.into() }),
        },
        PanePlace::Iterm2 { leader, .. } => RunPlace {
            backend: RunBackend::Iterm2,
            beside: Some(RunBeside::Iterm2 { session: leader.into() }),
        },
    }
}

/// Where the pane of a program is made.
pub(super) fn of_panes(spec: &RunSpec) -> Result<PanePlace, &'static str> {
    match &spec.beside {
        Some(RunBeside::Iterm2 { session }) => {
            let it2 = find_program("it2").ok_or("there is no it2 on the server's PATH")?;
            Ok(PanePlace::Iterm2 { it2, leader: session.to_string() })
        }
        Some(RunBeside::Tmux { server, pane }) => {
            let place = TmuxPlace::Beside { server: (&**server).into(), pane: pane.to_string() };
            Ok(PanePlace::Tmux { program: find_program(PROGRAM).ok_or(NO_TMUX)?, place })
        }
        None if spec.backend == RunBackend::Iterm2 => Err("it is not known beside which session of iTerm2"),
        None => Ok(PanePlace::Tmux { program: find_program(PROGRAM).ok_or(NO_TMUX)?, place: own_session() }),
    }
}
