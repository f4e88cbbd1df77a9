//! Who calls: an agent, the human, or nobody, from a token and from whom the caller descends.
//!
//! A person is proven and never what is left over. A lineage that ends nowhere, or whose top may have been started by an
//! agent and lost its parent, proves nothing.

mod astray;
mod connected;
mod desktop;
mod earlier;
mod marks;
mod memory;
mod terminal;
mod within;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comity_core::agents::Process;
use comity_core::people::{Origin, PASSPHRASE_MISSING, Proof};
use comity_core::{AgentId, Principal, Refusal};

use crate::application::Application;
use crate::lineage::{Lineage, LineageProcess};
use crate::processes::{self, ProcessMark};
use crate::tokens;

pub use connected::ended;
pub use marks::{PROGRAMS as AGENT_PROGRAMS, VARIABLES as AGENT_VARIABLES};
pub use memory::Identities;

/// Who calls, and how that is known.
#[derive(Clone, Debug)]
pub struct Identity {
    pub who: Principal,
    /// Where from, if it is the human.
    pub origin: Option<Arc<Origin>>,
    /// What is missing, if it is nobody.
    pub doubt: Option<IdentityDoubt>,
}

/// Why nothing is proven.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdentityDoubt {
    pub why: Arc<str>,
    /// What it may do about that, if anything.
    pub way_in: Option<WayIn>,
}

/// How somebody of whom nothing is proven becomes known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WayIn {
    /// It joins: it is an agent program that has not told us of itself.
    Join,
    /// It gives the passphrase: it is at a terminal of which too little is known.
    LogIn,
}

impl Identity {
    /// Proven to be this agent.
    pub fn agent(agent: AgentId) -> Identity {
        Identity { who: Principal::Agent(agent), origin: None, doubt: None }
    }

    /// The human at a place: the programs above it, and the window if that tells it from others.
    fn human(proof: Proof, lineage: &Lineage, window: Option<Process>) -> Identity {
        let caller = lineage.links.first();
        let origin = Origin {
            proof,
            process: caller.map(|link| link.process),
            terminal: caller.and_then(LineageProcess::terminal_name).map(Into::into),
            lineage: comity_core::display::visible(&lineage.place()).into(),
            window,
        };
        Identity { who: Principal::Human, origin: Some(Arc::new(origin)), doubt: None }
    }

    /// Somebody of whom nothing is known.
    pub fn nobody(why: &str) -> Identity {
        Identity {
            who: Principal::Nobody,
            origin: None,
            doubt: Some(IdentityDoubt { why: why.into(), way_in: None }),
        }
    }

    fn started_by_an_agent(link: &LineageProcess) -> Identity {
        let whose = format!("{} (process {})", link.name, link.process.pid);
        Identity::nobody(&match processes::limit_like_a_mark(link.process.pid) {
            Some(limit) => format!(
                "{whose} can't be told from an agent's: its limit on file locks is {limit}, and should be unlimited (ulimit -Hx)"
            ),
            None => format!("{whose} was started by an agent"),
        })
    }

    fn of_a_newcomer(link: &LineageProcess, client: &str) -> Identity {
        let whose = format!("{} (process {})", link.name, link.process.pid);
        Identity::unregistered(&format!("{whose} belongs to {client}, an agent program that has not joined"))
    }

    fn unregistered(why: &str) -> Identity {
        Identity {
            who: Principal::Nobody,
            origin: None,
            doubt: Some(IdentityDoubt { why: why.into(), way_in: Some(WayIn::Join) }),
        }
    }
}

