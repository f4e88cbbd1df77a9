//! Blanks, comments and words.

use super::ParseProblem;
use super::parser::Parser;
use super::syntax::{Part, Word};

impl<'t> Parser<'t> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn starts_with(&self, wanted: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(wanted.as_bytes())
    }

    /// Advances by `length` bytes, and returns `value`.
    pub(super) fn step<T>(&mut self, length: usize, value: T) -> T {
        self.at += length;
        value
    }

    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), ParseProblem> {
        match self.peek() {
            Some(byte) if byte == wanted => self.step(1, Ok(())),
            Some(_) => Err(ParseProblem::Unexpected(self.at)),
            None => Err(ParseProblem::Unterminated("a command")),
        }
    }

    /// The text up to the next blank or operator, quotes included.
    pub(super) fn peek_word(&self) -> &'t str {
        let rest = &self.text[self.at..];
        &rest[..rest.bytes().position(is_separator).unwrap_or(rest.len())]
    }

    /// Skips blanks, joined lines and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                _ => break,
            }
        }
        if self.peek() == Some(b'#') {
            let rest = &self.text[self.at..];
            let length = rest.find('\n').unwrap_or(rest.len());
            // Zsh at a terminal knows no comments: it looks for a program called `#`.
            let begins_line =
                self.text[..self.at].rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" ,.:_/#-".contains(&byte);
            if !begins_line || !rest[..length].bytes().all(is_plain) || self.depth > 0 {
                self.differs("a comment, unless of plain words on a line of its own");
            }
            self.at += length;
        }
    }

    /// Skips blanks and line breaks, and reads the here-documents after them.
    pub(super) fn blank_lines(&mut self) {
        self.blanks();
        while self.peek() == Some(b'\n') {
            self.at += 1;
            self.read_documents();
            self.blanks();
        }
    }

    pub(super) fn begins_word(&self) -> bool {
        match self.peek() {
            None => false,
            Some(b'<' | b'>') => self.peek_at(1) == Some(b'('),
            Some(byte) => !is_separator(byte),
        }
    }

    /// Parses one word; there must be one.
    pub(super) fn word(&mut self) -> Result<Word, ParseProblem> {
        let start = self.at;
        let mut parts = Pieces::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => parts.quoted(self.single_quoted()?),
                b'"' => self.double_quoted(&mut parts)?,
                b'\\' => match self.escaped() {
                    Some(text) => parts.quoted(text),
                    None => parts.bare(""),
                },
                b'$' => self.dollar(&mut parts, false)?,
                b'`' => {
                    let script = self.backticks(false)?;
                    parts.other(Part::Substitution(script));
                }
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.differs("a process substitution");
                    self.at += 2;
                    let script = self.parenthesised()?;
                    parts.other(Part::Process(script));
                }
                byte if is_separator(byte) => break,
                _ => {
                    let rest = &self.text[self.at..];
                    let length = rest.bytes().position(is_special).unwrap_or(rest.len());
                    parts.bare(&rest[..length]);
                    self.at += length;
                }
            }
        }
        if self.at == start {
            return Err(ParseProblem::Unexpected(start));
        }
        Ok(Word { text: self.text[start..self.at].to_owned(), parts: parts.0 })
    }
}

/// The parts of a word being parsed; adjacent parts of a kind are merged.
#[derive(Default)]
pub(super) struct Pieces(pub(super) Vec<Part>);

impl Pieces {
    pub(super) fn bare(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Bare(last)) => last.push_str(text),
            _ => self.0.push(Part::Bare(text.to_owned())),
        }
    }

    pub(super) fn quoted(&mut self, text: impl AsRef<str>) {
        match self.0.last_mut() {
            Some(Part::Quoted(last)) => last.push_str(text.as_ref()),
            _ => self.0.push(Part::Quoted(text.as_ref().to_owned())),
        }
    }

    pub(super) fn other(&mut self, part: Part) {
        self.0.push(part);
    }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// What ends a run of plain characters.
fn is_special(byte: u8) -> bool {
    is_separator(byte) || matches!(byte, b'\'' | b'"' | b'\\' | b'$' | b'`')
}
