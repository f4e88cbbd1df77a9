//! The texts in a tool's arguments, however deep, and which of them may be paths.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::fields::Fields;
use super::options::{values, words_of_line};
use super::tools::PARTS;
use super::verbs::{Verb, verb};
use super::words::{ArgumentRole, role};
use super::writers::{acts_on_everything, is_for_writers, sql_outputs};
use crate::effects::{Effects, GuessedPath, Read, Unknown};
use crate::limits::{EFFECTS_MAX, GUESS_BYTES_MAX, LINE_WORDS_MAX};

/// Arguments that other arguments are relative to.
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

/// All texts under names that mean a file, in order, each once.
pub(super) fn named_paths(input: &Map<String, Value>) -> Vec<&str> {
    let mut found = Vec::new();
    each(input, ArgumentRole::Other, &mut |role, text| {
        if role == ArgumentRole::Path && !found.contains(&text) {
            found.push(text);
        }
    });
    found
}

/// What a call of an unknown tool may do: it may write to everything that it names, unless the tool's name says that
/// it only looks, and none of its arguments says otherwise.
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
    if matches!(verb, Verb::Reads | Verb::Searches) && !is_for_writers(input, verb) {
        // Its arguments do not tell what a search shows.
        let paths = if verb == Verb::Reads { named_paths(input) } else { vec![] };
        let whole = Fields(input).get(PARTS).is_none();
        let reads = paths.into_iter().take(EFFECTS_MAX).map(|path| Read::new(path, whole)).collect();
        return Effects { reads, ..Effects::default() };
    }
    let directories: Vec<&str> = DIRECTORIES
        .iter()
        .filter_map(|name| input.get(*name)?.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    let with_trees = verb == Verb::ChangesTrees
        || (matches!(verb, Verb::Reads | Verb::Searches) && acts_on_everything(input));
    let mut found = Guesses { directories, with_trees, ..Guesses::default() };
    each(input, ArgumentRole::Other, &mut |role, text| found.text(role, text));
    found.effects
}

/// What may be paths, each once.
#[derive(Default)]
struct Guesses<'a> {
    directories: Vec<&'a str>,
    with_trees: bool,
    seen: HashSet<(String, bool)>,
    effects: Effects,
}

impl Guesses<'_> {
    fn text(&mut self, role: ArgumentRole, text: &str) {
        sql_outputs(text).into_iter().for_each(|file| self.one(file, true));
        match role {
            ArgumentRole::Text => {}
            ArgumentRole::Path => {
                self.one(text, true);
                self.words(text);
            }
            ArgumentRole::Other | ArgumentRole::Pattern if text.len() > GUESS_BYTES_MAX => {}
            ArgumentRole::Other | ArgumentRole::Pattern => {
                self.one(text, false);
                self.words(text);
            }
            ArgumentRole::Line => {
                self.one(text, false);
                self.words(text);
            }
        }
    }

    /// The words of an argument string, and the values of its options.
    fn words(&mut self, text: &str) {
        let words = words_of_line(text);
        // Prose has many words, while paths in it have telling characters.
        let is_prose = words.len() > LINE_WORDS_MAX;
        for value in words.iter().flat_map(|word| values(word)) {
            if value != text && (!is_prose || value.contains(['/', '.'])) {
                self.one(value, false);
            }
        }
    }

    fn one(&mut self, text: &str, is_named: bool) {
        // A name next to a directory may be relative to that.
        let below: Vec<String> = self
            .directories
            .iter()
            .filter(|directory| **directory != text && !text.starts_with('/'))
            .map(|directory| format!("{directory}/{text}"))
            .collect();
        for text in below.into_iter().chain([text.to_owned()]) {
            if !self.seen.insert((text.clone(), is_named)) {
                continue;
            }
            match self.effects.guesses.len() < EFFECTS_MAX {
                true => {
                    self.effects.guesses.push(GuessedPath { text, is_named, with_trees: self.with_trees })
                }
                false => self.effects.note(Unknown::Bound("too many paths")),
            }
        }
    }
}

/// Visits every text that is not empty. Items without a name have that of their container.
fn each<'a>(
    input: &'a Map<String, Value>,
    above: ArgumentRole,
    visit: &mut impl FnMut(ArgumentRole, &'a str),
) {
    for (name, value) in input {
        let inner = match (role(name), above) {
            // In `{"files": {"src/a.rs": "fn a() {}"}}` the keys are paths, and the values are text.
            (ArgumentRole::Other, ArgumentRole::Path) => {
                visit(ArgumentRole::Path, name);
                ArgumentRole::Text
            }
            (own, _) => {
                let has_slash = name.contains('/');
                visit(if has_slash { ArgumentRole::Path } else { ArgumentRole::Other }, name);
                let is_content = |text: &str| text.contains(char::is_whitespace);
                if has_slash && value.as_str().is_some_and(is_content) { ArgumentRole::Text } else { own }
            }
        };
        value_in(value, inner, visit);
    }
}

fn value_in<'a>(value: &'a Value, role: ArgumentRole, visit: &mut impl FnMut(ArgumentRole, &'a str)) {
    match value {
        Value::String(text) if !text.is_empty() => visit(role, text),
        Value::Array(values) => values.iter().for_each(|value| value_in(value, role, visit)),
        Value::Object(fields) => each(fields, role, visit),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
