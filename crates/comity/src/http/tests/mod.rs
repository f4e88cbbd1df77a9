//! The door from outside: a real port, a real log in a temporary directory, plain bytes.

mod guard;
mod mcp;
mod openapi;
mod queue;
mod rest;
mod streams;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use comity_app::application::ServerFacts;
use comity_app::clock::Clock;
use comity_app::engine::Engine;
use comity_app::log::{Log, MemoryLog, SqliteLog};
use comity_app::{Application, Caller};
use comity_core::people::PersonAsk;
use comity_core::{Ask, Principal, World};
use serde_json::{Value, json};

use super::{Door, bind, run};

const HUMAN: &str = "cmty_the-person";
/// A test that waits longer for something has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with an empty repository beside it.
struct Server {
    app: Application,
    port: u16,
    dir: tempfile::TempDir,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// The status and the code of the error.
    fn refused(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap_or_default().to_owned())
    }
}

impl Server {
    fn start() -> Server {
        Server::start_with(|_| {})
    }

    /// The same with a door that is changed before it opens.
    fn start_with(change: impl FnOnce(&mut Door)) -> Server {
        let dir = tempfile::tempdir().expect("a directory");
        let start = SqliteLog::open(dir.path(), Default::default()).expect("a log");
        let reader = start.log.reader().expect("a reader");
        Server::over(dir, start.world, Box::new(start.log), Some(Arc::new(reader)), change)
    }

    /// A server whose log is in memory and can be made to fail.
    fn in_memory(log: MemoryLog) -> Server {
        let dir = tempfile::tempdir().expect("a directory");
        Server::over(dir, World::default(), Box::new(log), None, |_| {})
    }

    fn over(
        dir: tempfile::TempDir,
        world: World,
        log: Box<dyn Log>,
        reader: Option<Arc<comity_app::log::LogReader>>,
        change: impl FnOnce(&mut Door),
    ) -> Server {
        let made =
            std::process::Command::new("git").args(["init", "-q", "repo"]).current_dir(dir.path()).status();
        assert!(made.expect("git").success());
        let clock = Clock::from(world.now);
        let engine = Engine::start(world, log, clock, || {});
        engine.run_timer().expect("a thread");
        let hash = comity_app::tokens::hash(HUMAN);
        let make = PersonAsk::MakeToken { name: "tests".into(), hash };
        engine.ask(Principal::System, Ask::Person(make)).expect("a token");
        let home = dir.path().to_owned();
        let facts = ServerFacts { version: "1.2.3".into(), home, ..Default::default() };
        let app = Application::new(engine, reader, Default::default(), facts);
        let listener = bind(0).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mut door = Door::new(app.clone());
        change(&mut door);
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn(move || run(door, listener, stopped));
        Server { app, port, dir, stop: Some(stop), thread: Some(thread) }
    }

    fn repo(&self) -> String {
        self.dir.path().join("repo").to_str().expect("text").to_owned()
    }

    /// Registers an agent in the repository; gives its token.
    fn join(&self, name: &str) -> String {
        let call = comity_app::OperationCall {
            op: "agent_join",
            input: json!({ "name": name }).into(),
            ..comity_app::OperationCall::default()
        };
        let (output, _) = self.app.call_and_wait(&Caller::human(self.repo()), call);
        let joined: Value = serde_json::from_str(&output.expect("joined").json).expect("JSON");
        joined["token"].as_str().expect("a token").to_owned()
    }

    /// Sends these lines as a request and leaves the connection open.
    fn open(&self, lines: &[&str], body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connected");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        let length = format!("Content-Length: {}", body.len());
        let lines =
            if body.is_empty() { lines.join("\r\n") } else { [lines, &[&length]].concat().join("\r\n") };
        // A server that refuses early may not read to the end.
        let _ = stream.write_all(format!("{lines}\r\n\r\n{body}").as_bytes());
        BufReader::new(stream)
    }

    /// Sends these lines as a request.
    fn raw(&self, lines: &[&str], body: &str) -> Answer {
        let mut stream = self.open(&[lines, &["Connection: close"]].concat(), body);
        let head = head(&mut stream);
        let mut bytes = Vec::new();
        // A refused body may end in a reset; what was read counts.
        let _ = stream.read_to_end(&mut bytes);
        let mut body = String::from_utf8(bytes).expect("text");
        if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Answer { status, head, body }
    }

    /// Sends a request as somebody.
    fn ask(&self, token: &str, request: &str, headers: &[&str], body: &str) -> Answer {
        let (host, bearer) =
            (format!("Host: 127.0.0.1:{}", self.port), format!("Authorization: Bearer {token}"));
        let first = format!("{request} HTTP/1.1");
        let mut lines = vec![first.as_str(), &host, &bearer];
        if !body.is_empty() {
            lines.push("Content-Type: application/json");
        }
        lines.extend(headers);
        self.raw(&lines, body)
    }

    /// Calls an operation by its name, as somebody in the repository.
    fn op(&self, token: &str, op: &str, input: &Value) -> Answer {
        let cwd = format!("Comity-Cwd: {}", self.repo());
        self.ask(token, &format!("POST /api/op/{op}"), &[&cwd], &input.to_string())
    }

    /// Waits until the world is so.
    fn until(&self, is_so: impl Fn(&World) -> bool) {
        let (sender, news) = mpsc::channel();
        let sender = std::sync::Mutex::new(sender);
        let feed = self.app.engine().feed();
        let _woken = feed.wake_while(Arc::new(move |_| {
            let _ = sender.lock().expect("a lock").send(());
        }));
        while !is_so(&self.app.engine().world()) {
            news.recv_timeout(PATIENCE).expect("it comes to be so");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(Ok(served)) = self.thread.take().map(JoinHandle::join) {
            served.expect("served");
        }
        self.app.engine().stop();
    }
}

/// Reads the head of a response.
fn head(stream: &mut impl BufRead) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = stream.read_line(&mut head).expect("a response");
        assert!(read > 0, "the connection ended after {head:?}");
    }
    head
}

fn unchunked(body: &str) -> String {
    let mut whole = String::new();
    let mut rest = body;
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        whole.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    whole
}
