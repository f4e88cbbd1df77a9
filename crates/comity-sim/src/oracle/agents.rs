//! What the model makes of records about agents.

use comity_core::agents::{AgentEvent, Ending};
use comity_core::commits::CommitEvent;
use comity_core::limits::NOTICES_MAX;
use comity_core::notices::NoticeEvent;
use comity_core::permissions::PermissionEvent;
use comity_core::worktrees::WorktreeEvent;
use comity_core::{AgentId, Event, Millis, Principal, Record, Timestamp};

use super::kin::Kin;
use super::{ACT_GRAIN, Being, Found, Oracle};

impl Oracle {
    /// Whoever acts is alive, and an act is a sign of life.
    pub(super) fn acts(&mut self, record: &Record) -> Found {
        // A program that nobody knows may become known; in no wider mode than before.
        let comes_in = matches!(
            record.event,
            Event::Agent(AgentEvent::Joined { .. })
                | Event::Permission(PermissionEvent::ModeSet { by: Principal::System, .. })
        );
        if record.by == Principal::Nobody && !comes_in {
            return Err("something was done by nobody".into());
        }
        let Principal::Agent(id) = record.by else { return Ok(()) };
        // Who ends itself ends first, and its children by the same act.
        if self.left.contains(&id) {
            return Ok(());
        }
        // What the dead have committed is found later.
        let is_found = matches!(
            record.event,
            Event::Commit(CommitEvent::Made { recovered: true, .. })
                | Event::Worktree(WorktreeEvent::BranchMerged { recovered: true, .. })
        );
        if is_found && self.gone.contains(&id) {
            return Ok(());
        }
        let now = record.now;
        let being = self.living(id, "acted")?;
        being.acted = now;
        (being.disconnected, being.silent_since) = (None, None);
        Ok(())
    }

    fn living(&mut self, id: AgentId, what: &str) -> Result<&mut Being, String> {
        self.agents.get_mut(&id).ok_or_else(|| format!("{id} {what} though it is not alive"))
    }

    /// A server started: everybody's time counts from now, but for how long the machine has run without a sign of life.
    pub(super) fn all_heard(&mut self, boot: Option<&str>, uptime: Option<Millis>) {
        let now = self.now;
        let is_same = boot.is_some() && self.boot.as_deref() == boot;
        self.boot = boot.map(Into::into);
        for being in self.agents.values_mut() {
            (being.heard, being.disconnected) = (now, None);
            let since = being.silent_since.filter(|_| is_same);
            being.silence = match (since, uptime) {
                (Some(since), Some(uptime)) => Millis(uptime.0.saturating_sub(since.0)),
                _ => Millis(0),
            };
            being.silent_since = since.or(uptime);
        }
    }

    pub(super) fn observe_agent(&mut self, record: &Record) -> Found {
        let now = record.now;
        match &record.event {
            Event::Agent(AgentEvent::Joined { agent, profile, .. }) => {
                let being = Being {
                    parent: profile.parent,
                    has_process: profile.process.is_some(),
                    is_lead: profile.role.as_deref() == Some("lead"),
                    disconnected: None,
                    heard: now,
                    acted: now,
                    silent_since: None,
                    silence: Millis(0),
                    notices: Vec::new(),
                };
                if profile.parent.is_some_and(|parent| !self.is_alive(Principal::Agent(parent))) {
                    return Err(format!("{agent} joined below somebody who is not alive"));
                }
                if let (Some(team), Principal::Agent(by)) = (&profile.team, record.by) {
                    let is_own = self.kin.get(&by).is_some_and(|kin| kin.team.as_ref() == Some(team));
                    if !is_own && self.teams.get(team) != Some(&record.by) {
                        return Err(format!("{agent} is in the team {team}, which {by} has no say in"));
                    }
                }
                self.kin.insert(*agent, Kin::of(profile));
                if self.gone.contains(agent) || self.agents.insert(*agent, being).is_some() {
                    return Err(format!("{agent} joined twice"));
                }
                Ok(())
            }
            Event::Agent(AgentEvent::ProcessKnown { agent, process }) => {
                if let Some(kin) = self.kin.get_mut(agent) {
                    kin.process = Some(*process);
                }
                self.living(*agent, "got a process")?.has_process = true;
                Ok(())
            }
            Event::Agent(AgentEvent::Seen { agent }) => {
                let being = self.living(*agent, "was seen")?;
                (being.heard, being.disconnected, being.silent_since) = (now, None, None);
                Ok(())
            }
            Event::Agent(AgentEvent::Disconnected { agent }) => {
                self.living(*agent, "disconnected")?.disconnected = Some(now);
                Ok(())
            }
            Event::Notice(NoticeEvent::Taken { agent, up_to }) => {
                let up_to = *up_to;
                self.living(*agent, "took notices")?.notices.retain(|id| *id > up_to);
                Ok(())
            }
            Event::Agent(AgentEvent::Ended { agent, ending, .. }) => {
                self.leader_hears(*agent, *ending, record);
                self.ends(*agent, record.by, now)
            }
            Event::Agent(AgentEvent::TokenAdded { agent, .. }) => {
                self.living(*agent, "got a token").map(drop)
            }
            Event::Agent(AgentEvent::Named { agent, name }) => {
                let has_it = |other: &AgentId| self.kin.get(other).is_some_and(|kin| kin.name == *name);
                if record.by != Principal::Agent(*agent) || self.agents.keys().any(has_it) {
                    return Err(format!("{} named {agent} {name}", record.by));
                }
                if let Some(kin) = self.kin.get_mut(agent) {
                    kin.name = name.clone();
                }
                self.living(*agent, "was named").map(drop)
            }
            Event::Agent(AgentEvent::Idled { agent, .. }) => self.living(*agent, "was idle").map(drop),
            _ => Ok(()),
        }
    }