impl Application {
    /// Who presents this token from this lineage; `is_looked_at` if nothing was marked since it was found to be the same.
    pub fn identify(&self, token: &str, lineage: &Lineage, is_looked_at: bool) -> Result<Identity, Refusal> {
        // Whoever holds the connection of somebody of whom nothing is known may have found any token.
        if let Some(nobody) = connected::cut_off(lineage).filter(|_| cfg!(target_os = "linux")) {
            return Ok(nobody);
        }
        let hash = tokens::hash(token);
        let world = self.engine().world();
        if let Some(name) = world.people.token(&hash) {
            // Whoever exported it before starting an agent did not mean to make that agent the human.
            if let Some(agent) = self.registered_in(&world, lineage) {
                return Ok(Identity::agent(agent));
            }
            if !is_looked_at && let Some(other) = connected::no_persons(lineage) {
                return Ok(other);
            }
            return Ok(Identity::human(Proof::Token(name.into()), lineage, None));
        }
        let agent = world.agents.by_token(&hash)?;
        let id = agent.id;
        // A token that another agent has found makes nobody somebody else; whoever leads an agent may have given it one.
        let own = self.registered_in(&world, lineage);
        if own.is_none()
            && !is_looked_at
            && let Some(nobody) = self.left_behind(lineage, id)
        {
            return Ok(nobody);
        }
        if let Some(own) = own
            && own != id
            && !world.agents.is_ancestor(own, id)
        {
            // What an agent starts has its variables, too.
            if world.agents.is_ancestor(id, own) {
                return Ok(Identity::agent(own));
            }
            let (own, other) = (world.name_of(Principal::Agent(own)), world.name_of(Principal::Agent(id)));
            return Err(Refusal::NotAllowed {
                problem: format!("this is {other}'s token, and you are {own}"),
                hint: "unset COMITY_TOKEN".into(),
            });
        }
        Ok(Identity::agent(id))
    }

    /// Who calls from the sandbox of an agent: that agent, or one that it has brought and whose token is presented.
    pub fn identify_sandboxed(&self, agent: AgentId, token: Option<&str>) -> Result<Identity, Refusal> {
        let world = self.engine().world();
        if let Err(ended) = world.agents.living(agent) {
            return Ok(Identity::nobody(&ended.to_string()));
        }
        let Some(token) = token else { return Ok(Identity::agent(agent)) };
        match world.agents.by_token(&tokens::hash(token)) {
            Ok(shown)
                if shown.id == agent
                    || (world.agents.is_ancestor(agent, shown.id) && world.runs.of(shown.id).is_none()) =>
            {
                Ok(Identity::agent(shown.id))
            }
            Ok(_) | Err(_) => Err(Refusal::NotAllowed {
                problem: format!(
                    "this token is not for the sandbox of {}",
                    world.name_of(Principal::Agent(agent))
                ),
                hint: "unset COMITY_TOKEN".into(),
            }),
        }
    }

    /// Nobody, if an agent has left behind who presents an agent's token: nobody knows which agent, and so whether it found
    /// the token. A program that has used it while it was known whose it is goes on.
    fn left_behind(&self, lineage: &Lineage, agent: AgentId) -> Option<Identity> {
        let has_used = |link: &LineageProcess| self.identities().user(link.process) == Some(Some(agent));
        let is_agents =
            |link: &&LineageProcess| processes::mark_of(link.process.pid) == Some(ProcessMark::Agent);
        let left = lineage.links.iter().find(is_agents)?;
        (!lineage.links.iter().any(has_used)).then(|| Identity::started_by_an_agent(left))
    }

    /// Remembers who presents an agent's token, so that it is the agent's without the token, too. Once for a connection is
    /// enough: it looks at processes.
    pub fn note_use(&self, token: &str, lineage: &Lineage) {
        let user = {
            let world = self.engine().world();
            world.agents.by_token(&tokens::hash(token)).ok().map(|agent| (agent.id, agent.profile.process))
        };
        // An agent whose process is known is known without the token.
        if let Some((agent, process)) = user
            && !process.is_some_and(|process| lineage.has(process))
        {
            self.identities().used(lineage, agent);
            mark_users(lineage, token);
        }
    }

    /// Whether a caller that was a person became an agent's after it had connected; `is_looked_at` if nothing was marked
    /// since.
    pub fn has_become_an_agents(&self, lineage: &Lineage, is_looked_at: bool) -> bool {
        let is_marked = |link: &LineageProcess| processes::is_marked(link.process.pid);
        self.registered(lineage).is_some()
            || (!is_looked_at && (lineage.links.iter().any(is_marked) || ended(lineage).is_some()))
    }

