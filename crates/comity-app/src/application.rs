//! The application as doors see it: one call for every operation.

mod call;
mod keys;
mod notices;
mod signs_of_life;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use comity_core::permissions::mode_of;
use comity_core::roles::Mode;
use comity_core::{AgentId, Ask, Asker, Principal, Refusal, World, inbox};

use crate::branch_moves::OngoingMoves;
use crate::browser::BrowserService;
use crate::config::Config;
use crate::contents::Contents;
use crate::dedupe::Dedupe;
use crate::engine::Engine;
use crate::held_dir::HeldDir;
use crate::identity::Identities;
use crate::log::LogReader;
use crate::mail_memory::MailMemory;
use crate::metrics::Metrics;
use crate::open_merges::OpenMerges;
use crate::operation::{Caller, Failure};
use crate::operations::guard::IdleAgents;
use crate::operations::inbox::ShownLists;
use crate::projects::Projects;
use crate::runs::RunService;
use crate::shells::Shells;
use crate::tokens::{self, Token};
use crate::usage::UsageBook;
use crate::watch::Watch;
use crate::wording::Wording;
use crate::worker_pool::WorkerPool;
use crate::worktree_drivers::Trees;
pub(crate) use call::plan;
pub use call::{CallInput, CallOutput, OperationCall, Responder};
use notices::ToldPlaces;
use signs_of_life::AtWork;

/// Everything an operation may look at. Clones share it.
#[derive(Clone)]
pub struct Application(Arc<ApplicationParts>);

struct ApplicationParts {
    engine: Engine,
    reader: Option<Arc<LogReader>>,
    projects: Projects,
    config: Config,
    metrics: Arc<Metrics>,
    server: ServerFacts,
    home: Option<HeldDir>,
    secret: OnceLock<[u8; 32]>,
    workers: WorkerPool,
    at_work: AtWork,
    rescuing: Mutex<()>,
    contents: Contents,
    trees: Trees,
    moves: OngoingMoves,
    mail_memory: MailMemory,
    shown_lists: ShownLists,
    told_places: ToldPlaces,
    open_merges: OpenMerges,
    watch: Watch,
    shells: Shells,
    browser: BrowserService,
    runs: RunService,
    usage: UsageBook,
    dedupe: Dedupe,
    identities: Identities,
    /// Agents with Comity's tools.
    with_tools: Mutex<BTreeSet<AgentId>>,
    idle_agents: IdleAgents,
    /// Agents that were told how to commit.
    told_of_commit: Mutex<BTreeSet<AgentId>>,
}

/// What the running server knows of itself.
#[derive(Clone, Debug, Default)]
pub struct ServerFacts {
    pub pid: u32,
    pub home: PathBuf,
    pub socket: PathBuf,
    pub url: String,
    pub version: String,
    /// The person's settings file, which need not exist.
    pub settings: Option<PathBuf>,
    /// The program and its first arguments for running a command confined; empty if there is none.
    pub confine: Vec<OsString>,
    /// The program and its first arguments for starting a guardian.
    pub guardian: Vec<OsString>,
}

impl Application {
    /// Assembles the application.
    pub fn new(
        engine: Engine,
        reader: Option<Arc<LogReader>>,
        config: Config,
        server: ServerFacts,
    ) -> Application {
        let (projects, metrics, secret) = (Projects::default(), Arc::default(), OnceLock::new());
        let (workers, trees, contents) =
            (WorkerPool::default(), Trees::default(), Contents::below(&server.home));
        let (mail_memory, home) = (MailMemory::below(&server.home), HeldDir::open(&server.home).ok());
        let app = Application(Arc::new(ApplicationParts {
            engine,
            reader,
            projects,
            config,
            metrics,
            server,
            home,
            secret,
            workers,
            at_work: AtWork::default(),
            rescuing: Mutex::default(),
            contents,
            trees,
            moves: OngoingMoves::default(),
            mail_memory,
            shown_lists: ShownLists::default(),
            told_places: ToldPlaces::default(),
            open_merges: OpenMerges::default(),
            watch: Watch::default(),
            shells: Shells::default(),
            browser: BrowserService::default(),
            runs: RunService::default(),
            usage: UsageBook::default(),
            dedupe: Dedupe::default(),
            identities: Identities::default(),
            with_tools: Mutex::default(),
            idle_agents: IdleAgents::default(),
            told_of_commit: Mutex::default(),
        }));
        app.tell_who_is_at_work();
        app
    }

    /// Sets the secret that tokens of repeated asks are derived from; without it a repeat after a restart fails.
    pub fn set_secret(&self, secret: [u8; 32]) {
        let _ = self.0.secret.set(secret);
    }

    /// A new agent's id and token; the same ones for a repeat of the same ask.
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

