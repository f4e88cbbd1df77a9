//! The texts in the arguments of a tool, however deep, and which of them may be paths.

use serde_json::{Map, Value};

use super::words::{Role, Verb, is_of_writers, role, verb};
use crate::effects::{Effects, Guess, Unknown};
use crate::limits::{EFFECTS_MAX, GUESS_BYTES_MAX};

/// Arguments that say where others are meant from.
const DIRECTORIES: [&str; 12] = [
    "directory",
    "dir",
    "cwd",
    "root",
    "base",
    "folder",
    "workdir",
    "base_path",
    "basePath",
    "working_directory",
    "workingDirectory",
    "project",
];

/// All texts under names that say which file, in order; the same once.
pub(super) fn named_paths(input: &Map<String, Value>) -> Vec<&str> {
    let mut found = Vec::new();
    each(input, Role::Other, &mut |role, text| {
        if role == Role::Path && !found.contains(&text) {
            found.push(text);
        }
    });
    found
}

/// What a call of a tool that nobody has told us about may do: it may write to whatever it names, unless its name says
/// that it only looks, and none of its arguments says otherwise.
pub(super) fn guess(tool: &str, input: &Value) -> Effects {
    let verb = verb(tool);
    let owned;
    let input = match input {
        Value::Object(input) => input,
        other => {
            owned = Map::from_iter([("path".to_owned(), other.clone())]);
            &owned
        }
    };
    if verb == Verb::Reads && !has_argument_of_writers(input) {
        return Effects::default();
    }
    let mut effects = Effects::default();
    let directories: Vec<&str> = DIRECTORIES
        .iter()
        .filter_map(|name| input.get(*name)?.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    each(input, Role::Other, &mut |role, text| {
        let is_named = role == Role::Path;
        if role == Role::Text || (!is_named && text.len() > GUESS_BYTES_MAX) {
            return;
        }
        // A name beside a directory may be meant from there.
        let below = directories.iter().filter(|directory| **directory != text && !text.starts_with('/'));
        let readings = below.map(|directory| format!("{directory}/{text}")).chain([text.to_owned()]);
        for text in readings {
            let guess = Guess { text, is_named, with_trees: verb == Verb::ChangesTrees };
            if effects.guesses.contains(&guess) {
                continue;
            }
            match effects.guesses.len() < EFFECTS_MAX {
                true => effects.guesses.push(guess),
                false => effects.note(Unknown::Bound("too many paths")),
            }
        }
    });
    effects
}

fn has_argument_of_writers(input: &Map<String, Value>) -> bool {
    let says = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    input.iter().any(|(name, value)| {
        let nested = match value {
            Value::Object(fields) => has_argument_of_writers(fields),
            Value::Array(values) => values.iter().filter_map(Value::as_object).any(has_argument_of_writers),
            _ => false,
        };
        nested || (is_of_writers(name) && says(value))
    })
}

/// Visits every text that is not empty. What has no name of its own has that of what it is in.
fn each<'a>(input: &'a Map<String, Value>, above: Role, visit: &mut impl FnMut(Role, &'a str)) {
    for (name, value) in input {
        // In `{"files": {"src/a.rs": "fn a() {}"}}` the names are paths, and what they stand for is text.
        let inner = match (role(name), above) {
            (Role::Other, Role::Path) => {
                visit(Role::Path, name);
                Role::Text
            }
            (own, _) => own,
        };
        value_in(value, inner, visit);
    }
}

fn value_in<'a>(value: &'a Value, role: Role, visit: &mut impl FnMut(Role, &'a str)) {
    match value {
        Value::String(text) if !text.is_empty() => visit(role, text),
        Value::Array(values) => values.iter().for_each(|value| value_in(value, role, visit)),
        Value::Object(fields) => each(fields, role, visit),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
