//! Shows what an agent's program wrote.

use std::fmt;
use std::time::Duration;

use comity_core::display::visible_lines;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reachable;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::span::Span;

/// The longest wait for more.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Show what the program of an agent wrote to its terminal: the last 256 KB.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunLogs {
    /// Its name or number
    pub agent: String,
    /// Only what came after this position, which the last answer gave as "next"
    #[serde(default)]
    pub since: u64,
    /// Wait up to this long (e.g. 20s) until there is more
    pub wait: Option<Span>,
}

/// What it wrote.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunOutput {
    pub name: String,
    /// The agent that wrote it: one that is started again is another.
    pub agent: String,
    /// As its terminal got it, control sequences included.
    pub text: String,
    /// Where to go on reading.
    pub next: u64,
    /// Bytes that came before and are gone.
    pub missed: u64,
    /// Whether nothing more comes.
    pub over: bool,
}

impl Operation for RunLogs {
    type Output = RunOutput;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<RunOutput>, Failure> {
        let (run, key) = reachable(app, caller, &self.agent)?;
        let name = run.spec.name.to_string();
        let nothing = RunOutput {
            name: name.clone(),
            agent: key.clone(),
            text: String::new(),
            next: self.since,
            missed: 0,
            over: true,
        };
        let Some(runner) = app.runs().runner() else { return Ok(Plan::Answer(nothing)) };
        if let Some(text) = runner.read_pane(&key) {
            return Ok(Plan::Answer(RunOutput { text, over: false, ..nothing }));
        }
        let wait = self.wait.map_or(Duration::ZERO, |wait| Duration::from_millis(wait.0.0)).min(WAIT_MAX);
        let Ok(output) = runner.wait_for_output(&key, self.since, wait) else {
            return Ok(Plan::Answer(nothing));
        };
        let (text, cut) = whole_characters(&output.bytes);
        let over = output.is_over && cut == 0;
        Ok(Plan::Answer(RunOutput {
            name,
            agent: key,
            text,
            next: output.next - cut as u64,
            missed: output.missed,
            over,
        }))
    }
}

/// The text, and how many bytes at its end are the beginning of a character whose rest has not come.
fn whole_characters(bytes: &[u8]) -> (String, usize) {
    let cut = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        Ok(_) | Err(_) => 0,
    };
    let whole = bytes.get(..bytes.len() - cut).unwrap_or_default();
    (String::from_utf8_lossy(whole).into_owned(), cut)
}

impl fmt::Display for RunOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.missed > 0 {
            writeln!(f, "({} bytes before this are gone)", self.missed)?;
        }
        let (plain, _) = plain(&self.text);
        f.write_str(visible_lines(plain.trim_end()).as_ref())
    }
}

/// A sequence that is longer without an end is none.
const SEQUENCE_BYTES_MAX: usize = 4096;

/// The words without what moves cursors and changes colours, and how many bytes were read for them: the last sequence, or the end
/// of a line, may not be whole yet.
pub fn plain(text: &str) -> (String, usize) {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        let (after, is_whole) = match character {
            '\u{1b}' => skip_sequence(after),
            '\r' => (after, !after.is_empty()),
            _ => (after, true),
        };
        if !is_whole && rest.len() < SEQUENCE_BYTES_MAX {
            break;
        }
        match character {
            '\r' if !after.starts_with('\n') => plain.push('\n'),
            '\u{1b}' | '\r' | '\u{7}' | '\u{8}' => {}
            other => plain.push(other),
        }
        rest = after;
    }
    (plain, text.len() - rest.len())
}

/// What comes after a sequence, and whether that is whole.
fn skip_sequence(text: &str) -> (&str, bool) {
    let mut characters = text.chars();
    let is_whole = match characters.next() {
        // CSI: parameters, then one final character.
        Some('[') => characters.any(|it| ('@'..='~').contains(&it)),
        // OSC and other strings, up to BEL or ST.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut before = ' ';
            characters.any(|it| it == '\u{7}' || (std::mem::replace(&mut before, it), it) == ('\u{1b}', '\\'))
        }
        // A choice of a character set has one more.
        Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => characters.next().is_some(),
        Some(_) => true,
        None => false,
    };
    (characters.as_str(), is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_plain() {
        let check = |text: &str, shown: &str| assert_eq!(plain(text), (shown.to_owned(), text.len()));
        check("\u{1b}[1;31mred\u{1b}[0m and\u{1b}(B plain\r\n", "red and plain\n");
        check("a\u{1b}]0;title\u{7}b\u{1b}]8;;http://x\u{1b}\\c", "abc");
        let half =
            |text: &str, shown: &str| assert_eq!(plain(text), (shown.to_owned(), shown.len()), "{text:?}");
        for rest in ["\u{1b}", "\u{1b}[", "\u{1b}[1;3", "\u{1b}]0;ti", "\u{1b}]0;ti\u{1b}", "\u{1b}(", "\r"] {
            half(&format!("half{rest}"), "half");
        }
        let endless = format!("\u{1b}]{}", "x".repeat(5000));
        check(&endless, "");
        check("50%\r100%", "50%\n100%");
    }

    #[test]
    fn a_character_that_comes_in_two_pieces_is_whole() {
        assert_eq!(whole_characters("aü".as_bytes()), ("aü".into(), 0));
        assert_eq!(whole_characters(&"aü".as_bytes()[..2]), ("a".into(), 1));
        assert_eq!(whole_characters(b"a\xffb"), ("a\u{fffd}b".into(), 0));
    }
}
