//! Starts a leader with a goal, and its workers.

use std::fmt;

use comity_core::display::counted;
use comity_core::limits::AGENT_LIMIT_MAX;
use comity_core::next_call::Argument;
use comity_core::roles::DEFAULT_ROLE;
use comity_core::runs::{RunAsk, RunProgram, RunSpec};
use comity_core::{Ask, Event, Refusal};
use comity_runner::Surroundings;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::spawn::{cwd, free_name, program};
use super::{RunChange, SteeredRun, StopRun};
use crate::application::Application;
use crate::catalog::next_call;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::operations::commits::Commit;
use crate::operations::locks::Unlock;
use crate::operations::mail::{Next, SendMail};
use crate::operations::runs::{AttachRun, Spawn};
use crate::operations::tasks::{TaskAdd, TaskClaim, TaskDone, TaskStart};
use crate::runs::{RunPlace, place_for};
use crate::wording::Wording;

/// Who leads is called that, and has that role.
const LEAD: &str = "lead";
/// What is started unless something else is named.
const CLIENT: &str = "claude";

/// Start an agent that leads, with a goal, and agents that work for it. They are below it: they come back with it, and end
/// with it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunGoal {
    /// What is to be done
    pub goal: String,
    /// How many workers to start with the leader (3), or which, each with how it runs if not like the leader
    /// (codex,opencode,gemini:acp); it can start more
    #[serde(default, deserialize_with = "count_or_names")]
    pub workers: Option<String>,
    /// What to start: claude (if omitted), codex, copilot, gemini, opencode, or a command of yours
    pub agent: Option<String>,
    /// What the workers are, if not the same
    pub worker_agent: Option<String>,
    /// The model they run on
    pub model: Option<String>,
    /// How they run: process (unseen until you look), tmux, iterm2, auto (in a pane where there can be one), or acp
    pub backend: Option<String>,
    /// The terminal that they are wanted from, as `comity` tells by itself
    #[serde(default)]
    #[schemars(skip)]
    pub terminal: Surroundings,
    /// Each worker has a worktree and a branch of its own
    #[serde(default)]
    pub worktree: bool,
    /// The leader reads only until its plan is approved
    #[serde(default)]
    pub plan: bool,
}

/// Who is being started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunTeam {
    pub leader: SteeredRun,
    pub workers: Vec<SteeredRun>,
}

impl Operation for RunGoal {
    type Output = RunTeam;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<RunTeam>, Failure> {
        if self.goal.trim().is_empty() {
            return Err(Refusal::bad_input("there is no goal", "say what is to be done").into());
        }
        let project = app.projects().place(caller).ok().map(|place| place.project());
        let started = self.agent.as_deref().unwrap_or(CLIENT);
        let placed = |wished: Option<&str>| place_for(&app.engine().world(), caller, wished, &self.terminal);
        let RunPlace { backend, beside } = placed(self.backend.as_deref())?;
        let each = self.worker_agent.as_deref().unwrap_or(started);
        let programs = workers(self.workers.as_deref().unwrap_or_default(), |named| {
            let (name, own) = match named {
                Some(named) => named.split_once(':').map_or((named, None), |(name, own)| (name, Some(own))),
                None => (each, None),
            };
            let place = placed(own.or(self.backend.as_deref()))?;
            Ok((program(name, place.backend)?, place))
        })?;
        let mut names: Vec<String> = Vec::new();
        for number in 0..=programs.len() {
            let role = if number == 0 { LEAD } else { DEFAULT_ROLE };
            names.push(free_name(&app.engine().world(), role, &names));
        }
        let Some((lead, workers)) = names.split_first() else {
            return Err(Failure::fault("nobody has a name"));
        };
        let spec = RunSpec {
            name: lead.as_str().into(),
            program: program(started, backend)?,
            role: Some(LEAD.into()),
            team: None,
            model: self.model.clone().map(Into::into),
            cwd: cwd(caller)?,
            project,
            task: None,
            prompt: Some(goal_prompt(&self.goal, workers).into()),
            backend,
            beside,
            plan: self.plan,
            survives: false,
            text_commands: false,
            worktree: false,
            leader: None,
            staffed: false,
        };
        let worker = |(name, (program, place)): (&String, (RunProgram, RunPlace))| RunSpec {
            name: name.as_str().into(),
            program,
            backend: place.backend,
            beside: place.beside,
            role: Some(DEFAULT_ROLE.into()),
            prompt: Some(worker_prompt(lead).into()),
            plan: false,
            worktree: self.worktree,
            ..spec.clone()
        };
        let workers: Vec<RunSpec> = workers.iter().zip(programs).map(worker).collect();
        let asks = vec![Ask::Run(RunAsk::WantTeam { leader: Box::new(spec), workers })];
        Ok(Plan::grant(asks, |events: &[Event], world, _| {
            let mut runs = RunChange::of(events, world, "").runs.into_iter();
            let leader =
                runs.next().ok_or_else(|| Refusal::bad_input("it is over already", "start it again"))?;
            Ok(RunTeam { leader, workers: runs.collect() })
        }))
    }
}

