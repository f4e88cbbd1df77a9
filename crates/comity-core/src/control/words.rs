//! Control messages in words.

use std::fmt;

use crate::calls;
use crate::next_call::call;

use super::{Control, IdleReason, PermissionOutcome};

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Control::ShutdownRequest { request_id, reason } => {
                write!(f, "you are asked to end ({request_id})")?;
                reason.as_deref().map_or(Ok(()), |reason| write!(f, ": {reason}"))?;
                let request = || ("request", request_id.to_string().into());
                let approve = call(calls::SHUTDOWN_APPROVE, [request()]);
                let reject = call(calls::SHUTDOWN_REJECT, [request(), ("reason", "WHY".into())]);
                write!(f, "; answer with: {approve}, or: {reject}")
            }
            Control::ShutdownApproved { request_id, agent, .. } => {
                write!(f, "{agent} ends, as you asked ({request_id})")
            }
            Control::ShutdownRejected { request_id, agent, reason } => {
                write!(f, "{agent} does not end ({request_id}): {reason}")
            }
            Control::PermissionResponse { request_id, tool, summary, decision, reason } => {
                let said = match decision {
                    PermissionOutcome::Allowed => "was allowed; try again",
                    PermissionOutcome::Denied => "was denied",
                    PermissionOutcome::Expired => "was not answered in time; ask again",
                };
                write!(f, "request {request_id} ({tool}: {summary}) {said}")?;
                reason.as_deref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
            Control::PermissionRequest { request_id, agent, tool, summary } => {
                let id = || ("id", request_id.to_string().into());
                let allow = call(calls::PERMISSION_ALLOW, [id()]);
                let deny = call(calls::PERMISSION_DENY, [id(), ("reason", "WHY".into())]);
                write!(f, "{agent} asks for permission ({tool}: {summary}); answer with: {allow}, or: {deny}")
            }
            Control::PlanApprovalRequest { request_id, agent, plan_content, .. } => {
                let id = || ("id", request_id.to_string().into());
                let approve = call(calls::PLAN_APPROVE, [id()]);
                let reject = call(calls::PLAN_REJECT, [id(), ("feedback", "WHY".into())]);
                write!(f, "{agent} shows you a plan; answer with: {approve}, or: {reject}\n{plan_content}")
            }
            Control::PlanApprovalResponse { approved, mode, feedback, .. } => {
                let said = if *approved { "your plan was approved" } else { "your plan was rejected" };
                f.write_str(said)?;
                mode.map_or(Ok(()), |mode| write!(f, "; go on in {} mode", mode.word()))?;
                feedback.as_deref().map_or(Ok(()), |feedback| write!(f, ": {feedback}"))
            }
            Control::ModeSet { mode, by } => write!(f, "you are in {} mode now, by {by}", mode.word()),
            Control::TeamPermissionUpdate { team, rule } => write!(f, "a rule for all of {team}: {rule}"),
            Control::IdleNotification { agent, idle_reason, summary, completed_task_id, .. } => {
                let why = match idle_reason {
                    IdleReason::Available => "waits for work",
                    IdleReason::Interrupted => "was interrupted",
                    IdleReason::Failed => "failed",
                };
                write!(f, "{agent} {why}: {summary}")?;
                completed_task_id.as_deref().map_or(Ok(()), |task| write!(f, " (task {task})"))
            }
        }
    }
}
