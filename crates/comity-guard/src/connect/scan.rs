//! Where the values of a JSON text begin and end. The text is known to be valid JSON.

use std::ops::Range;

use super::EditProblem;

/// An object or a list, by the positions of its brackets.
pub(super) struct JsonContainer {
    pub(super) open: usize,
    pub(super) close: usize,
    pub(super) items: Vec<JsonItem>,
}

pub(super) struct JsonItem {
    pub(super) key: Option<String>,
    /// Where it begins, at its key if it has one.
    pub(super) start: usize,
    pub(super) value: Range<usize>,
}

/// The type of a value, as far as edits care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Object,
    List,
    Scalar,
}

impl JsonContainer {
    pub(super) fn at(text: &str, open: usize) -> JsonContainer {
        let has_keys = text.as_bytes()[open] == b'{';
        let mut items = Vec::new();
        let mut at = skip_blank(text, open + 1);
        while !matches!(text.as_bytes()[at], b'}' | b']') {
            let start = at;
            let mut key = None;
            if has_keys {
                let end = value_end(text, at);
                key = serde_json::from_str(&text[at..end]).ok();
                at = skip_blank(text, skip_blank(text, end) + 1);
            }
            let end = value_end(text, at);
            items.push(JsonItem { key, start, value: at..end });
            at = skip_blank(text, end);
            if text.as_bytes()[at] == b',' {
                at = skip_blank(text, at + 1);
            }
        }
        JsonContainer { open, close: at, items }
    }

    /// The position of a member; a duplicate key is refused.
    pub(super) fn position(&self, key: &str) -> Result<Option<usize>, EditProblem> {
        let mut positions = (0..self.items.len()).filter(|at| self.items[*at].key.as_deref() == Some(key));
        let position = positions.next();
        if positions.next().is_some() {
            return Err(EditProblem::new(
                format!("\"{key}\" is there twice"),
                "merge the two: programs read only one of them",
            ));
        }
        Ok(position)
    }
}

impl Type {
    pub(super) fn at(text: &str, start: usize) -> Type {
        match text.as_bytes()[start] {
            b'{' => Type::Object,
            b'[' => Type::List,
            _ => Type::Scalar,
        }
    }
}

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

pub(super) fn skip_blank(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches(is_blank).len()
}

fn value_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at) - 1,
            b'{' | b'[' => depth += 1,
            // Before anything was opened, these end a number or a word.
            b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(bytes[at - 1], b'"' | b'}' | b']') {
            return at;
        }
    }
    at
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}
