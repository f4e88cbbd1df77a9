//! The options of programs, in one notation, and two ways to parse arguments by it.
//!
//! A list is words separated by blanks. `-abc` are flags, `-n:` has a value (the rest of the word, or the next one),
//! `-w?` has what follows in the same word or nothing, `-#` stands for numbers (`-20`). `--name`, `--name=` and
//! `--name?` are the same for long options. A mark after it says what it does: `>` writes to its value, `!` does
//! something else besides looking. Without a mark the program still only reads.

use crate::arguments::Argument;
use crate::read_only::{Doubt, shown};

/// The options of one program, and how they are told from operands.
#[derive(Clone, Copy)]
pub(crate) struct ProgramOptions {
    lists: &'static [&'static str],
    until_operand: bool,
    any_argument: bool,
    operands_max: usize,
    /// Some versions take an option after an operand for an operand, and that matters.
    options_first: bool,
    /// A value is never in the word of its option.
    values_apart: bool,
    /// Options are options even after `--`.
    dashes_end_nothing: bool,
}

#[derive(Default)]
pub(crate) struct ParsedArguments {
    /// Each option by its name without dashes, with its value if it has one.
    pub(crate) options: Vec<(String, Option<Argument>)>,
    pub(crate) operands: Vec<Argument>,
    /// The values of options that are written to.
    pub(crate) outputs: Vec<Argument>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Name<'n> {
    Short(char),
    Long(&'n str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    Required,
    Attached,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionEffect {
    Reads,
    Writes,
    Acts,
}

#[derive(Clone, Copy)]
struct OptionEntry<'l> {
    text: &'l str,
    value: Value,
    mark: OptionEffect,
}

/// How much is taken for granted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// An unlisted option, or an argument that may become one, is a doubt.
    Strict,
    /// An unlisted option has no value; long ones may be abbreviated.
    Lenient,
}

