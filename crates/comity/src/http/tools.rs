//! The catalog as MCP tools, for HTTP and for stdio.

use comity_app::catalog::{CATALOG, CatalogEntry};
use comity_app::operation::{Audience, Effect};
use comity_mcp::{McpServer, ServerInfo, Tool};
use serde_json::Value;

/// How to use the tools together.
const INSTRUCTIONS: &str = "Other agents work in this repository at the same time. Lock the paths that you are going \
to edit before you edit them, with a reason, and unlock them when you are done. If a lock is refused, wait for it, \
work on something else, or talk to its holder; never edit a path that somebody else has locked.";

/// Which tools are offered. Every agent reads all of the list in every conversation, so it is small unless asked otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ToolSet {
    Usual,
    /// Those of the browser, too.
    Browser,
    /// All, those for people included.
    All,
}

impl ToolSet {
    /// What is asked for by this name.
    pub(crate) fn named(name: &str) -> Option<ToolSet> {
        match name {
            "browser" => Some(ToolSet::Browser),
            "all" => Some(ToolSet::All),
            _ => None,
        }
    }
}

/// The MCP tools. Comity's own operations are never tools.
pub(crate) fn mcp_tools(offer: ToolSet) -> Vec<Tool> {
    let is_offered = |entry: &&CatalogEntry| match entry.audience {
        Audience::Agents => true,
        Audience::Browsing => offer != ToolSet::Usual,
        Audience::People => offer == ToolSet::All,
        Audience::Internal => false,
    };
    CATALOG.iter().filter(is_offered).map(tool).collect()
}

/// What MCP offers: Comity by its name, with its tools.
pub(crate) fn mcp_server(offer: ToolSet, version: &str) -> McpServer {
    let info = ServerInfo {
        name: "comity".into(),
        title: Some("Comity".into()),
        version: version.into(),
        instructions: Some(INSTRUCTIONS.into()),
    };
    McpServer::new(info, mcp_tools(offer))
}

fn tool(entry: &CatalogEntry) -> Tool {
    let mut input_schema = (entry.input)();
    // The tool has the same description.
    if let Some(schema) = input_schema.as_object_mut() {
        schema.remove("description");
    }
    compact(&mut input_schema);
    for field in entry.unlisted {
        if let Some(properties) = input_schema["properties"].as_object_mut() {
            properties.remove(*field);
        }
    }
    Tool {
        name: entry.tool.into(),
        title: None,
        description: entry.summary(),
        input_schema,
        effect: match entry.effect {
            Effect::Reads => comity_mcp::ToolEffect::Reads,
            Effect::Changes | Effect::Acts => comity_mcp::ToolEffect::Adds,
            Effect::Removes => comity_mcp::ToolEffect::Destroys,
        },
        always_load: entry.always_loaded,
    }
}

/// Leaves out what a model does not need: every agent reads all schemas in every conversation.
fn compact(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    for noise in ["title", "$schema", "format", "default", "additionalProperties"] {
        schema.remove(noise);
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    // What may be left out need not be null too.
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = &kinds[..] {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if schema.get("minimum") == Some(&0.into()) {
        schema.remove("minimum");
    }
    if schema.get("type").is_some_and(|kind| kind == "object") {
        schema.entry("properties").or_insert_with(|| serde_json::json!({}));
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(compact);
    }
    if let Some(items) = schema.get_mut("items") {
        compact(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the default list: each agent pays for them in each conversation.
    const LIST_BYTES_MAX: usize = 8_192;
    const NAME_CHARS_MAX: usize = 40;

    #[test]
    fn the_list_is_small() {
        let list = serde_json::json!({ "tools": mcp_tools(ToolSet::Usual) }).to_string();
        assert!(list.len() < LIST_BYTES_MAX, "{} bytes: {list}", list.len());
        for noise in ["\"title\":\"", "$schema", "\"null\"", "\"format\""] {
            assert!(!list.contains(noise), "{noise} in {list}");
        }
        for tool in mcp_tools(ToolSet::All) {
            assert!(tool.name.len() <= NAME_CHARS_MAX, "{}", tool.name);
            assert!(!tool.description.is_empty(), "{}", tool.name);
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        }
    }

    #[test]
    fn the_team_tools_are_always_there_and_no_tool_twice() {
        for offer in [ToolSet::Usual, ToolSet::Browser, ToolSet::All] {
            let names: Vec<_> = mcp_tools(offer).into_iter().map(|tool| tool.name).collect();
            for tool in ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"] {
                assert!(names.iter().any(|name| *name == tool), "{tool} is not in {names:?}");
            }
            let set: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!(set.len(), names.len(), "a tool is there twice: {names:?}");
        }
    }

    #[test]
    fn agents_see_their_tools_and_nobody_the_internal_ones() {
        let names = |offer| mcp_tools(offer).into_iter().map(|tool| tool.name).collect::<Vec<_>>();
        let of = |audience| CATALOG.iter().filter(move |entry| entry.audience == audience);
        assert!(
            of(Audience::Agents).all(|entry| names(ToolSet::Usual).iter().any(|name| name == entry.tool))
        );
        assert!(
            of(Audience::People).all(|entry| !names(ToolSet::Usual).iter().any(|name| name == entry.tool))
        );
        assert!(of(Audience::People).all(|entry| names(ToolSet::All).iter().any(|name| name == entry.tool)));
        assert!(
            of(Audience::Internal).all(|entry| !names(ToolSet::All).iter().any(|name| name == entry.tool))
        );
        let loaded = mcp_tools(ToolSet::Usual).into_iter().filter(|tool| tool.always_load);
        assert_eq!(loaded.map(|tool| tool.name).collect::<Vec<_>>(), ["lock", "unlock", "check"]);
    }
}
