//! Lists, pipelines and simple commands.

use super::syntax::{Assignment, Body, Command, HereDocument, ListOperator, Pipeline, Script, Simple, Word};
use super::{ParseProblem, Parsed};
use crate::limits::NESTING_MAX;

/// Words that close something; without an opening they are an error.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// Here-documents whose lines begin after the current line.
    pub(super) waiting: Vec<PendingHeredoc>,
    pub(super) documents: Vec<HereDocument>,
    /// A problem that does not stop the parser: the shell, too, goes on.
    pub(super) problem: Option<ParseProblem>,
    pub(super) differs: Option<&'static str>,
    /// Bytes that were read ahead, and will be read again.
    pub(super) ahead: usize,
}

/// A here-document that was announced.
pub(super) struct PendingHeredoc {
    pub(super) document: usize,
    pub(super) mark: String,
    pub(super) strip_tabs: bool,
}

#[derive(Clone, Copy)]
pub(super) enum ScriptEnd {
    Text,
    Parenthesis,
    Words(&'static [&'static str]),
    CaseArm,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Parser<'t> {
        let (waiting, documents) = (Vec::new(), Vec::new());
        Parser { text, at: 0, depth: 0, waiting, documents, problem: None, differs: None, ahead: 0 }
    }

    /// Notes something that shells read differently.
    pub(super) fn differs(&mut self, what: &'static str) {
        self.differs.get_or_insert(what);
    }

    pub(super) fn parse(mut self) -> Parsed {
        let mut script = Script::default();
        let outcome = self.steps(ScriptEnd::Text, &mut script);
        if !self.waiting.is_empty() {
            self.problem.get_or_insert(ParseProblem::Unterminated("a here-document"));
        }
        Parsed {
            script,
            documents: self.documents,
            problem: outcome.err().or(self.problem),
            differs: self.differs,
        }
    }

    /// Parses a script within something else; `end` is not consumed.
    pub(super) fn script(&mut self, end: ScriptEnd) -> Result<Script, ParseProblem> {
        let mut script = Script::default();
        self.nested(|parser| parser.steps(end, &mut script))?;
        Ok(script)
    }

    /// Runs `read` one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ParseProblem>,
    ) -> Result<T, ParseProblem> {
        if self.depth >= NESTING_MAX {
            return Err(ParseProblem::TooDeep);
        }
        self.depth += 1;
        let outcome = read(self);
        self.depth -= 1;
        outcome
    }

    fn steps(&mut self, end: ScriptEnd, script: &mut Script) -> Result<(), ParseProblem> {
        loop {
            self.blank_lines();
            if self.is_end(end) {
                return Ok(());
            }
            if self.peek().is_none() {
                return Err(ParseProblem::Unterminated("a command within another one"));
            }
            let pipeline = self.pipeline()?;
            let joint = self.joint(end)?;
            script.steps.push(Pipeline { pipeline, joint });
        }
    }

    fn is_end(&self, end: ScriptEnd) -> bool {
        match end {
            ScriptEnd::Text => self.peek().is_none(),
            ScriptEnd::Parenthesis => self.peek() == Some(b')'),
            ScriptEnd::Words(words) => words.contains(&self.peek_word()),
            ScriptEnd::CaseArm => {
                self.starts_with(";;") || self.starts_with(";&") || self.peek_word() == "esac"
            }
        }
    }

    /// What joins the current pipeline to the next.
    fn joint(&mut self, end: ScriptEnd) -> Result<ListOperator, ParseProblem> {
        self.blanks();
        let joint = match self.peek() {
            None | Some(b'\n') => return Ok(ListOperator::Then),
            Some(b';') if self.is_end(end) => return Ok(ListOperator::Then),
            Some(b';') => self.step(1, ListOperator::Then),
            Some(b'&') if self.starts_with("&&") => self.step(2, ListOperator::And),
            Some(b'&') => self.step(1, ListOperator::Background),
            Some(b'|') if self.starts_with("||") => self.step(2, ListOperator::Or),
            // After a compound command a closing word needs no separator.
            Some(_) if self.is_end(end) => return Ok(ListOperator::Then),
            Some(_) => return Err(ParseProblem::Unexpected(self.at)),
        };
        if matches!(joint, ListOperator::And | ListOperator::Or) {
            self.blank_lines();
            if self.peek().is_none() {
                return Err(ParseProblem::Unterminated("a list of commands"));
            }
        }
        Ok(joint)
    }

    fn pipeline(&mut self) -> Result<Vec<Command>, ParseProblem> {
        self.prefixes();
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some(b'|') || self.starts_with("||") {
                return Ok(commands);
            }
            if self.starts_with("|&") {
                self.differs("`|&`");
                self.at += 1;
            }
            self.at += 1;
            self.blank_lines();
            commands.push(self.command()?);
        }
    }

    /// `!` and `time`, which do not change what is run.
    fn prefixes(&mut self) {
        loop {
            self.blanks();
            match self.peek_word() {
                "!" => self.at += 1,
                "time" => {
                    self.differs("`time`");
                    self.at += "time".len();
                    self.blanks();
                    if self.peek_word() == "-p" {
                        self.at += "-p".len();
                    }
                }
                _ => return,
            }
        }
    }

    pub(super) fn command(&mut self) -> Result<Command, ParseProblem> {
        self.blanks();
        let word = self.peek_word();
        if CLOSERS.contains(&word) {
            return Err(ParseProblem::Unexpected(self.at));
        }
        match self.compound(word)? {
            Some(body) => Ok(Command { body, redirects: self.redirects()? }),
            None => self.simple(),
        }
    }

    fn simple(&mut self) -> Result<Command, ParseProblem> {
        let start = self.at;
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if !self.begins_word() {
                break;
            }
            let word = self.word()?;
            let array = self.array(&word)?;
            match (simple.words.is_empty(), assigned(&word)) {
                (true, Some((name, value))) => {
                    let values = array.unwrap_or_else(|| vec![value]);
                    simple.assignments.push(Assignment { name, values });
                }
                _ => simple.words.push(Self::with_array(word, array)),
            }
            if self.is_definition(&simple) {
                return self.definition(simple);
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            return Err(ParseProblem::Unexpected(start));
        }
        Ok(Command { body: Body::Simple(simple), redirects })
    }

    /// Whether the single word so far is followed by `(`: then it is the name of a function.
    fn is_definition(&mut self, simple: &Simple) -> bool {
        self.blanks();
        simple.words.len() == 1 && simple.assignments.is_empty() && self.peek() == Some(b'(')
    }

    fn definition(&mut self, simple: Simple) -> Result<Command, ParseProblem> {
        self.differs("a function");
        self.at += 1;
        self.blanks();
        self.expect(b')')?;
        let name = simple.words.into_iter().next().map(|word| word.text).unwrap_or_default();
        let body = self.function(name)?;
        Ok(Command { body, redirects: Vec::new() })
    }

    /// The values of `NAME=( … )`, after `NAME=`.
    fn array(&mut self, word: &Word) -> Result<Option<Vec<Word>>, ParseProblem> {
        let is_array = self.peek() == Some(b'(') && word.text.ends_with('=') && assigned(word).is_some();
        if !is_array {
            return Ok(None);
        }
        self.differs("an array");
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.blank_lines();
            match self.peek() {
                Some(b')') => break,
                Some(_) if self.begins_word() => values.push(self.word()?),
                Some(_) => return Err(ParseProblem::Unexpected(self.at)),
                None => return Err(ParseProblem::Unterminated("an array")),
            }
        }
        self.at += 1;
        // What follows without a blank belongs to the value, too.
        if self.begins_word() {
            values.push(self.word()?);
        }
        Ok(Some(values))
    }

    /// An array as an argument (of `declare`, say): its values are part of the word.
    fn with_array(mut word: Word, array: Option<Vec<Word>>) -> Word {
        for value in array.into_iter().flatten() {
            word.parts.extend(value.parts);
        }
        word
    }
}

/// The name and the value of `NAME=value`, `NAME+=value` or `NAME[…]=value`.
fn assigned(word: &Word) -> Option<(String, Word)> {
    use super::syntax::Part;
    let Some(Part::Bare(first)) = word.parts.first() else { return None };
    let (name, value) = first.split_once('=')?;
    let plain = name.strip_suffix('+').unwrap_or(name);
    let plain = plain.split_once('[').map_or(plain, |(plain, _)| plain);
    let starts = plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts || !plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let text = word.text.get(name.len() + 1..).unwrap_or_default().to_owned();
    let mut parts = vec![Part::Bare(value.to_owned())];
    parts.extend_from_slice(&word.parts[1..]);
    Some((name.to_owned(), Word { text, parts }))
}
