//! The application as doors see it: one call for every operation.

mod finishing;
mod keys;
mod life;
mod long;
mod telling;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use comity_core::mail::MailAsk;
use comity_core::permissions::mode_of;
use comity_core::roles::Mode;
use comity_core::{AgentId, Ask, Key, Principal, Refusal};

use crate::browser::Desk;
use crate::catalog::{self, Entry, Erased};
use crate::config::Config;
use crate::contents::Contents;
use crate::crew::Crew;
use crate::engine::{Engine, Job, Nobody, Waiting, When};
use crate::identity::Identities;
use crate::log::Reader;
use crate::mail_desk::MailDesk;
use crate::metrics::Metrics;
use crate::moves::Moves;
use crate::operation::{Caller, Effect, Failure, Pace, Rendered};
use crate::projects::Projects;
use crate::repeats::Repeats;
pub use crate::taken::Taken;
use crate::tokens::{self, Token};
use crate::trees::Trees;
use crate::watch::Watch;
use finishing::{Finishing, Following, Judging};
use life::AtWork;

/// Everything an operation may look at; clones are the same application.
#[derive(Clone)]
pub struct Application(Arc<Parts>);

struct Parts {
    engine: Engine,
    reader: Option<Arc<Reader>>,
    projects: Projects,
    config: Config,
    metrics: Arc<Metrics>,
    server: ServerFacts,
    secret: OnceLock<[u8; 32]>,
    crew: Crew,
    at_work: AtWork,
    rescuing: Mutex<()>,
    contents: Contents,
    trees: Trees,
    moves: Moves,
    mail_desk: MailDesk,
    watch: Watch,
    browser: Desk,
    repeats: Repeats,
    identities: Identities,
}

/// What the running server says of itself.
#[derive(Clone, Debug, Default)]
pub struct ServerFacts {
    /// Its process.
    pub pid: u32,
    /// Its state directory.
    pub home: PathBuf,
    /// Its socket.
    pub socket: PathBuf,
    /// Its HTTP address.
    pub url: String,
    /// Its version.
    pub version: String,
    /// The file of the person's settings, which need not be there.
    pub settings: Option<PathBuf>,
    /// The program and the arguments after which a command comes that is to run confined; nothing, if it has none.
    pub confine: Vec<OsString>,
}

/// One call of an operation.
#[derive(Clone, Copy, Default)]
pub struct Call<'a> {
    /// The operation's name.
    pub op: &'a str,
    /// Its input as JSON; empty is like `{}`.
    pub input: &'a str,
    /// Makes a repeat harmless.
    pub key: Option<&'a str>,
    /// Whether the output is wanted in words too.
    pub text: bool,
    /// Whether it was asked before, and the connection broke before the answer came.
    pub again: bool,
}

/// Where the output of a call goes. It may be answered on another thread.
pub trait Responder: Send {
    /// The call waits; [`Engine::give_up`] takes it out.
    fn parked(&mut self, _waiting: Waiting) {}

    /// The output, and what the calling agent has to be told besides.
    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>);
}

impl Application {
    /// Puts the parts together.
    pub fn new(
        engine: Engine,
        reader: Option<Arc<Reader>>,
        config: Config,
        server: ServerFacts,
    ) -> Application {
        let (projects, metrics, secret) = (Projects::default(), Arc::default(), OnceLock::new());
        let (crew, trees, contents) = (Crew::default(), Trees::default(), Contents::below(&server.home));
        let mail_desk = MailDesk::below(&server.home);
        let app = Application(Arc::new(Parts {
            engine,
            reader,
            projects,
            config,
            metrics,
            server,
            secret,
            crew,
            at_work: AtWork::default(),
            rescuing: Mutex::default(),
            contents,
            trees,
            moves: Moves::default(),
            mail_desk,
            watch: Watch::default(),
            browser: Desk::default(),
            repeats: Repeats::default(),
            identities: Identities::default(),
        }));
        app.tell_who_is_at_work();
        app
    }

    /// Sets the secret that tokens of repeated asks are made from; without it a repeat after a restart fails.
    pub fn set_secret(&self, secret: [u8; 32]) {
        let _ = self.0.secret.set(secret);
    }