    /// Who presents this token over the network, where nothing is known of the process.
    pub fn identify_remote(&self, token: &str) -> Result<Identity, Refusal> {
        let hash = tokens::hash(token);
        let world = self.engine().world();
        if let Some(name) = world.people.token(&hash) {
            return Ok(remote(Proof::Token(name.into()), &format!("http token {name}")));
        }
        if self.identities().is_logged_in(&hash) {
            return Ok(remote(Proof::Login, "http login"));
        }
        world.agents.by_token(&hash).map(|agent| Identity::agent(agent.id))
    }

    /// Who calls without a token: the agent in whose process tree it is, else a person if that is proven.
    pub fn recognise(&self, lineage: &Lineage) -> Identity {
        if let Some(known) = self.known(lineage, &[]) {
            return known;
        }
        let proof = match self.presence(lineage) {
            Ok(()) => Proof::Terminal,
            Err(lacks) => Proof::Lineage { lacks: lacks.into() },
        };
        Identity::human(proof, lineage, self.window(lineage))
    }

    /// Who this is without its terminal being looked at; nothing, if it is a person. `asked` are the multiplexers whose
    /// being attended depends on the answer.
    fn known(&self, lineage: &Lineage, asked: &[Process]) -> Option<Identity> {
        let found = self.find(lineage, asked);
        // What was read of it is worth nothing if it is gone by now.
        ended(lineage).or(found)
    }

    fn find(&self, lineage: &Lineage, asked: &[Process]) -> Option<Identity> {
        if let Some(agent) = self.registered(lineage) {
            return Some(Identity::agent(agent));
        }
        if let Some(nobody) = connected::cut_off(lineage) {
            return Some(nobody);
        }
        if let Some(of_an_agent) = self.marked(lineage) {
            return Some(of_an_agent);
        }
        // Who gave the passphrase at this terminal has proven more than any lineage does.
        if self.has_given_passphrase(lineage) {
            return Some(Identity::human(Proof::Terminal, lineage, self.window(lineage)));
        }
        if let Some(ended) = self.ended_in(lineage) {
            return Some(Identity::unregistered(&ended));
        }
        let lost = self.astray(lineage, asked)?;
        let mut nobody = Identity::nobody(&format!(
            "{} (process {}) lost its parent, and an agent may have started it",
            lost.name, lost.process.pid
        ));
        if let Some(doubt) = nobody.doubt.as_mut().filter(|_| self.takes_passphrase()) {
            doubt.way_in = Some(WayIn::LogIn);
        }
        Some(nobody)
    }

    /// A caller that carries the marks of an agent, whoever its registered ancestors are.
    fn marked(&self, lineage: &Lineage) -> Option<Identity> {
        for link in &lineage.links {
            if let Some(used) = self.identities().user(link.process) {
                return Some(match used {
                    Some(agent) => match self.engine().world().agents.living(agent) {
                        Ok(agent) => Identity::agent(agent.id),
                        Err(ended) => Identity::nobody(&ended.to_string()),
                    },
                    None => Identity::nobody("programs above you use the tokens of several agents"),
                });
            }
            let marks = marks::of(link);
            let token = marks.token.map(|token| tokens::hash(&token));
            if let Some(hash) = token.filter(|hash| self.engine().world().people.token(hash).is_none()) {
                let world = self.engine().world();
                return Some(match world.agents.by_token(&hash) {
                    Ok(agent) => Identity::agent(agent.id),
                    Err(refusal) => Identity::nobody(&format!(
                        "{} (process {}) was started with an agent's token: {refusal}",
                        link.name, link.process.pid
                    )),
                });
            }
            if processes::is_marked(link.process.pid) {
                let whose = format!("{} (process {})", link.name, link.process.pid);
                // It may have joined a moment ago.
                if let Some(agent) = self.registered(lineage) {
                    return Some(Identity::agent(agent));
                }
                let top = lineage.links.iter().rfind(|link| processes::is_marked(link.process.pid));
                let client = top.and_then(|top| marks::client(&top.name));
                return Some(match (self.ended_in(lineage), client) {
                    (Some(ended), _) => Identity::unregistered(&ended),
                    // It is an agent of another server, or was one.
                    (None, Some(client)) => Identity::unregistered(&format!(
                        "{whose} belongs to {client}, which has not joined here"
                    )),
                    // It works with agents elsewhere, and may be one here, too.
                    (None, None) if self.is_strange(link) => {
                        Identity::unregistered(&format!("{whose} works with agents, and has not joined here"))
                    }
                    (None, None) => Identity::started_by_an_agent(link),
                });
            }
            if let Some(client) = marks.client {
                return Some(Identity::of_a_newcomer(link, client));
            }
        }
        None
    }

