//! Finds commands in what an agent writes: `⟦⟦ LOCK_FILE {"filePath": "src/a.rs"} ⟧⟧`, alone on a line.
//!
//! Each byte is looked at once. What is in a fence, quoted, indented as code, or has anything beside it on its line is text.

use serde_json::Value;

/// What a command begins and ends with.
const OPENS: &str = "⟦⟦";
const CLOSES: &str = "⟧⟧";
/// A longer line is no command.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Blanks before a command; more make code of it.
const INDENT_MAX: usize = 3;

/// A command as it was written.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct TextCommand {
    pub(super) verb: String,
    /// What it is given, or why that can't be read.
    pub(super) input: Result<Value, String>,
}

/// Reads output as it comes, in whatever pieces.
#[derive(Default)]
pub(super) struct CommandParser {
    /// The line that has no end yet, without what moves cursors and changes colours.
    line: String,
    /// Whether that line is too long to be kept.
    is_long: bool,
    /// The fence that is open: its character, and how many of them.
    fence: Option<(char, usize)>,
    escape: EscapeState,
}

/// Where in a sequence for the terminal the last character was.
#[derive(Clone, Copy, Default)]
enum EscapeState {
    #[default]
    Text,
    /// Behind ESC.
    Began,
    /// In a sequence that ends with a letter.
    Control,
    /// In a text for the terminal, which ends with BEL or ESC \\.
    Words,
    WordsEnd,
    /// One more character belongs to it.
    Charset,
}

impl CommandParser {
    /// The commands on the lines that end in this piece.
    pub(super) fn read(&mut self, piece: &str) -> Vec<TextCommand> {
        let mut commands = Vec::new();
        for character in piece.chars() {
            if !self.is_text(character) {
                continue;
            }
            match character {
                '\n' => commands.extend(self.end_line()),
                // What is written over a line is another line.
                '\r' => {}
                other if self.line.len() < LINE_BYTES_MAX => self.line.push(other),
                _ => self.is_long = true,
            }
        }
        commands
    }

    /// Whether a character is to be read, and not what tells the terminal how to show others.
    fn is_text(&mut self, character: char) -> bool {
        use EscapeState::{Began, Charset, Control, Text, Words, WordsEnd};
        let (next, is_text) = match (self.escape, character) {
            (Text | Charset, '\u{1b}') => (Began, false),
            (Text, _) => (Text, true),
            (Began, '[') => (Control, false),
            (Began, ']' | 'P' | 'X' | '^' | '_') => (Words, false),
            (Began, '(' | ')' | '*' | '+' | '#' | '%' | ' ') => (Charset, false),
            (Began | Charset, _) => (Text, false),
            (Control, '@'..='~') => (Text, false),
            (Control, _) => (Control, false),
            (Words, '\u{7}') => (Text, false),
            (Words, '\u{1b}') => (WordsEnd, false),
            (Words, _) => (Words, false),
            (WordsEnd, '\\') => (Text, false),
            (WordsEnd, _) => (Words, false),
        };
        self.escape = next;
        is_text
    }

    fn end_line(&mut self) -> Option<TextCommand> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_long) {
            return None;
        }
        let text = line.trim_start_matches(' ');
        if line.len() - text.len() > INDENT_MAX {
            return None;
        }
        if let Some((character, length)) = fence(text) {
            self.fence = match self.fence {
                None => Some((character, length)),
                // It is closed by as many of the same, and nothing behind them.
                Some((opened, least)) => {
                    let is_end = opened == character && length >= least && is_bare(text, character);
                    (!is_end).then_some((opened, least))
                }
            };
            return None;
        }
        match self.fence {
            None => command(text.trim_end()),
            Some(_) => None,
        }
    }
}

/// The character and the length of the fence that a line begins with.
fn fence(text: &str) -> Option<(char, usize)> {
    let character = text.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let length = text.chars().take_while(|next| *next == character).count();
    (length >= 3).then_some((character, length))
}

fn is_bare(text: &str, character: char) -> bool {
    text.trim_end().chars().all(|next| next == character)
}

fn command(line: &str) -> Option<TextCommand> {
    let inside = line.strip_prefix(OPENS)?.strip_suffix(CLOSES)?.trim();
    let (verb, rest) =
        inside.split_at(inside.find(|c: char| c.is_whitespace() || c == '{').unwrap_or(inside.len()));
    let is_verb = !verb.is_empty() && verb.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let input = match rest.trim() {
        "" => Ok(Value::Object(serde_json::Map::new())),
        rest => match serde_json::from_str::<Value>(rest) {
            Ok(input @ Value::Object(_)) => Ok(input),
            Ok(_) => Err("give fields in braces, as JSON".to_owned()),
            Err(error) => Err(format!("this isn't JSON: {error}")),
        },
    };
    is_verb.then(|| TextCommand { verb: verb.to_owned(), input })
}

