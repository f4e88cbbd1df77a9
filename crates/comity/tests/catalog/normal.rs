//! Replaces what two servers cannot agree on: times, ids, secrets, fences, directories.

use std::path::Path;

use serde_json::Value;

use crate::calls::without_calls;

/// Numbers whose names end like this, or are these, differ from run to run.
const NUMBERS: [&str; 6] = ["fence", "new_fence", "fence_floor", "pid", "at_ms", "seen_ms_ago"];
/// Texts with these names differ from run to run.
const TEXTS: [&str; 7] = ["at", "hash", "token", "url", "project", "lineage", "proof"];

/// The colour of an agent follows from its id.
const COLOURS: [&str; 8] = ["red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink"];

/// JSON with the same value for everything that differs.
pub(crate) fn normal_json(value: &Value, dir: &Path) -> Value {
    match value {
        Value::Object(fields) => {
            let normal = |(name, value): (&String, &Value)| {
                let name = name.as_str();
                let is_time = name.ends_with("_ms") || name.ends_with("Ms") || NUMBERS.contains(&name);
                let value = match value {
                    // Where the human acted from.
                    Value::Object(_) if name == "from" => "PLACE".into(),
                    Value::Number(_) if is_time => "NUMBER".into(),
                    Value::String(_) if TEXTS.contains(&name) => "TEXT".into(),
                    other => normal_json(other, dir),
                };
                (name.to_owned(), value)
            };
            Value::Object(fields.iter().map(normal).collect())
        }
        Value::Array(items) => items.iter().map(|item| normal_json(item, dir)).collect(),
        Value::String(text) if text.contains("acted from a new place") => "PLACE".into(),
        Value::String(text) => normal_text(&without_calls(text), dir).into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Text with the same word for everything that differs.
pub(crate) fn normal_text(text: &str, dir: &Path) -> String {
    let text = text.replace(&dir.display().to_string(), "DIR").replace("just now", "0s ago");
    let mut before = "";
    let text = without_ids(without_marks(&text));
    let words = text.split_inclusive([' ', '\n', '(', ')', ',', ';']).map(|word| {
        let end = word.trim_end_matches([' ', '\n', '(', ')', ',', ';', ':']);
        // The number of a process may be a small one.
        let normal =
            if std::mem::replace(&mut before, end) == "process" { "NUMBER" } else { normal_word(end) };
        format!("{normal}{}", &word[end.len()..])
    });
    let mut text = words.collect::<String>().replace("SPAN SPAN", "SPAN");
    // A column is as wide as its longest cell.
    while text.contains("   ") {
        text = text.replace("   ", "  ");
    }
    text
}

/// The words of pages stand between marks that nobody can guess, each between its own.
fn without_marks(text: &str) -> String {
    let is_mark = |mark: &&str| mark.len() == 8 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    let marks = text.split("<page ").skip(1).filter_map(|rest| rest.get(..8)).filter(is_mark);
    marks.fold(text.to_owned(), |text, mark| text.replace(mark, "MARK"))
}

/// Agents have directories, which their ids name.
fn without_ids(text: String) -> String {
    let ids = text.split("/agent_").skip(1).filter_map(|rest| rest.get(..12));
    let is_id = |id: &&str| id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let ids: Vec<String> = ids.filter(is_id).map(|id| format!("/agent_{id}")).collect();
    ids.iter().fold(text, |text, id| text.replace(id, "/ID"))
}

fn normal_word(word: &str) -> &str {
    let is_number = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let is_id = |prefix: &str| {
        let id = word.strip_prefix(prefix);
        id.is_some_and(|id| id.len() == 12 && id.chars().all(|c| c.is_ascii_hexdigit()))
    };
    let is_span = ["ms", "m", "s"].iter().any(|unit| word.strip_suffix(unit).is_some_and(is_number));
    // The name of a worktree in the trash ends with random digits.
    let is_trashed = |word: &str| {
        let digits = word.rsplit_once("login-").map(|(_, digits)| digits);
        digits.is_some_and(|digits| digits.len() == 8 && digits.chars().all(|c| c.is_ascii_hexdigit()))
    };
    let is_clock =
        |word: &str| word.len() == 8 && word.split(':').filter(|part| is_number(part)).count() == 3;
    match word {
        _ if is_trashed(word) => "TRASHED",
        _ if COLOURS.contains(&word) => "COLOUR",
        _ if is_id("agent_") || is_id("project_") => "ID",
        _ if word.contains("cmty_") => "TOKEN",
        _ if word.starts_with("http://") => "URL",
        _ if is_number(word) && word.len() >= 4 => "NUMBER",
        _ if matches!(word.len(), 40 | 64) && word.chars().all(|c| c.is_ascii_hexdigit()) => "HASH",
        _ if word.len() == 24 && word.ends_with('Z') || is_clock(word) => "TIME",
        _ if is_span => "SPAN",
        _ => word,
    }
}
