//! Shows the rules.

use std::fmt;

use comity_core::permissions::{Rule, RuleScope};
use comity_core::table::table;
use comity_core::{Principal, World};

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// List the rules that say what agents may do without asking. Deny beats ask beats allow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRules {}

/// Rules in force.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleList {
    /// The oldest first.
    pub rules: Vec<RuleView>,
}

/// One rule, as it is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleView {
    pub id: u64,
    /// allow, ask or deny.
    pub effect: &'static str,
    /// The tool; * is every tool.
    pub tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    pub scope: String,
    pub owner: String,
}

impl RuleView {
    pub(super) fn of(rule: &Rule, world: &World) -> RuleView {
        let owner = world.name_of(rule.owner);
        RuleView {
            id: rule.id.0,
            effect: rule.effect.word(),
            tool: rule.tool.to_string(),
            pattern: rule.pattern.as_ref().map(|pattern| pattern.readable()),
            scope: match &rule.scope {
                RuleScope::Agent(agent) => world.name_of(Principal::Agent(*agent)),
                RuleScope::Team(team) => format!("the team {team}"),
                RuleScope::Below if rule.owner == Principal::Human => "everybody".into(),
                RuleScope::Below => format!("all that {owner} leads"),
            },
            owner,
        }
    }
}

impl Operation for ListRules {
    type Output = RuleList;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RuleList>, Failure> {
        let world = app.engine().world();
        let rules = world.permissions.rules().map(|rule| RuleView::of(rule, &world)).collect();
        Ok(Plan::Answer(RuleList { rules }))
    }
}

impl fmt::Display for RuleView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = comity_core::display::visible;
        write!(f, "{}  {} {}", self.id, self.effect, shown(&self.tool))?;
        if let Some(pattern) = &self.pattern {
            write!(f, " {}", shown(pattern))?;
        }
        write!(f, "  for {}, by {}", self.scope, self.owner)
    }
}

impl fmt::Display for RuleList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rules.is_empty() {
            return f.write_str("there are no rules");
        }
        let shown = |text: &str| comity_core::display::visible(text).into_owned();
        let row = |rule: &RuleView| {
            let pattern = rule.pattern.as_deref().map(shown).unwrap_or_default();
            let (tool, scope, owner) = (shown(&rule.tool), rule.scope.clone(), rule.owner.clone());
            vec![rule.id.to_string(), rule.effect.to_owned(), tool, pattern, scope, owner]
        };
        let rows: Vec<Vec<String>> = self.rules.iter().map(row).collect();
        f.write_str(&table(&["ID", "EFFECT", "TOOL", "PATTERN", "FOR", "BY"], &rows))
    }
}