    /// The identity that this very call has already given the caller, if its answer was lost.
    pub(crate) fn made_before(&self, caller: &Caller) -> Option<(AgentId, Token)> {
        let me = caller.who.agent()?;
        let (key, secret) = (caller.given_key.as_deref()?, self.0.secret.get()?);
        let parent = self.engine().world().agents.get(me)?.profile.parent;
        let before = parent.map(Principal::Agent).into_iter().chain([Principal::Human, Principal::Nobody]);
        before.map(|who| tokens::derived(secret, who, key)).find(|(agent, _)| *agent == me)
    }

    /// Notes that an agent has Comity's tools.
    pub fn has_tools(&self, agent: AgentId) {
        self.0.with_tools.lock().unwrap_or_else(PoisonError::into_inner).insert(agent);
    }

    /// True once for each agent: it has not been told how to commit yet.
    pub(crate) fn begins_to_tell_of_commit(&self, agent: AgentId) -> bool {
        self.0.told_of_commit.lock().unwrap_or_else(PoisonError::into_inner).insert(agent)
    }

    pub(crate) fn idle_agents(&self) -> &IdleAgents {
        &self.0.idle_agents
    }

    pub(crate) fn workers(&self) -> &WorkerPool {
        &self.0.workers
    }

    /// How to spell calls for somebody: agents in a program with Comity's tools use those.
    pub(crate) fn wording_of(&self, who: Principal) -> Wording {
        self.wording_in(&self.engine().world(), who)
    }

    /// The same within a batch, where the world is being changed.
    pub(crate) fn wording_in(&self, world: &World, who: Principal) -> Wording {
        let Principal::Agent(agent) = who else { return Wording::Commands };
        let within = world.agents.get(agent).filter(|agent| agent.profile.within.is_some());
        let program = within.and_then(|agent| agent.profile.parent).unwrap_or(agent);
        let with_tools = self.0.with_tools.lock().unwrap_or_else(PoisonError::into_inner);
        if with_tools.contains(&program) { Wording::Tools } else { Wording::Commands }
    }

    /// Tells the engine what the server observed; nobody waits for an answer.
    pub fn tell_engine(&self, ask: Ask) {
        self.engine().tell(Principal::System, vec![ask]);
        self.engine().wake();
    }

    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub fn reader(&self) -> Result<&LogReader, Failure> {
        self.0.reader.as_deref().ok_or_else(|| Failure::fault("this server keeps no log on the disk"))
    }

    pub fn server(&self) -> &ServerFacts {
        &self.0.server
    }

    pub fn home(&self) -> &Path {
        &self.0.server.home
    }

    /// Whether the state directory is still where it was; otherwise another server's may be at its path.
    pub(crate) fn is_home_in_place(&self) -> bool {
        self.0.home.as_ref().is_some_and(HeldDir::is_in_place)
    }

    pub fn config(&self) -> &Config {
        &self.0.config
    }

    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// What agents have read recently.
    pub fn contents(&self) -> &Contents {
        &self.0.contents
    }

    pub(crate) fn mail_memory(&self) -> &MailMemory {
        &self.0.mail_memory
    }

    pub(crate) fn shown_lists(&self) -> &ShownLists {
        &self.0.shown_lists
    }

    pub(crate) fn open_merges(&self) -> &OpenMerges {
        &self.0.open_merges
    }

    /// How much waits for the caller.
    pub fn inbox_count(&self, world: &World, asker: &Asker) -> usize {
        inbox::count(world, asker) + self.open_merges().of(asker.who, world).len()
    }

    /// Only one call at a time puts work aside: it chooses a name, announces it, and makes the ref.
    pub(crate) fn rescuing(&self) -> MutexGuard<'_, ()> {
        self.0.rescuing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn long_operations(&self) -> usize {
        self.0.workers.operations()
    }

    pub(crate) fn moves(&self) -> &OngoingMoves {
        &self.0.moves
    }

    pub fn trees(&self) -> &Trees {
        &self.0.trees
    }

    pub(crate) fn browser(&self) -> &BrowserService {
        &self.0.browser
    }

    /// What agent programs with hooks have used.
    pub(crate) fn usage(&self) -> &UsageBook {
        &self.0.usage
    }

    pub(crate) fn runs(&self) -> &RunService {
        &self.0.runs
    }

    /// The state directory was moved or removed: nothing at its path is this server's any more.
    pub fn leave_files(&self) {
        self.browser().leave_files();
    }

    pub fn watch(&self) -> &Watch {
        &self.0.watch
    }

    pub(crate) fn shells(&self) -> &Shells {
        &self.0.shells
    }

    pub fn projects(&self) -> &Projects {
        &self.0.projects
    }

    pub fn identities(&self) -> &Identities {
        &self.0.identities
    }

    /// Whether it is an agent in plan mode.
    pub(crate) fn is_planning(&self, who: Principal) -> bool {
        who.agent().is_some_and(|agent| mode_of(&self.engine().world(), agent) == Mode::Plan)
    }
}
