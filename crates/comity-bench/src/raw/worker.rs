//! One of many clients: a process that asks the same questions over and over for a while.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::wire::{ANSWERED, Wire};
use crate::bench_env::BenchEnv;
use crate::json_mailbox::JsonMailbox;
use crate::process_reaper::OwnedProcess;

/// What a worker has to do.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct WorkerTask {
    pub(crate) socket: PathBuf,
    pub(crate) greeting: String,
    /// Whether the greeting has an answer.
    pub(crate) is_answered: bool,
    /// Sent in turn, each with an answer.
    pub(crate) questions: Vec<String>,
    pub(crate) for_ms: u64,
    /// Writes the questions into this file instead, as mail.
    pub(crate) mailbox: Option<PathBuf>,
}

/// What came of it.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct WorkerResult {
    pub(crate) answered: u64,
    pub(crate) failed: u64,
}

/// Lets all tasks be done at the same time, each by a process of its own.
pub(crate) fn run_all(stage: &BenchEnv, tasks: &[WorkerTask]) -> Result<WorkerResult, String> {
    let mut workers = tasks.iter().map(|task| start(stage, task)).collect::<Result<Vec<_>, String>>()?;
    for (worker, heard) in &mut workers {
        hear(heard)?;
        say(worker, "go")?;
    }
    let mut total = WorkerResult::default();
    for (_, heard) in &mut workers {
        let done: WorkerResult = serde_json::from_str(&hear(heard)?).map_err(|error| error.to_string())?;
        total.answered += done.answered;
        total.failed += done.failed;
    }
    Ok(total)
}

type WorkerOutput = BufReader<std::process::ChildStdout>;

fn start(stage: &BenchEnv, task: &WorkerTask) -> Result<(OwnedProcess, WorkerOutput), String> {
    let mut command = stage.command(stage.own(), stage.dir());
    command.args(["all", "--raw-worker"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut worker = stage.spawn(&mut command)?;
    let heard = worker.child().stdout.take().ok_or("a worker can't be heard")?;
    say(&mut worker, &serde_json::to_string(task).map_err(|error| error.to_string())?)?;
    Ok((worker, BufReader::new(heard)))
}

fn say(worker: &mut OwnedProcess, line: &str) -> Result<(), String> {
    let stdin = worker.child().stdin.as_mut().ok_or("a worker can't be told")?;
    writeln!(stdin, "{line}").map_err(|error| error.to_string())
}

fn hear(heard: &mut WorkerOutput) -> Result<String, String> {
    let mut line = String::new();
    match heard.read_line(&mut line) {
        Ok(0) => Err("a worker ended early".into()),
        Ok(_) => Ok(line),
        Err(error) => Err(error.to_string()),
    }
}

/// Is a worker: takes a task from standard input, says when it is ready, waits for a word, and works.
pub(crate) fn work() -> Result<(), String> {
    let mut lines = std::io::stdin().lines();
    let mut next = || lines.next().ok_or("nothing to do")?.map_err(|error| error.to_string());
    let task: WorkerTask = serde_json::from_str(&next()?).map_err(|error| error.to_string())?;
    if let Some(file) = &task.mailbox {
        return write_letters(&task, &JsonMailbox::at(file), next);
    }
    let mut wire = Wire::connect(&task.socket)?;
    match task.is_answered {
        true => drop(wire.ask(task.greeting.as_bytes())?),
        false => wire.send(task.greeting.as_bytes())?,
    }
    println!("ready");
    next()?;
    let (start, span) = (Instant::now(), Duration::from_millis(task.for_ms));
    let mut done = WorkerResult::default();
    while start.elapsed() < span {
        for question in &task.questions {
            match wire.ask(question.as_bytes())?.starts_with(ANSWERED) {
                true => done.answered += 1,
                false => done.failed += 1,
            }
        }
    }
    println!("{}", serde_json::to_string(&done).map_err(|error| error.to_string())?);
    Ok(())
}

/// Is a worker that knows of no server.
fn write_letters(
    task: &WorkerTask,
    file: &JsonMailbox,
    mut next: impl FnMut() -> Result<String, String>,
) -> Result<(), String> {
    println!("ready");
    next()?;
    let (start, span) = (Instant::now(), Duration::from_millis(task.for_ms));
    let mut done = WorkerResult::default();
    while start.elapsed() < span {
        for letter in &task.questions {
            match file.send("ann", letter) {
                Ok(()) => done.answered += 1,
                Err(_) => done.failed += 1,
            }
        }
    }
    println!("{}", serde_json::to_string(&done).map_err(|error| error.to_string())?);
    Ok(())
}
