//! What can be asked about permissions, and what happened to them.

use serde::{Deserialize, Serialize};

use super::RequestId;
use super::answer::Answer;
use super::call::{Call, Class};
use super::pattern::Pattern;
use super::plans::PlanAnswer;
use super::request::Hearing;
use super::rules::{Effect, Rule, RuleId, Scope};
use super::verdict::Ground;
use crate::event::{EventType, durable, live};
use crate::ids::{AgentId, ContentHash, Principal};
use crate::roles::Mode;
use crate::time::Millis;

/// What can be asked about permissions.
#[derive(Clone, PartialEq, Debug)]
pub enum PermissionAsk {
    /// Asks whoever is above, unless that is not needed or was done. It allows nothing by itself.
    Request {
        /// What would be done.
        call: Box<Call>,
        /// How long an answer may take.
        wait: Millis,
        /// How the asker hears of it.
        hearing: Hearing,
    },
    /// Is about to make the call: agreed to if it is allowed, and a single answer is then used up.
    Use {
        /// What is done.
        call: Box<Call>,
    },
    /// Does not need it any more.
    Withdraw {
        /// Which request.
        request: RequestId,
    },
    /// Answers a request. It names the tool and the input that it is about, as they were seen.
    Answer {
        /// Which request.
        request: RequestId,
        /// The tool.
        tool: Box<str>,
        /// The hash of the exact input.
        hash: ContentHash,
        /// What is said.
        answer: Answer,
    },
    /// Adds a rule, which is the caller's.
    AddRule {
        /// Whom it is for.
        scope: Scope,
        /// What it says.
        effect: Effect,
        /// The tool; `*` is every tool.
        tool: Box<str>,
        /// What kind of tool that is.
        class: Class,
        /// What it is about.
        pattern: Option<Pattern>,
    },
    /// Removes a rule.
    RemoveRule {
        /// Which.
        rule: RuleId,
    },
    /// Changes the mode of an agent.
    SetMode {
        /// Whose.
        agent: AgentId,
        /// To what.
        mode: Mode,
    },
    /// Shows a plan to whoever is above, to be let out of plan mode.
    SubmitPlan {
        /// The file that it is in.
        file: Box<str>,
        /// What is in it.
        content: Box<str>,
    },
    /// Answers a plan.
    AnswerPlan {
        /// Which.
        plan: RequestId,
        /// What is said.
        answer: PlanAnswer,
    },
}

