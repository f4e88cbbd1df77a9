//! Asks and events of permissions.

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
    /// Asks whoever is above, unless it is already answered or needs no answer. It allows nothing by itself.
    Request {
        call: Box<ToolCall>,
        wait: Millis,
        hearing: AnswerDelivery,
    },
    /// Is about to make the call: refused unless it is allowed; uses up an answer that was for one call.
    Use {
        call: Box<ToolCall>,
    },
    Withdraw {
        request: RequestId,
    },
    /// Answers a request, and repeats the tool and input that the answerer saw.
    Answer {
        request: RequestId,
        tool: Box<str>,
        hash: ContentHash,
        answer: Answer,
    },
    AddRule {
        scope: RuleScope,
        effect: RuleEffect,
        /// `*` is every tool.
        tool: Box<str>,
        class: ToolClass,
        pattern: Option<Pattern>,
    },
    RemoveRule {
        rule: RuleId,
    },
    SetMode {
        agent: AgentId,
        mode: Mode,
    },
    /// Submits a plan to whoever is above, to leave plan mode.
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
        wait: Millis,
        hearing: AnswerDelivery,
    },
    /// The answerer is gone; somebody else is asked instead.
    Escalated {
        request: RequestId,
        to: Principal,
    },
    Allowed {
        request: RequestId,
        /// Comity, if rules or modes have changed.
        by: Principal,
        ground: AllowedBy,
        /// How long it may stay unused.
        keep: Millis,
    },
    Denied {
        request: RequestId,
        /// Comity, if rules or modes have changed.
        by: Principal,
        reason: Box<str>,
        /// How long a repeat gets the same answer.
        keep: Millis,
    },
    Expired {
        request: RequestId,
    },
    /// It was allowed, and not used in time.
    Lapsed {
        request: RequestId,
    },
    Withdrawn {
        request: RequestId,
        cause: Box<str>,
    },
    /// It was allowed once, and is used up.
    Used {
        request: RequestId,
        hash: ContentHash,
    },
    /// A call was made that needed no answer.
    Passed {
        asker: AgentId,
        tool: Box<str>,
        hash: ContentHash,
        summary: Box<str>,
        ground: AllowedBy,
    },
    RuleAdded {
        rule: Rule,
    },
    RuleRemoved {
        rule: RuleId,
        text: Box<str>,
    },
    /// The owner of a rule that denies has ended; somebody else owns it now.
    RulePassedOn {
        rule: RuleId,
        to: Principal,
    },
    ModeSet {
        agent: AgentId,
        mode: Mode,
        by: Principal,
    },
    PlanSubmitted {
        plan: RequestId,
        asker: AgentId,
        file: Box<str>,
        content: Box<str>,
        to: Principal,
    },
    /// The answerer of a plan is gone; somebody else is asked instead.
    PlanEscalated {
        plan: RequestId,
        to: Principal,
    },
    PlanApproved {
        plan: RequestId,
        asker: AgentId,
        by: Principal,
        mode: Mode,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        feedback: Option<Box<str>>,
    },
    PlanRejected {
        plan: RequestId,
        by: Principal,
        feedback: Box<str>,
    },
    PlanWithdrawn {
        plan: RequestId,
        cause: Box<str>,
    },
}

impl PermissionEvent {}