/// A number is understood, too: models write one.
fn count_or_names<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum WishedWorkers {
        Count(u64),
        Names(String),
    }
    let wished = Option::<WishedWorkers>::deserialize(input)?;
    Ok(wished.map(|wished| match wished {
        WishedWorkers::Count(count) => count.to_string(),
        WishedWorkers::Names(names) => names,
    }))
}

/// The workers: so many of the same, or those that are named.
fn workers<W: Clone>(
    wished: &str,
    worker: impl Fn(Option<&str>) -> Result<W, Refusal>,
) -> Result<Vec<W>, Refusal> {
    let named = || wished.split(',').map(str::trim).filter(|name| !name.is_empty());
    let number = wished.trim().parse::<usize>().ok();
    let count = number.unwrap_or_else(|| named().count());
    if count > AGENT_LIMIT_MAX {
        let hint = format!("start at most {AGENT_LIMIT_MAX}");
        return Err(Refusal::bad_input(format!("{count} workers are too many"), hint));
    }
    if number.is_none() {
        return named().map(|name| worker(Some(name))).collect();
    }
    Ok(vec![worker(None)?; count])
}

fn goal_prompt(goal: &str, workers: &[String]) -> String {
    let start = next_call::<Spawn>([("role", DEFAULT_ROLE.into()), ("agent", CLIENT.into())]);
    let crew = match workers {
        [] => format!("Nobody works for you yet: start whom you need, in a shell with `{start}`."),
        workers => format!(
            "{} work for you: {}. They take tasks as soon as there are some; start more if you need to, in a shell with `{start}`.",
            counted(workers.len(), "agent"),
            workers.join(", ")
        ),
    };
    let (add, next) = (next_call::<TaskAdd>([("title", "TITLE".into())]), next_call::<Next>([]));
    in_a_shell(&format!(
        "Your goal: {goal}\n\nDivide it into tasks with TaskCreate or `{add}`: small, each with the files that it changes and what \
         it depends on. {crew} `{next}` tells what waits for you: answer questions and requests, accept what is done, join the \
         results, and check that the goal is reached. Then say so, and stop."
    ))
}

fn worker_prompt(lead: &str) -> String {
    let claim = next_call::<TaskClaim>([("wait", "90s".into())]);
    let start = next_call::<TaskStart>([("id", "ID".into())]);
    let commit = next_call::<Commit>([("message", "TEXT".into())]);
    let unlock = next_call::<Unlock>([("all", Argument::Yes)]);
    let done = next_call::<TaskDone>([("id", "ID".into()), ("evidence", "TEXT".into())]);
    let ask = next_call::<SendMail>([("to", [lead].into()), ("message", "TEXT".into())]);
    in_a_shell(&format!(
        "You work for {lead}. Get your work in a shell with `{claim}`, again until there is some. Begin it with `{start}`, commit \
         what you changed with `{commit}`, unlock it with `{unlock}`, finish it with `{done}`, and get the next. When you need to \
         know something, ask: `{ask}`, then `{}`.",
        next_call::<Next>([])
    ))
}

/// With its calls as commands: nobody knows yet which tools there will be.
fn in_a_shell(text: &str) -> String {
    Wording::Commands.spell(text).into_owned()
}

impl fmt::Display for RunTeam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SteeredRun { name, run, .. } = &self.leader;
        write!(f, "{name} is being started with your goal ({run})")?;
        for worker in &self.workers {
            write!(f, "\n{} works for it ({})", worker.name, worker.run)?;
        }
        let agent = || [("agent", Argument::from(name.as_str()))];
        let (attach, stop) = (next_call::<AttachRun>(agent()), next_call::<StopRun>(agent()));
        write!(f, "\n  talk to it: {attach}; end them all: {stop}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_counted_or_named() {
        let wished = |workers: serde_json::Value| {
            let input = serde_json::json!({ "goal": "x", "workers": workers });
            let goal: RunGoal = serde_json::from_value(input).unwrap();
            let named = |name: Option<&str>| Ok(name.unwrap_or("same").to_owned());
            super::workers(goal.workers.as_deref().unwrap_or_default(), named).map_err(|no| no.to_string())
        };
        let check = |workers: serde_json::Value, expected: &[&str]| {
            assert_eq!(wished(workers.clone()).unwrap(), expected, "{workers}");
        };
        check(serde_json::Value::Null, &[]);
        check(2.into(), &["same", "same"]);
        check(" 2 ".into(), &["same", "same"]);
        check("0".into(), &[]);
        check("codex, gemini:acp,codex".into(), &["codex", "gemini:acp", "codex"]);
        assert_eq!(wished(21.into()).unwrap_err(), "21 workers are too many");
    }
}
