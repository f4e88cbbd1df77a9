//! `sed`: proven by reading its script, which may write files and run commands.

use super::doubt::{Doubt, Proven, shown};
use super::options::{self, NONE, Options};
use super::table::{Program, own};
use super::walk::Walk;
use super::words::Argument;

pub(super) const PROGRAMS: &[Program] = &[own("sed", sed)];

const SED: Options = NONE.flags("nErsuz").values("e").long(&[&[
    "expression=",
    "null-data",
    "posix",
    "quiet",
    "regexp-extended",
    "sandbox",
    "separate",
    "silent",
    "unbuffered",
]]);
/// What may stand between the parts of `s` and `y`.
const DELIMITERS: &str = "/|#,:@!%+~_=";

fn sed(_: &mut Walk, arguments: &[Argument]) -> Proven {
    let given = options::read(&SED, arguments)?;
    let mut scripts: Vec<&Argument> = given.values(&["e", "expression"]).collect();
    if scripts.is_empty() {
        scripts.extend(given.operands.first());
    }
    for script in scripts {
        let Some(text) = script.known() else {
            return Err(Doubt::because("its script is not written down"));
        };
        if Script::new(text).only_prints().is_none() {
            return Err(Doubt::because(format!("its script `{}` is not known to only print", shown(text))));
        }
    }
    Ok(())
}

/// A script while it is read. Nothing stands for a doubt in all that follows.
struct Script {
    letters: Vec<char>,
    at: usize,
}

impl Script {
    fn new(text: &str) -> Script {
        Script { letters: text.chars().collect(), at: 0 }
    }

    fn only_prints(mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            self.skip(" \t\n;");
            if self.peek().is_none() {
                return (open == 0).then_some(());
            }
            self.addresses()?;
            match self.next()? {
                '{' => {
                    open += 1;
                    continue;
                }
                '}' => open = open.checked_sub(1)?,
                '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
                'q' | 'Q' | 'l' => {
                    self.skip(" ");
                    self.number();
                }
                's' => {
                    let delimiter = self.delimiter()?;
                    self.pattern(delimiter)?;
                    self.text(delimiter)?;
                    self.skip("gpiImM0123456789");
                }
                'y' => {
                    let delimiter = self.delimiter()?;
                    self.text(delimiter)?;
                    self.text(delimiter)?;
                }
                ':' | 'b' | 't' | 'T' => {
                    self.skip(" ");
                    self.label();
                    // Older programs take all that follows for the name.
                    self.skip(" ");
                    if self.peek() == Some('}') {
                        return None;
                    }
                }
                _ => return None,
            }
            self.skip(" \t");
            if !matches!(self.peek(), None | Some(';' | '\n' | '}')) {
                return None;
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    fn skip(&mut self, letters: &str) {
        while self.peek().is_some_and(|letter| letters.contains(letter)) {
            self.at += 1;
        }
    }

    fn number(&mut self) {
        self.skip("0123456789");
    }

    fn label(&mut self) {
        while self.peek().is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            self.at += 1;
        }
    }

    /// Which lines a command is for.
    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.skip(" ");
            if self.peek() == Some(',') {
                self.at += 1;
                self.skip(" ");
                self.skip("+~");
                self.address()?.then_some(())?;
            }
        }
        self.skip(" !");
        Some(())
    }

    /// Reads an address, and says whether there was one.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('0'..='9') => {
                self.number();
                self.skip("~");
                self.number();
            }
            Some('$') => self.at += 1,
            Some('/') => {
                self.at += 1;
                self.pattern('/')?;
                self.skip("IM");
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|delimiter| DELIMITERS.contains(*delimiter))
    }

    /// Text up to a delimiter without a backslash before it.
    fn text(&mut self, delimiter: char) -> Option<()> {
        self.at = self.end_of_text(delimiter)? + 1;
        Some(())
    }

    /// A pattern. Some programs find its end in brackets, others do not: both must come to the same.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        let end = self.end_of_text(delimiter)?;
        let in_pattern = &self.letters[self.at..end];
        if in_pattern.contains(&'[') && end_with_brackets(&self.letters, self.at, delimiter) != Some(end) {
            return None;
        }
        self.at = end + 1;
        Some(())
    }

    fn end_of_text(&self, delimiter: char) -> Option<usize> {
        let mut at = self.at;
        loop {
            match *self.letters.get(at)? {
                '\n' => return None,
                '\\' if self.letters.get(at + 1) == Some(&'\n') => return None,
                '\\' => at += 2,
                letter if letter == delimiter => return Some(at),
                _ => at += 1,
            }
        }
    }
}

/// Where a pattern ends for those who take a delimiter in brackets for a letter.
pub(super) fn end_with_brackets(letters: &[char], from: usize, delimiter: char) -> Option<usize> {
    let mut at = from;
    loop {
        match *letters.get(at)? {
            '\\' => at += 2,
            '[' => {
                at += 1 + usize::from(letters.get(at + 1) == Some(&'^'));
                // The first letter belongs to the brackets, even `]`.
                at += 1;
                while *letters.get(at)? != ']' {
                    let class =
                        letters.get(at) == Some(&'[') && matches!(letters.get(at + 1), Some(':' | '.' | '='));
                    at += if class {
                        2 + letters.get(at + 2..)?.iter().position(|letter| *letter == ']')?
                    } else {
                        1
                    };
                    at += usize::from(class);
                }
                at += 1;
            }
            letter if letter == delimiter => return Some(at),
            _ => at += 1,
        }
    }
}
