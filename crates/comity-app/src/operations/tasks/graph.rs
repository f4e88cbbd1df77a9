//! Draws the task graph.

use std::collections::BTreeSet;
use std::fmt;

use comity_core::display::visible;
use comity_core::tasks::Task;
use comity_core::{ProjectId, World};

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Lines of one drawing.
const LINES_MAX: usize = 1_000;
/// Depth of one drawing.
const DEPTH_MAX: usize = 40;

/// Draw the graph of tasks: whatever depends on a task is below it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskGraph {
    /// Include ended ones, even if nothing open depends on them
    #[serde(default)]
    pub all: bool,
}

/// The graph of tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Graph {
    /// The tasks, the oldest first.
    pub tasks: Vec<Node>,
    pub drawing: Vec<String>,
}

/// One task in the graph.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Node {
    pub id: String,
    pub status: &'static str,
    /// What comes first.
    pub depends_on: Vec<String>,
}

impl Operation for TaskGraph {
    type Output = Graph;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Graph>, Failure> {
        let project = app.projects().place(caller)?.project();
        let world = app.engine().world();
        let shown = shown(&world, project, self.all);
        let tasks = world.tasks.of(project).filter(|task| shown.contains(&task.number));
        let node = |task: &Task| Node {
            id: task.id.to_string(),
            status: task.status().word(),
            depends_on: world.tasks.before(task).map(|before| before.id.to_string()).collect(),
        };
        Ok(Plan::Answer(Graph { tasks: tasks.map(node).collect(), drawing: draw(&world, project, &shown) }))
    }
}

/// Open tasks and their dependencies; or everything.
fn shown(world: &World, project: ProjectId, all: bool) -> BTreeSet<u64> {
    let open = world.tasks.of(project).filter(|task| all || !task.state.is_terminal());
    open.flat_map(|task| world.tasks.before(task).map(|before| before.number).chain([task.number])).collect()
}

/// Each task below what it depends on; one that is below several is drawn in full once.
fn draw(world: &World, project: ProjectId, shown: &BTreeSet<u64>) -> Vec<String> {
    let is_shown = |task: &&Task| shown.contains(&task.number);
    let first = world.tasks.of(project).filter(is_shown);
    let first = first.filter(|task| !world.tasks.before(task).any(|before| shown.contains(&before.number)));
    let mut open: Vec<(&Task, Vec<bool>)> = first.map(|task| (task, vec![])).collect();
    open.reverse();
    let mut drawn = BTreeSet::new();
    let mut lines = Vec::new();
    while let Some((task, ends)) = open.pop() {
        if lines.len() == LINES_MAX {
            lines.push("...".into());
            break;
        }
        let is_new = drawn.insert(task.number);
        let after: Vec<&Task> = world.tasks.after(task).filter(is_shown).collect();
        let more = if is_new || after.is_empty() { "" } else { "  (see above)" };
        lines.push(format!("{}{}{more}", indent(&ends), label(world, task)));
        if !is_new || ends.len() == DEPTH_MAX {
            continue;
        }
        for (at, next) in after.iter().enumerate().rev() {
            let is_last = at + 1 == after.len();
            open.push((next, [&ends[..], &[is_last]].concat()));
        }
    }
    lines
}

/// The lines of a tree; for each level whether it is the last one.
fn indent(ends: &[bool]) -> String {
    let Some((own, above)) = ends.split_last() else { return String::new() };
    let above: String = above.iter().map(|is_last| if *is_last { "   " } else { "│  " }).collect();
    above + if *own { "└─ " } else { "├─ " }
}

fn label(world: &World, task: &Task) -> String {
    let owner = task.state.worker().map(|owner| format!(" ({})", world.name_of(owner))).unwrap_or_default();
    format!("{} [{}{owner}] {}", task.id, task.status().word(), visible(&task.brief.title))
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.drawing.is_empty() {
            true => f.write_str("no tasks"),
            false => f.write_str(&self.drawing.join("\n")),
        }
    }
}
