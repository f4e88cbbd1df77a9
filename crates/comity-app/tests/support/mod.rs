//! A small application in a temporary directory, with a clock that moves only when told to.

#![expect(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use comity_app::application::ServerFacts;
use comity_app::clock::Clock;
use comity_app::config::Config;
use comity_app::engine::Engine;
use comity_app::log::{Log, LogReader, MemoryLog, SqliteLog, StartPoint};
use comity_app::{Application, Caller, Failure, OperationCall};
use comity_core::server::ServerAsk;
use comity_core::world::Timeouts;
use comity_core::{Ask, Fence, Millis, Principal, World};
use serde_json::Value;

/// A repository and a state directory.
pub(crate) struct Place {
    pub(crate) dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        for sub in ["home", "repo/.git/objects", "repo/.git/refs", "repo/src"] {
            std::fs::create_dir_all(dir.path().join(sub)).expect("made");
        }
        std::fs::write(dir.path().join("repo/.git/HEAD"), "ref: refs/heads/main\n").expect("written");
        Place { dir }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// Opens the log as a server does at its start.
    pub(crate) fn open(&self) -> App {
        let StartPoint { log, world } =
            SqliteLog::open(&self.home(), Timeouts::default()).expect("the log opens");
        let reader = Arc::new(log.reader().expect("a reader"));
        App::start(world, Box::new(log), Some(reader), &self.repo(), &self.home())
    }

    /// The same over a log in memory.
    pub(crate) fn open_in_memory(&self) -> (App, MemoryLog) {
        let log = MemoryLog::default();
        (self.open_on(&log), log)
    }

    /// Starts on a log in memory, as a server that comes after another.
    pub(crate) fn open_on(&self, log: &MemoryLog) -> App {
        let mut world = World::new(Timeouts::default());
        log.records().iter().for_each(|record| world.apply(record));
        App::start(world, Box::new(log.clone()), None, &self.repo(), &self.home())
    }
}

/// A running application without doors.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) app: Application,
    pub(crate) reader: Option<Arc<LogReader>>,
    repo: PathBuf,
}

impl App {
    fn start(
        world: World,
        log: Box<dyn Log>,
        reader: Option<Arc<LogReader>>,
        repo: &Path,
        home: &Path,
    ) -> App {
        let clock = Clock::manual(world.now);
        let floor = Fence(world.fence.0 + 1_000);
        let engine = Engine::start(world, log, clock, || {});
        engine
            .ask(
                Principal::System,
                Ask::Server(ServerAsk::Start {
                    fence_floor: floor,
                    version: "test".into(),
                    boot: None,
                    uptime: None,
                }),
            )
            .expect("started");
        let facts = ServerFacts { home: home.into(), ..ServerFacts::default() };
        let mut config = Config::default();
        // Nothing would end a browser that is started here: only what is on the disk has one.
        if reader.is_none() {
            config.browser.path = Some(home.join("no-firefox"));
        }
        let app = Application::new(engine, reader.clone(), config, facts);
        app.set_secret([7; 32]);
        App { app, reader, repo: repo.into() }
    }

    /// Asks an operation; a refusal is its code.
    pub(crate) fn ask(&self, who: Principal, op: &str, input: Value) -> Result<Value, String> {
        self.ask_keyed(who, op, input, None)
    }

    pub(crate) fn ask_keyed(
        &self,
        who: Principal,
        op: &str,
        input: Value,
        key: Option<&str>,
    ) -> Result<Value, String> {
        let caller = Caller::new(who, Some(self.repo.clone()));
        let call = OperationCall { op, input: input.into(), key, text: true, again: false };
        let (output, _) = self.app.call_and_wait(&caller, call);
        match output {
            Ok(rendered) => Ok(serde_json::from_str(&rendered.json).expect("JSON")),
            Err(Failure::Refused(refusal)) => Err(refusal.code().into()),
            Err(Failure::Fault(problem)) => Err(format!("fault: {problem}")),
        }
    }

    /// Registers an agent.
    pub(crate) fn join(&self, name: &str) -> Principal {
        let joined =
            self.ask(Principal::Human, "agent_join", serde_json::json!({ "name": name })).expect("joined");
        let token = joined["token"].as_str().expect("a token");
        self.app.identify_remote(token).expect("known").who
    }

    /// Moves the clock and lets what is due happen.
    pub(crate) fn pass(&self, span: Millis) {
        self.app.engine().clock().advance(span);
        self.app.engine().pass_time();
    }

    /// Everything that is true now, to compare with.
    pub(crate) fn facts(&self) -> String {
        let world = self.app.engine().world();
        serde_json::to_string(&comity_core::snapshot::Snapshot::of(&world)).expect("JSON")
    }
}
