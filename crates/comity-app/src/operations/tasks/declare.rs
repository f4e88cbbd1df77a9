//! Declares many tasks at once.

use std::io::Read;

use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::add::{TaskAdd, TasksAdded, declare_all};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Bytes of a document of tasks.
const DOCUMENT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Declares many tasks at once, all or none, in any order; cycles are refused with their path.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct TaskDeclare {
    /// A JSON or TOML document with a list of tasks; - is standard input
    #[arg(value_name = "FILE", value_parser = read_document)]
    pub tasks: Tasks,
}

/// A list of tasks.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Tasks(pub Vec<TaskAdd>);

impl Operation for TaskDeclare {
    const NAME: &'static str = "task_declare";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/tasks/declare" };
    const COMMAND: &'static [&'static str] = &["task", "declare"];
    type Output = TasksAdded;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TasksAdded>, Failure> {
        declare_all(app, caller, self.tasks.0)
    }
}

/// Reads the document that a person names; the command line does this, not the server.
fn read_document(file: &str) -> Result<Tasks, String> {
    let mut text = String::new();
    let read = match file {
        "-" => std::io::stdin().take(DOCUMENT_BYTES_MAX).read_to_string(&mut text),
        _ => {
            std::fs::File::open(file).and_then(|open| open.take(DOCUMENT_BYTES_MAX).read_to_string(&mut text))
        }
    };
    read.map_err(|error| error.to_string())?;
    tasks_of(&text)
}

/// A list, or an object with the list under `tasks`; JSON if it looks like it, else TOML.
fn tasks_of(text: &str) -> Result<Tasks, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Document {
        tasks: Tasks,
    }
    let said = |error: &dyn std::fmt::Display| error.to_string();
    match text.trim_start().as_bytes().first() {
        Some(b'[') if !text.trim_start().starts_with("[[") => {
            serde_json::from_str(text).map_err(|error| said(&error))
        }
        Some(b'{') => {
            serde_json::from_str(text).map(|document: Document| document.tasks).map_err(|error| said(&error))
        }
        _ => toml::from_str(text).map(|document: Document| document.tasks).map_err(|error| said(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_every_form_say_the_same() {
        let forms = [
            r#"[{ "id": "a", "title": "One" }, { "title": "Two", "depends_on": ["a"] }]"#,
            r#" { "tasks": [{ "id": "a", "title": "One" }, { "title": "Two", "depends_on": ["a"] }] }"#,
            "[[tasks]]\nid = \"a\"\ntitle = \"One\"\n\n[[tasks]]\ntitle = \"Two\"\ndepends_on = [\"a\"]\n",
        ];
        for form in forms {
            let Tasks(tasks) = tasks_of(form).unwrap_or_else(|problem| panic!("{form}: {problem}"));
            let said: Vec<_> = tasks.iter().map(|task| (task.id.as_deref(), &*task.title)).collect();
            assert_eq!(said, [(Some("a"), "One"), (None, "Two")], "{form}");
            assert_eq!(tasks[1].depends_on, ["a"]);
        }
        for bad in ["", "{}", "[{}]", "[[tasks]]\ntitel = \"One\"\n", "[1]"] {
            assert!(tasks_of(bad).is_err(), "{bad}");
        }
    }
}
