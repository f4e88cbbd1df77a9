//! What can be asked about permissions, and what happened to them.

use serde::{Deserialize, Serialize};

use super::RequestId;
use super::answer::Answer;
use super::call::{ToolCall, ToolClass};
use super::pattern::Pattern;
use super::plans::PlanAnswer;
use super::request::AnswerDelivery;
use super::rules::{Rule, RuleEffect, RuleId, RuleScope};
use super::verdict::AllowedBy;
use crate::ids::{AgentId, ContentHash, Principal};
use crate::roles::Mode;
use crate::time::Millis;

/// What can be asked about permissions.
#[derive(Clone, PartialEq, Debug)]
pub enum PermissionAsk {
    /// Asks whoever is above, unless that is not needed or was done. It allows nothing by itself.
    Request {
        call: Box<ToolCall>,
        /// How long an answer may take.
        wait: Millis,
        /// How the asker hears of it.
        hearing: AnswerDelivery,
    },
    /// Is about to make the call: agreed to if it is allowed, and a single answer is then used up.
    Use {
        call: Box<ToolCall>,
    },
    /// Does not need it any more.
    Withdraw {
        request: RequestId,
    },
    /// Answers a request. It names the tool and the input that it is about, as they were seen.
    Answer {
        request: RequestId,
        tool: Box<str>,
        /// The hash of the exact input.
        hash: ContentHash,
        answer: Answer,
    },
    /// Adds a rule, which is the caller's.
    AddRule {
        scope: RuleScope,
        effect: RuleEffect,
        /// The tool; `*` is every tool.
        tool: Box<str>,
        class: ToolClass,
        pattern: Option<Pattern>,
    },
    RemoveRule {
        rule: RuleId,
    },
    /// Changes the mode of an agent.
    SetMode {
        agent: AgentId,
        mode: Mode,
    },
    /// Shows a plan to whoever is above, to be let out of plan mode.
    SubmitPlan {
        file: Box<str>,
        content: Box<str>,
    },
    AnswerPlan {
        plan: RequestId,
        answer: PlanAnswer,
    },
}

/// What happened to permissions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PermissionEvent {
    Asked {
        request: RequestId,
        asker: AgentId,
        call: Box<ToolCall>,
        to: Principal,
        /// How long an answer may take.
        wait: Millis,
        /// How the asker hears of it.
        hearing: AnswerDelivery,
    },
    /// Who was asked is gone; somebody else is asked in its place.
    Escalated {
        request: RequestId,
        to: Principal,
    },
    Allowed {
        request: RequestId,
        /// By whom; by Comity, if rules or modes have changed.
        by: Principal,
        ground: AllowedBy,
        /// How long that may stay unused.
        keep: Millis,
    },
    Denied {
        request: RequestId,
        /// By whom; by Comity, if rules or modes have changed.
        by: Principal,
        reason: Box<str>,
        /// How long a repeat of the same gets the same answer.
        keep: Millis,
    },
    Expired {
        request: RequestId,
    },
    /// What was allowed was not done in time.
    Lapsed {
        request: RequestId,
    },
    /// The asker needs no answer any more.
    Withdrawn {
        request: RequestId,
        cause: Box<str>,
    },
    /// What was allowed is being done, and is not allowed another time.
    Used {
        request: RequestId,
        /// The hash of the exact input.
        hash: ContentHash,
    },
    /// Something was done that nobody had to be asked for.
    Passed {
        asker: AgentId,
        tool: Box<str>,
        /// The hash of the exact input.
        hash: ContentHash,
        /// What it is about, in a line.
        summary: Box<str>,
        ground: AllowedBy,
    },
    RuleAdded {
        rule: Rule,
    },
    /// A rule is no more.
    RuleRemoved {
        rule: RuleId,
        text: Box<str>,
    },
    /// The owner of a rule that forbids has ended; somebody else has it now.
    RulePassedOn {
        rule: RuleId,
        to: Principal,
    },
    /// The mode of an agent was changed.
    ModeSet {
        agent: AgentId,
        mode: Mode,
        by: Principal,
    },
    /// A plan was shown to somebody above.
    PlanSubmitted {
        plan: RequestId,
        asker: AgentId,
        file: Box<str>,
        content: Box<str>,
        to: Principal,
    },
    /// Who was shown the plan is gone; somebody else is asked in its place.
    PlanEscalated {
        plan: RequestId,
        to: Principal,
    },
    /// A plan was approved: its author goes on in this mode.
    PlanApproved {
        plan: RequestId,
        asker: AgentId,
        by: Principal,
        /// The mode to go on in.
        mode: Mode,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        feedback: Option<Box<str>>,
    },
    PlanRejected {
        plan: RequestId,
        by: Principal,
        feedback: Box<str>,
    },
    /// A plan needs no answer any more.
    PlanWithdrawn {
        plan: RequestId,
        cause: Box<str>,
    },
}

impl PermissionEvent {}
