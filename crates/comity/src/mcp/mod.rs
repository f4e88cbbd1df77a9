//! `comity mcp`: MCP on standard input and output, for one agent.
//!
//! One small process, one thread: what the agent sends becomes a request to the server, what the server answers
//! becomes a tool result. It registers the agent at its start, says goodbye at its end, and survives the server: it
//! reconnects, and repeats what was not answered.

mod agent;
mod link;
#[cfg(target_os = "linux")]
mod startup_code;

use comity_app::catalog::{self, name_of};
use comity_app::is_mention;
use comity_app::operations::mail::AcknowledgeMail;
use comity_app::wording::REFUSED;
use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use comity_mcp::{
    Call, CallTicket, ClientInfo, JsonRpcId, MESSAGE_BYTES_MAX, McpConnection, McpServer, Step, ToolOutcome,
};
use comity_wire::{Fault, Home, Reply, SpinBudget, Wait, spin_wait};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::http;
use crate::session::{RequestAttempts, random_key};
use link::{Link, McpName};

/// How often to look again for a server that goes away at once.
const RECONNECTS_MAX: u32 = 20;

/// The id of requests whose answers nobody waits for.
const ACKNOWLEDGEMENT: u64 = 0;

/// Under this key Claude Code sends its hooks' id of a call.
const CALL_OF_CLAUDE: &str = "claudecode/toolUseId";

/// A tool call that the server has not answered yet.
struct UnansweredCall {
    ticket: CallTicket,
    /// The operation; the tool's own name if there is none.
    op: String,
    arguments: Map<String, Value>,
    /// The client's own id of the call.
    of_client: Option<String>,
    key: String,
    asked: RequestAttempts,
    /// Its result, while the mail that goes with it is requested.
    outcome: Option<ToolOutcome>,
}

struct McpSession {
    server: Arc<McpServer>,
    client: McpConnection,
    link: Link,
    running: HashMap<u64, UnansweredCall>,
    next_id: u64,
}

