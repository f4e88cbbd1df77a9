//! `awk`: proven by reading its program, which may write files, run commands and connect.
//!
//! Only the part that gawk, mawk, busybox and the original awk read alike: every name is in a list or a plain
//! variable, and a slash begins a pattern only where no operand can stand before it.

use super::doubt::{Doubt, Proven, shown};
use super::prover::Prover;
use super::sed::class_end;
use crate::arguments::Argument;
use crate::table::ParsedArguments;

/// Words after which a statement or an operand begins.
const KEYWORDS: &str = "print printf if else while for do in next exit BEGIN END";
/// Functions that only calculate.
const FUNCTIONS: &str = "length substr index split sub gsub match sprintf tolower toupper int";
/// Variables that change how awk reads and prints.
const VARIABLES: &str = "NR NF FNR FS OFS RS ORS FILENAME";

pub(crate) fn awk(_: &mut Prover, given: &ParsedArguments) -> Proven {
    let is_assignment = |value: &Argument| {
        value
            .plain()
            .and_then(|text| text.split_once('='))
            .is_some_and(|(name, value)| is_variable(name) && !value.contains('\\'))
    };
    let is_separator = |value: &Argument| value.plain().is_some_and(|text| !text.is_empty());
    if !given.values(&["v"]).all(is_assignment) || !given.values(&["F"]).all(is_separator) {
        return Err(Doubt::because("the value of an option is not a plain one"));
    }
    let Some((program, files)) = given.operands.split_first() else {
        return Err(Doubt::because("it has no program"));
    };
    let Some(text) = program.plain() else {
        return Err(Doubt::because("its program is not written down"));
    };
    if !awk_only_prints(text) {
        return Err(Doubt::because(format!("its program `{}` is not known to only print", shown(text))));
    }
    // Some awks take such a file name for a connection, and a name with a sign for a variable.
    let is_file = |file: &Argument| match file {
        Argument::Plain(path) => {
            !path.contains("inet") && !path.contains('=') && (path == "-" || !path.starts_with('-'))
        }
        other => {
            other.is_operand()
                && matches!(other, Argument::Unclear(unclear) if unclear.prefix.starts_with("./"))
        }
    };
    match files.iter().find(|file| !is_file(file)) {
        None => Ok(()),
        Some(file) => {
            Err(Doubt::because(format!("`{}` may be a connection or a variable", shown(file.shown()))))
        }
    }
}

/// Whether a program can only print, and neither writes nor runs anything.
pub(crate) fn awk_only_prints(program: &str) -> bool {
    let letters: Vec<char> = program.chars().collect();
    let reader = AwkReader { letters: &letters, at: 0, braces: 0, parentheses: 0, last: Last::Start };
    reader.only_prints().is_some()
}

/// A lower-case name without a meaning in any awk.
fn is_variable(name: &str) -> bool {
    const TAKEN: &str = "func function getline delete return break continue nextfile switch case default close system fflush printf print \
        sin cos atan2 exp log sqrt rand srand and or xor compl lshift rshift strtonum gensub asort asorti mktime strftime systime \
        include load namespace typeof isarray mkbool dcgettext dcngettext bindtextdomain patsplit extension stopme adump intdiv toupper tolower";
    let is_small =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let is_listed = |list: &str| list.split_ascii_whitespace().any(|word| word == name);
    is_small
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && ![TAKEN, KEYWORDS, FUNCTIONS].into_iter().any(is_listed)
}

/// What was read last: it decides whether a slash divides or begins a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The beginning of a pattern, a statement or an argument.
    Start,
    /// An operator between two operands.
    Sign,
    Operand,
    /// After this a slash may be either.
    Unclear,
}

/// A program being read. `None` means doubt throughout.
struct AwkReader<'p> {
    letters: &'p [char],
    at: usize,
    braces: usize,
    parentheses: usize,
    last: Last,
}

