//! Our MCP server in Codex's TOML. Only our lines are added and removed: comments and everything else stay.

use std::ops::Range;

use toml_edit::{Array, Document, InlineTable, Item, Table, TomlError, Value};

use super::braces::{self, RemovedPart};
use super::{EditProblem, HOME_VARIABLE, ProgramPaths, SERVER, SERVER_ARGUMENTS, policy};

const SERVERS: &str = "mcp_servers";
const ENVIRONMENT: &str = "env";

pub(super) fn connect(text: &str, connection: &ProgramPaths) -> Result<String, EditProblem> {
    let document = parse(text)?;
    let text = match comity(&document)? {
        None => appended(text, connection),
        Some(_) => {
            let arguments: Array = SERVER_ARGUMENTS.into_iter().collect();
            let text = with_home(text, connection.home.as_deref())?;
            let text = with_value(&text, "args", &Value::from(arguments))?;
            with_value(&text, "command", &Value::from(connection.comity.as_str()))?
        }
    };
    // Some forms of TOML cannot be added to, such as an inline table.
    parse(&text).map_err(|_| other_form())?;
    // A variable needs the file's absolute path.
    Ok(if connection.is_by_name() { text } else { policy::connect(&text, connection) })
}

pub(super) fn disconnect(text: &str) -> Result<Option<String>, EditProblem> {
    let mut text = policy::disconnect(text);
    while let Some(block) = first_block(&text)? {
        text.replace_range(block, "");
    }
    Ok((!text.is_empty()).then_some(text))
}

fn parse(text: &str) -> Result<Document<&str>, EditProblem> {
    Document::parse(text).map_err(|error: TomlError| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        EditProblem::new(format!("the file isn't TOML (line {line})"), "fix it; Codex can't read it either")
    })
}

/// Our server, if it has a header of its own.
fn comity<'a>(document: &'a Document<&str>) -> Result<Option<&'a Table>, EditProblem> {
    Ok(comity_or_below(document)?.filter(|table| !table.is_implicit()))
}

/// Our server, also if only its sub-tables have headers.
fn comity_or_below<'a>(document: &'a Document<&str>) -> Result<Option<&'a Table>, EditProblem> {
    let Some(servers) = document.get(SERVERS) else { return Ok(None) };
    let Some(servers) = servers.as_table_like() else {
        return Err(EditProblem::wrong_type(SERVERS, "a table"));
    };
    let Some(server) = servers.get(SERVER) else { return Ok(None) };
    match server {
        Item::Table(table) if !table.is_dotted() => Ok(Some(table)),
        Item::Table(_) | Item::Value(_) | Item::ArrayOfTables(_) | Item::None => Err(other_form()),
    }
}

fn other_form() -> EditProblem {
    EditProblem::new(
        format!("\"{SERVERS}\" is written in a form that can't be edited"),
        format!("give every server a header of its own, such as [{SERVERS}.{SERVER}]"),
    )
}

/// The text with our server added. A last line without a line break stays one.
fn appended(text: &str, connection: &ProgramPaths) -> String {
    let newline = newline(text);
    let arguments: Array = SERVER_ARGUMENTS.into_iter().collect();
    let mut lines = vec![
        format!("[{SERVERS}.{SERVER}]"),
        format!("command = {}", Value::from(connection.comity.as_str())),
        format!("args = {}", Value::from(arguments)),
    ];
    lines.extend(connection.home.as_deref().map(|home| format!("{ENVIRONMENT} = {}", our_environment(home))));
    let block = lines.join(newline);
    if text.is_empty() {
        format!("{block}{newline}")
    } else if text.ends_with('\n') {
        format!("{text}{newline}{block}{newline}")
    } else {
        format!("{text}{newline}{newline}{block}")
    }
}

/// The text with one value of our server corrected.
fn with_value(text: &str, key: &str, wanted: &Value) -> Result<String, EditProblem> {
    let document = parse(text)?;
    let Some(table) = comity(&document)? else { return Err(other_form()) };
    let span = match table.get(key) {
        Some(Item::Value(value)) if same(value, wanted) => return Ok(text.to_owned()),
        Some(item) => item.as_value().and_then(Value::span),
        None => {
            let at = line_end(text, table.span().ok_or_else(other_form)?.end);
            let (before, newline) = (&text[..at], newline(text));
            let gap = if before.ends_with('\n') { "" } else { newline };
            let end = if gap.is_empty() { newline } else { "" };
            return Ok(format!("{before}{gap}{key} = {wanted}{end}{}", &text[at..]));
        }
    };
    let mut changed = text.to_owned();
    changed.replace_range(span.ok_or_else(other_form)?, wanted.to_string().trim());
    Ok(changed)
}

