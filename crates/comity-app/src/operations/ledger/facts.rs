//! Everything that is true at a moment, one fact per line, and what differs at another.

use std::collections::BTreeMap;
use std::fmt;

use comity_core::decisions::DecisionState;
use comity_core::display::{counted, quoted, visible};
use comity_core::locks::Hold;
use comity_core::permissions::{PlanState, RequestState};
use comity_core::{Principal, World};
use schemars::JsonSchema;
use serde::Serialize;

/// One thing that is so.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct WorldFact {
    /// agent, team, lock, wait, task, mail, permission, plan, rule, pool, worktree or decision.
    pub kind: &'static str,
    /// Which one.
    pub name: String,
    /// What is so of it.
    pub state: String,
}

/// What is different between two moments.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorldDiff {
    /// The last entry before the one moment.
    pub from: u64,
    /// The last entry before the other.
    pub to: u64,
    /// What there is at the other moment only.
    pub added: Vec<WorldFact>,
    /// What there is at the one moment only.
    pub removed: Vec<WorldFact>,
    /// What there is at both, but otherwise.
    pub changed: Vec<ChangedFact>,
}

/// A fact that is another one later.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedFact {
    #[serde(flatten)]
    pub now: WorldFact,
    /// What was so before.
    pub before: String,
}

/// Everything that is true in a world, by kind and name.
pub(super) fn facts_of(world: &World) -> Vec<WorldFact> {
    let mut facts = Vec::new();
    let mut add =
        |kind: &'static str, name: String, state: String| facts.push(WorldFact { kind, name, state });
    let name = |who: Principal| world.name_of(who);
    let project =
        |id| world.projects.get(&id).map_or_else(String::new, |project| format!(" in {}", project.name()));
    for agent in world.agents.live() {
        let role = agent.profile.role.as_deref().map(|role| format!(", {role}")).unwrap_or_default();
        let team = agent.profile.team.as_deref().map(|team| format!(", team {team}")).unwrap_or_default();
        add("agent", agent.profile.name.to_string(), format!("{}{role}{team}", agent.life.word()));
    }
    for team in world.teams.values() {
        add("team", team.name.to_string(), format!("led by {}", name(team.lead)));
    }
    for lock in world.locks.iter() {
        let hold = match lock.hold {
            Hold::Held => "",
            Hold::Lapsed => ", lapsed",
            Hold::Orphaned => ", orphaned",
        };
        let mode = if lock.wanted.mode.word() == "shared" { ", shared" } else { "" };
        let path = lock.wanted.pattern.readable();
        add("lock", path, format!("{}{mode}{hold}{}", name(lock.holder), project(lock.wanted.project)));
    }
    for wait in world.locks.waits() {
        let paths: Vec<String> = wait.wants.iter().map(|wanted| wanted.pattern.readable()).collect();
        add("wait", name(wait.who), paths.join(", "));
    }
    for task in world.tasks.iter() {
        let owner = task.state.worker().map(|owner| format!(", {}", name(owner))).unwrap_or_default();
        let state =
            format!("{}{owner}, attempt {}{}", task.status().word(), task.attempt, project(task.project));
        add("task", task.id.to_string(), state);
    }
    for (who, mailbox) in world.mail.boxes() {
        let (letters, controls) = (mailbox.letters(), mailbox.controls().count());
        if letters + controls > 0 {
            let controls = match controls {
                0 => String::new(),
                controls => format!(", {}", counted(controls, "control message")),
            };
            add("mail", name(who), format!("{} unread{controls}", counted(letters, "letter")));
        }
    }
    for request in world.permissions.requests() {
        let to = match &request.state {
            RequestState::Waiting { to } => format!(" for {}", name(*to)),
            state if state.is_settled() => continue,
            _ => String::new(),
        };
        let (asker, tool) = (name(Principal::Agent(request.asker)), &request.call.tool);
        add("permission", request.id.0.to_string(), format!("{asker}: {tool}, {}{to}", request.state.word()));
    }
    for plan in world.permissions.plans() {
        if let PlanState::Waiting { to } = plan.state {
            let asker = name(Principal::Agent(plan.asker));
            add("plan", plan.id.0.to_string(), format!("{asker}: {}, waiting for {}", plan.file, name(to)));
        }
    }
    for rule in world.permissions.rules() {
        add("rule", rule.id.0.to_string(), rule.to_string());
    }
    for pool in world.pools.iter() {
        let owners: Vec<String> = pool.slots().map(|slot| name(slot.owner)).collect();
        let owners = if owners.is_empty() { String::new() } else { format!(", {}", owners.join(", ")) };
        let waiting = match pool.in_line().count() {
            0 => String::new(),
            waiting => format!(", {waiting} waiting"),
        };
        add("pool", pool.name.to_string(), format!("{} of {}{owners}{waiting}", pool.used(), pool.capacity));
    }
    for worktree in world.worktrees.iter() {
        let released = if worktree.released.is_some() { ", released" } else { "" };
        let state = format!(
            "{}, {}{released}{}",
            worktree.tree.branch,
            name(worktree.owner),
            project(worktree.project)
        );
        add("worktree", worktree.tree.slug.to_string(), state);
    }
    for decision in world.decisions.iter() {
        let standing = match &decision.standing {
            DecisionState::Made => "made",
            DecisionState::Pending => "pending",
            DecisionState::Confirmed { .. } => "confirmed",
            DecisionState::Rejected { .. } => "rejected",
        };
        let state = format!("{standing}, {} by {}", quoted(&decision.title), name(decision.by));
        add("decision", decision.id.to_string(), state);
    }
    facts
}

