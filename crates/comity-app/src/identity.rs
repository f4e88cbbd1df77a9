//! Who calls: an agent, the human, or nobody, from a token and from the caller's ancestors.
//!
//! A person is proven, never assumed. A lineage without an end, or whose top may be an orphan of an agent, proves
//! nothing.

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

/// How an unproven caller becomes known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WayIn {
    /// It joins: it is an agent program that we do not know yet.
    Join,
    /// It gives the passphrase: it is at a terminal of which too little is known.
    LogIn,
}

impl Identity {
    /// A caller proven to be this agent.
    pub fn agent(agent: AgentId) -> Identity {
        Identity { who: Principal::Agent(agent), origin: None, doubt: None }
    }

    /// The human at a place: the programs above it, and the window if that makes a difference.
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

    /// A caller of whom nothing is known.
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
    /// Who presents this token from this lineage; `is_looked_at` if nothing was marked since it was found to be the
    /// same.
    pub fn identify(&self, token: &str, lineage: &Lineage, is_looked_at: bool) -> Result<Identity, Refusal> {
        // A connection whose owner cannot be known may have found any token.
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
        // A found token makes nobody another agent; but an agent's leader may have given it one.
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

    /// Nobody, if the presenter of an agent's token may be an orphan of an agent: it is not known which, and so
    /// whether it found the token. A program that used the token while its owner was known goes on.
    fn left_behind(&self, lineage: &Lineage, agent: AgentId) -> Option<Identity> {
        let has_used = |link: &LineageProcess| self.identities().user(link.process) == Some(Some(agent));
        let is_agents =
            |link: &&LineageProcess| processes::mark_of(link.process.pid) == Some(ProcessMark::Agent);
        let left = lineage.links.iter().find(is_agents)?;
        (!lineage.links.iter().any(has_used)).then(|| Identity::started_by_an_agent(left))
    }

    /// Remembers who presents an agent's token, so that it is recognized without it, too. Call it once per
    /// connection: it inspects processes.
    pub fn note_use(&self, token: &str, lineage: &Lineage) {
        let user = {
            let world = self.engine().world();
            world.agents.by_token(&tokens::hash(token)).ok().map(|agent| (agent.id, agent.profile.process))
        };
        // An agent whose process is known is recognized without the token.
        if let Some((agent, process)) = user
            && !process.is_some_and(|process| lineage.has(process))
        {
            self.identities().used(lineage, agent);
            mark_users(lineage, token);
        }
    }

    /// Whether a caller that was a person became an agent's after it had connected; `is_looked_at` if nothing was
    /// marked since.
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

    /// Who calls without a token: the agent in whose process tree it is, otherwise a person if that is proven.
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

    /// Who this is, without checking its terminal; `None` if it is a person. `asked` are the multiplexers that are
    /// being checked.
    fn known(&self, lineage: &Lineage, asked: &[Process]) -> Option<Identity> {
        let found = self.find(lineage, asked);
        // What was read of it is worthless if it is gone by now.
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
        // A passphrase given at this terminal proves more than any lineage.
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

    /// A caller that carries an agent's marks, whoever its registered ancestors are.
    fn marked(&self, lineage: &Lineage) -> Option<Identity> {
        for (at, link) in lineage.links.iter().enumerate() {
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
                // A client may keep its token from what it starts.
                let above = lineage.links[at + 1..].iter().find_map(|link| self.started_as(link));
                return Some(above.map_or_else(|| Identity::of_a_newcomer(link, client), Identity::agent));
            }
        }
        None
    }

    /// Whether a process works with agents, but not with those here: their processes are known.
    fn is_strange(&self, link: &LineageProcess) -> bool {
        processes::mark_of(link.process.pid) == Some(ProcessMark::TokenUser)
            && self.engine().world().agents.live().all(|agent| agent.profile.process.is_some())
    }

    /// Whether it is a person at a terminal; otherwise what is missing.
    fn presence(&self, lineage: &Lineage) -> Result<(), String> {
        let caller = lineage.links.first().ok_or("nothing is known of the process")?;
        if caller.terminal == 0 {
            return Err("this has no terminal".into());
        }
        if caller.foreground != caller.group as i32 {
            return Err("this runs in the background".into());
        }
        let Some(leader) = lineage.terminal_leader() else {
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
        let is_in_front =
            |caller: &LineageProcess| caller.terminal != 0 && caller.foreground == caller.group as i32;
        lineage.links.first().is_some_and(is_in_front)
            && lineage.terminal_leader().is_some_and(|leader| self.is_unlocked(leader))
    }

    fn takes_passphrase(&self) -> bool {
        self.engine().world().people.passphrase().is_some()
    }

    fn is_unlocked(&self, leader: &LineageProcess) -> bool {
        let given = lock(&self.identities().unlocked).get(&leader.led_terminal()).cloned();
        given.is_some() && given.as_deref() == self.engine().world().people.passphrase()
    }

    /// Remembers that the passphrase of which this is stored was given at the caller's terminal. It counts while that is
    /// the one that is set.
    pub(crate) fn unlock_terminal(&self, lineage: &Lineage, verifier: &str) {
        let Some(leader) = lineage.terminal_leader() else { return };
        let mut unlocked = lock(&self.identities().unlocked);
        unlocked.retain(|terminal, _| processes::is_alive(terminal.leader));
        unlocked.insert(leader.led_terminal(), verifier.into());
    }
}

/// The place of a human who is known by what was sent over the network.
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

/// Whether a process above the caller is known to be an agent program: by its name, or by what it sets for the
/// caller. Other programs may be a person's who runs a hook by hand, and marks stay.
pub(crate) fn is_agent_program(lineage: &Lineage, program: Process) -> bool {
    let at = lineage.links.iter().position(|link| link.process == program);
    at.is_some_and(|at| lineage.links[..=at].iter().any(|link| marks::of(link).client.is_some()))
}

/// Marks the processes that use an agent's token: the caller, and its ancestors that were started with it.
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
