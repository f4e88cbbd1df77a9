//! The tool that calls any operation by name: the list of tools stays small, and nothing is out of reach.

use comity_app::catalog::{self, CATALOG, CatalogEntry};
use comity_app::operation::Audience;
use comity_app::wording::{ANY_TOOL, REFUSED};
use comity_mcp::{Tool, ToolEffect, ToolOutcome};
use serde_json::{Map, Value, json};

/// What a call of a tool means.
pub(crate) enum MeantCall {
    /// An operation with its input; `None` if its name is unknown because the server is newer.
    Operation(Option<&'static CatalogEntry>, Map<String, Value>),
    /// It is answered here.
    Answered(ToolOutcome),
}

/// The tool itself.
pub(super) fn tool() -> Tool {
    Tool {
        name: ANY_TOOL.into(),
        title: None,
        description: "Call any operation; without one, list all".into(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "operation": { "type": "string" },
                "input": { "type": "object" },
            },
        }),
        effect: ToolEffect::Destroys,
        output_schema: None,
        always_load: false,
    }
}

pub(crate) fn meant(tool: &str, mut arguments: Map<String, Value>) -> MeantCall {
    if tool != ANY_TOOL {
        return MeantCall::Operation(catalog::find_tool(tool), arguments);
    }
    let input = match arguments.remove("input") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(input)) => input,
        Some(_) => return refused("the input of an operation is an object"),
    };
    match arguments.remove("operation") {
        None | Some(Value::Null) => MeantCall::Answered(ToolOutcome::answer(listed())),
        Some(Value::String(name)) => match offered().find(|entry| entry.name == name || entry.tool == name) {
            Some(entry) => MeantCall::Operation(Some(entry), input),
            None => refused(&format!("there is no operation {name:?}")),
        },
        Some(_) => refused("the name of an operation is a text"),
    }
}

fn refused(problem: &str) -> MeantCall {
    let text = format!("{REFUSED}{problem}\nsee which there are with: {ANY_TOOL}()");
    MeantCall::Answered(ToolOutcome::error(text))
}

/// What agents can call: everything but the operations of Comity's own programs.
pub(super) fn offered() -> impl Iterator<Item = &'static CatalogEntry> {
    CATALOG.iter().filter(|entry| entry.audience != Audience::Internal)
}

/// The operations without a tool in the usual list, each with its fields: `worktree_add(slug, base): Make a
/// worktree`.
fn listed() -> String {
    let others = offered().filter(|entry| entry.audience == Audience::People);
    let line = |entry: &CatalogEntry| {
        let schema = (entry.input)();
        let fields = schema["properties"].as_object().into_iter().flat_map(Map::keys);
        let fields: Vec<&str> = fields.map(String::as_str).collect();
        format!("{}({}): {}", entry.name, fields.join(", "), entry.summary())
    };
    others.map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: Value) -> MeantCall {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        meant(ANY_TOOL, arguments)
    }

    #[test]
    fn an_operation_is_called_by_its_name_or_its_tools() {
        for name in ["task_update", "TaskUpdate"] {
            let MeantCall::Operation(Some(entry), input) =
                call(json!({ "operation": name, "input": { "id": "t1" } }))
            else {
                panic!("{name} is an operation");
            };
            assert_eq!((entry.name, &input["id"]), ("task_update", &json!("t1")));
        }
    }

    #[test]
    fn what_is_none_of_an_agents_business_is_no_operation() {
        for (arguments, problem) in [
            (
                json!({ "operation": "mail_ack", "input": { "receipt": 1 } }),
                "there is no operation \"mail_ack\"",
            ),
            (json!({ "operation": "why", "input": "ann" }), "the input of an operation is an object"),
            (json!({ "operation": 7 }), "the name of an operation is a text"),
        ] {
            let MeantCall::Answered(said) = call(arguments) else { panic!("{problem}") };
            assert!(
                said.is_error && said.text.starts_with(REFUSED) && said.text.contains(problem),
                "{said:?}"
            );
        }
    }

    #[test]
    fn without_an_operation_they_are_listed() {
        let MeantCall::Answered(said) = call(json!({})) else { panic!("a list") };
        assert!(!said.is_error && said.text.contains("\nworktree_add("), "{}", said.text);
        assert!(!said.text.contains("mail_ack"), "{}", said.text);
    }
}