    /// A new agent's id and token: the same ones for a repeat of the same ask.
    pub(crate) fn new_identity(&self, caller: &Caller) -> Result<(AgentId, Token), Failure> {
        if caller.given_key.as_ref().is_some_and(|key| key.len() < tokens::KEY_BYTES_MIN) {
            let problem = format!("the key of a join has at least {} bytes", tokens::KEY_BYTES_MIN);
            return Err(Refusal::bad_input(problem, "use a random one, such as a UUID").into());
        }
        match (caller.given_key.as_deref(), self.0.secret.get()) {
            (Some(key), Some(secret)) => Ok(tokens::derived(secret, caller.who, key)),
            _ => Ok((
                tokens::random_agent_id().map_err(Failure::fault)?,
                Token::random().map_err(Failure::fault)?,
            )),
        }
    }

    /// Tells the engine something that the server saw; nobody waits for an answer.
    pub fn tell_engine(&self, ask: Ask) {
        let job = Job { who: Principal::System.into(), asks: vec![ask], key: None, asker: Box::new(Nobody) };
        self.engine().submit(job);
        self.engine().kick();
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The reading end of the log.
    pub fn reader(&self) -> Result<&Reader, Failure> {
        self.0.reader.as_deref().ok_or_else(|| Failure::fault("this server keeps no log on the disk"))
    }

    /// What the running server says of itself.
    pub fn server(&self) -> &ServerFacts {
        &self.0.server
    }

    /// The state directory.
    pub fn home(&self) -> &Path {
        &self.0.server.home
    }

    /// How it is set up.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// What is counted.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// What agents have read lately.
    pub fn contents(&self) -> &Contents {
        &self.0.contents
    }

    /// What is remembered of mail.
    pub(crate) fn mail_desk(&self) -> &MailDesk {
        &self.0.mail_desk
    }

    /// One call at a time puts work aside: it chooses a name, announces it, and makes the ref.
    pub(crate) fn rescuing(&self) -> MutexGuard<'_, ()> {
        self.0.rescuing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worktree drivers.
    pub fn trees(&self) -> &Trees {
        &self.0.trees
    }

    /// The browser.
    pub(crate) fn browser(&self) -> &Desk {
        &self.0.browser
    }

    /// The state directory was moved or removed: nothing there is this server's any more.
    pub fn leave_files(&self) {
        self.browser().leave_files();
    }

    /// The watcher of files.
    pub fn watch(&self) -> &Watch {
        &self.0.watch
    }

    /// Where callers are.
    pub fn projects(&self) -> &Projects {
        &self.0.projects
    }

    /// What is remembered of who is who.
    pub(crate) fn identities(&self) -> &Identities {
        &self.0.identities
    }

    /// Takes one call. The responder gets the output, perhaps before this returns.
    pub fn call(&self, caller: &Caller, call: &Call<'_>, responder: Box<dyn Responder>) -> Taken {
        let place = match catalog::place(call.op) {
            Some(place) => place,
            None => {
                let problem = format!("there is no operation {:?}", call.op);
                let hint = "see what there is with: comity help".into();
                responder.respond(Err(Refusal::NotFound { problem, hint }.into()), vec![]);
                return Taken::Answered;
            }
        };
        self.metrics().count_call(place);
        let heartbeat = match self.heartbeat(caller) {
            Ok(heartbeat) => heartbeat,
            Err(refusal) => {
                responder.respond(Err(refusal.into()), vec![]);
                return Taken::Answered;
            }
        };
        let keyed;
        let (caller, key) = match call.key.map(|key| (Key::new(key), key)) {
            None => (caller, None),
            Some((Some(_), given)) => {
                let key = keys::stored(given, caller, call, catalog::CATALOG[place].effect);
                keyed = Caller { key: key.clone(), given_key: Some(given.into()), ..caller.clone() };
                (&keyed, key)
            }
            Some((None, _)) => {
                let problem = format!("a key has 1 to {} bytes", Key::BYTES_MAX);
                responder.respond(Err(Refusal::bad_input(problem, "shorten it").into()), vec![]);
                return Taken::Answered;
            }
        };
        let entry = &catalog::CATALOG[place];
        if entry.effect != Effect::Reads && key.as_ref().is_some_and(|key| self.is_taken(caller.who, key)) {
            return heartbeat.and(self.refuse_key(caller, entry, responder));
        }
        let may_come_in = entry.lets_in.is_some() && caller.way_in() == entry.lets_in;
        if caller.who == Principal::Nobody && entry.effect != Effect::Reads && !may_come_in {
            self.metrics().count_refusal();
            responder.respond(Err(caller.unproven().into()), vec![]);
            return Taken::Answered;
        }
        if entry.writes_files && self.is_planning(caller.who) {
            let problem = "you are in plan mode, and this changes files or branches".into();
            let hint = "submit your plan first: comity plan submit FILE, or with --content TEXT".into();
            responder.respond(Err(Refusal::NotAllowed { problem, hint }.into()), vec![]);
            return Taken::Answered;
        }
        if entry.pace == Pace::Long {
            self.take_long(entry, caller, call, key, responder);
            return heartbeat;
        }
        heartbeat.and(self.run(entry, caller, (call.input, call.text), key, responder))
    }

    /// Whether it is an agent in plan mode.
    pub(crate) fn is_planning(&self, who: Principal) -> bool {
        who.agent().is_some_and(|agent| mode_of(&self.engine().world(), agent) == Mode::Plan)
    }

    /// Plans an operation and answers it, or hands it to the engine.
    fn run(
        &self,
        entry: &Entry,
        caller: &Caller,
        (input, text): (&str, bool),
        key: Option<Key>,
        responder: Box<dyn Responder>,
    ) -> Taken {
        match (entry.plan)(entry, self, caller, input, text) {
            Err(failure) => {
                self.metrics().count_refusal();
                self.respond(&caller.asker(), responder, Err(failure));
                Taken::Answered
            }
            Ok(Erased::Answer(output)) => {
                self.respond(&caller.asker(), responder, Ok(output));
                Taken::Answered
            }
            Ok(Erased::Change { asks, when, finish }) => {
                let slow = asks.iter().any(is_slow);
                let asker = Box::new(Finishing { app: self.clone(), who: caller.asker(), finish, responder });
                self.submit(Job { who: caller.asker(), asks, key, asker }, when);
                if slow { Taken::Slow } else { Taken::Quick }
            }
            Ok(Erased::ChangeThen { asks, then }) => {
                let responder = self.keep_alive(caller, responder);
                let asker = Box::new(Following { app: self.clone(), who: caller.asker(), then, responder });
                self.submit(Job { who: caller.asker(), asks, key, asker }, None);
                Taken::Quick
            }
            Ok(Erased::Judge { who, asks, when, finish }) => {
                let slow = asks.iter().any(is_slow);
                let asker = Box::new(Judging { app: self.clone(), who: who.into(), finish, responder });
                self.submit(Job { who: who.into(), asks, key: None, asker }, when);
                if slow { Taken::Slow } else { Taken::Quick }
            }
        }
    }

    fn submit(&self, job: Job, when: Option<When>) {
        match when {
            None => self.engine().submit(job),
            Some(when) => self.engine().submit_when(job, when),
        }
    }

    /// Takes a call and waits for its output, for doors that have a thread to spend.
    pub fn call_and_wait(
        &self,
        caller: &Caller,
        call: &Call<'_>,
    ) -> (Result<Rendered, Failure>, Vec<String>) {
        type Output = (Result<Rendered, Failure>, Vec<String>);
        struct Send(std::sync::mpsc::SyncSender<Output>);
        impl Responder for Send {
            fn respond(self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>) {
                let _ = self.0.send((output, notices));
            }
        }
        let (sender, output) = std::sync::mpsc::sync_channel(1);
        if self.call(caller, call, Box::new(Send(sender))) != Taken::Answered {
            self.engine().drive();
        }
        output.recv().unwrap_or_else(|_| (Err(Failure::fault("the server stopped")), vec![]))
    }
}

/// Whether an ask leads to events that wait for the disk.
fn is_slow(ask: &Ask) -> bool {
    matches!(
        ask,
        Ask::Start { .. }
            | Ask::Join { .. }
            | Ask::AddToken { .. }
            | Ask::End { .. }
            | Ask::Team(_)
            | Ask::Mail(MailAsk::Send(_))
            | Ask::Control(_)
            | Ask::Decision(_)
            | Ask::Permission(_)
            | Ask::Attach { .. }
            | Ask::AttachBeside { .. }
            | Ask::Person(_)
            | Ask::LimitAgents { .. }
            | Ask::Task(_)
    )
}
