//! Shows one task.

use comity_core::tasks::TaskRef;

use super::TaskView;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Show one task in full.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskGet {
    /// Id of the task
    #[serde(alias = "taskId")]
    pub id: String,
}

impl Operation for TaskGet {
    type Output = TaskView;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskView>, Failure> {
        let on = TaskRef { project: app.projects().place(caller)?.project(), task: self.id.into() };
        let now = app.engine().now();
        let world = app.engine().world();
        Ok(Plan::Answer(TaskView::of(world.tasks.find(&on)?, &world, now).read_by(caller.who, &world)))
    }
}