impl WorldDiff {
    pub(super) fn between(from: (u64, &[WorldFact]), to: (u64, &[WorldFact])) -> WorldDiff {
        let by_name = |facts: &[WorldFact]| {
            // Two may have the same name, such as tasks of two projects.
            let (mut known, mut others) = (BTreeMap::new(), BTreeMap::<_, usize>::new());
            for fact in facts {
                let number = others.entry((fact.kind, fact.name.clone())).or_default();
                known.insert((fact.kind, fact.name.clone(), *number), fact.clone());
                *number += 1;
            }
            known
        };
        let (before, after) = (by_name(from.1), by_name(to.1));
        let mut diff = WorldDiff { from: from.0, to: to.0, added: vec![], removed: vec![], changed: vec![] };
        for (key, now) in &after {
            match before.get(key) {
                None => diff.added.push(now.clone()),
                Some(was) if was.state != now.state => {
                    diff.changed.push(ChangedFact { now: now.clone(), before: was.state.clone() });
                }
                Some(_) => {}
            }
        }
        diff.removed =
            before.iter().filter(|(key, _)| !after.contains_key(key)).map(|(_, was)| was.clone()).collect();
        diff
    }
}

/// A line for each, with a mark before it.
pub(super) fn in_columns<'a>(
    f: &mut fmt::Formatter<'_>,
    lines: impl Iterator<Item = (&'static str, &'a WorldFact)> + Clone,
) -> fmt::Result {
    let kinds = lines.clone().map(|(_, fact)| fact.kind.len()).max().unwrap_or(0);
    let shown = |fact: &WorldFact| visible(&fact.name).into_owned();
    let names = lines.clone().map(|(_, fact)| shown(fact).chars().count().min(NAME_CHARS)).max().unwrap_or(0);
    for (mark, fact) in lines {
        write!(f, "\n{mark}{:kinds$}  {:names$}  {}", fact.kind, shown(fact), visible(&fact.state))?;
    }
    Ok(())
}

/// Longer names do not widen the column for all other lines.
const NAME_CHARS: usize = 40;

impl fmt::Display for WorldDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed: Vec<WorldFact> = self
            .changed
            .iter()
            .map(|change| WorldFact {
                state: format!("{} -> {}", change.before, change.now.state),
                ..change.now.clone()
            })
            .collect();
        let count = self.added.len() + self.removed.len() + changed.len();
        write!(f, "from entry {} to {}: {}", self.from, self.to, counted(count, "difference"))?;
        let marked = |mark: &'static str, facts: &[WorldFact]| -> Vec<(&'static str, WorldFact)> {
            facts.iter().map(|fact| (mark, fact.clone())).collect()
        };
        let all = [marked("- ", &self.removed), marked("+ ", &self.added), marked("~ ", &changed)].concat();
        in_columns(f, all.iter().map(|(mark, fact)| (*mark, fact)))
    }
}
