//! The variables that Codex gives its shell, in its TOML. Only lines of ours come and go.

use toml_edit::{Document, Item, Value};

use super::Connection;
use super::shell::{BASH_ENV, is_our_bash_env};
use super::toml::{line_end, newline, without_newline};

const POLICY: &str = "shell_environment_policy";
const SET: &str = "set";

/// The text with our variable in it, if that can be done without touching what is there.
///
/// A variable of the user's own stays, and so does a form that cannot be added to: Codex works then, unconfined.
pub(super) fn connect(text: &str, connection: &Connection) -> String {
    let wanted = Value::from(connection.bash_env());
    let edited = match found(text) {
        Found::Ours(span) => replaced(text, span, wanted.to_string().trim()),
        Found::Users => return text.to_owned(),
        Found::Table(end) => {
            let (before, newline) = (&text[..end], newline(text));
            let gap = if before.ends_with('\n') { "" } else { newline };
            let rest = if gap.is_empty() { newline } else { "" };
            format!("{before}{gap}{BASH_ENV} = {wanted}{rest}{}", &text[end..])
        }
        Found::Nothing => appended(text, &wanted),
    };
    if Document::parse(edited.as_str()).is_ok() { edited } else { text.to_owned() }
}

/// The text without our variable, and without the table if there is nothing else in it.
pub(super) fn disconnect(text: &str) -> String {
    let Found::Ours(span) = found(text) else { return text.to_owned() };
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = line_end(text, span.end);
    let header = format!("[{POLICY}.{SET}]");
    let above = without_newline(&text[..start]);
    let is_alone = above.ends_with(&header) && !starts_with_a_key(&text[end..]);
    let from = match is_alone {
        true => above.len() - header.len(),
        false => start,
    };
    let mut before = &text[..from];
    // The last line of the file had no end before ours came, and an empty line came with the table.
    let was_open = end == text.len() && !text.ends_with('\n');
    if was_open {
        before = without_newline(before);
    }
    if is_alone {
        let shorter = without_newline(before);
        if shorter.is_empty() || shorter.ends_with('\n') || was_open {
            before = shorter;
        }
    }
    format!("{before}{}", &text[end..])
}

enum Found {
    /// Our variable, by where its value is.
    Ours(std::ops::Range<usize>),
    /// The user's own, or a form that cannot be added to.
    Users,
    /// The table, by where a line can be added.
    Table(usize),
    Nothing,
}

fn found(text: &str) -> Found {
    let Ok(document) = Document::parse(text) else { return Found::Users };
    let Some(policy) = document.get(POLICY) else { return Found::Nothing };
    let Item::Table(policy) = policy else { return Found::Users };
    match policy.get(SET) {
        None if policy.is_dotted() => Found::Users,
        None => Found::Nothing,
        Some(Item::Table(set)) if !set.is_dotted() && !set.is_implicit() => match set.get(BASH_ENV) {
            None => set.span().map_or(Found::Users, |span| Found::Table(line_end(text, span.end))),
            Some(item) => {
                match (item.as_str().is_some_and(is_our_bash_env), item.as_value().and_then(Value::span)) {
                    (true, Some(span)) => Found::Ours(span),
                    _ => Found::Users,
                }
            }
        },
        Some(_) => Found::Users,
    }
}

fn replaced(text: &str, span: std::ops::Range<usize>, by: &str) -> String {
    let mut text = text.to_owned();
    text.replace_range(span, by);
    text
}

/// The text with the table at its end. A last line without an end stays one.
fn appended(text: &str, wanted: &Value) -> String {
    let newline = newline(text);
    let block = format!("[{POLICY}.{SET}]{newline}{BASH_ENV} = {wanted}");
    match text {
        "" => format!("{block}{newline}"),
        text if text.ends_with('\n') => format!("{text}{newline}{block}{newline}"),
        text => format!("{text}{newline}{newline}{block}"),
    }
}

/// Whether what follows belongs to the same table.
fn starts_with_a_key(rest: &str) -> bool {
    let first = rest.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| !line.starts_with('['))
}
