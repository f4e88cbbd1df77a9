//! What begins with a dollar: variables, expansions, substitutions and arithmetic.

use super::ParseProblem;
use super::parser::{Parser, ScriptEnd};
use super::syntax::{Part, Script};
use super::words::Pieces;
use crate::limits::LOOKAHEAD_BYTES_MAX;

impl Parser<'_> {
    pub(super) fn dollar(&mut self, parts: &mut Pieces, in_quotes: bool) -> Result<(), ParseProblem> {
        let start = self.at;
        if self.starts_with("$((") {
            self.differs("arithmetic");
        }
        let scripts = match self.peek_at(1) {
            Some(b'(') if self.peek_at(2) == Some(b'(') && self.is_arithmetic(3) => {
                self.at += 3;
                self.nested(|parser| parser.arithmetic(b"))"))?
            }
            Some(b'(') => {
                self.at += 2;
                let script = self.parenthesised()?;
                parts.other(Part::Substitution(script));
                return Ok(());
            }
            Some(b'[') => {
                self.differs("arithmetic");
                self.at += 2;
                self.nested(|parser| parser.arithmetic(b"]"))?
            }
            Some(b'{') if matches!(self.peek_at(2), Some(b' ' | b'\t' | b'\n' | b'|')) => {
                self.differs("a command in braces");
                self.at += 3;
                let script = self.script(ScriptEnd::Words(&["}"]))?;
                self.at += 1;
                parts.other(Part::Substitution(script));
                return Ok(());
            }
            Some(b'{') => {
                self.at += 2;
                self.nested(|parser| parser.braced(in_quotes))?
            }
            Some(b'\'') if !in_quotes => {
                match self.c_quoted()? {
                    Some(text) => parts.quoted(text),
                    None => parts.other(self.unclear(start, Vec::new())),
                }
                return Ok(());
            }
            Some(b'"') if !in_quotes => {
                self.differs("quotes behind a dollar sign");
                self.at += 1;
                return self.double_quoted(parts);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let rest = &self.text.as_bytes()[self.at + 1..];
                let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                self.at += 1 + rest.iter().take_while(in_name).count();
                Vec::new()
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.at += 2;
                Vec::new()
            }
            following => {
                if following.is_some_and(|byte| b"=~^+<>{".contains(&byte)) {
                    self.differs("a dollar sign that zsh reads in its own way");
                }
                self.at += 1;
                parts.quoted("$");
                return Ok(());
            }
        };
        parts.other(self.unclear(start, scripts));
        Ok(())
    }

    fn unclear(&self, start: usize, scripts: Vec<Script>) -> Part {
        Part::Expansion { text: self.text[start..self.at].to_owned(), scripts }
    }

    /// Parses a script up to and including its `)`.
    pub(super) fn parenthesised(&mut self) -> Result<Script, ParseProblem> {
        let script = self.script(ScriptEnd::Parenthesis)?;
        self.at += 1;
        Ok(script)
    }

    /// Whether what stands `ahead` ends with `))` like arithmetic, and not like a subshell in a substitution.
    pub(super) fn is_arithmetic(&mut self, ahead: usize) -> bool {
        let bytes = self.text.as_bytes();
        let mut at = self.at + ahead;
        let mut open = 2;
        while let Some(byte) = bytes.get(at) {
            self.ahead += 1;
            if self.ahead > LOOKAHEAD_BYTES_MAX {
                self.problem.get_or_insert(ParseProblem::TooMuchAhead);
                return false;
            }
            match byte {
                b'\\' => at += 1,
                b'(' => open += 1,
                b')' if open == 2 => return bytes.get(at + 1) == Some(&b')'),
                b')' => open -= 1,
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// Parses arithmetic after its opening, up to and including `end`; returns the commands in it.
    pub(super) fn arithmetic(&mut self, end: &[u8]) -> Result<Vec<Script>, ParseProblem> {
        let mut parts = Pieces::default();
        let mut open = 0_usize;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            if open == 0 && rest.starts_with(end) {
                self.at += end.len();
                return Ok(scripts(parts));
            }
            match rest.first() {
                None => return Err(ParseProblem::Unterminated("arithmetic")),
                Some(b'(' | b'[') => open += 1,
                Some(b')' | b']') => open = open.saturating_sub(1),
                Some(b'\\') => {
                    self.escaped();
                    continue;
                }
                Some(b'$') => {
                    self.dollar(&mut parts, true)?;
                    continue;
                }
                Some(b'`') => {
                    let script = self.backticks(true)?;
                    parts.other(Part::Substitution(script));
                    continue;
                }
                Some(_) => {}
            }
            self.at += 1;
        }
    }

    /// Parses `${…}` after its opening; returns the commands in it.
    fn braced(&mut self, in_quotes: bool) -> Result<Vec<Script>, ParseProblem> {
        let mut parts = Pieces::default();
        loop {
            match self.peek() {
                None => return Err(ParseProblem::Unterminated("a parameter")),
                Some(b'}') => {
                    self.at += 1;
                    return Ok(scripts(parts));
                }
                Some(b'\\') => {
                    self.escaped();
                }
                Some(b'\'') if !in_quotes => {
                    self.single_quoted()?;
                }
                Some(b'"') => self.double_quoted(&mut parts)?,
                Some(b'$') => self.dollar(&mut parts, in_quotes)?,
                Some(b'`') => {
                    let script = self.backticks(in_quotes)?;
                    parts.other(Part::Substitution(script));
                }
                Some(b'<' | b'>') if !in_quotes && self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    let script = self.parenthesised()?;
                    parts.other(Part::Process(script));
                }
                Some(_) => self.at += 1,
            }
        }
    }
}

pub(super) fn scripts(parts: Pieces) -> Vec<Script> {
    let of = |part| match part {
        Part::Bare(_) | Part::Quoted(_) => Vec::new(),
        Part::Expansion { scripts, .. } => scripts,
        Part::Substitution(script) | Part::Process(script) => vec![script],
    };
    parts.0.into_iter().flat_map(of).collect()
}
