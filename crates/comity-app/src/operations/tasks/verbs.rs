//! What is done to a task in one word. Each is an operation of its own; they differ in nothing but the word.

use clap::Args;
use comity_core::redact::redact;
use comity_core::tasks::Act;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TaskChange, act};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

macro_rules! verbs {
    ($($(#[$doc:meta])* $name:ident $effect:ident $op:literal $word:literal $act:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// Which
            #[arg(value_name = "ID")]
            pub id: String,
        }

        impl Operation for $name {
            const NAME: &'static str = $op;
            const EFFECT: Effect = Effect::$effect;
            const AUDIENCE: Audience = Audience::People;
            const ROUTE: Route = Route { method: "POST", path: concat!("/api/tasks/{id}/", $word) };
            const COMMAND: &'static [&'static str] = &["task", $word];
            type Output = TaskChange;

            fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
                act(app, caller, &self.id, None, Act::$act)
            }
        }
    )*};
}

verbs! {
    /// Lets nobody work on a task for now; its owner keeps it, and its files are unlocked.
    TaskPause Changes "task_pause" "pause" Pause;
    /// Lets a paused task go on.
    TaskResume Changes "task_resume" "resume" Resume;
    /// Tries a failed task again.
    TaskRetry Changes "task_retry" "retry" Retry;
    /// Takes back a task that is done, failed, skipped or cancelled. What was begun after it goes on.
    TaskReopen Changes "task_reopen" "reopen" Reopen;
    /// Says that a task need not be done; what depends on it goes on.
    TaskSkip Removes "task_skip" "skip" Skip;
    /// Says that a task is not wanted; what depends on it is blocked.
    TaskCancel Removes "task_cancel" "cancel" Cancel;
    /// Accepts the work of somebody else that is in review.
    TaskAccept Changes "task_accept" "accept" Accept;
    /// Gives your task back, for somebody else to take.
    TaskGiveBack Changes "task_give_back" "give-back" GiveBack;
}

/// Sends the work of somebody else that is in review back, with what must change.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct TaskSendBack {
    /// Which
    #[arg(value_name = "ID")]
    pub id: String,
    /// What must change
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

impl Operation for TaskSendBack {
    const NAME: &'static str = "task_send_back";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/tasks/{id}/send-back" };
    const COMMAND: &'static [&'static str] = &["task", "send-back"];
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        act(app, caller, &self.id, None, Act::SendBack { reason: redact(&self.reason).into() })
    }
}
