//! What the model makes of records about permissions: what was asked, what was said to it, and what was done.

use std::collections::{BTreeMap, BTreeSet};

use comity_core::permissions::{
    AllowedBy, Answer, AnswerDelivery, PermissionAsk, PermissionEvent, PlanAnswer, PlanState, RequestId,
    RequestState, RuleId, RuleScope,
};
use comity_core::roles::Mode;
use comity_core::{AgentId, ContentHash, Principal, Record, Timestamp, World};

use super::post::{PermissionParty, Urgency};
use super::{Found, Oracle};

/// The requests as the model sees them.
#[derive(Debug, Default)]
pub(crate) struct ModelRequests {
    pub(crate) open: BTreeMap<RequestId, ModelRequest>,
    pub(crate) rules: BTreeMap<RuleId, Principal>,
    /// The plans that wait for an answer.
    pub(crate) plans: BTreeMap<RequestId, ModelPlan>,
    /// Who is in plan mode because somebody said so.
    planning: BTreeSet<AgentId>,
    last: u64,
}

/// A plan that waits.
#[derive(Debug)]
pub(crate) struct ModelPlan {
    pub(super) asker: AgentId,
    pub(crate) to: Principal,
}

/// A request that is not settled.
#[derive(Debug)]
pub(crate) struct ModelRequest {
    pub(crate) asker: AgentId,
    pub(crate) hash: ContentHash,
    to: Principal,
    hearing: AnswerDelivery,
    deadline: Timestamp,
    /// Until when it may be used, once it was allowed.
    allowed: Option<Timestamp>,
}

