//! The connection of one agent to the server.

use comity_app::catalog::name_of;
use comity_app::operations::agents::{Attach, Bye};
use comity_app::time_zone;
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use comity_wire::{Client, FRAME_BYTES_MAX, Home, Reply, Request};
use rustix::process::{Pid, getppid};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::agent;
use crate::http::{ToolSet, tool_list};
use crate::session::random_key;
use crate::start;

/// How often to reconnect before giving up.
const ATTEMPTS_MAX: u32 = 40;

/// The name that an agent would like.
pub(super) struct McpName {
    pub(super) name: String,
    /// Whether somebody requested it; otherwise it comes from the program's.
    pub(super) is_asked: bool,
}

pub(super) struct Link {
    home: Home,
    stream: UnixStream,
    input: Vec<u8>,
    taken: usize,
    token: String,
    /// Whether this process registered the agent, and so ends it.
    is_ours: bool,
    /// The process that started this one.
    parent: Option<Pid>,
    cwd: Option<String>,
    zone: Option<String>,
}

#[derive(Deserialize)]
struct AttachReply {
    token: String,
    new: bool,
}

impl Link {
    /// Connects, as the agent of the token in the environment, otherwise as the agent program that started this
    /// process. Also returns its tools: the server has the list, so that this small process need not make one.
    pub(super) fn open(home: Home, name: McpName, offer: ToolSet) -> Result<(Link, Box<RawValue>), String> {
        let cwd = std::env::var("CLAUDE_PROJECT_DIR").ok().filter(|dir| dir.starts_with('/'));
        let cwd = cwd.or_else(|| std::env::current_dir().ok()?.into_os_string().into_string().ok());
        let given = std::env::var("COMITY_TOKEN").ok().filter(|token| !token.is_empty());
        // The human's token is not an agent's: it was exported for scripts.
        let given = given.filter(|token| !token.starts_with(comity_app::tokens::HUMAN_PREFIX));
        let mut entry = McpIdentity { name, key: random_key()?, was_refused: false };
        let (stream, tools, AttachReply { token, new: is_ours }) = persist(|| {
            let mut client = start::connect(&home).map_err(LinkError::Final)?;
            let attached = match &given {
                // It may be that of the agent that has started this one's program.
                Some(token) => match entry.attach(&mut client, cwd.as_deref(), Some(token.as_str())) {
                    Ok(below) if !below.token.is_empty() => below,
                    // An older server does not tell.
                    Ok(_) | Err(LinkError::Final(_)) => AttachReply { token: token.clone(), new: false },
                    Err(broken) => return Err(broken),
                },
                None => entry.attach(&mut client, cwd.as_deref(), None)?,
            };
            link(&mut client, &attached.token)?;
            let tools = tools(&mut client, offer)?;
            Ok((into_stream(client)?, tools, attached))
        })?;
        let parent = getppid();
        let (input, zone) = (Vec::new(), time_zone::own());
        Ok((Link { home, stream, input, taken: 0, token, is_ours, parent, cwd, zone }, tools))
    }

    pub(super) fn fd(&self) -> &UnixStream {
        &self.stream
    }

    /// The server's process, if the system tells.
    pub(super) fn server(&self) -> Option<i32> {
        comity_wire::listener_of(&self.stream)
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// One request as a line.
    pub(super) fn request(
        &self,
        id: u64,
        op: &str,
        input: &Map<String, Value>,
        call: Option<&str>,
        key: &str,
        again: bool,
    ) -> Result<Vec<u8>, String> {
        let describe = |error: serde_json::Error| error.to_string();
        let input = serde_json::value::to_raw_value(input).map_err(describe)?;
        let request = Request {
            id,
            op: Cow::Borrowed(op),
            input: Some(&input),
            cwd: self.cwd.as_deref().map(Cow::Borrowed),
            zone: self.zone.as_deref().map(Cow::Borrowed),
            key: Some(Cow::Borrowed(key)),
            text: true,
            call: call.map(Cow::Borrowed),
            again,
            ..Request::empty()
        };
        let mut line = serde_json::to_vec(&request).map_err(describe)?;
        line.push(b'\n');
        Ok(line)
    }

    pub(super) fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.stream.write_all(line)
    }