    /// Whether a process works with agents, and with none of those here: their processes are known.
    fn is_strange(&self, link: &LineageProcess) -> bool {
        processes::mark_of(link.process.pid) == Some(ProcessMark::TokenUser)
            && self.engine().world().agents.live().all(|agent| agent.profile.process.is_some())
    }

    /// Whether it is a person at a terminal, else what is missing.
    fn presence(&self, lineage: &Lineage) -> Result<(), String> {
        let caller = lineage.links.first().ok_or("nothing is known of the process")?;
        if caller.terminal == 0 {
            return Err("this has no terminal".into());
        }
        if caller.foreground != caller.group as i32 {
            return Err("this runs in the background".into());
        }
        let Some(leader) = lineage.links.iter().find(|link| link.leads_terminal()) else {
            return Err("what opened this terminal has ended".into());
        };
        if let Some(pty) = caller.pty() {
            self.check_holder(pty, leader)?;
        }
        if self.takes_passphrase() {
            return Err(PASSPHRASE_MISSING.into());
        }
        Ok(())
    }

    /// Whether it is in the foreground of a terminal in which the passphrase was given.
    fn has_given_passphrase(&self, lineage: &Lineage) -> bool {
        let leader = lineage.links.iter().find(|link| link.leads_terminal());
        let is_in_front =
            |caller: &LineageProcess| caller.terminal != 0 && caller.foreground == caller.group as i32;
        lineage.links.first().is_some_and(is_in_front)
            && leader.is_some_and(|leader| self.is_unlocked(leader.process))
    }

    fn takes_passphrase(&self) -> bool {
        self.engine().world().people.passphrase().is_some()
    }

    fn is_unlocked(&self, leader: Process) -> bool {
        let given = lock(&self.identities().unlocked).get(&leader).cloned();
        given.is_some() && given.as_deref() == self.engine().world().people.passphrase()
    }

    /// Remembers that the passphrase of which this is stored was given at the caller's terminal. It counts while that is
    /// the one that is set.
    pub(crate) fn unlock_terminal(&self, leader: Process, verifier: &str) {
        let mut unlocked = lock(&self.identities().unlocked);
        unlocked.retain(|leader, _| processes::is_alive(*leader));
        unlocked.insert(leader, verifier.into());
    }
}

/// Where a human acts from who is known by what it sent over the network.
pub fn remote(proof: Proof, how: &str) -> Identity {
    let origin = Origin { proof, process: None, terminal: None, lineage: how.into(), window: None };
    Identity { who: Principal::Human, origin: Some(Arc::new(origin)), doubt: None }
}

/// Whether this process is an agent's, or belongs to an agent program that may not have joined.
pub fn is_below_an_agent_program() -> bool {
    let lineage = Lineage::of(std::process::id());
    let is_marked = |link: &LineageProcess| {
        let marks = marks::of(link);
        marks.token.is_some() || marks.client.is_some() || processes::is_marked(link.process.pid)
    };
    lineage.links.iter().any(is_marked)
}

/// Whether a process above the caller is known to be an agent program: by its name, or by what it sets for the caller. Of
/// others a hook may be run by hand, and what is marked stays so.
pub(crate) fn is_agent_program(lineage: &Lineage, program: Process) -> bool {
    let at = lineage.links.iter().position(|link| link.process == program);
    at.is_some_and(|at| lineage.links[..=at].iter().any(|link| marks::of(link).client.is_some()))
}

/// Marks the processes that use an agent's token: the caller, and those above that were started with it.
fn mark_users(lineage: &Lineage, token: &str) {
    for (at, link) in lineage.links.iter().enumerate() {
        let is_user = at == 0 || marks::of(link).token.as_deref() == Some(token);
        if !is_user || link.leads_terminal() || processes::is_marked(link.process.pid) {
            return;
        }
        processes::mark(link.process, ProcessMark::TokenUser);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
