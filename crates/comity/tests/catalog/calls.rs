//! What each door says in its own words: the calls that a text names.

use comity_app::catalog::{CATALOG, CatalogEntry};
use comity_app::wording::ANY_TOOL;

/// What ends a command in a text.
const ENDS: [&str; 8] = [";", ", ", "\n", " (", ")", ": ", "` in a shell", ". "];

/// A text with the same word for every call that it names.
pub(crate) fn without_calls(text: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(next) = rest.chars().next() {
        match call(rest, plain.chars().next_back()) {
            Some(length) => {
                plain.push_str("CALL");
                rest = &rest[length..];
                // A command that is no tool.
                if let (Some(before), Some(behind)) =
                    (plain.strip_suffix("`CALL"), rest.strip_prefix("` in a shell"))
                {
                    plain = format!("{before}CALL");
                    rest = behind;
                }
            }
            None => {
                plain.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    plain
}

/// How long the call is that the text begins with.
fn call(text: &str, before: Option<char>) -> Option<usize> {
    if before.is_some_and(|before| before.is_alphanumeric() || "_/".contains(before)) {
        return None;
    }
    any(text).or_else(|| {
        CATALOG.iter().find_map(|entry| {
            command(text, entry).or_else(|| tool(text, entry)).or_else(|| request(text, entry))
        })
    })
}

/// `call(operation="why", input={"subject":"ann"})`.
fn any(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(ANY_TOOL)?.strip_prefix("(operation=\"")?;
    let end = match (rest.find("})"), rest.find("\")")) {
        (Some(input), Some(none)) if input < none => input + 2,
        (_, Some(none)) if !rest[..none].contains(", input=") => none + 2,
        (input, _) => input? + 2,
    };
    Some(text.len() - rest.len() + end)
}

fn command(text: &str, entry: &CatalogEntry) -> Option<usize> {
    let words = entry.command();
    let rest = text.strip_prefix("comity ")?.strip_prefix(&words)?;
    let is_whole = !words.is_empty() && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-');
    let end = ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(without_stop(rest).len());
    // Another command may have these words and more: what counts is where it ends.
    is_whole.then(|| text.len() - rest.len() + end)
}

fn tool(text: &str, entry: &CatalogEntry) -> Option<usize> {
    let rest = text.strip_prefix(entry.tool)?.strip_prefix('(')?;
    let is_arguments = rest.starts_with(')')
        || rest.split(['=', ')']).next()?.chars().all(|c| c.is_alphanumeric() || c == '_');
    let end = rest.find(')')?;
    is_arguments.then(|| text.len() - rest.len() + end + 1)
}

fn request(text: &str, entry: &CatalogEntry) -> Option<usize> {
    let method = entry.route.method;
    let rest = text.strip_prefix(method)?.strip_prefix(" /api/")?;
    let end = rest.find([' ', ';', ',', '\n', ')']).unwrap_or(rest.len());
    let body = rest[end..].strip_prefix(" {").and_then(|body| Some(body.find('}')? + 3));
    let end = body.map_or(without_stop(&rest[..end]).len(), |body| end + body);
    Some(text.len() - rest.len() + end)
}

/// The end of a sentence is no part of the call that it ends with.
fn without_stop(text: &str) -> &str {
    text.strip_suffix('.').unwrap_or(text)
}

/// What MCP says is in the words of tools: it names no command and no request, but what only a person may do.
pub(crate) fn check_tool_words(entry: &CatalogEntry, text: &str) {
    for line in text.lines() {
        // What somebody wrote, and what stands in the log, is as it is.
        let own = line.split("  | ").next().unwrap_or_default();
        let is_request = ["GET /", "POST /", "DELETE /", "/api/"].iter().any(|words| own.contains(words));
        let begins = own.match_indices("comity ").filter(|(at, _)| !own[..*at].ends_with(is_in_a_word));
        let commands =
            begins.filter(|(at, _)| CATALOG.iter().any(|entry| command(&own[*at..], entry).is_some()));
        let in_a_shell = own.matches("` in a shell").count();
        assert!(!is_request && commands.count() == in_a_shell, "{} says by MCP: {line}", entry.name);
    }
}

fn is_in_a_word(c: char) -> bool {
    c.is_alphanumeric() || "_/-.".contains(c)
}

#[test]
#[should_panic(expected = "task_done says by MCP")]
fn a_command_in_a_tools_answer_is_found() {
    let entry = comity_app::catalog::find("task_done").expect("an operation");
    check_tool_words(entry, "start it first with: comity task start parser");
}

#[test]
fn every_door_names_the_same_calls() {
    let same = "wait for it: CALL; or ask ann: CALL; or look (CALL)";
    for text in [
        "wait for it: comity lock 'src/a b.rs' --wait 60s; or ask ann: comity mail send ann -m TEXT; or look (comity lock list)",
        "wait for it: lock(paths=[\"src/a b.rs\"], wait=\"60s\"); or ask ann: SendMessage(to=[\"ann\"], message=\"TEXT\"); or look (locks())",
        "wait for it: POST /api/coordination/locks {\"paths\":[\"a\"]}; or ask ann: POST /api/mail {\"to\":[\"ann\"]}; or look (GET /api/coordination/locks)",
        "wait for it: `comity release a` in a shell; or ask ann: lock(); or look (`comity lease list` in a shell)",
        "wait for it: call(operation=\"why\", input={\"subject\":\"ann\"}); or ask ann: call(operation=\"why\"); or look (call(operation=\"why\", input={\"subject\":\"a\"}))",
    ] {
        assert_eq!(without_calls(text), same);
    }
    let sentences = "Begin with: CALL. If it can't be done: CALL.";
    for text in [
        "Begin with: comity task start a. If it can't be done: comity task fail a --reason TEXT.",
        "Begin with: task_start(id=\"a\"). If it can't be done: task_fail(id=\"a\", reason=\"TEXT\").",
        "Begin with: POST /api/tasks/a/start. If it can't be done: POST /api/tasks/a/fail {\"reason\":\"TEXT\"}.",
    ] {
        assert_eq!(without_calls(text), sentences);
    }
    for plain in ["locked src/a.rs (fence 1)", "unlock gives back what is yours", "comity x"] {
        assert_eq!(without_calls(plain), plain);
    }
}