/// What happened to permissions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PermissionEvent {
    /// Somebody above was asked.
    Asked {
        /// The request.
        request: RequestId,
        /// Who asks.
        asker: AgentId,
        /// For what.
        call: Box<Call>,
        /// Who was asked.
        to: Principal,
        /// How long an answer may take.
        wait: Millis,
        /// How the asker hears of it.
        hearing: Hearing,
    },
    /// Who was asked is gone; somebody else is asked in its place.
    Escalated {
        /// The request.
        request: RequestId,
        /// Who is asked now.
        to: Principal,
    },
    /// A request was allowed.
    Allowed {
        /// The request.
        request: RequestId,
        /// By whom; by Comity, if rules or modes have changed.
        by: Principal,
        /// Why.
        ground: Ground,
        /// How long that may stay unused.
        keep: Millis,
    },
    /// A request was denied.
    Denied {
        /// The request.
        request: RequestId,
        /// By whom; by Comity, if rules or modes have changed.
        by: Principal,
        /// Why.
        reason: Box<str>,
        /// How long a repeat of the same gets the same answer.
        keep: Millis,
    },
    /// Nobody answered in time.
    Expired {
        /// The request.
        request: RequestId,
    },
    /// What was allowed was not done in time.
    Lapsed {
        /// The request.
        request: RequestId,
    },
    /// The asker needs no answer any more.
    Withdrawn {
        /// The request.
        request: RequestId,
        /// Why.
        cause: Box<str>,
    },
    /// What was allowed is being done, and is not allowed another time.
    Used {
        /// The request.
        request: RequestId,
        /// The hash of the exact input.
        hash: ContentHash,
    },
    /// Something was done that nobody had to be asked for.
    Passed {
        /// By whom.
        asker: AgentId,
        /// The tool.
        tool: Box<str>,
        /// The hash of the exact input.
        hash: ContentHash,
        /// What it is about, in a line.
        summary: Box<str>,
        /// Why it was allowed.
        ground: Ground,
    },
    /// A rule was made.
    RuleAdded {
        /// The rule.
        rule: Rule,
    },
    /// A rule is no more.
    RuleRemoved {
        /// Its number.
        rule: RuleId,
        /// As it was.
        text: Box<str>,
    },
    /// The owner of a rule that forbids has ended; somebody else has it now.
    RulePassedOn {
        /// Its number.
        rule: RuleId,
        /// Whose it is now.
        to: Principal,
    },
    /// The mode of an agent was changed.
    ModeSet {
        /// Whose.
        agent: AgentId,
        /// To what.
        mode: Mode,
        /// By whom.
        by: Principal,
    },
    /// A plan was shown to somebody above.
    PlanSubmitted {
        /// The plan.
        plan: RequestId,
        /// Whose it is.
        asker: AgentId,
        /// The file that it is in.
        file: Box<str>,
        /// What is in it.
        content: Box<str>,
        /// Who was asked.
        to: Principal,
    },
    /// Who was shown the plan is gone; somebody else is asked in its place.
    PlanEscalated {
        /// The plan.
        plan: RequestId,
        /// Who is asked now.
        to: Principal,
    },
    /// A plan was approved: its author goes on in this mode.
    PlanApproved {
        /// The plan.
        plan: RequestId,
        /// Whose it is.
        asker: AgentId,
        /// By whom.
        by: Principal,
        /// The mode to go on in.
        mode: Mode,
        /// What was said besides.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        feedback: Option<Box<str>>,
    },
    /// A plan was rejected.
    PlanRejected {
        /// The plan.
        plan: RequestId,
        /// By whom.
        by: Principal,
        /// What has to change.
        feedback: Box<str>,
    },
    /// A plan needs no answer any more.
    PlanWithdrawn {
        /// The plan.
        plan: RequestId,
        /// Why.
        cause: Box<str>,
    },
}

impl PermissionEvent {
    pub(crate) fn kind(&self) -> EventType {
        match self {
            PermissionEvent::Asked { .. } => durable("permission_asked", "permission:asked"),
            PermissionEvent::Escalated { .. } => durable("permission_escalated", "permission:escalated"),
            PermissionEvent::Allowed { .. } => durable("permission_allowed", "permission:allowed"),
            PermissionEvent::Denied { .. } => durable("permission_denied", "permission:denied"),
            PermissionEvent::Expired { .. } => durable("permission_expired", "permission:expired"),
            PermissionEvent::Lapsed { .. } => durable("permission_lapsed", "permission:lapsed"),
            PermissionEvent::Withdrawn { .. } => durable("permission_withdrawn", "permission:withdrawn"),
            PermissionEvent::Used { .. } => durable("permission_used", "permission:used"),
            // Before every call of an agent that need not ask: it is written down, and not waited for.
            PermissionEvent::Passed { .. } => live("permission_passed", "permission:passed"),
            PermissionEvent::RuleAdded { .. } => durable("permission_rule_added", "permission:rule_added"),
            PermissionEvent::RuleRemoved { .. } => {
                durable("permission_rule_removed", "permission:rule_removed")
            }
            PermissionEvent::RulePassedOn { .. } => {
                durable("permission_rule_passed_on", "permission:rule_passed_on")
            }
            PermissionEvent::ModeSet { .. } => durable("permission_mode_set", "permission:mode_set"),
            PermissionEvent::PlanSubmitted { .. } => durable("plan_submitted", "plan:submitted"),
            PermissionEvent::PlanEscalated { .. } => durable("plan_escalated", "plan:escalated"),
            PermissionEvent::PlanApproved { .. } => durable("plan_approved", "plan:approved"),
            PermissionEvent::PlanRejected { .. } => durable("plan_rejected", "plan:rejected"),
            PermissionEvent::PlanWithdrawn { .. } => durable("plan_withdrawn", "plan:withdrawn"),
        }
    }
}
