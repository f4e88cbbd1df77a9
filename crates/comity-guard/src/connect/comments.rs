//! Comments and trailing commas in JSON: parsers see blanks of the same length in their place.

use std::borrow::Cow;

use super::scan::skip_blank;
use crate::dialect::Dialect;

/// What a program accepts besides plain JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JsonForm {
    Plain,
    /// `//` and `/* */`.
    Comments,
    CommentsAndCommas,
}

impl JsonForm {
    pub(super) fn of(dialect: Dialect) -> JsonForm {
        match dialect {
            Dialect::ClaudeCode | Dialect::Codex | Dialect::CopilotCli => JsonForm::Plain,
            Dialect::GeminiCli => JsonForm::Comments,
            Dialect::OpenCode | Dialect::Cursor => JsonForm::CommentsAndCommas,
        }
    }

    /// The text as plain JSON: every byte stays where it was.
    pub(super) fn plain(self, text: &str) -> Cow<'_, str> {
        if self == JsonForm::Plain {
            return text.into();
        }
        let mut plain = without_comments(text);
        if self == JsonForm::CommentsAndCommas {
            trailing_commas(&plain).into_iter().for_each(|at| plain.replace_range(at..=at, " "));
        }
        plain.into()
    }
}

/// The text of a program's settings, as plain JSON.
pub fn plain_json(dialect: Dialect, text: &str) -> Cow<'_, str> {
    JsonForm::of(dialect).plain(text)
}

fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => {
                let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
                plain.extend(std::iter::repeat_n(' ', end));
                rest = &rest[end..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                // One that is never closed is not JSON in any form: it stays, and is refused.
                let Some(end) = rest[2..].find("*/").map(|end| end + 4) else { break };
                let blank = |byte: u8| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' };
                plain.extend(rest[..end].bytes().map(blank));
                rest = &rest[end..];
                continue;
            }
            other => other.len_utf8(),
        };
        plain.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

/// The length of the string at the start of the text.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Positions of commas right before the end of a container.
fn trailing_commas(plain: &str) -> Vec<usize> {
    let (mut commas, mut at) = (Vec::new(), 0);
    while let Some(byte) = plain.as_bytes().get(at) {
        match byte {
            b'"' => at += string_length(&plain[at..]) - 1,
            b',' => {
                let next = plain.as_bytes().get(skip_blank(plain, at + 1));
                let before = plain[..at].trim_end().as_bytes().last();
                let is_behind_value = !matches!(before, None | Some(b',' | b'{' | b'[' | b':'));
                if is_behind_value && matches!(next, Some(b'}' | b']')) {
                    commas.push(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    commas
}
