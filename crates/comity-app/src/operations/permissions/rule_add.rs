//! Adds a rule.

use comity_core::permissions::{Pattern, PermissionAsk, PermissionEvent, RuleEffect, RuleScope};
use comity_core::{Ask, Event, Refusal, World};

use super::reading::class_of;
use super::rules::RuleView;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Add a rule for the agents you lead: allow, ask or deny, by tool and pattern.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddRule {
    /// allow, ask or deny
    pub effect: String,
    /// The tool, such as Bash or Write; * for every tool
    pub tool: String,
    /// Paths such as src/ or /etc/**, or the first words of a command such as 'cargo test *'
    pub pattern: Option<String>,
    /// Only for this agent
    pub agent: Option<String>,
    /// Only for this team
    pub team: Option<String>,
}

/// The rule that was made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Made(RuleView);

impl Operation for AddRule {
    type Output = Made;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Made>, Failure> {
        let effect = match self.effect.as_str() {
            "allow" => RuleEffect::Allow,
            "ask" => RuleEffect::Ask,
            "deny" => RuleEffect::Deny,
            other => {
                let problem = format!("{other:?} is nothing that a rule can say");
                return Err(Refusal::bad_input(problem, "say allow, ask or deny").into());
            }
        };
        let place = app.projects().place(caller).ok();
        let project = place.as_ref().map(|place| (place.project(), place.repository().case()));
        let class = class_of(&self.tool);
        let pattern = self.pattern.as_deref().map(|text| Pattern::parse(class, text, project)).transpose()?;
        let mut asks: Vec<Ask> = Vec::new();
        let scope = {
            let world = app.engine().world();
            if let (Some(Pattern::Files(_)), Some(place)) = (&pattern, &place) {
                asks.extend(place.introduce(&world));
            }
            match (&self.agent, &self.team) {
                (Some(_), Some(_)) => {
                    let problem = "a rule is for an agent or for a team";
                    return Err(Refusal::bad_input(problem, "leave out one of them").into());
                }
                (Some(agent), None) => RuleScope::Agent(world.agents.find(agent)?.id),
                (None, Some(team)) => RuleScope::Team(team.as_str().into()),
                (None, None) => RuleScope::Below,
            }
        };
        let tool = self.tool.into();
        asks.push(Ask::Permission(PermissionAsk::AddRule { scope, effect, tool, class, pattern }));
        let finish = move |events: &[Event], world: &World, _| made(events, world);
        Ok(Plan::change(asks, finish))
    }
}

fn made(events: &[Event], world: &World) -> Made {
    let rule = events.iter().find_map(|event| match event {
        Event::Permission(PermissionEvent::RuleAdded { rule }) => Some(RuleView::of(rule, world)),
        _ => None,
    });
    // A repeat of an ask of which only the key is remembered.
    let nothing = || RuleView {
        id: 0,
        effect: "",
        tool: String::new(),
        pattern: None,
        scope: String::new(),
        owner: String::new(),
    };
    Made(rule.unwrap_or_else(nothing))
}

impl std::fmt::Display for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rule {}", self.0)
    }
}
