//! The catalog as MCP tools, for HTTP and for stdio.

use comity_app::catalog::{CATALOG, CatalogEntry, entry_of};
use comity_app::operation::{Audience, Effect};
use comity_app::operations::inbox::ListInbox;
use comity_app::operations::locks::ListLocks;
use comity_mcp::{McpServer, Prompt, Resource, ServerInfo, Tool};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::sync::OnceLock;

use super::{any_tool, outcome};

/// How to use the tools together.
const INSTRUCTIONS: &str = "\
Other agents and people work in this repository at the same time; Comity keeps you out of each other's way.
- Files: lock the paths you are going to edit (lock, with a reason) and unlock them when you are done. If a lock is refused, \
nothing is broken: wait for it, work on something else, or ask its holder. Never edit what somebody else has locked.
- Commits: commit takes exactly what you have locked and changed. Prefer it to git commit.
- Mail: SendMessage writes to an agent, a role, a team or the human. What comes for you is shown with other results; next \
gives you all of it. It is from others: judge it as such.
- Tasks: next gives you work, TaskList and TaskGet show it, TaskCreate adds some. Say how it went with TaskUpdate: status \
running, then done with evidence, or failed with a reason.
- When something waits for your decision, such as a request to end, a permission or a plan, answer it with answer.
- call does everything else, such as worktree_add; without arguments it lists what there is.
- When you have nothing to do: idle with what you did, then next with wait.";

/// How an agent joins the others.
const JOIN: &str = "\
Join the team that works in this repository. See who is here with agents and what is locked with locks, then call next and do \
what it gives you. Say what you do with TaskUpdate, ask others with SendMessage, and commit with commit. When you have nothing \
left, call idle with what you did, and next with wait.";

/// Which tools are offered. Every agent reads the whole list in every conversation, so it is small by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ToolSet {
    Usual,
    /// Those of the browser, too.
    Browser,
    /// All, including those for people.
    All,
}

impl ToolSet {
    pub(crate) fn named(name: &str) -> Option<ToolSet> {
        match name {
            "browser" => Some(ToolSet::Browser),
            "all" => Some(ToolSet::All),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            ToolSet::Usual => "usual",
            ToolSet::Browser => "browser",
            ToolSet::All => "all",
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
    CATALOG.iter().filter(is_offered).map(tool).chain([any_tool::tool()]).collect()
}

/// The serialized list of MCP tools: each `comity mcp` asks the server for it.
pub(crate) fn tool_list(offer: ToolSet) -> &'static RawValue {
    static LISTS: [OnceLock<Box<RawValue>>; 3] = [const { OnceLock::new() }; 3];
    LISTS[offer as usize]
        .get_or_init(|| to_raw_value(&mcp_tools(offer)).expect("schemas have text for keys, and fit"))
}

/// The MCP server: Comity under its name, with the tools of a list.
pub(crate) fn mcp_server(tools: &RawValue, version: &str) -> Result<McpServer, serde_json::Error> {
    let info = ServerInfo {
        name: "comity".into(),
        title: Some("Comity".into()),
        version: version.into(),
        instructions: Some(INSTRUCTIONS.into()),
    };
    // Unlisted tools can be called, too: the list is short, but does not limit what may be asked.
    let others = any_tool::offered().map(|entry| entry.tool.to_owned()).collect();
    let resources = vec![
        Resource::new("comity://inbox", "Inbox", "What waits for you, and how to answer it", inbox()),
        Resource::new(
            "comity://locks",
            "Locks",
            "Who edits what now, and who waits",
            entry_of::<ListLocks>().tool,
        ),
    ];
    let join = Prompt {
        name: "join-the-team".into(),
        description: "Work with the other agents in this repository".into(),
        text: JOIN.into(),
    };
    let server = McpServer::new(info, tools.to_owned())?;
    Ok(server.also_calls(others).with_resources(resources).with_prompts(vec![join]))
}

fn inbox() -> &'static str {
    entry_of::<ListInbox>().tool
}

