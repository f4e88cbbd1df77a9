//! Rules: allow, ask or deny by tool and pattern. They belong to a leader or the human.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::authority::may_decide_about;
use super::call::{ToolCall, ToolClass};
use super::event::PermissionEvent;
use super::pattern::{Match, Pattern};
use crate::calls;
use crate::ids::{AgentId, Principal};
use crate::limits::{PERMISSION_RULES_MAX, PERMISSION_TOOL_BYTES_MAX};
use crate::next_call::call;
use crate::people::PersonRefusal;
use crate::refusal::Refusal;
use crate::roles::{Right, may};
use crate::teams::leads;
use crate::time::Timestamp;
use crate::world::World;

/// It only grows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RuleId(pub u64);

/// What a rule says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    Allow,
    Ask,
    Deny,
}

/// Whom a rule applies to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    Agent(AgentId),
    Team(Box<str>),
    /// Everybody whom its owner leads; everybody at all, if that is the human.
    Below,
}

/// What is answered without asking anybody, and for whom.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: RuleId,
    pub owner: Principal,
    pub scope: RuleScope,
    pub effect: RuleEffect,
    /// `*` is every tool.
    pub tool: Box<str>,
    pub class: ToolClass,
    /// What it covers; every call of the tool if `None`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pattern: Option<Pattern>,
    pub since: Timestamp,
}

const EVERY_TOOL: &str = "*";

impl RuleEffect {
    pub fn word(self) -> &'static str {
        match self {
            RuleEffect::Allow => "allow",
            RuleEffect::Ask => "ask",
            RuleEffect::Deny => "deny",
        }
    }
}

impl Rule {
    /// Whether it denies a call. It applies to every tool of the same kind.
    pub(super) fn forbids(&self, call: &ToolCall) -> Match {
        let same_kind = self.class == call.class && self.class != ToolClass::Other;
        // A command line that writes or shows a file counts like a tool that does.
        let by_shell =
            call.class == ToolClass::Shell && matches!(self.class, ToolClass::Edit | ToolClass::Read);
        // So does an unknown tool, as far as its files and commands can be told.
        let by_other = call.class == ToolClass::Other && self.class != ToolClass::Other;
        let is_about = self.tool == call.tool || &*self.tool == EVERY_TOOL || same_kind;
        match &self.pattern {
            None if is_about => Match::Yes,
            None => Match::No,
            Some(pattern) if is_about || by_shell || by_other => pattern.forbids(self.class, call),
            Some(_) => Match::No,
        }
    }

    /// Whether it allows the tool of a call: this one tool, by name.
    pub(super) fn allows_tool(&self, call: &ToolCall) -> bool {
        self.tool == call.tool || &*self.tool == EVERY_TOOL
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// `deny Bash rm *`
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.effect.word(), self.tool)?;
        match &self.pattern {
            Some(pattern) => write!(f, " {}", pattern.readable()),
            None => Ok(()),
        }
    }
}

/// Whether a rule applies to this agent: its owner stands above, and its scope includes the agent.
pub fn applies(world: &World, rule: &Rule, agent: AgentId) -> bool {
    let is_in_scope = match &rule.scope {
        RuleScope::Agent(only) => *only == agent,
        RuleScope::Team(team) => {
            let profile = world.agents.get(agent).map(|agent| &agent.profile);
            profile.is_some_and(|profile| profile.team.as_deref() == Some(team))
        }
        RuleScope::Below => true,
    };
    is_in_scope
        && match rule.owner {
            Principal::Human => true,
            Principal::Agent(owner) => owner != agent && leads(world, rule.owner, agent),
            Principal::System | Principal::Nobody => false,
        }
}

pub(super) fn add(
    world: &World,
    who: Principal,
    scope: &RuleScope,
    effect: RuleEffect,
    (tool, class): (&str, ToolClass),
    pattern: Option<&Pattern>,
) -> Result<PermissionEvent, Refusal> {
    match (who, scope) {
        (_, RuleScope::Agent(agent)) => {
            world.agents.living(*agent)?;
            may_decide_about(world, who, *agent, Right::AnswerPermissions)?;
        }
        (Principal::Agent(id), RuleScope::Team(_) | RuleScope::Below) => {
            may(world, Principal::Agent(id), Right::AnswerPermissions)?
        }
        (Principal::Human | Principal::System, RuleScope::Team(_) | RuleScope::Below) => {}
        (Principal::Nobody, RuleScope::Team(_) | RuleScope::Below) => {
            return Err(Refusal::Person(PersonRefusal::Unproven { why: "a rule needs an owner".into() }));
        }
    }
    if tool.is_empty() || tool.len() > PERMISSION_TOOL_BYTES_MAX || tool.chars().any(|c| c.is_whitespace()) {
        return Err(Refusal::bad_input(format!("{tool:?} isn't a tool"), "name a tool, or * for every tool"));
    }
    if tool == EVERY_TOOL && pattern.is_some() {
        let problem = "a rule about every tool has no pattern";
        return Err(Refusal::bad_input(problem, "name the tool that the pattern is about"));
    }
    if world.permissions.rules.len() >= PERMISSION_RULES_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("there are {PERMISSION_RULES_MAX} rules already"),
            hint: format!("remove some with: {}", call(calls::PERMISSION_RULE_REMOVE, [("id", "ID".into())])),
        });
    }
    Ok(PermissionEvent::RuleAdded {
        rule: Rule {
            id: RuleId(world.permissions.last + 1),
            owner: who,
            scope: scope.clone(),
            effect,
            tool: tool.into(),
            class,
            pattern: pattern.cloned(),
            since: world.now,
        },
    })
}

/// A rule may be removed by its owner, by somebody who leads the owner and has the right, or by the human.
pub(super) fn remove(world: &World, who: Principal, id: RuleId) -> Result<PermissionEvent, Refusal> {
    let Some(rule) = world.permissions.rules.get(&id) else {
        return Err(Refusal::NotFound {
            problem: format!("there is no rule {id}"),
            hint: format!("see which there are with: {}", call(calls::PERMISSION_RULES, [])),
        });
    };
    match (who, rule.owner) {
        (Principal::Human, _) => {}
        (Principal::Agent(own), owner) if who == owner => {
            may(world, Principal::Agent(own), Right::AnswerPermissions)?
        }
        (_, Principal::Agent(owner)) => may_decide_about(world, who, owner, Right::AnswerPermissions)?,
        (_, Principal::Human | Principal::System | Principal::Nobody) => {
            return Err(Refusal::NotAllowed {
                problem: format!("the rule {id} is the human's"),
                hint: "ask the human to remove it".into(),
            });
        }
    }
    Ok(PermissionEvent::RuleRemoved { rule: id, text: rule.to_string().into() })
}