    fn ends(&mut self, id: AgentId, by: Principal, now: Timestamp) -> Found {
        let patience = self.patience;
        let left = self.left.clone();
        let is_overdue = self.overdue.contains(&id);
        let being = self.living(id, "ended")?;
        let with_parent = being.parent.is_some_and(|parent| left.contains(&parent));
        let heard = being.heard.max(being.acted);
        let silent = match being.disconnected {
            Some(at) => now >= at.plus(patience.disconnect_grace),
            None => !being.has_process && now.plus(ACT_GRAIN) >= heard.plus(patience.agent_timeout),
        };
        let silent = silent || (!being.has_process && being.silence >= patience.agent_timeout);
        if by == Principal::System && !with_parent && !silent && !is_overdue {
            if !self.is_run(id) {
                return Err(format!("{id} was given up too early"));
            }
            self.run_ended.insert(id);
        }
        self.agents.remove(&id);
        self.seekers.remove(&id);
        self.known.retain(|(agent, _, _), _| *agent != id);
        self.shelves.forget(id);
        self.gone.insert(id);
        self.left.push(id);
        let who = Principal::Agent(id);
        self.asked.retain(|_, asked| asked.agent != id);
        if self.post.piles.remove(&who).is_some_and(|pile| !pile.letters.is_empty()) {
            return Err(format!("{id} ended, but nobody was told of the letters to it"));
        }
        match self.waits.iter().find(|(_, wait)| wait.who == who) {
            Some((ticket, _)) => Err(format!("{id} ended, but {ticket:?} still waits")),
            None => Ok(()),
        }
    }

    /// A leader is told of the end of its agents, but not of what it did itself or has in its own program.
    fn leader_hears(&mut self, agent: AgentId, ending: Ending, record: &Record) {
        let leader = self.leader(agent);
        let is_within = self.kin.get(&agent).is_some_and(|kin| kin.is_within);
        if leader != record.by && !(is_within && ending == Ending::Completed) {
            self.tell(leader, record.seq);
        }
    }

    /// A notice for `who`; the dead are told nothing.
    pub(super) fn tell(&mut self, who: Principal, seq: u64) {
        if let Some(being) = who.agent().and_then(|id| self.agents.get_mut(&id)) {
            being.notices.push(seq);
            if being.notices.len() > NOTICES_MAX {
                being.notices.remove(0);
            }
        }
    }

    /// How long the machine has run since somebody's last sign of life, over servers that were killed.
    pub(super) fn silence(&self, who: Principal) -> Millis {
        let being = who.agent().and_then(|id| self.agents.get(&id)).filter(|being| !being.has_process);
        being.map_or(Millis(0), |being| being.silence)
    }

    /// The last moment from which this holder's locks count: exact, or by acts that count to the second.
    pub(super) fn last_sign(&self, who: Principal) -> (Timestamp, Timestamp) {
        let being = who.agent().and_then(|id| self.agents.get(&id));
        being.map_or_else(Default::default, |being| (being.heard, being.acted))
    }
}
