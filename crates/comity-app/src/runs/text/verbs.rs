//! Which operation each command is.

use serde_json::{Map, Value};

use crate::catalog::name_of;
use crate::operation::Operation;
use crate::operations::agents::Bye;
use crate::operations::commits::Commit;
use crate::operations::control::ReportIdle;
use crate::operations::decisions::Decide;
use crate::operations::locks::{Lock, Unlock};
use crate::operations::mail::SendMail;
use crate::operations::runs::Spawn;
use crate::operations::tasks::{TaskAdd, TaskClaim, TaskDone};

/// A command: the operation, and what its fields are called there.
struct TextVerb {
    word: &'static str,
    operation: fn() -> &'static str,
    /// A field as agents write it, and as the operation has it.
    fields: &'static [(&'static str, &'static str)],
    /// What is given besides.
    fixed: &'static [(&'static str, &'static str)],
}

const fn verb(
    word: &'static str,
    operation: fn() -> &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> TextVerb {
    TextVerb { word, operation, fields, fixed: &[] }
}

fn op<O: Operation>() -> &'static str {
    name_of::<O>()
}

const VERBS: &[TextVerb] = &[
    verb(
        "LOCK_FILE",
        op::<Lock>,
        &[("filePath", "paths"), ("path", "paths"), ("paths", "paths"), ("reason", "reason"), ("ttl", "ttl")],
    ),
    verb("UNLOCK_FILE", op::<Unlock>, &[("filePath", "paths"), ("path", "paths"), ("paths", "paths")]),
    verb("COMMIT", op::<Commit>, &[("message", "message")]),
    verb("AGENT_MESSAGE", op::<SendMail>, &[("to", "to"), ("message", "message"), ("subject", "subject")]),
    TextVerb {
        fixed: &[("to", "all")],
        ..verb("BROADCAST", op::<SendMail>, &[("message", "message"), ("subject", "subject")])
    },
    verb("DECISION", op::<Decide>, &[("title", "title"), ("decision", "title"), ("rationale", "rationale")]),
    verb("PROGRESS", op::<ReportIdle>, &[("summary", "summary"), ("message", "summary"), ("task", "task")]),
    verb("CLAIM_TASK", op::<TaskClaim>, &[("taskId", "id"), ("id", "id"), ("wait", "wait")]),
    verb("COMPLETE_TASK", op::<TaskDone>, &[("taskId", "id"), ("id", "id"), ("evidence", "evidence")]),
    verb(
        "CREATE_AGENT",
        op::<Spawn>,
        &[("role", "role"), ("agent", "agent"), ("name", "name"), ("prompt", "prompt"), ("task", "task")],
    ),
    verb(
        "DELEGATE",
        op::<TaskAdd>,
        &[
            ("title", "title"),
            ("task", "title"),
            ("role", "role"),
            ("description", "description"),
            ("files", "files"),
        ],
    ),
    verb("TERMINATE_AGENT", op::<Bye>, &[("agent", "agent"), ("name", "agent"), ("reason", "reason")]),
];

/// The operation that a command is, and its input.
pub(super) fn call(word: &str, given: &Value) -> Result<(&'static str, Value), String> {
    let Some(verb) = VERBS.iter().find(|verb| verb.word == word) else {
        let words: Vec<&str> = VERBS.iter().map(|verb| verb.word).collect();
        return Err(format!("there is no command {word}; there are {}", words.join(", ")));
    };
    let mut input = Map::new();
    for (field, value) in given.as_object().into_iter().flatten() {
        let Some((_, named)) = verb.fields.iter().find(|(as_written, _)| as_written == field) else {
            let fields: Vec<&str> = verb.fields.iter().map(|(as_written, _)| *as_written).collect();
            return Err(format!("{word} has no field {field}; it has {}", fields.join(", ")));
        };
        let value = match (*named, value) {
            ("paths" | "files", Value::String(one)) => Value::from(vec![one.as_str()]),
            (_, other) => other.clone(),
        };
        input.insert((*named).to_owned(), value);
    }
    input.extend(verb.fixed.iter().map(|(field, value)| ((*field).to_owned(), Value::from(*value))));
    Ok(((verb.operation)(), Value::Object(input)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::find;

    #[test]
    fn every_command_is_an_operation_with_these_fields() {
        for verb in VERBS {
            let entry = find((verb.operation)()).expect("an operation");
            let known = &(entry.input)()["properties"];
            let fields = verb.fields.iter().map(|(_, field)| field);
            for field in fields.chain(verb.fixed.iter().map(|(field, _)| field)) {
                assert!(known[*field].is_object(), "{} has no field {field}", entry.name);
            }
        }
    }

    #[test]
    fn fields_are_called_as_agents_call_them() {
        let paths = json!({ "paths": ["src/a.rs"] });
        assert_eq!(call("LOCK_FILE", &json!({ "filePath": "src/a.rs" })), Ok(("lock", paths)));
        let all = json!({ "to": "all", "message": "hi" });
        assert_eq!(call("BROADCAST", &json!({ "message": "hi" })), Ok(("mail_send", all)));
        assert!(call("BROADCAST", &json!({ "to": "ann", "message": "hi" })).is_err());
        assert!(call("DANCE", &json!({})).is_err());
    }
}