/// A text in which nothing can be taken for a command.
pub(super) fn without_commands(text: &str) -> String {
    text.replace('⟦', "[").replace('⟧', "]")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verbs(text: &str) -> Vec<String> {
        let commands = CommandParser::default().read(text);
        let said = |command: TextCommand| match command.input {
            Ok(input) => format!("{} {input}", command.verb),
            Err(_) => format!("{} ?", command.verb),
        };
        commands.into_iter().map(said).collect()
    }

    #[test]
    fn commands_are_alone_on_their_lines() {
        let check = |text: &str, expected: &[&str]| assert_eq!(verbs(text), expected, "{text}");
        check("⟦⟦ LOCK_FILE {\"filePath\": \"src/a.rs\"} ⟧⟧\n", &["LOCK_FILE {\"filePath\":\"src/a.rs\"}"]);
        check("  ⟦⟦PROGRESS{\"a\":1}⟧⟧  \r\n⟦⟦ COMMIT ⟧⟧\n", &["PROGRESS {\"a\":1}", "COMMIT {}"]);
        check("\u{1b}[1m⟦⟦ COMMIT ⟧⟧\u{1b}[0m\r\n", &["COMMIT {}"]);
        check("⟦⟦ COMMIT {oops} ⟧⟧\n⟦⟦ COMMIT [1] ⟧⟧\n", &["COMMIT ?", "COMMIT ?"]);
        for no in [
            "I would write ⟦⟦ COMMIT ⟧⟧\n",
            "⟦⟦ COMMIT ⟧⟧ would do\n",
            "`⟦⟦ COMMIT ⟧⟧`\n",
            "> ⟦⟦ COMMIT ⟧⟧\n",
            "| ⟦⟦ COMMIT ⟧⟧\n",
            "\"⟦⟦ COMMIT ⟧⟧\"\n",
            "    ⟦⟦ COMMIT ⟧⟧\n",
            "\t⟦⟦ COMMIT ⟧⟧\n",
            "⟦⟦ commit ⟧⟧\n",
            "⟦⟦ ⟧⟧\n",
            "⟦⟦ COMMIT\n ⟧⟧\n",
            "⟦⟦ COMMIT ⟧⟧",
            "\u{1b}]0;⟦⟦ COMMIT ⟧⟧\n\u{7}\n",
        ] {
            check(no, &[]);
        }
    }

    #[test]
    fn what_is_in_a_fence_is_text() {
        let check = |text: &str, count: usize| assert_eq!(verbs(text).len(), count, "{text}");
        check("```\n⟦⟦ COMMIT ⟧⟧\n```\n", 0);
        check("```sh\n⟦⟦ COMMIT ⟧⟧\n```\n⟦⟦ COMMIT ⟧⟧\n", 1);
        check("~~~~\n```\n⟦⟦ COMMIT ⟧⟧\n~~~\n⟦⟦ COMMIT ⟧⟧\n~~~~\n⟦⟦ COMMIT ⟧⟧\n", 1);
        check("```\n⟦⟦ COMMIT ⟧⟧\n``` sh\n⟦⟦ COMMIT ⟧⟧\n", 0);
    }

    #[test]
    fn a_line_that_is_too_long_is_no_command_and_the_next_one_is() {
        let long = format!("⟦⟦ COMMIT {{\"message\":\"{}\"}} ⟧⟧\n⟦⟦ COMMIT ⟧⟧\n", "x".repeat(LINE_BYTES_MAX));
        assert_eq!(verbs(&long), ["COMMIT {}"]);
    }

    /// Read again with every piece, each of these would take hours.
    #[test]
    fn each_byte_is_looked_at_once() {
        let start = std::time::Instant::now();
        for part in
            ["⟦⟦", "⟦⟦ COMMIT {\"a\":", "`", "~~~", "\u{1b}]", "\u{1b}[1", " ", "⟧⟧⟦⟦", "{[", "⟦⟦ A ⟧⟧\n"]
        {
            let mut parser = CommandParser::default();
            let text = part.repeat(4_000_000 / part.len());
            for character in text.chars() {
                parser.read(character.encode_utf8(&mut [0; 4]));
            }
            parser.read("\n");
        }
        assert!(start.elapsed().as_secs() < 60); // clock: a bound that only work which grows faster than its input reaches
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Whatever comes, in whatever pieces, it is read alike, and no more is kept than a line.
        #[test]
        fn pieces_do_not_matter(
            parts in proptest::collection::vec("(⟦⟦ ?[A-Z]{1,3} ?(\\{\"a\":1\\})? ?⟧⟧|```|~~~|\n|\r\n| {0,5}|.|\u{1b}\\[[0-9]m|\u{1b}\\]|\u{7})", 0..40)
        ) {
            let text = parts.concat();
            let whole = CommandParser::default().read(&text);
            let (mut parser, mut pieces) = (CommandParser::default(), Vec::new());
            for character in text.chars() {
                pieces.extend(parser.read(character.encode_utf8(&mut [0; 4])));
                prop_assert!(parser.line.len() <= LINE_BYTES_MAX + 4);
            }
            prop_assert_eq!(&pieces, &whole);
            prop_assert!(verbs(&without_commands(&text)).is_empty());
        }
    }
}
