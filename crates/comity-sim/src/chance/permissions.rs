//! What is asked about permissions, by chance.

use comity_core::permissions::{
    Answer, AnswerDelivery, Commands, KeptAnswer, Pattern, PermissionAsk, PlanAnswer, RequestId, RuleEffect,
    RuleId, RuleScope, ToolCall, ToolClass,
};
use comity_core::roles::Mode;
use comity_core::{AgentId, Ask, ContentHash, Millis, Principal};

use super::Scene;

/// The commands that are asked for; the first only looks.
const COMMANDS: [&str; 4] = ["ls", "make", "make install", "cargo publish"];
/// What a wish to reach a host is known by, behind the commands.
pub(crate) const NETWORK: u8 = COMMANDS.len() as u8;
const HOST: &str = "example.com";

impl Scene<'_> {
    pub(super) fn permission(&mut self, agent: AgentId, who: Principal) -> Ask {
        Ask::Permission(match self.rng.below(100) {
            0..30 => {
                let hearing = if self.rng.happens(50) { AnswerDelivery::Waits } else { AnswerDelivery::Told };
                let wait = Millis(self.rng.between(1_000, 60_000));
                PermissionAsk::Request { call: self.call(), wait, hearing }
            }
            30..52 => PermissionAsk::Use { call: self.call_of(who) },
            52..84 => self.answer(),
            84..86 => PermissionAsk::Withdraw { request: self.request() },
            86..88 => {
                let scope = match self.rng.below(3) {
                    0 => RuleScope::Agent(agent),
                    1 => RuleScope::Team("red".into()),
                    _ => RuleScope::Below,
                };
                let effect = *self
                    .rng
                    .pick(&[RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny])
                    .unwrap_or(&RuleEffect::Deny);
                if self.rng.happens(20) {
                    let pattern = Some(Pattern::Host(HOST.into()));
                    let (tool, class) = ("Network".into(), ToolClass::Network);
                    return Ask::Permission(PermissionAsk::AddRule { scope, effect, tool, class, pattern });
                }
                let words =
                    COMMANDS[1 + self.rng.below(COMMANDS.len() - 1)].split(' ').map(Into::into).collect();
                let pattern = Some(Pattern::Command(words));
                PermissionAsk::AddRule {
                    scope,
                    effect,
                    tool: "Bash".into(),
                    class: ToolClass::Shell,
                    pattern,
                }
            }
            88..95 => {
                let rules: Vec<RuleId> = self.oracle.permissions.rules.keys().copied().collect();
                PermissionAsk::RemoveRule { rule: self.rng.pick(&rules).copied().unwrap_or(RuleId(1)) }
            }
            _ => {
                let modes = [Mode::Plan, Mode::Ask, Mode::Ask, Mode::AcceptEdits, Mode::Full];
                PermissionAsk::SetMode { agent, mode: *self.rng.pick(&modes).unwrap_or(&Mode::Ask) }
            }
        })
    }

    /// Somebody is to plan, shows what it would do, or is let go on.
    pub(super) fn plan(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let rules: Vec<(RuleId, Principal)> =
            self.oracle.permissions.rules.iter().map(|(id, owner)| (*id, *owner)).collect();
        if let Some((rule, owner)) = self.rng.pick(&rules).copied().filter(|_| self.rng.happens(10)) {
            return (owner, Ask::Permission(PermissionAsk::RemoveRule { rule }));
        }
        let plans = &self.oracle.permissions.plans;
        let open: Vec<(RequestId, Principal)> = plans.iter().map(|(id, plan)| (*id, plan.to)).collect();
        let anybody = self.anybody(living);
        let agent = self.rng.pick(living).copied().unwrap_or(AgentId::from_bits(0));
        let (who, ask) = match (self.rng.pick(&open).copied(), self.rng.below(100)) {
            (Some((plan, to)), 0..45) => {
                let modes = [Mode::Plan, Mode::Ask, Mode::AcceptEdits, Mode::Full];
                let mode = *self.rng.pick(&modes).unwrap_or(&Mode::Ask);
                let answer = match self.rng.happens(60) {
                    true => PlanAnswer::Approve { mode, feedback: None },
                    false => PlanAnswer::Reject { feedback: "smaller steps".into() },
                };
                let who = if self.rng.happens(80) { to } else { anybody };
                (who, PermissionAsk::AnswerPlan { plan, answer })
            }
            (_, 0..60) => {
                let who = if self.rng.happens(50) { Principal::Human } else { self.oracle.leader(agent) };
                (who, PermissionAsk::SetMode { agent, mode: Mode::Plan })
            }
            _ => {
                let (file, content) = ("plan.md".into(), "first this".into());
                let planning = living.iter().copied().filter(|one| self.oracle.permissions.plans_now(*one));
                let author = self.rng.pick(&planning.collect::<Vec<_>>()).copied().unwrap_or(agent);
                (Principal::Agent(author), PermissionAsk::SubmitPlan { file, content })
            }
        };
        (who, Ask::Permission(ask))
    }

    fn answer(&mut self) -> PermissionAsk {
        let request = self.request();
        let asked = self.oracle.permissions.open.get(&request).map(|open| open.hash);
        let hash = asked.filter(|_| self.rng.happens(95)).unwrap_or(ContentHash([9; 32]));
        let answer = match self.rng.below(10) {
            0..3 => Answer::Deny { reason: None },
            3 => Answer::Allow { kept: Some(KeptAnswer { for_team: self.rng.happens(40), pattern: None }) },
            _ => Answer::Allow { kept: None },
        };
        let tool = if hash.0[0] == NETWORK { "Network" } else { "Bash" };
        PermissionAsk::Answer { request, tool: tool.into(), hash, answer }
    }

    fn request(&mut self) -> RequestId {
        let open: Vec<RequestId> = self.oracle.permissions.open.keys().copied().collect();
        self.rng.pick(&open).copied().unwrap_or(RequestId(1))
    }

    fn call(&mut self) -> Box<ToolCall> {
        let at = self.rng.below(COMMANDS.len() + 1);
        command(at)
    }

    /// What this agent has asked for, most of the time.
    fn call_of(&mut self, who: Principal) -> Box<ToolCall> {
        let own = self.oracle.permissions.open.values().filter(|open| Principal::Agent(open.asker) == who);
        let own: Vec<usize> = own.map(|open| usize::from(open.hash.0[0])).collect();
        match self.rng.pick(&own).copied().filter(|_| self.rng.happens(80)) {
            Some(at) if at <= COMMANDS.len() => command(at),
            Some(_) | None => self.call(),
        }
    }
}

fn command(at: usize) -> Box<ToolCall> {
    let Some(text) = COMMANDS.get(at).copied() else { return reach() };
    let words: Vec<Box<str>> = text.split(' ').map(Into::into).collect();
    let parts = vec![words.iter().cloned().map(Some).collect()];
    Box::new(ToolCall {
        host: None,
        tool: "Bash".into(),
        class: ToolClass::Shell,
        hash: ContentHash([at as u8; 32]),
        input: text.into(),
        summary: text.into(),
        project: None,
        writes: vec![],
        reads: vec![],
        outside: vec![],
        is_all: true,
        commands: Some(Commands { single: Some(words), parts, is_all: true }),
        reads_only: at == 0,
    })
}

/// A sandboxed program wants to connect to a host.
fn reach() -> Box<ToolCall> {
    let ls = command(0);
    Box::new(ToolCall {
        tool: "Network".into(),
        class: ToolClass::Network,
        hash: ContentHash([NETWORK; 32]),
        input: HOST.into(),
        summary: HOST.into(),
        commands: None,
        reads_only: false,
        host: Some(HOST.into()),
        ..*ls
    })
}
