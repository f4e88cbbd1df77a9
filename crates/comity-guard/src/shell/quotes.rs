//! Quotes and escapes.

use super::ParseProblem;
use super::parser::Parser;
use super::syntax::{Part, Script};
use super::words::Pieces;

impl<'t> Parser<'t> {
    /// `'…'`
    pub(super) fn single_quoted(&mut self) -> Result<&'t str, ParseProblem> {
        let rest = &self.text[self.at + 1..];
        let end = rest.find('\'').ok_or(ParseProblem::Unterminated("a quote"))?;
        self.at += 1 + end + 1;
        Ok(&rest[..end])
    }

    /// `\` and what it protects; `None` for a joined line.
    pub(super) fn escaped(&mut self) -> Option<&'t str> {
        let rest = &self.text[self.at + 1..];
        let protected = rest.chars().next().map_or(0, char::len_utf8);
        self.at += 1 + protected;
        match &rest[..protected] {
            "\n" => None,
            // At the very end some shells take it literally, and others drop it.
            "" => {
                self.problem.get_or_insert(ParseProblem::Unterminated("an escape"));
                Some("\\")
            }
            protected => Some(protected),
        }
    }

    /// `"…"`
    pub(super) fn double_quoted(&mut self, parts: &mut Pieces) -> Result<(), ParseProblem> {
        self.at += 1;
        parts.quoted("");
        loop {
            match self.peek() {
                None => return Err(ParseProblem::Unterminated("a quote")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escaped_in_quotes(parts),
                Some(b'$') => self.dollar(parts, true)?,
                Some(b'`') => {
                    let script = self.backticks(true)?;
                    parts.other(Part::Substitution(script));
                }
                Some(_) => {
                    let rest = &self.text[self.at..];
                    let is_special = |byte| matches!(byte, b'"' | b'\\' | b'$' | b'`');
                    let length = rest.bytes().position(is_special).unwrap_or(rest.len());
                    parts.quoted(&rest[..length]);
                    self.at += length;
                }
            }
        }
    }

    /// In double quotes a backslash protects only special characters.
    fn escaped_in_quotes(&mut self, parts: &mut Pieces) {
        match self.peek_at(1) {
            Some(b'\n') => self.at += 2,
            Some(b'$' | b'`' | b'"' | b'\\') => {
                parts.quoted(&self.text[self.at + 1..self.at + 2]);
                self.at += 2;
            }
            _ => {
                parts.quoted("\\");
                self.at += 1;
            }
        }
    }

    /// `` `…` ``, whose backslashes are resolved before it is parsed.
    pub(super) fn backticks(&mut self, in_quotes: bool) -> Result<Script, ParseProblem> {
        self.differs("a command in backticks");
        self.at += 1;
        let mut inner = String::new();
        loop {
            let rest = &self.text[self.at..];
            let length = rest.bytes().position(|byte| matches!(byte, b'`' | b'\\'));
            let Some(length) = length else {
                return Err(ParseProblem::Unterminated("a command in backticks"));
            };
            inner.push_str(&rest[..length]);
            self.at += length;
            if self.peek() == Some(b'`') {
                self.at += 1;
                break;
            }
            let undone = match self.peek_at(1) {
                Some(b'$' | b'`' | b'\\') => true,
                Some(b'"') => in_quotes,
                _ => false,
            };
            if undone {
                self.at += 1;
                inner.push_str(&self.text[self.at..self.at + 1]);
            } else {
                inner.push('\\');
            }
            self.at += 1;
        }
        self.nested(|parser| parser.reread(&inner))
    }

    /// Parses a separate text, whose here-documents are added to ours.
    fn reread(&mut self, text: &str) -> Result<Script, ParseProblem> {
        let mut inner = Parser::new(text);
        inner.depth = self.depth;
        inner.ahead = self.ahead;
        inner.documents = std::mem::take(&mut self.documents);
        let parsed = inner.parse();
        self.documents = parsed.documents;
        match parsed.problem {
            None => Ok(parsed.script),
            // Its byte positions are not ours.
            Some(ParseProblem::Unexpected(_)) => Err(ParseProblem::Unexpected(self.at)),
            Some(problem) => Err(problem),
        }
    }

    /// `$'…'`, with the escapes of C. `None` if the bytes are not text.
    pub(super) fn c_quoted(&mut self) -> Result<Option<String>, ParseProblem> {
        self.differs("quotes behind a dollar sign");
        self.at += 2;
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.peek() else { return Err(ParseProblem::Unterminated("a quote")) };
            self.at += 1;
            match byte {
                b'\'' => break,
                b'\\' => self.c_escape(&mut bytes),
                byte => bytes.push(byte),
            }
        }
        // A shell cuts at a zero byte; what it does then is not worth guessing.
        Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
    }

    fn c_escape(&mut self, bytes: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        let plain = match byte {
            b'a' => 0x07,
            b'b' => 0x08,
            b'e' | b'E' => 0x1b,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' | b'\'' | b'"' | b'?' => byte,
            b'x' => return self.c_number(bytes, 2, 16, b"\\x"),
            b'u' => return self.c_number(bytes, 4, 16, b"\\u"),
            b'U' => return self.c_number(bytes, 8, 16, b"\\U"),
            b'0'..=b'7' => {
                self.at -= 1;
                return self.c_number(bytes, 3, 8, b"");
            }
            b'c' => {
                let control = self.peek().map_or(0, |byte| byte & 0x1f);
                self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
                control
            }
            other => {
                bytes.push(b'\\');
                other
            }
        };
        bytes.push(plain);
    }

    /// Up to `digits` digits: a byte, or a character for `\u` and `\U`.
    fn c_number(&mut self, bytes: &mut Vec<u8>, digits: usize, radix: u32, written: &[u8]) {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take(digits).take_while(|byte| char::from(*byte).is_digit(radix)).count();
        let Ok(number) = u32::from_str_radix(&rest[..length], radix) else {
            return bytes.extend_from_slice(written);
        };
        self.at += length;
        match (digits, char::from_u32(number)) {
            (4 | 8, Some(character)) => bytes.extend_from_slice(character.to_string().as_bytes()),
            // No text has this byte, so the word is unclear.
            (4 | 8, None) => bytes.push(0xff),
            _ => bytes.push(number.to_le_bytes()[0]),
        }
    }
}
