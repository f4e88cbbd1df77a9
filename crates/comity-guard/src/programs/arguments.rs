//! What words stand for: plain arguments, globs, or something that only running would tell.

use super::braces;
use crate::effects::Target;
use crate::limits::CLASS_CHARS_MAX;
use crate::shell::syntax::{Part, Word};

/// One argument of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    /// Exactly this text.
    Plain(String),
    /// What this glob matches.
    Glob(String),
    /// Something with a variable or a substitution in it; as it was written.
    Unclear(String),
    /// The name of a pipe to a command.
    Pipe,
    /// Paths that another program finds.
    Found(Vec<Target>),
}

impl Argument {
    /// The text, if it is known.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self {
            Argument::Plain(text) => Some(text),
            Argument::Glob(_) | Argument::Unclear(_) | Argument::Pipe | Argument::Found(_) => None,
        }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.plain() == Some(text)
    }

    /// What follows `prefix`, however clear that is.
    pub(crate) fn after(&self, prefix: &str) -> Option<Argument> {
        match self {
            Argument::Plain(text) => text.strip_prefix(prefix).map(|rest| Argument::Plain(rest.to_owned())),
            Argument::Glob(text) => text.strip_prefix(prefix).map(|rest| Argument::Glob(rest.to_owned())),
            Argument::Unclear(text) => {
                text.strip_prefix(prefix).map(|rest| Argument::Unclear(rest.to_owned()))
            }
            Argument::Pipe | Argument::Found(_) => None,
        }
    }

    /// How a person would write it.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Argument::Plain(text) | Argument::Glob(text) | Argument::Unclear(text) => text,
            Argument::Pipe | Argument::Found(_) => "…",
        }
    }
}

/// A character of a word, and whether it stands without quotes.
#[derive(Clone, Copy)]
pub(super) struct Letter {
    pub(super) character: char,
    pub(super) bare: bool,
}

impl Letter {
    pub(super) fn is_bare(self, character: char) -> bool {
        self.bare && self.character == character
    }
}

/// What a word stands for; several arguments if it has braces.
pub(crate) fn of_word(word: &Word, home: Option<&str>) -> Vec<Argument> {
    let unclear = || vec![Argument::Unclear(word.text.clone())];
    if let [Part::Process(_)] = &word.parts[..] {
        return vec![Argument::Pipe];
    }
    let mut letters = Vec::new();
    for part in &word.parts {
        let (text, bare) = match part {
            Part::Bare(text) => (text, true),
            Part::Quoted(text) => (text, false),
            Part::Expansion { .. } | Part::Substitution(_) | Part::Process(_) => return unclear(),
        };
        letters.extend(text.chars().map(|character| Letter { character, bare }));
    }
    let Some(words) = braces::expand(letters) else { return unclear() };
    let each = words.into_iter().map(|letters| at_home(letters, home).and_then(|letters| argument(&letters)));
    each.map(|argument| argument.unwrap_or_else(|| Argument::Unclear(word.text.clone()))).collect()
}

/// The home directory for a leading `~`; nothing where it is not known, or another one is meant.
fn at_home(letters: Vec<Letter>, home: Option<&str>) -> Option<Vec<Letter>> {
    if !letters.first().is_some_and(|letter| letter.is_bare('~')) {
        return Some(letters);
    }
    let user_ends = letters.get(1).is_none_or(|letter| letter.is_bare('/'));
    let home = home.filter(|_| user_ends)?;
    let home = home.chars().map(|character| Letter { character, bare: false });
    Some(home.chain(letters[1..].iter().copied()).collect())
}

/// A word without braces and `~`. Nothing if it has a glob that we cannot write.
fn argument(letters: &[Letter]) -> Option<Argument> {
    let mut glob = String::new();
    let mut is_glob = false;
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        at += 1;
        match letter.character {
            '*' | '?' if letter.bare => {
                is_glob = true;
                glob.push(letter.character);
            }
            '[' if letter.bare => match class_end(letters, at)? {
                Some(end) => {
                    is_glob = true;
                    glob.extend(letters[at - 1..end].iter().map(|letter| letter.character));
                    at = end;
                }
                None => glob.push_str("[[]"),
            },
            character => push_literal(&mut glob, character),
        }
    }
    Some(match is_glob {
        true => Argument::Glob(glob),
        false => Argument::Plain(letters.iter().map(|letter| letter.character).collect()),
    })
}

/// Where a class ends that was opened just before `from`, if it does. Nothing for a class that we cannot write.
fn class_end(letters: &[Letter], from: usize) -> Option<Option<usize>> {
    let negated = letters.get(from).is_some_and(|letter| matches!(letter.character, '!' | '^'));
    let body = from + usize::from(negated);
    // The first character belongs to the class, even `]`.
    let candidates = letters.iter().enumerate().skip(body + 1).take(CLASS_CHARS_MAX);
    let end = candidates.clone().find(|(_, letter)| matches!(letter.character, ']' | '/'));
    match end {
        Some((end, letter)) if letter.character == ']' => {
            let inner = &letters[body..end];
            let written = inner.iter().all(|letter| letter.bare && !matches!(letter.character, '[' | '\\'));
            written.then_some(Some(end + 1))
        }
        None if letters.len() > body + 1 + CLASS_CHARS_MAX => None,
        Some(_) | None => Some(None),
    }
}

/// A character that means itself in a glob.
pub(super) fn push_literal(glob: &mut String, character: char) {
    match character {
        '*' | '?' | '[' | ']' | '{' | '}' | ',' => {
            glob.push('[');
            glob.push(character);
            glob.push(']');
        }
        other => glob.push(other),
    }
}

/// A glob that matches exactly this path.
pub(crate) fn as_glob(path: &str) -> String {
    path.chars().fold(String::new(), |mut glob, character| {
        push_literal(&mut glob, character);
        glob
    })
}
