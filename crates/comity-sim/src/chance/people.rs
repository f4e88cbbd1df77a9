//! What people and programs do about themselves by chance: come in, are named and let into teams, have tokens.

use std::sync::Arc;

use comity_core::agents::{AgentAsk, Process, Profile};
use comity_core::limits::AGENT_LIMIT_MAX;
use comity_core::people::{Origin, PersonAsk, Place, Proof};
use comity_core::teams::TeamAsk;
use comity_core::{AgentId, Ask, Asker, Principal};

use super::{AGENTS_MAX, Happening, Scene};

/// Where the human acts from, each by its programs.
const PLACES: [&str; 3] = ["sshd > bash", "tmux > zsh", "desktop > bash"];

impl Scene<'_> {
    pub(super) fn person(&mut self, living: &[AgentId]) -> Happening {
        let place = Place { lineage: PLACES[self.rng.below(PLACES.len())].into(), window: None };
        let name = ["ci", "phone", "laptop"][self.rng.below(3)].into();
        let ask = match self.rng.below(100) {
            0..30 => PersonAsk::MakeToken { name, hash: self.token() },
            30..45 => PersonAsk::RevokeToken { name },
            45..60 => {
                let verifier = self.rng.happens(60).then(|| "verifier".into());
                PersonAsk::SetPassphrase { verifier }
            }
            _ => {
                let up_to = self.oracle.head();
                PersonAsk::Recognise { up_to, place: place.clone() }
            }
        };
        let who = match self.rng.happens(90) {
            true => human_at(place),
            false => self.anybody(living).into(),
        };
        self.asked(who, Ask::Person(ask))
    }

    /// An agent that nobody started by Comity, or that lives beside another one in the same program.
    pub(super) fn attach(&mut self, living: &[AgentId]) -> Happening {
        let (agent, token) = (AgentId::from_bits(self.joined), self.token());
        let profile = Box::new(Profile {
            name: ["claude", "codex", "a b/c", "lead"][self.rng.below(4)].into(),
            team: self.rng.happens(40).then(|| "red".into()),
            process: self.rng.happens(50).then_some(Process { pid: 8, start: self.joined }),
            session: self.rng.happens(30).then(|| format!("s{}", self.joined % 4).into()),
            ..Profile::default()
        });
        let (who, ask) = match self.rng.happens(50) || living.is_empty() {
            true => {
                let who = if self.rng.happens(60) { Principal::Nobody } else { self.anybody(living) };
                (who, AgentAsk::Attach { agent, token, profile })
            }
            false => (self.anybody(living), AgentAsk::AttachBeside { agent, token, profile }),
        };
        match living.len() < AGENTS_MAX {
            true => Happening::Asked { who: who.into(), ask: Ask::Agent(ask), key: None },
            false => self.time(),
        }
    }

    /// Who is called what, how many may be here, and who is let into a team.
    pub(super) fn membership(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let agent = self.rng.pick(living).copied().unwrap_or(AgentId::from_bits(0));
        match self.rng.below(100) {
            0..30 => {
                let name = format!("named{}", self.rng.below(4)).into();
                let who = if self.rng.happens(85) { Principal::Agent(agent) } else { self.anybody(living) };
                (who, Ask::Agent(AgentAsk::Name { agent, name }))
            }
            30..45 => {
                let max = self.rng.between(1, AGENT_LIMIT_MAX as u64 + 1) as usize;
                let who = if self.rng.happens(80) { Principal::Human } else { self.anybody(living) };
                (who, Ask::Agent(AgentAsk::Limit { max }))
            }
            _ => {
                let wishes = living.iter().copied().filter(|one| self.oracle.wished_team(*one).is_some());
                let wishes: Vec<AgentId> = wishes.collect();
                let agent = self.rng.pick(&wishes).copied().filter(|_| self.rng.happens(60)).unwrap_or(agent);
                let team = self.rng.happens(60).then(|| ["red", "blue", "green"][self.rng.below(3)].into());
                (self.anybody(living), Ask::Team(TeamAsk::Admit { agent, team }))
            }
        }
    }
}

/// The human, at a terminal.
fn human_at(place: Place) -> Asker {
    let Place { lineage, window } = place;
    let (proof, process, terminal) = (Proof::Terminal, None, Some("/dev/pts/1".into()));
    let origin = Origin { proof, process, terminal, lineage, window };
    Asker { who: Principal::Human, origin: Some(Arc::new(origin)) }
}