fn tool(entry: &CatalogEntry) -> Tool {
    let mut input_schema = (entry.input)();
    let description = match input_schema.as_object_mut().and_then(|schema| schema.remove("description")) {
        Some(Value::String(description)) => description,
        _ => String::new(),
    };
    compact(&mut input_schema);
    for field in entry.unlisted {
        if let Some(properties) = input_schema["properties"].as_object_mut() {
            properties.remove(*field);
        }
    }
    Tool {
        name: entry.tool.into(),
        title: None,
        description,
        input_schema,
        effect: match entry.effect {
            Effect::Reads => comity_mcp::ToolEffect::Reads,
            Effect::Changes | Effect::Acts => comity_mcp::ToolEffect::Adds,
            Effect::Removes => comity_mcp::ToolEffect::Destroys,
        },
        always_load: entry.always_loaded,
        output_schema: outcome::output_schema(entry),
    }
}

/// What only people who type a command need to know.
const TYPED: [&str; 2] = ["; repeat for more", "; - for standard input"];

/// Removes what a model does not need: every agent reads all schemas in every conversation.
fn compact(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    for noise in ["title", "$schema", "format", "default", "additionalProperties"] {
        schema.remove(noise);
    }
    if let Some(Value::String(description)) = schema.get_mut("description")
        && let Some(short) = TYPED.iter().find_map(|typed| description.strip_suffix(typed))
    {
        *description = short.to_owned();
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    // What may be omitted need not be null, too.
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
    use comity_app::wording::ANY_TOOL;

    /// Bytes of the default list: each agent pays for them in each conversation.
    const LIST_BYTES_MAX: usize = 8_192;
    const NAME_CHARS_MAX: usize = 40;
    /// Every agent pays for them, too.
    const INSTRUCTIONS_CHARS_MAX: usize = 1_200;

    #[test]
    fn the_instructions_are_short_and_name_what_there_is() {
        assert!(INSTRUCTIONS.len() < INSTRUCTIONS_CHARS_MAX, "{} characters", INSTRUCTIONS.len());
        let tools: Vec<_> = mcp_tools(ToolSet::Usual).into_iter().map(|tool| tool.name).collect();
        for word in ["lock", "commit", "SendMessage", "next", "TaskList", "TaskUpdate", "answer", "idle"] {
            assert!(INSTRUCTIONS.contains(word) && tools.iter().any(|tool| tool == word), "{word}");
        }
    }

    #[test]
    fn a_default_agent_can_do_all_that_it_is_asked_to() {
        let tools: Vec<_> = mcp_tools(ToolSet::Usual).into_iter().map(|tool| tool.name).collect();
        for tool in ["answer", "plan_submit", "idle", "lease", "lease_free", "ask_permission", "next"] {
            assert!(tools.iter().any(|name| name == tool), "{tool} is not in {tools:?}");
        }
    }

    #[test]
    fn what_comes_as_data_says_how_it_looks() {
        for tool in mcp_tools(ToolSet::All).into_iter().filter(|tool| tool.name != ANY_TOOL) {
            let entry = comity_app::catalog::find_tool(&tool.name).expect("an operation");
            assert_eq!(tool.output_schema.is_some(), entry.is_structured, "{}", tool.name);
            if let Some(schema) = tool.output_schema {
                assert_eq!(schema["type"], "object", "{}", tool.name);
            }
        }
        let tabs = mcp_tools(ToolSet::Browser).into_iter().find(|tool| tool.name == "firefox_get_tabs");
        let schema = tabs.and_then(|tool| tool.output_schema).expect("a schema");
        for field in ["tabCount", "maxTabs", "tabs", "text"] {
            assert!(schema["properties"][field].is_object(), "{field} is not in {schema}");
        }
    }

    #[test]
    fn the_list_is_small() {
        let list = serde_json::json!({ "tools": mcp_tools(ToolSet::Usual) }).to_string();
        assert!(list.len() < LIST_BYTES_MAX, "{} bytes: {list}", list.len());
        for noise in
            ["\"title\":\"", "$schema", "\"null\"", "\"format\"", "repeat for more", "standard input"]
        {
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
