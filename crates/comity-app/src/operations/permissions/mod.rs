//! Permissions: ask, answer, make rules, set modes, approve plans.

mod allow;
pub(crate) mod ask;
mod deny;
mod input;
mod list;
mod mode;
mod plan_approve;
mod plan_list;
mod plan_reject;
mod plan_submit;
pub(crate) mod reading;
mod repositories;
mod rule_add;
mod rule_remove;
mod rules;

use std::fmt;

use comity_core::calls;
use comity_core::display::visible;
use comity_core::permissions::{PermissionRequest, RequestState, colour_of};
use comity_core::{Millis, Principal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::{CatalogEntry, DELETE, GET, Group, POST};
pub use allow::AllowRequest;
pub use ask::{AskPermission, asked_by_message};
pub use deny::DenyRequest;
pub use list::ListPermissions;
pub use mode::SetMode;
pub use plan_approve::ApprovePlan;
pub use plan_list::ListPlans;
pub use plan_reject::RejectPlan;
pub use plan_submit::SubmitPlan;
pub(crate) use plan_submit::submit_plan_first;
pub use rule_add::AddRule;
pub use rule_remove::RemoveRule;
pub use rules::ListRules;

pub(crate) const GROUPS: &[Group] = &[
    ("permission", "Who asks for what, and the rules"),
    ("rule", "Rules that answer requests by themselves"),
    ("plan", "Plans of agents that may only read for now"),
];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<AskPermission>(  calls::ASK_PERMISSION,         "ask <tool> <input>",                             POST,   "/api/permissions")           .changes().for_agents().unlisted(&["by_mail"]).waits().examples(&["ask Bash 'cargo test'"]),
    CatalogEntry::of::<ListPermissions>(calls::PERMISSIONS,            "permission list <id>",                           GET,    "/api/permissions").also(&["permission ls", "permission show"]),
    CatalogEntry::of::<AllowRequest>(   calls::PERMISSION_ALLOW,       "permission allow <id>",                          POST,   "/api/permissions/{id}/allow").changes().examples(&["permission allow 7"]).answers("p", "allow"),
    CatalogEntry::of::<DenyRequest>(    calls::PERMISSION_DENY,        "permission deny <id>",                           POST,   "/api/permissions/{id}/deny") .changes().answers("p", "deny"),
    CatalogEntry::of::<ListRules>(      calls::PERMISSION_RULES,       "permission rule list",                          GET,    "/api/permissions/rules").also(&["permission rules"]),
    CatalogEntry::of::<AddRule>(        "permission_rule_add",    "permission rule add <effect> <tool> <pattern>",  POST,   "/api/permissions/rules")     .changes().examples(&["permission rule add allow Bash 'cargo test*'"]),
    CatalogEntry::of::<RemoveRule>(     calls::PERMISSION_RULE_REMOVE, "permission rule remove <id>",                    DELETE, "/api/permissions/rules/{id}").removes().also(&["permission rule rm"]),
    CatalogEntry::of::<SetMode>(        "mode",                   "mode <agent> <mode>",                            POST,   "/api/permissions/mode")      .changes(),
    CatalogEntry::of::<ListPlans>(      "plans",                  "plan list <id>",                                 GET,    "/api/plans")                 .also(&["plan ls", "plan show"]),
    CatalogEntry::of::<SubmitPlan>(     "plan_submit",            "plan submit <file>",                             POST,   "/api/plans")                 .changes().for_agents(),
    CatalogEntry::of::<ApprovePlan>(    calls::PLAN_APPROVE,           "plan approve <id>",                              POST,   "/api/plans/{id}/approve")    .changes().answers("plan", "approve"),
    CatalogEntry::of::<RejectPlan>(     calls::PLAN_REJECT,            "plan reject <id>",                               POST,   "/api/plans/{id}/reject")     .changes().answers("plan", "reject"),
];

