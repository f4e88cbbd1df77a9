//! Commands in the output of agents that have no tools: each is an operation that the agent calls, and is answered in its
//! terminal.

mod parser;
mod verbs;

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use comity_core::{AgentId, Principal};
use comity_runner::Runner;

use crate::application::{Application, OperationCall, Responder};
use crate::operation::{Caller, Failure, Rendered};
use parser::{CommandParser, TextCommand, without_commands};

/// How long one look for more output waits.
const LOOK: Duration = Duration::from_secs(60);
/// Bytes of an answer that are shown.
const ANSWER_BYTES_MAX: usize = 4 * 1024;

/// Obeys what an agent writes, as long as its program runs.
pub(super) fn obey(app: &Application, agent: AgentId, directory: std::path::PathBuf) {
    let app = app.clone();
    let listening = move || listen(&app, agent, directory);
    // Without it its commands stay words; it can be stopped and started again.
    if let Err(error) = std::thread::Builder::new().name("text-commands".into()).spawn(listening) {
        eprintln!("comity: what {agent} writes can't be read: {error}");
    }
}

fn listen(app: &Application, agent: AgentId, directory: std::path::PathBuf) {
    let (key, caller) = (super::key(agent), Caller::new(Principal::Agent(agent), Some(directory)));
    let (mut parser, mut since, mut rest) = (CommandParser::default(), 0, Vec::new());
    while let Some(runner) = app.runs().runner() {
        let Ok(output) = runner.wait_for_output(&key, since, LOOK) else { return };
        if output.missed > 0 {
            // What is gone may have had the beginning of a line.
            (parser, rest) = (CommandParser::default(), Vec::new());
        }
        since = output.next;
        rest.extend_from_slice(&output.bytes);
        let text = whole(&mut rest);
        for command in parser.read(&text) {
            let answer = format!("Comity: {}: {}\r", command.verb, said(app, &caller, &command));
            // Whoever has ended needs no answer.
            let _ = write(&runner, &key, &answer);
        }
        if output.is_over {
            return;
        }
    }
}

fn write(runner: &Runner, key: &str, answer: &str) -> Result<(), comity_runner::RunnerError> {
    runner.write(key, answer.as_bytes())
}

/// The characters that are whole; what begins one stays.
fn whole(bytes: &mut Vec<u8>) -> String {
    let end = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    };
    let rest = bytes.split_off(end);
    String::from_utf8_lossy(&std::mem::replace(bytes, rest)).into_owned()
}

/// What comes of a command, on one line in which nothing is a command.
fn said(app: &Application, caller: &Caller, command: &TextCommand) -> String {
    let call = match &command.input {
        Ok(input) => verbs::call(&command.verb, input),
        Err(problem) => Err(problem.clone()),
    };
    let said = match call {
        Ok((op, input)) => ask(app, caller, op, input),
        Err(problem) => format!("refused: {problem}"),
    };
    let line: String = without_commands(&said).lines().collect::<Vec<_>>().join("; ");
    line.chars().filter(|character| !character.is_control()).take(ANSWER_BYTES_MAX).collect()
}

fn ask(app: &Application, caller: &Caller, op: &'static str, input: serde_json::Value) -> String {
    let (sender, receiver): (SyncSender<String>, Receiver<String>) = sync_channel(1);
    let call = OperationCall { op, input: input.into(), text: true, ..OperationCall::default() };
    app.call(caller, call, Box::new(AnswerSender(sender)));
    app.engine().run_pending();
    receiver.recv().unwrap_or_else(|_| "the server ends".to_owned())
}

struct AnswerSender(SyncSender<String>);

impl Responder for AnswerSender {
    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>) {
        let said = match output {
            Ok(rendered) => rendered.text.unwrap_or(rendered.json),
            Err(Failure::Refused(refusal)) => format!("refused: {refusal}"),
            Err(Failure::Fault(problem)) => format!("failed: {problem}"),
        };
        let all: Vec<String> = std::iter::once(said).chain(notices).collect();
        // Whoever asked is gone with the server.
        let _ = self.0.send(all.join("; "));
    }
}
