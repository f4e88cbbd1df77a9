//! `awk`: proven by reading its program, which may write files, run commands and connect.

use super::doubt::{Doubt, Proven, shown};
use super::options::{self, NONE, Options};
use super::sed::end_with_brackets;
use super::table::{Program, own};
use super::walk::Walk;
use super::words::Argument;

pub(super) const PROGRAMS: &[Program] = &[own("awk", awk), own("gawk", awk), own("mawk", awk)];

const AWK: Options = NONE.values("Fv").stops();
/// Words that run, open, or reach what does.
const ACTING: [&str; 8] = ["system", "getline", "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO", "extension"];
/// Words behind which an operand may follow.
const KEYWORDS: [&str; 21] = [
    "print", "printf", "if", "else", "while", "for", "do", "in", "return", "delete", "next", "exit",
    "function", "func", "break", "continue", "switch", "case", "default", "nextfile", "length",
];

fn awk(_: &mut Walk, arguments: &[Argument]) -> Proven {
    let given = options::read(&AWK, arguments)?;
    let Some((program, files)) = given.operands.split_first() else {
        return Err(Doubt::because("it has no program"));
    };
    let Some(text) = program.known() else {
        return Err(Doubt::because("its program is not written down"));
    };
    let letters: Vec<char> = text.chars().collect();
    if (Reader { letters: &letters, at: 0, braces: 0, parentheses: 0, last: Last::Operator })
        .only_prints()
        .is_none()
    {
        return Err(Doubt::because(format!("its program `{}` is not known to only print", shown(text))));
    }
    // Some take a file of this name for a connection.
    let is_file = |file: &Argument| match file {
        Argument::Known(path) => !path.contains("inet") && (path == "-" || !path.starts_with('-')),
        Argument::Open(open) => !open.prefix.is_empty() && !open.prefix.starts_with(['/', '-', '~']),
    };
    match files.iter().find(|file| !is_file(file)) {
        None => Ok(()),
        Some(file) => Err(Doubt::because(format!("`{}` may be a connection", shown(file.shown())))),
    }
}

/// What was read last: it decides whether a slash divides or begins a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Operand,
    Operator,
    /// Behind it both are possible.
    Either,
}

/// A program while it is read. Nothing stands for a doubt in all that follows.
struct Reader<'p> {
    letters: &'p [char],
    at: usize,
    braces: usize,
    parentheses: usize,
    last: Last,
}

impl Reader<'_> {
    fn only_prints(mut self) -> Option<()> {
        while let Some(letter) = self.peek(0) {
            self.last = match letter {
                ' ' | '\t' => {
                    self.at += 1;
                    continue;
                }
                '"' => self.text()?,
                '/' => self.slash()?,
                'a'..='z' | 'A'..='Z' | '_' => self.word()?,
                '0'..='9' | '.' => self.number(),
                '#' => self.comment(),
                '>' => self.greater()?,
                '|' if self.peek(1) == Some('|') => self.sign(2, Last::Operator),
                '+' | '-' if self.peek(1) == Some(letter) => self.sign(2, Last::Either),
                '(' | '[' => {
                    self.parentheses += 1;
                    self.sign(1, Last::Operator)
                }
                ')' | ']' => {
                    self.parentheses = self.parentheses.checked_sub(1)?;
                    self.sign(1, if letter == ')' { Last::Either } else { Last::Operand })
                }
                '{' => {
                    self.braces += 1;
                    self.sign(1, Last::Operator)
                }
                '}' => {
                    self.braces = self.braces.checked_sub(1)?;
                    self.sign(1, Last::Operator)
                }
                '\n' | ';' | ',' | '$' | '+' | '-' | '*' | '%' | '^' | '!' | '=' | '<' | '~' | '&' | '?'
                | ':' => self.sign(1, Last::Operator),
                _ => return None,
            };
        }
        (self.braces == 0 && self.parentheses == 0).then_some(())
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn sign(&mut self, length: usize, last: Last) -> Last {
        self.at += length;
        last
    }

    fn text(&mut self) -> Option<Last> {
        self.at += 1;
        loop {
            match self.peek(0)? {
                '\n' => return None,
                '\\' => self.at += 2,
                '"' => return Some(self.sign(1, Last::Operand)),
                _ => self.at += 1,
            }
        }
    }

    /// A pattern, or a division.
    fn slash(&mut self) -> Option<Last> {
        match self.last {
            Last::Operand => return Some(self.sign(1, Last::Operator)),
            Last::Either => return None,
            Last::Operator => self.at += 1,
        }
        let start = self.at;
        loop {
            match self.peek(0)? {
                '\n' => return None,
                '\\' => self.at += 2,
                '/' => break,
                _ => self.at += 1,
            }
        }
        let has_brackets = self.letters[start..self.at].contains(&'[');
        if has_brackets && end_with_brackets(self.letters, start, '/') != Some(self.at) {
            return None;
        }
        Some(self.sign(1, Last::Operand))
    }

    fn word(&mut self) -> Option<Last> {
        let rest = &self.letters[self.at..];
        let word: String =
            rest.iter().take_while(|letter| letter.is_ascii_alphanumeric() || **letter == '_').collect();
        self.at += word.len();
        if ACTING.contains(&word.as_str()) {
            return None;
        }
        // In a loop's parentheses a statement may stand, and `>` would write.
        let prints = matches!(word.as_str(), "print" | "printf");
        if prints && self.parentheses > 0 {
            return None;
        }
        Some(if KEYWORDS.contains(&word.as_str()) { Last::Either } else { Last::Operand })
    }

    fn number(&mut self) -> Last {
        let rest = &self.letters[self.at..];
        let length =
            rest.iter().take_while(|letter| letter.is_ascii_alphanumeric() || **letter == '.').count();
        self.sign(length, Last::Operand)
    }

    fn comment(&mut self) -> Last {
        let rest = &self.letters[self.at..];
        let length = rest.iter().take_while(|letter| **letter != '\n').count();
        self.sign(length, Last::Operator)
    }

    /// A comparison in a pattern or in parentheses; elsewhere it would write.
    fn greater(&mut self) -> Option<Last> {
        if self.peek(1) == Some('=') {
            return Some(self.sign(2, Last::Operator));
        }
        let compares = self.peek(1) != Some('>') && (self.braces == 0 || self.parentheses > 0);
        compares.then(|| self.sign(1, Last::Operator))
    }
}