impl Oracle {
    pub(super) fn observe_permission(&mut self, record: &Record, event: &PermissionEvent) -> Found {
        let (now, by) = (record.now, record.by);
        match event {
            PermissionEvent::Asked { request, asker, call, to, wait, hearing } => {
                self.permissions.numbered(request.0)?;
                if !self.is_alive(Principal::Agent(*asker)) || !self.is_alive(*to) {
                    return Err(format!("request {request} is of or for somebody who is not alive"));
                }
                let twice =
                    self.permissions.open.values().any(|one| one.asker == *asker && one.hash == call.hash);
                if twice || *to == Principal::Agent(*asker) {
                    return Err(format!("request {request} is asked twice, or of oneself"));
                }
                self.asks_leader(*to, *request);
                let (asker, hash, to, hearing) = (*asker, call.hash, *to, *hearing);
                let open =
                    ModelRequest { asker, hash, to, hearing, deadline: now.plus(*wait), allowed: None };
                self.permissions.open.insert(*request, open);
                Ok(())
            }
            PermissionEvent::Escalated { request, to } => {
                let before = std::mem::replace(&mut self.permissions.waiting(*request)?.to, *to);
                self.is_void_for(before, *request, PermissionParty::Answerer);
                self.asks_leader(*to, *request);
                Ok(())
            }
            PermissionEvent::Allowed { request, by: who, ground, keep } => {
                let open = self.permissions.waiting(*request)?;
                let is_late = now >= open.deadline;
                open.allowed = Some(now.plus(*keep));
                let (asker, hearing, to) = (open.asker, open.hearing, open.to);
                if is_late || *who != by || (*ground == AllowedBy::Answer) == (*who == Principal::System) {
                    return Err(format!("request {request} was allowed late, or by nobody"));
                }
                self.answers_well(*who, asker)?;
                self.is_void_for(to, *request, PermissionParty::Answerer);
                self.tell_of(asker, hearing, *request);
                Ok(())
            }
            PermissionEvent::Denied { request, by: who, .. } => {
                let open = self.permissions.waiting(*request)?;
                let (asker, hearing, to) = (open.asker, open.hearing, open.to);
                self.permissions.open.remove(request);
                self.answers_well(*who, asker)?;
                self.is_void_for(to, *request, PermissionParty::Answerer);
                self.tell_of(asker, hearing, *request);
                Ok(())
            }
            PermissionEvent::Expired { request } => {
                let open = self.permissions.waiting(*request)?;
                let (early, asker, hearing) = (now < open.deadline, open.asker, open.hearing);
                let to = open.to;
                self.permissions.open.remove(request);
                self.is_void_for(to, *request, PermissionParty::Answerer);
                self.tell_of(asker, hearing, *request);
                if early { Err(format!("request {request} expired too early")) } else { Ok(()) }
            }
            PermissionEvent::Lapsed { request } => match self.permissions.open.remove(request) {
                Some(ModelRequest { asker, allowed: Some(until), .. }) if now >= until => {
                    self.is_void_for(Principal::Agent(asker), *request, PermissionParty::Asker);
                    Ok(())
                }
                other => Err(format!("request {request} lapsed too early: {other:?}")),
            },
            PermissionEvent::Withdrawn { request, .. } => {
                let Some(gone) = self.permissions.open.remove(request) else {
                    return Err(format!("request {request} was withdrawn, but is not open"));
                };
                if gone.allowed.is_none() {
                    self.is_void_for(gone.to, *request, PermissionParty::Answerer);
                }
                self.is_void_for(Principal::Agent(gone.asker), *request, PermissionParty::Asker);
                Ok(())
            }
            PermissionEvent::Used { request, hash } => match self.permissions.open.remove(request) {
                Some(ModelRequest { asker, hash: asked, allowed: Some(until), .. })
                    if Principal::Agent(asker) == by && asked == *hash && now < until =>
                {
                    self.is_void_for(by, *request, PermissionParty::Asker);
                    Ok(())
                }
                other => Err(format!("request {request} was used without an allow: {other:?}")),
            },
            PermissionEvent::Passed { ground, .. } => match ground {
                AllowedBy::Rule(rule) if !self.permissions.rules.contains_key(rule) => {
                    Err(format!("rule {rule} allowed something, but is not there"))
                }
                AllowedBy::Answer => Err("something passed by an answer that is none".into()),
                AllowedBy::Rule(_) | AllowedBy::Mode(_) | AllowedBy::ReadsOnly => Ok(()),
            },
            PermissionEvent::RuleAdded { rule } => {
                self.permissions.numbered(rule.id.0)?;
                self.permissions.rules.insert(rule.id, rule.owner);
                if let RuleScope::Team(team) = &rule.scope {
                    self.all_hear(team, rule.owner);
                }
                if rule.owner == by { Ok(()) } else { Err(format!("rule {} is somebody else's", rule.id)) }
            }
            PermissionEvent::RuleRemoved { rule, .. } => {
                let gone = self.permissions.rules.remove(rule);
                gone.map(drop).ok_or_else(|| format!("rule {rule} was removed, but is not there"))
            }
            PermissionEvent::RulePassedOn { rule, to } => {
                self.permissions.rules.insert(*rule, *to);
                Ok(())
            }
            PermissionEvent::ModeSet { agent, by: who, mode } => {
                self.permissions.mode_set(*agent, *mode);
                if *who != Principal::Agent(*agent) {
                    self.hears(Principal::Agent(*agent), Urgency::Answer);
                    self.answers_well(*who, *agent)?;
                }
                Ok(())
            }
            PermissionEvent::PlanSubmitted { plan, asker, to, .. } => {
                self.permissions.numbered(plan.0)?;
                let twice = self.permissions.plans.values().any(|open| open.asker == *asker);
                if twice || by != Principal::Agent(*asker) || *to == by || !self.is_alive(*to) {
                    return Err(format!("{by} showed the plan {plan} of {asker} to {to}"));
                }
                self.permissions.plans.insert(*plan, ModelPlan { asker: *asker, to: *to });
                self.asks_leader(*to, *plan);
                Ok(())
            }
            PermissionEvent::PlanEscalated { plan, to } => {
                let before = std::mem::replace(&mut self.permissions.plan(*plan)?.to, *to);
                self.is_void_for(before, *plan, PermissionParty::Answerer);
                self.asks_leader(*to, *plan);
                Ok(())
            }
            PermissionEvent::PlanApproved { plan, mode, .. } => {
                let asker = self.closes_plan(*plan)?;
                self.permissions.mode_set(asker, *mode);
                self.answers_plan(by, asker)
            }
            PermissionEvent::PlanRejected { plan, .. } => {
                let asker = self.closes_plan(*plan)?;
                self.answers_plan(by, asker)
            }
            PermissionEvent::PlanWithdrawn { plan, .. } => self.closes_plan(*plan).map(drop),
        }
    }

    /// Who started its author, or whoever may decide about it, answers a plan; its author hears of it.
    fn answers_plan(&mut self, by: Principal, asker: AgentId) -> Found {
        let parent = self.kin.get(&asker).and_then(|kin| kin.parent).map(Principal::Agent);
        self.hears(Principal::Agent(asker), Urgency::Answer);
        if parent == Some(by) { Ok(()) } else { self.answers_well(by, asker) }
    }

    /// Whoever was asked may answer, as long as it waits.
    pub(super) fn should_answer(&self, who: Principal, ask: &PermissionAsk) -> bool {
        match ask {
            PermissionAsk::Answer { request, hash, answer: Answer::Deny { .. }, .. } => {
                let open = self.permissions.open.get(request).filter(|open| open.allowed.is_none());
                open.is_some_and(|open| open.to == who && open.hash == *hash)
            }
            PermissionAsk::AnswerPlan { plan, answer: PlanAnswer::Reject { .. } } => {
                self.permissions.plans.get(plan).is_some_and(|open| open.to == who)
            }
            _ => false,
        }
    }

