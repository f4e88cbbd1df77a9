//! The prompt for a task's agent.

use crate::catalog::next_call;
use crate::operations::tasks::{TaskDone, TaskFail, TaskStart};
use comity_core::World;
use comity_core::display::{visible, visible_lines};
use comity_core::tasks::{Task, TaskState};

use super::AttemptView;

/// Bytes of a predecessor's evidence that are shown.
const EVIDENCE_BYTES_MAX: usize = 400;

/// What an agent that gets a task is told: what to do, what was done before, and how to report it done.
pub fn prompt(task: &Task, world: &World) -> String {
    let mut text = format!("Your task is {}: {}\n", task.id, visible(&task.brief.title));
    if !task.brief.description.is_empty() {
        text += &format!("\n{}\n", visible_lines(&task.brief.description));
    }
    for before in world.tasks.before(task) {
        if let TaskState::Done { evidence, .. } = &before.state {
            let shown = &evidence[..evidence.floor_char_boundary(EVIDENCE_BYTES_MAX)];
            let title = visible(&before.brief.title);
            text += &format!("\nDone before it: {} ({title}): {}", before.id, visible(shown));
        }
    }
    if !task.brief.files.is_empty() {
        let files: Vec<String> = task.brief.files.iter().map(|file| file.readable()).collect();
        text += &format!("\nIts files, locked for you when you start: {}", visible(&files.join(", ")));
    }
    if task.attempt > 1 {
        text += &format!("\nThis is attempt {}: look at what earlier ones have left.", task.attempt);
    }
    for past in &task.past {
        text += &format!("\nAttempt {}", AttemptView::of(past, world, world.now));
    }
    if task.brief.review {
        text += "\nSomebody else will review the work.";
    }
    let id = || ("id", task.id.to_string().into());
    let start = next_call::<TaskStart>([id()]);
    let done = next_call::<TaskDone>([id(), ("evidence", "TEXT".into())]);
    let fail = next_call::<TaskFail>([id(), ("reason", "TEXT".into())]);
    text + &format!(
        "\nBegin with: {start}. It is done only when you say so, with evidence: {done}. If it can't be done: {fail}."
    )
}
