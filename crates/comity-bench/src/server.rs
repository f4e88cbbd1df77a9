//! A server to be measured, and agents that talk to it.

use std::borrow::Cow;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use comity_wire::{Client, Home, Request};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::bench_env::{BenchEnv, FREE_PATH, locked_path};
use super::process_reaper::OwnedProcess;
use super::raw::wire::FrameBytes;

/// Locks that are taken with one request when a server is filled.
const FILL_PATHS: usize = 250;
/// Locks of one agent when a server is filled.
const FILL_LOCKS_PER_AGENT: usize = 2_000;
/// An answer that takes longer is a fault.
const ANSWER_MAX: Duration = Duration::from_secs(30);

pub(super) struct BenchServer {
    process: OwnedProcess,
    home: Home,
    cwd: PathBuf,
    /// From the start of the process until it said that it is ready.
    pub(super) ready_after: Duration,
}

/// The token by which benchmarks act as the human.
pub(super) const HUMAN: &str = "cmty_human_of-the-benchmarks";

/// Makes the token known to the first server of a state directory.
fn lay_down_token(home: &Home) -> Result<(), String> {
    if home.path().join("log.db").exists() {
        return Ok(());
    }
    let hash = comity_app::tokens::hash(HUMAN).to_string();
    std::fs::write(home.first_token(), hash).map_err(|error| error.to_string())
}

/// An agent with a connection of its own.
pub(super) struct BenchAgent {
    client: Client,
    pub(super) cwd: String,
    pub(super) token: String,
}

impl BenchServer {
    /// Starts a server with the state directory of this name.
    pub(super) fn start(stage: &BenchEnv, name: &str) -> Result<BenchServer, String> {
        let home = Home::at(stage.dir().join(name));
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home.path());
        made.map_err(|error| format!("{}: {error}", home.path().display()))?;
        lay_down_token(&home)?;
        let mut command = stage.command(stage.program(), home.path());
        command.args(["serve", "--detached"]).stdout(Stdio::piped());
        let start = Instant::now();
        let mut process = stage.spawn(&mut command)?;
        let mut line = String::new();
        if let Some(said) = process.child().stdout.take() {
            BufReader::new(said).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let ready_after = start.elapsed();
        match line.trim() {
            "ready" => Ok(BenchServer { process, home, cwd: stage.repository(), ready_after }),
            other => Err(format!("the server did not start: {other}")),
        }
    }

    /// Starts a server whose agents work in another directory.
    pub(super) fn start_in(
        stage: &BenchEnv,
        name: &str,
        cwd: &std::path::Path,
    ) -> Result<BenchServer, String> {
        Ok(BenchServer { cwd: cwd.to_owned(), ..BenchServer::start(stage, &format!("home-{name}"))? })
    }

