//! Asks for permission before a tool call runs, for agents that somebody leads.

use comity_core::permissions::{AllowedBy, AnswerDelivery, Judgement, ToolCall, applies, judge, mode_of};
use comity_core::roles::Mode;
use comity_core::teams::leader_of;
use comity_core::{AgentId, Ask, Millis, Principal, Refusal};
use comity_guard::payload::HookCall;
use comity_guard::verdict::Verdict;
use serde_json::Value;

use super::shell::Shell;
use super::tool::{HookReply, Judged, denied};
use super::{is_own_tool, planning};
use crate::operation::{Failure, Plan};
use crate::operations::permissions::ask::{put, use_of};
use crate::operations::permissions::reading;

/// How long a hook waits for an answer; after eight seconds it is itself cut off.
const HOOK_WAIT: Millis = Millis::seconds(6);

/// The question whether a call may be made, if it is one.
pub(super) struct Permission<'a> {
    judged: &'a Judged<'a>,
    question: Option<(AgentId, Result<ToolCall, Failure>)>,
}

impl<'a> Permission<'a> {
    pub(super) fn of(
        app: &crate::Application,
        judged: &'a Judged<'a>,
        payload: &str,
        shell: Shell,
    ) -> Permission<'a> {
        let question = match judged.who {
            Principal::Agent(agent) if app.config().guard.permissions && is_led(app, agent) => {
                let tool = planning::tool_of(judged.call);
                let input = HookCall::tool_input(payload.as_bytes()).unwrap_or(Value::Null);
                let is_plan = mode_of(&app.engine().world(), agent) == Mode::Plan;
                let is_sealed = is_plan && planning::is_sealed(judged, shell);
                let proven = |call: ToolCall| ToolCall { reads_only: call.reads_only || is_sealed, ..call };
                let call = || reading::call(app, &judged.cwd, tool, &input).map(proven);
                (!is_own_tool(tool)).then(|| (agent, call()))
            }
            Principal::Agent(_) | Principal::Human | Principal::System | Principal::Nobody => None,
        };
        Permission { judged, question }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.question.is_some()
    }

    /// Asks, waits as long as a hook can, and only then does what else the call needs.
    pub(super) fn judge(self, besides: Vec<Ask>) -> Result<Plan<HookReply>, Failure> {
        let Permission { judged, question } = self;
        let no = |no: &Refusal| Ok(Plan::Answer(judged.spoken(denied(no))));
        let (agent, call) = match question {
            Some((agent, Ok(call))) => (agent, call),
            Some((_, Err(Failure::Refused(refusal)))) => return no(&refusal),
            Some((_, Err(Failure::Fault(reason)))) => {
                return Ok(Plan::Answer(judged.spoken(Verdict::Fault { reason })));
            }
            None => return Ok(Plan::Answer(judged.spoken(Verdict::Fault { reason: "nobody asks".into() }))),
        };
        let reads_only =
            judge(&judged.app.engine().world(), agent, &call) == Judgement::Allowed(AllowedBy::ReadsOnly);
        let when = match reads_only {
            true => None,
            false => match put(judged.app, agent, &call, HOOK_WAIT, AnswerDelivery::Told) {
                Ok(when) => when,
                Err(Failure::Refused(refusal)) => return no(&refusal),
                Err(Failure::Fault(reason)) => {
                    return Ok(Plan::Answer(judged.spoken(Verdict::Fault { reason })));
                }
            },
        };
        let mut asks = if reads_only { vec![] } else { vec![use_of(call)] };
        asks.extend(besides);
        if asks.is_empty() {
            return Ok(Plan::Answer(judged.spoken(Verdict::Allow { context: None })));
        }
        let wording = judged.app.wording_of(judged.who);
        let (dialect, event, name) = (judged.call.dialect, judged.call.event, judged.call.event_name.clone());
        let finish = move |said: Result<(), Refusal>| {
            let verdict = match said {
                Ok(()) => Verdict::Allow { context: None },
                Err(refusal) => denied(&refusal),
            };
            HookReply::of(verdict, wording, dialect, event, &name)
        };
        // If it is denied in the end, the call is suspected of a write that it has not made: nothing worse.
        judged.keep_account(&Verdict::Allow { context: None });
        Ok(Plan::judge(judged.who, asks, finish).when(when))
    }
}

/// Whether there is anybody to ask, or any rule about this agent.
fn is_led(app: &crate::Application, agent: AgentId) -> bool {
    let world = app.engine().world();
    leader_of(&world, agent) != Principal::Human
        || mode_of(&world, agent) != Mode::default()
        || world.permissions.rules().any(|rule| applies(&world, rule, agent))
}
