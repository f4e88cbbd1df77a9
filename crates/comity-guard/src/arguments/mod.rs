//! What words stand for: plain arguments, globs, or something that only running would tell.

mod braces;
mod effort;

use std::rc::Rc;

use crate::effects::FileTarget;
use crate::limits::{BRACE_WORDS_MAX, CLASS_CHARS_MAX, EXPANSION_BYTES_MAX, READING_STEP_UNITS};
use crate::shell::syntax::{Part, Word};
pub(crate) use effort::ReadingEffort;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    Plain(String),
    Glob(String),
    /// Something that only running would tell.
    Unclear(Unclear),
    /// The name of a pipe to a command.
    Pipe,
    /// Paths that another program finds.
    Found(Rc<[FileTarget]>),
}

/// An argument whose text is not known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unclear {
    pub(crate) text: String,
    /// What it surely begins with.
    pub(crate) prefix: String,
    /// Whether it may become several arguments, or none.
    pub(crate) many: bool,
}

/// What is known when a word is expanded.
#[derive(Clone, Copy)]
pub(crate) struct KnownVariables<'k> {
    pub(crate) home: Option<&'k str>,
    /// Variables with all values that they may have.
    pub(crate) variables: &'k [(String, Vec<String>)],
    pub(crate) effort: &'k ReadingEffort,
}

impl Argument {
    pub(crate) fn unclear(text: &str, many: bool) -> Argument {
        Argument::Unclear(Unclear { text: text.to_owned(), prefix: String::new(), many })
    }

    /// Whether no program takes it for an option.
    pub(crate) fn is_operand(&self) -> bool {
        match self {
            Argument::Plain(text) => text == "-" || !text.starts_with('-'),
            Argument::Unclear(unclear) => {
                !unclear.prefix.is_empty() && !unclear.prefix.starts_with(['-', '+', ';'])
            }
            Argument::Glob(_) | Argument::Pipe | Argument::Found(_) => false,
        }
    }

    pub(crate) fn is_many(&self) -> bool {
        match self {
            Argument::Plain(_) | Argument::Pipe => false,
            Argument::Unclear(unclear) => unclear.many,
            Argument::Glob(_) | Argument::Found(_) => true,
        }
    }

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
            Argument::Unclear(unclear) => {
                unclear.text.strip_prefix(prefix).map(|rest| Argument::unclear(rest, unclear.many))
            }
            Argument::Pipe | Argument::Found(_) => None,
        }
    }

    /// The work of going through the paths that it stands for.
    pub(crate) fn found_units(&self) -> usize {
        match self {
            Argument::Found(targets) => targets.len().saturating_mul(READING_STEP_UNITS),
            Argument::Plain(_) | Argument::Glob(_) | Argument::Unclear(_) | Argument::Pipe => 0,
        }
    }

    /// As a person would write it.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Argument::Plain(text) | Argument::Glob(text) => text,
            Argument::Unclear(unclear) => &unclear.text,
            Argument::Pipe | Argument::Found(_) => "…",
        }
    }
}

/// A character of a word, and whether it stands without quotes.
#[derive(Clone, Copy)]
struct WordChar {
    character: char,
    bare: bool,
}

impl WordChar {
    fn is_bare(self, character: char) -> bool {
        self.bare && self.character == character
    }
}

fn letters(text: &str, bare: bool) -> impl Iterator<Item = WordChar> {
    text.chars().map(move |character| WordChar { character, bare })
}

/// What a word stands for; several arguments if it has braces, or a variable with several values.
pub(crate) fn of_word(word: &Word, known: KnownVariables<'_>) -> Vec<Argument> {
    let unclear = || Argument::unclear(&word.text, true);
    if let [Part::Process(_)] = &word.parts[..] {
        return vec![Argument::Pipe];
    }
    if !known.effort.spend(word.text.len() + READING_STEP_UNITS) {
        return vec![unclear()];
    }
    let mut choices: Vec<Vec<WordChar>> = vec![Vec::new()];
    let mut is_expanded = false;
    for part in &word.parts {
        let (texts, bare): (Vec<&str>, bool) = match part {
            Part::Bare(text) => (vec![text], true),
            Part::Quoted(text) => (vec![text], false),
            Part::Expansion { text, .. } => match values(text, known.variables) {
                Some(values) => {
                    is_expanded = true;
                    (values, false)
                }
                None => return vec![unclear()],
            },
            Part::Substitution(_) | Part::Process(_) => return vec![unclear()],
        };
        if let [text] = texts[..] {
            choices.iter_mut().for_each(|choice| choice.extend(letters(text, bare)));
        } else {
            if choices.len() * texts.len() > BRACE_WORDS_MAX {
                return vec![unclear()];
            }
            let with =
                |before: &[WordChar], text: &str| before.iter().copied().chain(letters(text, bare)).collect();
            choices =
                choices.iter().flat_map(|before| texts.iter().map(move |text| with(before, text))).collect();
        }
        let length: usize = choices.iter().map(Vec::len).sum();
        if is_expanded && (length > EXPANSION_BYTES_MAX || !known.effort.spend(length)) {
            return vec![unclear()];
        }
    }
    let of_letters = |letters: Vec<WordChar>| match braces::expand(letters, known.effort) {
        None => vec![unclear()],
        Some(words) => {
            let each = words
                .into_iter()
                .map(|letters| at_home(letters, known.home).and_then(|letters| argument(&letters)));
            each.map(|argument| argument.unwrap_or_else(unclear)).collect()
        }
    };
    choices.into_iter().flat_map(of_letters).collect()
}

/// The values of `$name` or `${name}`, if they are known and no shell would expand them further.
fn values<'v>(text: &str, variables: &'v [(String, Vec<String>)]) -> Option<Vec<&'v str>> {
    let name = text.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let (_, values) = variables.iter().rev().find(|(known, _)| known == name)?;
    let is_one = |value: &String| !value.is_empty() && !value.contains([' ', '\t', '\n', '*', '?', '[', '~']);
    values.iter().all(is_one).then(|| values.iter().map(String::as_str).collect())
}

/// Expands a leading `~`; `None` if the home is unknown, or another one is meant.
fn at_home(letters: Vec<WordChar>, home: Option<&str>) -> Option<Vec<WordChar>> {
    if !letters.first().is_some_and(|letter| letter.is_bare('~')) {
        return Some(letters);
    }
    let user_ends = letters.get(1).is_none_or(|letter| letter.is_bare('/'));
    let home = home.filter(|_| user_ends)?;
    let home = home.chars().map(|character| WordChar { character, bare: false });
    Some(home.chain(letters[1..].iter().copied()).collect())
}

/// A word without braces and `~`; `None` if it has a glob that we cannot represent.
fn argument(letters: &[WordChar]) -> Option<Argument> {
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

/// Where the class that opens just before `from` ends; `None` if it does not, or we cannot represent it.
fn class_end(letters: &[WordChar], from: usize) -> Option<Option<usize>> {
    let negated = letters.get(from).is_some_and(|letter| matches!(letter.character, '!' | '^'));
    let body = from + usize::from(negated);
    // The first character belongs to the class, even if it is `]`.
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

/// Escapes a character, so that it means itself in a glob.
fn push_literal(glob: &mut String, character: char) {
    match character {
        '*' | '?' | '[' | ']' | '{' | '}' | ',' => {
            glob.push('[');
            glob.push(character);
            glob.push(']');
        }
        other => glob.push(other),
    }
}

pub(crate) fn as_glob(path: &str) -> String {
    path.chars().fold(String::new(), |mut glob, character| {
        push_literal(&mut glob, character);
        glob
    })
}