    /// The next whole line, if one has come. The first call after the socket is readable reads it.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        if let Some(line) = self.buffered_line() {
            return Ok(Some(line));
        }
        if self.taken > 0 {
            // Everything that was read has been returned: wait until there is more.
            self.input.drain(..self.taken);
            self.taken = 0;
            if self.input.is_empty() {
                return Ok(None);
            }
        }
        if self.input.len() > FRAME_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let start = self.input.len();
        self.input.resize(start + 16 * 1024, 0);
        let read = self.stream.read(&mut self.input[start..]);
        self.input.truncate(start + read.as_ref().copied().unwrap_or(0));
        match read? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(self.buffered_line()),
        }
    }

    fn buffered_line(&mut self) -> Option<Vec<u8>> {
        let end = self.input[self.taken..].iter().position(|byte| *byte == b'\n')?;
        let line = self.input[self.taken..self.taken + end].to_vec();
        self.taken += end + 1;
        Some(line)
    }

    /// Reconnects as the same agent.
    pub(super) fn reopen(&mut self) -> Result<(), String> {
        self.stream = persist(|| {
            let mut client = start::connect(&self.home).map_err(LinkError::Final)?;
            link(&mut client, &self.token)?;
            into_stream(client)
        })?;
        self.input.clear();
        self.taken = 0;
        Ok(())
    }

    /// The agent's program is done: the agent ends, if this process registered it, otherwise with its process.
    pub(super) fn say_goodbye(&mut self) {
        // A program that was killed closes its pipes, too; it has not said goodbye.
        if self.parent.is_some() && getppid() != self.parent {
            return;
        }
        let op = if self.is_ours { name_of::<Bye>() } else { "$goodbye" };
        let bye = Request { op: op.into(), ..Request::empty() };
        if let Ok(mut line) = serde_json::to_vec(&bye) {
            line.push(b'\n');
            let _ = self.stream.set_read_timeout(Some(std::time::Duration::from_secs(2)));
            let _ = self.stream.write_all(&line).and_then(|()| self.stream.read(&mut [0; 1024]));
        }
    }
}

/// Why there is no connection.
enum LinkError {
    /// It broke: the next one may not.
    Broken(String),
    /// Retrying changes nothing.
    Final(String),
}

/// Retries until it works, or until it is clear that it will not.
fn persist<T>(mut attempt: impl FnMut() -> Result<T, LinkError>) -> Result<T, String> {
    let mut problem = String::new();
    for number in 0..ATTEMPTS_MAX {
        match attempt() {
            Ok(done) => return Ok(done),
            Err(LinkError::Final(why)) => return Err(why),
            Err(LinkError::Broken(why)) => problem = why,
        }
        std::thread::sleep(start::pause(number));
    }
    Err(problem)
}

fn broken(error: impl std::fmt::Display) -> LinkError {
    LinkError::Broken(error.to_string())
}

/// How this process registers its agent.
struct McpIdentity {
    name: McpName,
    key: String,
    was_refused: bool,
}

impl McpIdentity {
    /// Registers the agent program that started this process, or finds it registered.
    fn attach(
        &mut self,
        client: &mut Client,
        cwd: Option<&str>,
        token: Option<&str>,
    ) -> Result<AttachReply, LinkError> {
        // If run by hand it belongs to no program: then it is the agent itself.
        let pid = agent::program().map_or_else(std::process::id, |link| link.process.pid);
        let McpName { name, is_asked } = &self.name;
        let mut input = json!({ "name": name, "named": is_asked, "pid": pid, "session": agent::session() });
        if token.is_some() {
            input["only_below"] = true.into();
        }
        let input = serde_json::value::to_raw_value(&input).map_err(broken)?;
        let request = Request {
            op: name_of::<Attach>().into(),
            input: Some(&input),
            cwd: cwd.map(Cow::Borrowed),
            key: Some(Cow::Borrowed(&self.key)),
            token: token.map(Cow::Borrowed),
            ..Request::empty()
        };
        let reply = client.call(request).map_err(broken)?;
        match (reply.ok, reply.error) {
            (Some(output), _) => {
                serde_json::from_str(output.get()).map_err(|error| LinkError::Final(error.to_string()))
            }
            // Another process of the same program may have registered it just now: now the server knows the program.
            (None, Some(error)) if !self.was_refused => {
                (self.was_refused, self.key) = (true, random_key().map_err(LinkError::Final)?);
                Err(LinkError::Broken(error.get().to_owned()))
            }
            (None, error) => {
                Err(LinkError::Final(error.map(|error| error.get().to_owned()).unwrap_or_default()))
            }
        }
    }
}

/// Says whose connection this is; when it closes, the agent's grace period begins.
fn link(client: &mut Client, token: &str) -> Result<(), LinkError> {
    let request = Request { op: "$link".into(), token: Some(Cow::Borrowed(token)), ..Request::empty() };
    let reply = client.call(request).map_err(broken)?;
    match reply.error {
        None => Ok(()),
        Some(error) => Err(LinkError::Final(error.get().to_owned())),
    }
}

/// The list of the offered tools.
fn tools(client: &mut Client, offer: ToolSet) -> Result<Box<RawValue>, LinkError> {
    let set = to_raw_value(offer.name()).map_err(broken)?;
    let reply = client.call(Request { op: "$tools".into(), input: Some(&set), ..Request::empty() });
    match reply.map_err(broken)? {
        Reply { ok: Some(list), .. } => Ok(list.to_owned()),
        // An older server has none.
        Reply { ok: None, .. } => Ok(tool_list(offer).to_owned()),
    }
}

fn into_stream(client: Client) -> Result<UnixStream, LinkError> {
    client.stream().try_clone().map_err(broken)
}
