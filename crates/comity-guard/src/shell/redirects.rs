//! Redirections and here-documents.

use super::ParseProblem;
use super::dollar::scripts;
use super::parser::{Parser, PendingHeredoc};
use super::syntax::{HereDocument, Operator, Part, Redirect, Script, Word};
use super::words::Pieces;

/// Longest first.
const OPERATORS: [(&str, Operator); 12] = [
    ("<<<", Operator::Text),
    ("<<-", Operator::Document),
    ("&>>", Operator::Append),
    ("<<", Operator::Document),
    ("<&", Operator::DuplicateInput),
    ("<>", Operator::ReadWrite),
    (">>", Operator::Append),
    (">&", Operator::DuplicateOutput),
    (">|", Operator::Write),
    ("&>", Operator::Write),
    ("<", Operator::Read),
    (">", Operator::Write),
];

impl Parser<'_> {
    pub(super) fn redirects(&mut self) -> Result<Vec<Redirect>, ParseProblem> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, ParseProblem> {
        let rest = &self.text[self.at..];
        let descriptor = descriptor_length(rest);
        let rest = &rest[descriptor..];
        // `<(` and `>(` begin a word.
        if descriptor == 0 && (rest.starts_with("<(") || rest.starts_with(">(")) {
            return Ok(None);
        }
        let Some((sign, operator)) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)) else {
            return Ok(None);
        };
        if descriptor > 0 && sign.starts_with('&') {
            return Ok(None);
        }
        if descriptor > 1 || matches!(*sign, "<<<" | "<<-" | "<<" | "&>" | "&>>") {
            self.differs("a redirection that only some shells know");
        }
        self.at += descriptor + sign.len();
        self.blanks();
        let duplicates = matches!(operator, Operator::DuplicateInput | Operator::DuplicateOutput);
        let target = match self.peek() {
            // `>&-` closes, whatever follows without a blank.
            Some(b'-') if duplicates => {
                self.differs("a descriptor that is closed");
                self.step(1, Word::bare("-"))
            }
            _ => self.word()?,
        };
        let document = (*operator == Operator::Document).then(|| {
            let mark = target.literal().unwrap_or_else(|| target.text.clone());
            let literal = target.text.contains(['\'', '"', '\\']);
            self.documents.push(HereDocument { literal, ..HereDocument::default() });
            let document = self.documents.len() - 1;
            self.waiting.push(PendingHeredoc { document, mark, strip_tabs: *sign == "<<-" });
            document
        });
        Ok(Some(Redirect { operator: *operator, target, document }))
    }

    /// Reads the here-documents that were announced on the previous line.
    pub(super) fn read_documents(&mut self) {
        for PendingHeredoc { document, mark, strip_tabs } in std::mem::take(&mut self.waiting) {
            let (text, ended) = self.document_lines(&mark, strip_tabs);
            if !ended {
                self.problem.get_or_insert(ParseProblem::Unterminated("a here-document"));
            }
            let scripts = match self.documents[document].literal {
                true => Vec::new(),
                false => self.expanded(&text),
            };
            let entry = &mut self.documents[document];
            entry.text = text;
            entry.scripts = scripts;
        }
    }

    /// The lines up to the mark, and whether there was one.
    fn document_lines(&mut self, mark: &str, strip_tabs: bool) -> (String, bool) {
        let mut text = String::new();
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = if strip_tabs { rest[..length].trim_start_matches('\t') } else { &rest[..length] };
            self.at = (self.at + length + 1).min(self.text.len());
            if line == mark {
                // The line break after the mark ends the command line, too.
                if length < rest.len() {
                    self.at -= 1;
                }
                return (text, true);
            }
            text.push_str(line);
            text.push('\n');
        }
        (text, false)
    }

    /// The commands that run to expand a here-document. One that cannot be parsed is a problem, but does not stop the
    /// parser.
    fn expanded(&mut self, text: &str) -> Vec<Script> {
        let mut inner = Parser::new(text);
        inner.depth = self.depth;
        inner.ahead = self.ahead;
        inner.documents = std::mem::take(&mut self.documents);
        let outcome = inner.expansions();
        self.documents = inner.documents;
        self.ahead = inner.ahead;
        match outcome {
            Ok(scripts) => scripts,
            Err(problem) => {
                self.problem.get_or_insert(problem);
                Vec::new()
            }
        }
    }

    fn expansions(&mut self) -> Result<Vec<Script>, ParseProblem> {
        self.nested(|parser| {
            let mut parts = Pieces::default();
            while let Some(byte) = parser.peek() {
                match byte {
                    b'\\' => {
                        parser.escaped();
                    }
                    b'$' => parser.dollar(&mut parts, true)?,
                    b'`' => {
                        let script = parser.backticks(false)?;
                        parts.other(Part::Substitution(script));
                    }
                    _ => parser.at += 1,
                }
            }
            Ok(scripts(parts))
        })
    }
}

/// The length of the descriptor before a redirection: digits or `{name}`, directly before `<` or `>`.
fn descriptor_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let named = || {
        let name = bytes.strip_prefix(b"{")?;
        let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        (length > 0 && name.get(length) == Some(&b'}')).then_some(length + 2)
    };
    let length = if digits > 0 { digits } else { named().unwrap_or(0) };
    if matches!(bytes.get(length), Some(b'<' | b'>')) { length } else { 0 }
}