impl ProgramOptions {
    pub(crate) const fn new(lists: &'static [&'static str]) -> ProgramOptions {
        ProgramOptions {
            lists,
            until_operand: false,
            any_argument: false,
            operands_max: usize::MAX,
            options_first: false,
            values_apart: false,
            dashes_end_nothing: false,
        }
    }

    /// The first operand ends the options: another program follows.
    pub(crate) const fn until_operand(self) -> ProgramOptions {
        ProgramOptions { until_operand: true, ..self }
    }

    /// No option of the program does harm, listed or not, so an unknown argument may become one.
    pub(crate) const fn any_argument(self) -> ProgramOptions {
        ProgramOptions { any_argument: true, ..self }
    }

    /// The operands that it may have; a further one would be written to.
    pub(crate) const fn operands_max(self, operands_max: usize) -> ProgramOptions {
        ProgramOptions { operands_max, options_first: true, ..self }
    }

    pub(crate) const fn options_first(self) -> ProgramOptions {
        ProgramOptions { options_first: true, ..self }
    }

    pub(crate) const fn values_apart(self) -> ProgramOptions {
        ProgramOptions { values_apart: true, ..self }
    }

    pub(crate) const fn dashes_end_nothing(self) -> ProgramOptions {
        ProgramOptions { dashes_end_nothing: true, ..self }
    }

    /// Parses arguments for a proof.
    pub(crate) fn prove(&self, arguments: &[Argument]) -> Result<ParsedArguments, Doubt> {
        let given = self.read(arguments, Strictness::Strict)?;
        let is_bounded = self.operands_max < usize::MAX;
        if given.operands.len() > self.operands_max
            || (is_bounded && given.operands.iter().any(Argument::is_many))
        {
            return Err(Doubt::because("it has an operand too many, which it may write to"));
        }
        Ok(given)
    }

    /// Parses arguments for a guess.
    pub(crate) fn guess(&self, arguments: &[Argument]) -> ParsedArguments {
        self.read(arguments, Strictness::Lenient).unwrap_or_default()
    }

    fn entries(&self) -> impl Iterator<Item = OptionEntry<'static>> {
        self.lists.iter().flat_map(|list| list.split_ascii_whitespace()).map(OptionEntry::parse)
    }

    fn find(&self, name: Name<'_>) -> Option<OptionEntry<'static>> {
        let is_long = matches!(name, Name::Long(_));
        let words = self.lists.iter().flat_map(|list| list.split_ascii_whitespace());
        words
            .filter(|word| word.starts_with("--") == is_long)
            .map(OptionEntry::parse)
            .find(|entry| entry.is(name))
    }

    /// The long option with this name, or the only one that begins with it.
    fn find_long(&self, name: &str, reading: Strictness) -> Option<OptionEntry<'static>> {
        let exact = self.find(Name::Long(name));
        if exact.is_some() || reading == Strictness::Strict || name.is_empty() {
            return exact;
        }
        let mut longer = self
            .entries()
            .filter(|entry| entry.text.strip_prefix("--").is_some_and(|long| long.starts_with(name)));
        longer.next().filter(|_| longer.next().is_none())
    }

    fn read(&self, arguments: &[Argument], reading: Strictness) -> Result<ParsedArguments, Doubt> {
        let mut given = ParsedArguments::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.shown();
            let is_plain = argument.plain().is_some();
            if reading == Strictness::Strict && !is_plain && !argument.is_operand() && !self.any_argument {
                let text = shown(text);
                return Err(Doubt::because(format!("`{text}` may become an option; put `--` before it")));
            }
            if reading == Strictness::Strict && self.until_operand && argument.is_many() {
                return Err(Doubt::because(format!("`{}` may be several arguments", shown(text))));
            }
            if text == "--" && self.dashes_end_nothing && reading == Strictness::Strict {
                continue;
            }
            if text == "--" {
                given.operands.extend(rest.cloned());
                break;
            }
            let is_option =
                text.len() > 1 && text.starts_with('-') && (is_plain || reading == Strictness::Lenient);
            if !is_option || matches!(argument, Argument::Pipe) {
                given.operands.push(argument.clone());
                if self.until_operand {
                    given.operands.extend(rest.cloned());
                    break;
                }
                continue;
            }
            if reading == Strictness::Strict && self.options_first && !given.operands.is_empty() {
                return Err(Doubt::because(format!("`{}` stands behind an operand", shown(text))));
            }
            match text.strip_prefix("--") {
                Some(long) => self.long(long, argument, reading, &mut rest, &mut given)?,
                None => self.short(argument, reading, &mut rest, &mut given)?,
            }
        }
        Ok(given)
    }

    fn long<'a>(
        &self,
        text: &str,
        argument: &Argument,
        reading: Strictness,
        rest: &mut impl Iterator<Item = &'a Argument>,
        given: &mut ParsedArguments,
    ) -> Result<(), Doubt> {
        let (name, attached) = match text.split_once('=') {
            Some((name, _)) => (name, argument.after(&format!("--{name}="))),
            None => (text, None),
        };
        let entry = self.find_long(name, reading);
        let value = match (entry.map(|entry| entry.value), attached) {
            (Some(Value::Required), None) => Some(self.value(text, reading, rest)?),
            (Some(Value::None), Some(_)) if reading == Strictness::Strict => return Err(unlisted(argument)),
            (_, attached) => attached,
        };
        let name = entry.map_or(name, |entry| &entry.text[2..]);
        given.push(name.to_owned(), value, entry, argument, reading)
    }

    /// `-abc`, of which the last may have a value.
    fn short<'a>(
        &self,
        argument: &Argument,
        reading: Strictness,
        rest: &mut impl Iterator<Item = &'a Argument>,
        given: &mut ParsedArguments,
    ) -> Result<(), Doubt> {
        let letters = &argument.shown()[1..];
        if letters.bytes().all(|byte| byte.is_ascii_digit())
            && let Some(entry) = self.find(Name::Short('#'))
        {
            return given.push("#".to_owned(), argument.after("-"), Some(entry), argument, reading);
        }
        for (at, letter) in letters.char_indices() {
            let end = at + letter.len_utf8();
            let entry = self.find(Name::Short(letter));
            let kind = entry.map_or(Value::None, |entry| entry.value);
            if reading == Strictness::Strict && self.values_apart && kind != Value::None && letters.len() > 1
            {
                return Err(unlisted(argument));
            }
            let value = match (kind, &letters[end..]) {
                (Value::None, _) => None,
                (Value::Required, "") => Some(self.value(&letter.to_string(), reading, rest)?),
                (Value::Required | Value::Attached, _) => argument.after(&format!("-{}", &letters[..end])),
            };
            given.push(letter.to_string(), value, entry, argument, reading)?;
            if kind != Value::None {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The word after an option that needs a value.
    fn value<'a>(
        &self,
        option: &str,
        reading: Strictness,
        rest: &mut impl Iterator<Item = &'a Argument>,
    ) -> Result<Argument, Doubt> {
        let needed = || Doubt::because(format!("the option `{}` needs one value, in clear", shown(option)));
        let Some(value) = rest.next() else {
            return if reading == Strictness::Strict {
                Err(needed())
            } else {
                Ok(Argument::unclear("", false))
            };
        };
        // Not every version of a program looks for the value there, so it must not look like an option.
        let is_certain = self.any_argument || (value.is_operand() && !value.is_many());
        if reading == Strictness::Strict && !is_certain {
            return Err(needed());
        }
        Ok(value.clone())
    }
}

fn unlisted(argument: &Argument) -> Doubt {
    Doubt::because(format!("the option `{}` is not known to only read", shown(argument.shown())))
}

impl OptionEntry<'_> {
    fn parse(word: &str) -> OptionEntry<'_> {
        let (text, mark) = match word.as_bytes().last() {
            Some(b'>') => (&word[..word.len() - 1], OptionEffect::Writes),
            Some(b'!') => (&word[..word.len() - 1], OptionEffect::Acts),
            _ => (word, OptionEffect::Reads),
        };
        let (text, value) = match text.as_bytes().last() {
            Some(b':' | b'=') => (&text[..text.len() - 1], Value::Required),
            Some(b'?') => (&text[..text.len() - 1], Value::Attached),
            _ => (text, Value::None),
        };
        OptionEntry { text, value, mark }
    }

    fn is(&self, name: Name<'_>) -> bool {
        match (name, self.text.strip_prefix("--")) {
            (Name::Long(name), Some(long)) => long == name,
            (Name::Short(letter), None) => self.text[1..].contains(letter),
            (Name::Long(_), None) | (Name::Short(_), Some(_)) => false,
        }
    }
}

impl ParsedArguments {
    fn push(
        &mut self,
        name: String,
        value: Option<Argument>,
        entry: Option<OptionEntry<'_>>,
        argument: &Argument,
        reading: Strictness,
    ) -> Result<(), Doubt> {
        match entry.map(|entry| entry.mark) {
            Some(OptionEffect::Reads) => {}
            Some(OptionEffect::Writes | OptionEffect::Acts) | None if reading == Strictness::Strict => {
                return Err(unlisted(argument));
            }
            Some(OptionEffect::Writes) => self.outputs.extend(value.clone().filter(|value| !value.is("-"))),
            Some(OptionEffect::Acts) | None => {}
        }
        self.options.push((name, value));
        Ok(())
    }

    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// The value of the last of these options that was given.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&Argument> {
        let last = self.options.iter().rev().find(|(name, _)| names.contains(&name.as_str()));
        last.and_then(|(_, value)| value.as_ref())
    }

    /// In order.
    pub(crate) fn values<'g>(&'g self, names: &'g [&str]) -> impl Iterator<Item = &'g Argument> {
        let named = self.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
        named.filter_map(|(_, value)| value.as_ref())
    }
}