impl AwkReader<'_> {
    fn only_prints(mut self) -> Option<()> {
        while let Some(letter) = self.peek(0) {
            self.last = match letter {
                ' ' => {
                    self.at += 1;
                    continue;
                }
                '"' => self.text()?,
                '/' => self.slash()?,
                'a'..='z' | 'A'..='Z' => self.word()?,
                '0'..='9' => self.number()?,
                '>' => self.greater()?,
                '|' if self.peek(1) == Some('|') => self.sign(2, Last::Start),
                '&' if self.peek(1) == Some('&') => self.sign(2, Last::Start),
                '+' | '-' if self.peek(1) == Some(letter) => self.sign(2, Last::Unclear),
                '=' | '!' | '<' | '+' | '-' | '*' | '%' if self.peek(1) == Some('=') => {
                    self.sign(2, Last::Sign)
                }
                '!' | ',' => self.sign(1, Last::Start),
                '~' => self.sign(1, Last::Start),
                '$' | '+' | '-' | '*' | '%' | '=' | '<' | '?' | ':' => self.sign(1, Last::Sign),
                ';' | '\n' => {
                    (self.parentheses == 0 || letter == ';').then_some(())?;
                    self.sign(1, Last::Start)
                }
                '(' | '[' => {
                    self.parentheses += 1;
                    self.sign(1, Last::Start)
                }
                ')' | ']' => {
                    self.parentheses = self.parentheses.checked_sub(1)?;
                    self.sign(1, if letter == ')' { Last::Unclear } else { Last::Operand })
                }
                '{' | '}' => {
                    (self.parentheses == 0).then_some(())?;
                    self.braces = if letter == '{' { self.braces + 1 } else { self.braces.checked_sub(1)? };
                    self.sign(1, Last::Start)
                }
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
                '\\' if !matches!(self.peek(1)?, 'n' | 't' | '"' | '\\') => return None,
                '\\' => self.at += 2,
                '"' => return Some(self.sign(1, Last::Operand)),
                _ => self.at += 1,
            }
        }
    }

    /// A pattern, or a division.
    fn slash(&mut self) -> Option<Last> {
        match self.last {
            Last::Operand if self.peek(1) != Some('=') => return Some(self.sign(1, Last::Sign)),
            Last::Start if self.peek(1) != Some('=') => self.at += 1,
            Last::Operand | Last::Start | Last::Sign | Last::Unclear => return None,
        }
        loop {
            match self.peek(0)? {
                '\n' | '"' => return None,
                '\\' if self.peek(1).is_none_or(|next| matches!(next, '/' | '\n' | '"')) => return None,
                '\\' => self.at += 2,
                '[' => self.at = class_end(self.letters, self.at)?,
                '/' => return Some(self.sign(1, Last::Unclear)),
                _ => self.at += 1,
            }
        }
    }

    fn word(&mut self) -> Option<Last> {
        let rest = &self.letters[self.at..];
        let word: String =
            rest.iter().take_while(|letter| letter.is_ascii_alphanumeric() || **letter == '_').collect();
        self.at += word.len();
        let is = |list: &str| list.split_ascii_whitespace().any(|known| known == word);
        if is(KEYWORDS) {
            // In a loop's parentheses a statement may stand, and `>` would write.
            let is_statement = !matches!(word.as_str(), "in" | "BEGIN" | "END");
            return (!is_statement || (self.parentheses == 0 && self.braces > 0)).then_some(Last::Unclear);
        }
        let calls = self.peek(0) == Some('(');
        match () {
            () if is(FUNCTIONS) && calls => Some(Last::Sign),
            () if word == "length" => Some(Last::Unclear),
            () if (is(VARIABLES) || is_variable(&word)) && !calls => Some(Last::Operand),
            () => None,
        }
    }

    fn number(&mut self) -> Option<Last> {
        let rest = &self.letters[self.at..];
        let length = rest.iter().take_while(|letter| letter.is_ascii_digit() || **letter == '.').count();
        let is_whole = !rest.get(length).is_some_and(|next| next.is_ascii_alphabetic() || *next == '_');
        is_whole.then(|| self.sign(length, Last::Operand))
    }

    /// A comparison in a pattern or in parentheses; elsewhere it would write.
    fn greater(&mut self) -> Option<Last> {
        let length = if self.peek(1) == Some('=') { 2 } else { 1 };
        let compares = self.peek(1) != Some('>') && (self.braces == 0 || self.parentheses > 0);
        compares.then(|| self.sign(length, Last::Sign))
    }
}
