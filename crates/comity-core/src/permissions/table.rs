//! All requests, rules, modes and plans, and what a snapshot keeps of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::RequestId;
use super::modes::ModeSet;
use super::plans::{PlanState, SubmittedPlan};
use super::request::{PermissionRequest, RequestState};
use super::rules::{Rule, RuleId};
use crate::ids::{AgentId, ContentHash};
use crate::limits::{PERMISSIONS_KEPT_MAX, PLANS_KEPT_MAX};
use crate::roles::Mode;

/// All waiting requests and plans, the newest of the others, rules and modes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Permissions {
    /// The last number given to a request, plan or rule.
    pub(super) last: u64,
    requests: BTreeMap<RequestId, PermissionRequest>,
    newest: BTreeMap<(AgentId, ContentHash), RequestId>,
    settled: usize,
    pub(super) rules: BTreeMap<RuleId, Rule>,
    pub(super) modes: BTreeMap<AgentId, ModeSet>,
    pub(super) plans: BTreeMap<RequestId, SubmittedPlan>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermissionFacts {
    last: u64,
    requests: Vec<PermissionRequest>,
    rules: Vec<Rule>,
    modes: Vec<(AgentId, ModeSet)>,
    plans: Vec<SubmittedPlan>,
}

impl Permissions {
    /// How many agents were put in plan mode.
    pub fn planning(&self) -> usize {
        self.modes.values().filter(|set| set.mode == Mode::Plan).count()
    }

    /// The request with this number.
    pub fn get(&self, id: RequestId) -> Option<&PermissionRequest> {
        self.requests.get(&id)
    }

    /// Oldest first.
    pub fn requests(&self) -> impl Iterator<Item = &PermissionRequest> {
        self.requests.values()
    }

    /// Those that wait for an answer, or to be used.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &PermissionRequest> {
        let any = self.requests.len() > self.settled;
        self.requests.values().filter(move |request| any && !request.state.is_settled())
    }

    pub(crate) fn requests_of(&self, agent: AgentId) -> impl Iterator<Item = &PermissionRequest> {
        self.requests.values().filter(move |request| request.asker == agent)
    }

    /// The newest request of an agent for exactly this input.
    pub fn newest(&self, agent: AgentId, hash: ContentHash) -> Option<&PermissionRequest> {
        self.newest.get(&(agent, hash)).and_then(|id| self.requests.get(id))
    }

    /// Oldest first.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.values()
    }

    /// The rule with this number.
    pub fn rule(&self, id: RuleId) -> Option<&Rule> {
        self.rules.get(&id)
    }

    /// Oldest first.
    pub fn plans(&self) -> impl Iterator<Item = &SubmittedPlan> {
        self.plans.values()
    }

    pub(super) fn insert(&mut self, request: PermissionRequest) {
        self.newest.insert((request.asker, request.call.hash), request.id);
        if request.state.is_settled() {
            self.settled += 1;
        }
        self.last = self.last.max(request.id.0);
        self.requests.insert(request.id, request);
    }

    /// Changes the state of a request; a settled one keeps only what is worth remembering.
    pub(super) fn set(&mut self, id: RequestId, state: RequestState) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        let was_settled = request.state.is_settled();
        request.state = state;
        if was_settled || !request.state.is_settled() {
            return;
        }
        request.call.input = "".into();
        self.settled += 1;
        while self.settled > PERMISSIONS_KEPT_MAX
            && let Some(oldest) = self.requests.values().find(|request| request.state.is_settled())
        {
            let (oldest, call) = (oldest.id, (oldest.asker, oldest.call.hash));
            self.requests.remove(&oldest);
            self.settled -= 1;
            if self.newest.get(&call) == Some(&oldest) {
                self.newest.remove(&call);
            }
        }
    }

    pub(super) fn insert_plan(&mut self, plan: SubmittedPlan) {
        self.last = self.last.max(plan.id.0);
        self.plans.insert(plan.id, plan);
    }

    pub(super) fn set_plan(&mut self, id: RequestId, state: PlanState) {
        let Some(plan) = self.plans.get_mut(&id) else { return };
        (plan.state, plan.content) = (state, "".into());
        let answered = |plan: &&SubmittedPlan| !matches!(plan.state, PlanState::Waiting { .. });
        while self.plans.values().filter(answered).count() > PLANS_KEPT_MAX
            && let Some(oldest) = self.plans.values().find(answered).map(|plan| plan.id)
        {
            self.plans.remove(&oldest);
        }
    }

    pub(super) fn insert_rule(&mut self, rule: Rule) {
        self.last = self.last.max(rule.id.0);
        self.rules.insert(rule.id, rule);
    }

    /// Forgets the modes of agents that are gone.
    pub(crate) fn forget(&mut self, is_forgotten: impl Fn(AgentId) -> bool) {
        self.modes.retain(|agent, _| !is_forgotten(*agent));
    }

    pub(crate) fn facts(&self) -> PermissionFacts {
        PermissionFacts {
            last: self.last,
            requests: self.requests.values().cloned().collect(),
            rules: self.rules.values().cloned().collect(),
            modes: self.modes.iter().map(|(agent, set)| (*agent, *set)).collect(),
            plans: self.plans.values().cloned().collect(),
        }
    }
}

impl PermissionFacts {
    pub(crate) fn restore(self) -> Permissions {
        let mut permissions = Permissions { last: self.last, ..Permissions::default() };
        self.requests.into_iter().for_each(|request| permissions.insert(request));
        self.rules.into_iter().for_each(|rule| permissions.insert_rule(rule));
        permissions.modes = self.modes.into_iter().collect();
        permissions.plans = self.plans.into_iter().map(|plan| (plan.id, plan)).collect();
        permissions
    }
}
