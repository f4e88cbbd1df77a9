//! A task as its agent is told of it.

use comity_core::World;
use comity_core::display::{visible, visible_lines};
use comity_core::tasks::{Task, TaskState};

/// Bytes of the evidence of a predecessor that are shown.
const EVIDENCE_BYTES_MAX: usize = 400;

/// What an agent that gets a task is told: what is to be done, what was done before, and how to say that it is done.
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
    if task.brief.review {
        text += "\nSomebody else will review the work.";
    }
    let id = &task.id;
    text + &format!(
        "\nBegin with: comity task start {id} (or TaskUpdate with status running). It is done only when you say so, \
         with evidence: comity task done {id} --evidence TEXT (or TaskUpdate with status done). If it cannot be done: \
         comity task fail {id} --reason TEXT."
    )
}
