//! What is remembered between calls of who is who.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use comity_core::agents::Process;
use comity_core::{AgentId, TokenHash};

use super::within::SubAgents;
use super::{lock, terminal};
use crate::lineage::{LedTerminal, Lineage};
use crate::tokens::Token;

/// Processes whose use of a token is remembered.
const USES_MAX: usize = 1_024;
/// How long a login at the HTTP door is valid.
const LOGIN: Duration = Duration::from_hours(12);
/// How long a login's link can be opened, once.
const LINK: Duration = Duration::from_mins(10);
/// Logins at a time; the oldest is dropped first.
const LOGINS_MAX: usize = 64;

/// What is remembered between calls of who is who. A restart loses nothing that it needs.
#[derive(Default)]
pub struct Identities {
    /// Who used which agent's token; `None` if several were used.
    pub(super) uses: Mutex<HashMap<Process, Option<AgentId>>>,
    /// Terminals that were looked at.
    pub(super) terminals: Mutex<HashMap<LedTerminal, terminal::Holder>>,
    /// Logins at the HTTP door, and until when.
    pub(super) logins: Mutex<HashMap<TokenHash, Instant>>,
    /// Codes of login links, valid once, and until when.
    pub(super) links: Mutex<HashMap<TokenHash, Instant>>,
    /// Agents to which one of their processes has attached.
    pub(super) attached: Mutex<HashSet<AgentId>>,
    pub(super) sub_agents: Mutex<SubAgents>,
    /// Terminals in which a passphrase was given, and what is stored of that.
    pub(super) unlocked: Mutex<HashMap<LedTerminal, Box<str>>>,
}

impl Identities {
    /// The program that presented an agent's token belongs to that agent, with everything below it.
    pub(super) fn used(&self, lineage: &Lineage, agent: AgentId) {
        let Some(program) = lineage.program() else { return };
        let mut uses = lock(&self.uses);
        if uses.len() >= USES_MAX {
            uses.retain(|process, _| crate::processes::is_alive(*process));
        }
        let used = uses.entry(program.process).or_insert(Some(agent));
        if *used != Some(agent) {
            *used = None;
        }
    }

    pub(super) fn user(&self, process: Process) -> Option<Option<AgentId>> {
        lock(&self.uses).get(&process).copied()
    }

    pub(crate) fn attached(&self, agent: AgentId) {
        lock(&self.attached).insert(agent);
    }

    pub(crate) fn is_attached(&self, agent: AgentId) -> bool {
        lock(&self.attached).contains(&agent)
    }

    /// Logs the human in at the HTTP door.
    pub(crate) fn log_in(&self) -> Result<String, getrandom::Error> {
        issue(&self.logins, LOGIN)
    }

    /// The code of a new login link.
    pub(crate) fn new_link(&self) -> Result<String, getrandom::Error> {
        issue(&self.links, LINK)
    }

    /// Logs in whoever opens a link first.
    pub fn open_link(&self, code: &str) -> Option<Result<String, getrandom::Error>> {
        let until = lock(&self.links).remove(&crate::tokens::hash(code))?;
        (until > Instant::now()).then(|| self.log_in())
    }

    pub(super) fn is_logged_in(&self, hash: &TokenHash) -> bool {
        lock(&self.logins).get(hash).is_some_and(|until| *until > Instant::now())
    }
}

/// A new secret, valid for a while.
fn issue(secrets: &Mutex<HashMap<TokenHash, Instant>>, span: Duration) -> Result<String, getrandom::Error> {
    let token = Token::random()?;
    let mut secrets = lock(secrets);
    let now = Instant::now();
    secrets.retain(|_, until| *until > now);
    while secrets.len() >= LOGINS_MAX
        && let Some(oldest) = secrets.iter().min_by_key(|(_, until)| **until).map(|(hash, _)| *hash)
    {
        secrets.remove(&oldest);
    }
    secrets.insert(token.hash(), now + span);
    Ok(token.reveal().to_owned())
}