/// One request, as it is shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RequestView {
    pub id: u64,
    pub asker: String,
    pub agent: String,
    /// The colour of who asks.
    pub colour: &'static str,
    pub tool: String,
    /// What it is about, in a line.
    pub summary: String,
    /// The whole input, without secrets; while it waits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub input: String,
    /// The hash of the exact input.
    pub hash: String,
    /// waiting, allowed, used, denied, expired, lapsed or withdrawn.
    pub state: &'static str,
    /// Who was asked, or who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether that is who reads it.
    #[serde(skip)]
    pub(super) is_you: bool,
    /// Why it was denied or withdrawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since it was asked.
    pub age_ms: u64,
    /// Until it is too late for an answer, or for using it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
}

impl RequestView {
    pub(crate) fn of(request: &PermissionRequest, world: &World, now: Timestamp) -> RequestView {
        let (by, reason, until) = match &request.state {
            RequestState::Waiting { to } => (Some(*to), None, Some(request.deadline)),
            RequestState::Allowed { by, until, .. } => (Some(*by), None, Some(*until)),
            RequestState::Used { by, .. } => (Some(*by), None, None),
            RequestState::Denied { by, reason, .. } => (Some(*by), Some(reason.to_string()), None),
            RequestState::Withdrawn { cause } => (None, Some(cause.to_string()), None),
            RequestState::Expired | RequestState::Lapsed => (None, None, None),
        };
        RequestView {
            id: request.id.0,
            asker: world.name_of(Principal::Agent(request.asker)),
            agent: request.asker.to_string(),
            colour: colour_of(request.asker).word(),
            tool: visible(&request.call.tool).into(),
            summary: visible(&request.call.summary).into(),
            input: visible(&request.call.input).into(),
            hash: request.call.hash.to_string(),
            state: request.state.word(),
            by: by.map(|by| world.name_of(by)),
            is_you: false,
            reason,
            age_ms: now.since(request.since).0,
            expires_in_ms: until.map(|until| until.since(now).0),
        }
    }
}

/// `12  ann (blue)  Bash: cargo publish  waits for lead, 4m 10s left`
impl fmt::Display for RequestView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {} ({})  {}: {}  ", self.id, self.asker, self.colour, self.tool, self.summary)?;
        f.write_str(&self.standing())
    }
}

impl RequestView {
    fn row(&self) -> Vec<String> {
        let asker = format!("{} ({})", self.asker, self.colour);
        vec![self.id.to_string(), asker, format!("{}: {}", self.tool, self.summary), self.standing()]
    }

    /// Where it is, and who is asked or has answered.
    fn standing(&self) -> String {
        let left = self.expires_in_ms.map(|left| format!(", {} left", Millis(left))).unwrap_or_default();
        let reason = self.reason.as_deref().map(|text| format!(": {}", visible(text))).unwrap_or_default();
        let by = self.by.as_deref().map(|by| if self.is_you { "you" } else { by });
        match (self.state, by) {
            ("used", Some(by)) => format!("allowed by {by}, used"),
            ("waiting", Some(to)) => format!("waits for {to}{left}"),
            (state, Some(by)) => format!("{state} by {by}{left}{reason}"),
            (state, None) => format!("{state}{reason}"),
        }
    }
}

/// The agent with this name or id; the caller itself if `None`.
fn agent_meant(
    world: &World,
    name: Option<&str>,
    caller: Principal,
) -> Result<comity_core::AgentId, comity_core::Refusal> {
    match (name, caller) {
        (Some(name), _) => world.agents.find(name).map(|agent| agent.id),
        (None, Principal::Agent(agent)) => Ok(agent),
        (None, Principal::Human | Principal::System | Principal::Nobody) => {
            Err(comity_core::Refusal::bad_input("say which agent", "name it"))
        }
    }
}

/// Somebody's text, as it is stored: without secrets.
fn stored(text: Option<String>) -> Option<Box<str>> {
    text.filter(|text| !text.trim().is_empty()).map(|text| comity_core::redact::redact(text.trim()).into())
}