/// Sets the state directory in our server's environment, or removes it if `None`; the user's variables stay.
fn with_home(text: &str, home: Option<&str>) -> Result<String, EditProblem> {
    let document = parse(text)?;
    let Some(table) = comity(&document)? else { return Err(other_form()) };
    let Some(home) = home else { return Ok(without_home(text, table)) };
    let wanted = Value::from(home);
    let added = |at: &Table, line: String| {
        let at = line_end(text, at.span()?.end);
        let (gap, end) = if text[..at].ends_with('\n') { ("", newline(text)) } else { (newline(text), "") };
        Some(format!("{}{gap}{line}{end}{}", &text[..at], &text[at..]))
    };
    let known =
        table.get(ENVIRONMENT).map(|set| (set, set.as_table_like().and_then(|set| set.get(HOME_VARIABLE))));
    let edited = match known {
        Some((_, Some(Item::Value(value)))) if same(value, &wanted) => Some(text.to_owned()),
        Some((_, Some(item))) => item.as_value().and_then(Value::span).map(|span| {
            let mut text = text.to_owned();
            text.replace_range(span, wanted.to_string().trim());
            text
        }),
        Some((Item::Value(Value::InlineTable(set)), None)) if !set.is_dotted() => {
            braces::with(text, set, &format!("{HOME_VARIABLE} = {wanted}"))
        }
        Some((Item::Table(set), None)) if !set.is_dotted() => {
            added(set, format!("{HOME_VARIABLE} = {wanted}"))
        }
        Some((Item::Table(_), None)) => added(table, format!("{ENVIRONMENT}.{HOME_VARIABLE} = {wanted}")),
        Some((Item::None | Item::Value(_) | Item::ArrayOfTables(_), None)) => None,
        None => return with_value(text, ENVIRONMENT, &our_environment(home)),
    };
    edited.ok_or_else(other_form)
}

/// What we write if no environment was set.
fn our_environment(home: &str) -> Value {
    let set: InlineTable = [(HOME_VARIABLE, home)].into_iter().collect();
    Value::from(set)
}

fn without_home(text: &str, table: &Table) -> String {
    let set = table.get(ENVIRONMENT).and_then(Item::as_inline_table);
    let Some(set) = set.filter(|set| set.contains_key(HOME_VARIABLE)) else { return text.to_owned() };
    let mut text = text.to_owned();
    match (set.len(), set.span(), braces::without(&text, set, HOME_VARIABLE)) {
        (1, Some(span), _) => {
            let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
            let end = line_end(&text, span.end);
            // Keeps a last line without a line break.
            let start = if end == text.len() && !text.ends_with('\n') {
                without_newline(&text[..start]).len()
            } else {
                start
            };
            text.replace_range(start..end, "");
        }
        (_, _, Some(RemovedPart::Part(part))) => text.replace_range(part, ""),
        (_, _, Some(RemovedPart::Table) | None) => {}
    }
    text
}

fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one.value() == other.value(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => false,
    }
}

/// The lines of the first table that is our server or below it, with the empty line before them.
fn first_block(text: &str) -> Result<Option<Range<usize>>, EditProblem> {
    let document = parse(text)?;
    let Some(server) = comity_or_below(&document)? else { return Ok(None) };
    let table = first_with_header(server)?;
    let header = table.span().ok_or_else(other_form)?;
    let start = text[..header.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = line_end(text, last_value_end(table).unwrap_or(header.end).max(header.end));
    let mut before = &text[..start];
    // The file's last line had no line break before ours was added.
    if end == text.len() && !text.ends_with('\n') {
        before = without_newline(before);
    }
    let above = without_newline(before);
    if above.is_empty() || above.ends_with('\n') || end == text.len() && !text.ends_with('\n') {
        before = above;
    }
    Ok(Some(before.len()..end))
}

fn first_with_header(table: &Table) -> Result<&Table, EditProblem> {
    if !table.is_implicit() {
        return Ok(table);
    }
    let below = table.iter().find_map(|(_, item)| match item {
        Item::Table(table) => Some(table),
        Item::None | Item::Value(_) | Item::ArrayOfTables(_) => None,
    });
    first_with_header(below.ok_or_else(other_form)?)
}

/// The end of the last value below a table's own header.
fn last_value_end(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => Some(value.span()?.end),
        Item::Table(table) if table.is_dotted() => last_value_end(table),
        Item::Table(_) | Item::None | Item::ArrayOfTables(_) => None,
    });
    ends.max()
}

pub(super) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

pub(super) fn without_newline(text: &str) -> &str {
    let shorter = text.strip_suffix('\n').unwrap_or(text);
    shorter.strip_suffix('\r').unwrap_or(shorter)
}

/// The end of the line, including its line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}