    /// Only the human, or an agent of the role that may, decides; never about itself.
    fn answers_well(&self, who: Principal, asker: AgentId) -> Found {
        let may = match who {
            Principal::Human | Principal::System => true,
            Principal::Nobody => false,
            Principal::Agent(id) => id != asker && self.agents.get(&id).is_some_and(|being| being.is_lead),
        };
        if may { Ok(()) } else { Err(format!("{who} decided about {asker}, and may not")) }
    }

    /// Whoever is asked gets a message, if it is an agent.
    fn asks_leader(&mut self, to: Principal, request: RequestId) {
        if to != Principal::Human {
            self.hears_of(to, Urgency::Other, request, PermissionParty::Answerer);
        }
    }

    /// Whoever was to answer it need not any more.
    fn closes_plan(&mut self, id: RequestId) -> Result<AgentId, String> {
        let open = self.permissions.plans.remove(&id);
        let plan = open.ok_or_else(|| format!("plan {id} is over, but did not wait"))?;
        self.is_void_for(plan.to, id, PermissionParty::Answerer);
        Ok(plan.asker)
    }

    /// A rule for a team is told to each of it that its owner leads.
    fn all_hear(&mut self, team: &str, owner: Principal) {
        let hears = |agent: &AgentId| owner.agent() != Some(*agent) && self.leads(owner, *agent);
        let members: Vec<AgentId> = self.members(team).filter(hears).collect();
        members.into_iter().for_each(|agent| self.hears(Principal::Agent(agent), Urgency::Other));
    }

    fn tell_of(&mut self, asker: AgentId, hearing: AnswerDelivery, request: RequestId) {
        if hearing == AnswerDelivery::Told {
            self.hears_of(Principal::Agent(asker), Urgency::Answer, request, PermissionParty::Asker);
        }
    }

    /// The world has the open requests of its log, none of somebody who is gone, and none that is overdue.
    pub(super) fn agrees_on_permissions(&self, world: &World, now: Timestamp) -> Found {
        let mut open = world.permissions.requests().filter(|request| !request.state.is_settled());
        for (id, known) in &self.permissions.open {
            let same = open.next().is_some_and(|request| {
                let state = match (&request.state, known.allowed) {
                    (RequestState::Waiting { to }, None) => *to == known.to && now < known.deadline,
                    (RequestState::Allowed { until, .. }, Some(known)) => *until == known && now < known,
                    _ => false,
                };
                request.id == *id && request.asker == known.asker && request.call.hash == known.hash && state
            });
            if !same || !self.is_alive(Principal::Agent(known.asker)) {
                return Err(format!("request {id} is not that of its log"));
            }
        }
        if let Some(more) = open.next() {
            return Err(format!("request {} is not in the log", more.id));
        }
        let plans = world.permissions.plans().filter_map(|plan| match plan.state {
            PlanState::Waiting { to } => Some((plan.id, plan.asker, to)),
            _ => None,
        });
        let known = &self.permissions.plans;
        match plans.eq(known.iter().map(|(id, plan)| (*id, plan.asker, plan.to))) {
            true => Ok(()),
            false => Err("the plans that wait are not those of the log".into()),
        }
    }
}

impl ModelRequests {
    /// Who waits for an answer, and of whom.
    pub(super) fn awaited(&self) -> impl Iterator<Item = (Principal, Principal)> {
        let waits = |one: &&ModelRequest| one.allowed.is_none() && one.hearing == AnswerDelivery::Waits;
        self.open.values().filter(waits).map(|one| (Principal::Agent(one.asker), one.to))
    }

    /// Whether somebody is in plan mode because somebody said so.
    pub(crate) fn plans_now(&self, agent: AgentId) -> bool {
        self.planning.contains(&agent)
    }

    fn mode_set(&mut self, agent: AgentId, mode: Mode) {
        match mode {
            Mode::Plan => self.planning.insert(agent),
            Mode::Ask | Mode::AcceptEdits | Mode::Full => self.planning.remove(&agent),
        };
    }

    fn plan(&mut self, id: RequestId) -> Result<&mut ModelPlan, String> {
        self.plans.get_mut(&id).ok_or_else(|| format!("plan {id} does not wait for anything"))
    }

    fn numbered(&mut self, number: u64) -> Found {
        if number <= self.last {
            return Err(format!("number {number} is given twice"));
        }
        self.last = number;
        Ok(())
    }

    fn waiting(&mut self, id: RequestId) -> Result<&mut ModelRequest, String> {
        let open = self.open.get_mut(&id).filter(|open| open.allowed.is_none());
        open.ok_or_else(|| format!("request {id} does not wait for anything"))
    }
}
