//! `sed`: proven by reading its script, which may write files and run commands.

use super::doubt::{Doubt, Proven, shown};
use super::prover::Prover;
use crate::arguments::Argument;
use crate::table::ParsedArguments;

/// Accepted delimiters of `s`.
const DELIMITERS: &str = "/|,:@%";

pub(crate) fn sed(_: &mut Prover, given: &ParsedArguments) -> Proven {
    let mut scripts: Vec<&Argument> = given.values(&["e", "expression"]).collect();
    if scripts.is_empty() {
        scripts.extend(given.operands.first());
    }
    for script in scripts {
        let Some(text) = script.plain() else {
            return Err(Doubt::because("its script is not written down"));
        };
        let letters: Vec<char> = text.chars().collect();
        if (SedScript { letters: &letters, at: 0 }).only_prints().is_none() {
            return Err(Doubt::because(format!("its script `{}` is not known to only print", shown(text))));
        }
    }
    Ok(())
}

/// Whether the scripts of a `sed` surely run nothing.
pub(crate) fn sed_only_prints(given: &ParsedArguments) -> bool {
    let mut scripts: Vec<&Argument> = given.values(&["e", "expression"]).collect();
    if scripts.is_empty() {
        scripts.extend(given.operands.first());
    }
    let prints = |script: &&Argument| {
        let letters: Option<Vec<char>> = script.plain().map(|text| text.chars().collect());
        letters.is_some_and(|letters| (SedScript { letters: &letters, at: 0 }).only_prints().is_some())
    };
    !given.has(&["f", "file"]) && scripts.iter().all(prints)
}

/// A script being read: commands of one letter and `s`, each with addresses, separated by `;`. `None` means doubt
/// throughout.
struct SedScript<'s> {
    letters: &'s [char],
    at: usize,
}

impl SedScript<'_> {
    fn only_prints(mut self) -> Option<()> {
        if self.letters.contains(&'\n') || self.letters.is_empty() {
            return None;
        }
        loop {
            self.skip(" ");
            self.addresses()?;
            match self.next()? {
                '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'q' | 'x' => {}
                's' => {
                    let delimiter = self.next().filter(|delimiter| DELIMITERS.contains(*delimiter))?;
                    self.part(delimiter)?;
                    self.part(delimiter)?;
                    self.skip("gpI0123456789");
                }
                _ => return None,
            }
            self.skip(" ");
            match self.next() {
                None => return Some(()),
                Some(';') => {}
                Some(_) => return None,
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

    /// Which lines a command applies to.
    fn addresses(&mut self) -> Option<()> {
        if self.address()? && self.peek() == Some(',') {
            self.at += 1;
            self.skip("+~");
            self.address()?.then_some(())?;
        }
        if self.peek() == Some('!') {
            self.at += 1;
        }
        Some(())
    }

    /// Reads an address, and says whether there was one.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('0'..='9') => self.skip("0123456789~"),
            Some('$') => self.at += 1,
            Some('/') => {
                self.at += 1;
                self.part('/')?;
                self.skip("I");
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// A pattern or a replacement, up to its delimiter, even within brackets.
    fn part(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.peek()? {
                '[' => {
                    let end = class_end(self.letters, self.at)?;
                    (!self.letters[self.at..end].contains(&delimiter)).then_some(())?;
                    self.at = end;
                    continue;
                }
                // After a backslash a delimiter is a letter, or what that letter means in a pattern.
                '\\' => {
                    let next = self.letters.get(self.at + 1)?;
                    (*next != delimiter || delimiter == '/').then_some(())?;
                    self.at += 1;
                }
                letter if letter == delimiter => {
                    self.at += 1;
                    return Some(());
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

/// The end of a class in a pattern, if every program reads it alike: no bracket, slash or backslash in it except in
/// names such as `[:space:]`.
pub(super) fn class_end(letters: &[char], start: usize) -> Option<usize> {
    let mut at = start + 1 + usize::from(letters.get(start + 1) == Some(&'^'));
    let first = at;
    loop {
        match letters.get(at)? {
            ']' => return (at > first).then_some(at + 1),
            '[' if letters.get(at + 1) == Some(&':') => {
                let name = letters[at + 2..].iter().take_while(|letter| letter.is_ascii_lowercase()).count();
                let end = at + 2 + name;
                (name > 0 && letters.get(end..end + 2)? == [':', ']']).then_some(())?;
                at = end + 2;
            }
            '[' | '/' | '\\' | '\n' | '"' => return None,
            _ => at += 1,
        }
    }
}