/// Speaks MCP until standard input ends.
pub(crate) fn run(home: Home, name: Option<String>, offer: http::ToolSet) -> ExitCode {
    let mut input = Vec::new();
    let name = match name_for(name, &mut input) {
        Ok(Some(name)) => name,
        // Nobody has said anything: there is no agent.
        Ok(None) => return ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("comity mcp: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let opened = Link::open(home, name, offer).and_then(|(link, tools)| {
        let server = http::mcp_server(&tools, env!("CARGO_PKG_VERSION"));
        Ok((link, Arc::new(server.map_err(|error| error.to_string())?)))
    });
    let (link, server) = match opened {
        Ok(opened) => opened,
        Err(problem) => {
            eprintln!("comity mcp: {problem}");
            return ExitCode::FAILURE;
        }
    };
    let client = McpConnection::new(server.clone());
    let mut session = McpSession { server, client, link, running: HashMap::new(), next_id: 1 };
    #[cfg(target_os = "linux")]
    startup_code::let_go();
    match session.serve(input) {
        Ok(()) => {
            session.link.say_goodbye();
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("comity mcp: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// The name for the agent. If nothing tells it, the client does in its first message, which is read for that; `None`
/// if it never comes.
fn name_for(asked: Option<String>, input: &mut Vec<u8>) -> Result<Option<McpName>, String> {
    let is_asked = asked.is_some() || agent::asked_name().is_some();
    if let Some(name) = agent::name(asked, agent::program().as_ref()) {
        return Ok(Some(McpName { name, is_asked }));
    }
    while !input.contains(&b'\n') && input.len() <= MESSAGE_BYTES_MAX {
        if read_more(input)? == 0 {
            return Ok(None);
        }
    }
    let first = input.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let said = ClientInfo::in_message(first).map(|client| client.name).unwrap_or_default();
    Ok(Some(McpName { name: agent::name_of_client(&said), is_asked: false }))
}

/// Waits until one of them has something.
fn await_either(fds: &mut [PollFd<'_>], spinning: &mut SpinBudget) -> Result<(), String> {
    let (begun, how) = (Instant::now(), spinning.wait());
    let seen = match how {
        Wait::Spinning => spin_wait(|| match poll(fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(0) => None,
            seen => Some(seen),
        }),
        Wait::Sleeping => None,
    };
    let seen = seen.unwrap_or_else(|| poll(fds, None));
    spinning.came(how, begun.elapsed());
    match seen {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

impl McpSession {
    /// Serves until standard input ends; what was already read comes first.
    fn serve(&mut self, mut input: Vec<u8>) -> Result<(), String> {
        // Standard input is read as a file descriptor, bypassing the buffer of `std::io::Stdin`.
        let stdin = std::io::stdin();
        self.receive_messages(&mut input)?;
        let mut spinning = SpinBudget::default();
        loop {
            let (from_client, from_server) = {
                let mut fds =
                    [PollFd::new(&stdin, PollFlags::IN), PollFd::new(self.link.fd(), PollFlags::IN)];
                await_either(&mut fds, &mut spinning)?;
                (!fds[0].revents().is_empty(), !fds[1].revents().is_empty())
            };
            if from_server {
                self.receive_answers()?;
            }
            if from_client {
                if read_more(&mut input)? == 0 {
                    return Ok(());
                }
                self.receive_messages(&mut input)?;
            }
        }
    }

    fn receive_messages(&mut self, input: &mut Vec<u8>) -> Result<(), String> {
        let mut start = 0;
        while let Some(length) = input[start..].iter().position(|byte| *byte == b'\n') {
            let step = self.client.receive(&input[start..start + length]);
            start += length + 1;
            match step {
                Step::Reply(line) => send(&line)?,
                Step::Call(call) => self.call(call)?,
                Step::Cancel(id) => self.cancel(&id)?,
                Step::Nothing => {}
            }
        }
        input.drain(..start);
        match input.len() > MESSAGE_BYTES_MAX {
            true => Err("a message without an end".into()),
            false => Ok(()),
        }
    }

    fn call(&mut self, call: Call) -> Result<(), String> {
        let Call { ticket, tool, arguments, meta, .. } = call;
        // A tool that is unknown here is unknown there too, and the answer says so.
        let (known, mut arguments) = match http::meant(&tool, arguments) {
            http::MeantCall::Operation(known, arguments) => (known, arguments),
            http::MeantCall::Answered(outcome) => return send(&self.server.finish(&ticket, &outcome)),
        };
        if known.is_some_and(|entry| entry.waits) {
            http::cap_wait(&mut arguments);
        }
        let id = self.next_id;
        self.next_id += 1;
        let op = known.map_or(tool, |entry| entry.name.to_owned());
        let of_client = meta.get(CALL_OF_CLAUDE).and_then(Value::as_str).map(str::to_owned);
        let (key, asked) = (random_key()?, RequestAttempts::default());
        self.running
            .insert(id, UnansweredCall { ticket, op, arguments, of_client, key, asked, outcome: None });
        match self.send(id)? {
            true => Ok(()),
            false => self.go_on(),
        }
    }

    /// Sends a call, perhaps again; false if the connection is broken.
    fn send(&mut self, id: u64) -> Result<bool, String> {
        let Some(running) = self.running.get_mut(&id) else { return Ok(true) };
        let UnansweredCall { op, arguments, of_client, key, asked, .. } = running;
        let line = self.link.request(id, op, arguments, of_client.as_deref(), key, asked.is_sent())?;
        let sent = self.link.send(&line).is_ok();
        // Half a line is no question: nobody got it.
        if sent {
            asked.sent(self.link.server());
        }
        Ok(sent)
    }

    /// The client does not want the answer any more. Closing the connection that asked for it gives up its place in
    /// the queue.
    fn cancel(&mut self, id: &JsonRpcId) -> Result<(), String> {
        let before = self.running.len();
        self.running.retain(|_, running| running.ticket.id != *id);
        if self.running.len() < before {
            self.reconnect()?;
        }
        Ok(())
    }

    fn receive_answers(&mut self) -> Result<(), String> {
        loop {
            match self.link.next_line() {
                Ok(None) => return Ok(()),
                Ok(Some(line)) => {
                    let reply: Reply<'_> =
                        serde_json::from_slice(&line).map_err(|error| error.to_string())?;
                    let Some(running) = self.running.remove(&reply.id) else { continue };
                    let outcome = match &running.outcome {
                        None => outcome(&running.op, &reply),
                        Some(before) => with_mail(before.clone(), &reply),
                    };
                    let receipt = reply.receipt;
                    // Some programs show their model nothing but results: mail goes with them.
                    if receipt.is_none()
                        && running.outcome.is_none()
                        && reply.notices.iter().any(|notice| is_mention(notice))
                    {
                        self.ask_for_mail(running, outcome)?;
                        continue;
                    }
                    send(&self.server.finish(&running.ticket, &outcome))?;
                    if let Some(receipt) = receipt {
                        self.acknowledge(receipt)?;
                    }
                }
                Err(_) => return self.go_on(),
            }
        }
    }

    /// Asks for the mail that waits, before the call is answered.
    fn ask_for_mail(&mut self, call: UnansweredCall, outcome: ToolOutcome) -> Result<(), String> {
        let id = self.next_id;
        self.next_id += 1;
        let (op, arguments) = (catalog::offering().name.to_owned(), Map::new());
        let (key, asked) = (random_key()?, RequestAttempts::default());
        let open = UnansweredCall { op, arguments, key, asked, outcome: Some(outcome), ..call };
        self.running.insert(id, open);
        match self.send(id)? {
            true => Ok(()),
            false => self.go_on(),
        }
    }

    /// What was offered has reached the client. If this gets lost it is offered again, marked as such.
    fn acknowledge(&mut self, receipt: u64) -> Result<(), String> {
        let input = serde_json::Map::from_iter([("receipt".to_owned(), receipt.into())]);
        let line = self.link.request(
            ACKNOWLEDGEMENT,
            name_of::<AcknowledgeMail>(),
            &input,
            None,
            &random_key()?,
            false,
        )?;
        match self.link.send(&line) {
            Ok(()) => Ok(()),
            Err(_) => self.go_on(),
        }
    }

    /// The server is gone: connects to the next one.
    fn go_on(&mut self) -> Result<(), String> {
        self.give_up_on_deadly_ones()?;
        self.reconnect()
    }

    /// Reconnects as the same agent, and repeats what was not answered: keys keep that harmless.
    fn reconnect(&mut self) -> Result<(), String> {
        'again: for _ in 0..RECONNECTS_MAX {
            let mut waiting: Vec<u64> = self.running.keys().copied().collect();
            waiting.sort_unstable();
            self.link.reopen()?;
            for id in waiting {
                // The new server may go away as quickly as the old one.
                if !self.send(id)? {
                    self.give_up_on_deadly_ones()?;
                    continue 'again;
                }
            }
            return Ok(());
        }
        Err("the server does not stay".into())
    }

    /// Answers the calls that were repeated often enough: perhaps one of them ends every server.
    fn give_up_on_deadly_ones(&mut self) -> Result<(), String> {
        let home = self.link.home();
        let lost = self.running.iter_mut().filter_map(|(id, running)| {
            let problem = running.asked.lost(home).err()?;
            Some((*id, problem))
        });
        for (id, problem) in lost.collect::<Vec<_>>() {
            let Some(running) = self.running.remove(&id) else { continue };
            let outcome = running.outcome.unwrap_or_else(|| ToolOutcome::error(problem));
            send(&self.server.finish(&running.ticket, &outcome))?;
        }
        Ok(())
    }
}

/// The result of a call, and the mail that came with it.
fn with_mail(mut outcome: ToolOutcome, reply: &Reply<'_>) -> ToolOutcome {
    if let (Some(text), Some(_)) = (&reply.text, reply.receipt) {
        outcome.add(&format!("{}{text}", http::MAIL));
    }
    with_notices(outcome, reply)
}

fn with_notices(mut outcome: ToolOutcome, reply: &Reply<'_>) -> ToolOutcome {
    for notice in reply.notices.iter().filter(|notice| !is_mention(notice)) {
        outcome.add(&format!("\nNotice: {notice}"));
    }
    outcome
}

/// The server's answer as a tool result: always the whole answer as text.
fn outcome(op: &str, reply: &Reply<'_>) -> ToolOutcome {
    let outcome = match (&reply.text, reply.error) {
        (_, Some(error)) => {
            let text = match serde_json::from_str::<Fault>(error.get()) {
                Ok(Fault { code, message, hint }) => {
                    let who = if code == "fault" { "" } else { REFUSED };
                    format!("{who}{message}\n{hint}").trim_end().to_owned()
                }
                Err(_) => error.get().to_owned(),
            };
            let structured = http::structured(error.get(), &reply.notices);
            ToolOutcome { structured, ..ToolOutcome::error(text) }
        }
        (text, None) => {
            let output = reply.ok.map(RawValue::get).unwrap_or_default();
            let text = text.as_deref().unwrap_or(output);
            let entry = catalog::find(op);
            let image = entry.and_then(|entry| http::image(entry, output));
            let structured = entry.and_then(|entry| http::structured_output(entry, output, text));
            ToolOutcome { image, structured, ..ToolOutcome::answer(text) }
        }
    };
    with_notices(outcome, reply)
}

/// Reads what is available on standard input; 0 at its end.
fn read_more(input: &mut Vec<u8>) -> Result<usize, String> {
    let start = input.len();
    input.resize(start + 16 * 1024, 0);
    let read = read_stdin(&mut input[start..]);
    input.truncate(start + read.as_ref().copied().unwrap_or_default());
    read
}

fn read_stdin(buffer: &mut [u8]) -> Result<usize, String> {
    loop {
        match rustix::io::read(rustix::stdio::stdin(), &mut *buffer) {
            Ok(count) => return Ok(count),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Sends one line to the client, in one piece.
fn send(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let whole = [line.as_bytes(), b"\n"].concat();
    out.write_all(&whole).and_then(|()| out.flush()).map_err(|error| error.to_string())
}