    /// Where its HTTP door is.
    pub(super) fn url(&self) -> Result<String, String> {
        #[derive(Deserialize)]
        struct StatusReply {
            url: String,
        }
        let mut client = Client::connect(&self.home).map_err(|error| error.to_string())?;
        let reply = client.ask("status", &json!({})).map_err(|error| error.to_string())?;
        let status = reply.ok.ok_or("no status")?;
        let StatusReply { url } = serde_json::from_str(status.get()).map_err(|error| error.to_string())?;
        Ok(url)
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// Registers an agent and connects as it.
    pub(super) fn join(&self, name: &str) -> Result<BenchAgent, String> {
        #[derive(Deserialize)]
        struct JoinReply {
            token: String,
        }
        let describe = |error: std::io::Error| format!("{}: {error}", self.home.socket().display());
        let mut client = Client::connect(&self.home).map_err(describe)?;
        client.set_timeout(Some(ANSWER_MAX)).map_err(describe)?;
        let cwd = self.cwd.to_string_lossy().into_owned();
        let mut agent = BenchAgent { client, cwd, token: String::new() };
        // Attached, not joined: a server that is filled has more agents than the limit lets join.
        let attach = input(&json!({ "name": name }))?;
        let joined = agent.ask_with(Some(HUMAN), "agent_attach", &attach)?;
        let JoinReply { token } = serde_json::from_str(joined.get()).map_err(|error| error.to_string())?;
        agent.token = token;
        agent.introduce()?;
        Ok(agent)
    }

    /// Lets agents hold so many locks.
    pub(super) fn fill(&self, count: usize) -> Result<(), String> {
        for first in (0..count).step_by(FILL_LOCKS_PER_AGENT) {
            let mut agent = self.join(&format!("holder{first}"))?;
            let last = count.min(first + FILL_LOCKS_PER_AGENT);
            for from in (first..last).step_by(FILL_PATHS) {
                let paths: Vec<String> = (from..last.min(from + FILL_PATHS)).map(locked_path).collect();
                agent.ask("lock", &input(&json!({ "paths": paths, "ttl": "24h" }))?)?;
            }
        }
        Ok(())
    }
}

impl BenchAgent {
    /// Says once whose connection this is. It is not the agent's own one: the agent stays when it is closed.
    fn introduce(&mut self) -> Result<(), String> {
        let path = input(&json!({ "path": FREE_PATH }))?;
        let token = Some(Cow::Borrowed(&*self.token));
        let request = Request { token, ..request("check", &path, &self.cwd) };
        match self.client.call(request).map_err(|error| error.to_string())?.error {
            None => Ok(()),
            Some(error) => Err(error.get().to_owned()),
        }
    }

    /// Gives answers more time than usual.
    pub(super) fn be_patient(&mut self, answer_max: Duration) -> Result<(), String> {
        self.client.set_timeout(Some(answer_max)).map_err(|error| error.to_string())
    }

    /// Asks, and expects no refusal.
    pub(super) fn ask(&mut self, op: &str, input: &RawValue) -> Result<&RawValue, String> {
        self.ask_with(None, op, input)
    }

    /// The same, as whoever has this token.
    pub(super) fn ask_with(
        &mut self,
        token: Option<&str>,
        op: &str,
        input: &RawValue,
    ) -> Result<&RawValue, String> {
        let request = Request { token: token.map(Cow::Borrowed), ..request(op, input, &self.cwd) };
        let reply = self.client.call(request).map_err(|error| error.to_string())?;
        match (reply.ok, reply.error) {
            (Some(output), None) => Ok(output),
            (_, error) => Err(format!("{op}: {}", error.map_or("no answer", RawValue::get))),
        }
    }

    /// Locks the path and gives it back.
    pub(super) fn pair(&mut self, paths: &RawValue) -> Result<(), String> {
        self.ask("lock", paths)?;
        self.ask("unlock", paths).map(drop)
    }

    /// How many bytes a question and its answer have.
    pub(super) fn frame_bytes(&mut self, op: &str, input: &RawValue) -> Result<FrameBytes, String> {
        // A number of four digits, like most that will follow.
        let asked = line(&Request { id: 1_000, ..request(op, input, &self.cwd) })?.len();
        let output = self.ask(op, input)?;
        Ok(FrameBytes { asked, answered: format!("{{\"id\":1000,\"ok\":{output}}}\n").len() })
    }
}

/// A request as a line, for who sends it without a [`Client`].
pub(super) fn line(request: &Request<'_>) -> Result<String, String> {
    serde_json::to_string(request).map(|line| line + "\n").map_err(|error| error.to_string())
}

/// A request of an agent that is known by its connection.
pub(super) fn request<'a>(op: &'a str, input: &'a RawValue, cwd: &'a str) -> Request<'a> {
    Request { op: Cow::Borrowed(op), input: Some(input), cwd: Some(Cow::Borrowed(cwd)), ..Request::empty() }
}

/// An operation's input, made once for many asks.
pub(super) fn input(value: &serde_json::Value) -> Result<Box<RawValue>, String> {
    serde_json::value::to_raw_value(value).map_err(|error| error.to_string())
}
