//! Tells options from operands, and doubts every option that is not listed.

use super::doubt::{Doubt, shown};
use super::words::Argument;

/// Long options that every program of the table has.
const COMMON: [&str; 2] = ["help", "version"];

/// The options with which a program only reads.
#[derive(Clone, Copy)]
pub(super) struct Options {
    flags: &'static str,
    values: &'static str,
    attached: &'static str,
    long: &'static [&'static [&'static str]],
    counts: bool,
    harmless: bool,
    operands_max: usize,
    stops: bool,
}

/// A program without options.
pub(super) const NONE: Options = Options {
    flags: "",
    values: "",
    attached: "",
    long: &[],
    counts: false,
    harmless: false,
    operands_max: usize::MAX,
    stops: false,
};

impl Options {
    /// The letters of options without a value.
    pub(super) const fn flags(self, flags: &'static str) -> Options {
        Options { flags, ..self }
    }

    /// The letters of options with a value: the rest of the word, or the next one.
    pub(super) const fn values(self, values: &'static str) -> Options {
        Options { values, ..self }
    }

    /// The letters of options that take the rest of the word, which may be nothing.
    pub(super) const fn attached(self, attached: &'static str) -> Options {
        Options { attached, ..self }
    }

    /// Long options: `name`, `name=` with a value, `name?` with a value behind `=` or none.
    pub(super) const fn long(self, long: &'static [&'static [&'static str]]) -> Options {
        Options { long, ..self }
    }

    /// Numbers are options: `-20`.
    pub(super) const fn counts(self) -> Options {
        Options { counts: true, ..self }
    }

    /// No option of the program does harm, listed or not: an argument that is not known may become one.
    pub(super) const fn harmless(self) -> Options {
        Options { harmless: true, ..self }
    }

    /// Operands that it may have; a further one would be written to.
    pub(super) const fn operands_max(self, operands_max: usize) -> Options {
        Options { operands_max, ..self }
    }

    /// The first operand ends the options: behind it stands another program.
    pub(super) const fn stops(self) -> Options {
        Options { stops: true, ..self }
    }
}

/// Arguments, told apart.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Each option by its name without dashes, with its value if it has one.
    pub(super) options: Vec<(String, Option<Argument>)>,
    /// Everything else.
    pub(super) operands: Vec<Argument>,
}

impl Given {
    /// Whether one of these options was given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// The values of these options, in order.
    pub(super) fn values<'g>(&'g self, names: &'g [&str]) -> impl Iterator<Item = &'g Argument> {
        let named = self.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
        named.filter_map(|(_, value)| value.as_ref())
    }
}

/// Reads arguments; an option that is not listed, or an argument that could become one, is a doubt.
pub(super) fn read(known: &Options, arguments: &[Argument]) -> Result<Given, Doubt> {
    let mut given = Given::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = match argument {
            Argument::Known(text) => text,
            Argument::Open(open) if known.harmless || open.is_operand() => {
                if open.many && (known.operands_max < usize::MAX || known.stops) {
                    return Err(Doubt::because(format!("`{}` may be several arguments", shown(&open.shown))));
                }
                given.operands.push(argument.clone());
                continue;
            }
            Argument::Open(open) => {
                let part = shown(&open.shown);
                return Err(Doubt::because(format!("`{part}` may become an option; put `--` before it")));
            }
        };
        if text == "--" {
            given.operands.extend(rest.cloned());
            break;
        }
        if text == "-" || !text.starts_with('-') {
            given.operands.push(argument.clone());
            if known.stops {
                given.operands.extend(rest.cloned());
                break;
            }
            continue;
        }
        // Where options must come first, this is an operand, and perhaps the one that is written to.
        if known.operands_max < usize::MAX && !given.operands.is_empty() {
            return Err(Doubt::because(format!("`{}` stands behind an operand", shown(text))));
        }
        match text.strip_prefix("--") {
            Some(long) => read_long(known, long, &mut rest, &mut given)?,
            None => read_short(known, text, &mut rest, &mut given)?,
        }
    }
    let certain = given.operands.iter().filter(|operand| operand.known().is_some()).count();
    let open = given.operands.len() - certain;
    let is_many = |operand: &Argument| matches!(operand, Argument::Open(open) if open.many);
    if given.operands.len() > known.operands_max
        || (open > 0 && known.operands_max < usize::MAX && given.operands.iter().any(is_many))
    {
        return Err(Doubt::because("it has an operand too many, which it may write to"));
    }
    Ok(given)
}

fn unlisted(option: &str) -> Doubt {
    Doubt::because(format!("the option `{}` is not known to only read", shown(option)))
}

/// The word behind an option that needs a value.
fn value<'a>(
    known: &Options,
    option: &str,
    rest: &mut impl Iterator<Item = &'a Argument>,
) -> Result<Argument, Doubt> {
    let needed = || Doubt::because(format!("the option `{option}` needs a value that is written down"));
    let value = rest.next().ok_or_else(needed)?;
    let is_certain = match value {
        Argument::Known(text) => !text.starts_with('-'),
        Argument::Open(open) => !open.many,
    };
    if !is_certain && !known.harmless {
        return Err(needed());
    }
    Ok(value.clone())
}

fn read_long<'a>(
    known: &Options,
    text: &str,
    rest: &mut impl Iterator<Item = &'a Argument>,
    given: &mut Given,
) -> Result<(), Doubt> {
    let (name, attached) = match text.split_once('=') {
        Some((name, value)) => (name, Some(Argument::Known(value.to_owned()))),
        None => (text, None),
    };
    let listed = |suffix: &str| {
        let is_listed = |entry: &str| entry.strip_suffix(suffix) == Some(name) && !name.is_empty();
        known.long.iter().any(|list| list.iter().any(|entry| is_listed(entry)))
    };
    let plain = known.long.iter().any(|list| list.contains(&name)) || COMMON.contains(&name);
    let value = match attached {
        Some(value) if listed("=") || listed("?") => Some(value),
        None if plain || listed("?") => None,
        None if listed("=") => {
            // Not every program looks for the value there; it must not be an option in disguise.
            let value = value(known, text, rest)?;
            if value.known().is_none() && !known.harmless {
                return Err(Doubt::because(format!("put the value of `--{text}` behind `=`, in clear")));
            }
            Some(value)
        }
        Some(_) | None => return Err(unlisted(&format!("--{text}"))),
    };
    given.options.push((name.to_owned(), value));
    Ok(())
}

/// `-abc`, of which the last may have a value.
fn read_short<'a>(
    known: &Options,
    text: &str,
    rest: &mut impl Iterator<Item = &'a Argument>,
    given: &mut Given,
) -> Result<(), Doubt> {
    let letters = &text[1..];
    if known.counts && letters.bytes().all(|byte| byte.is_ascii_digit()) {
        given.options.push(("number".to_owned(), Some(Argument::Known(letters.to_owned()))));
        return Ok(());
    }
    for (at, letter) in letters.char_indices() {
        let behind = &letters[at + letter.len_utf8()..];
        let name = letter.to_string();
        if known.attached.contains(letter) {
            given.options.push((name, Some(Argument::Known(behind.to_owned()))));
            return Ok(());
        }
        if known.values.contains(letter) {
            let value = match behind {
                "" => value(known, &format!("-{name}"), rest)?,
                behind => Argument::Known(behind.to_owned()),
            };
            given.options.push((name, Some(value)));
            return Ok(());
        }
        if !known.flags.contains(letter) {
            return Err(unlisted(&format!("-{letter}")));
        }
        given.options.push((name, None));
    }
    Ok(())
}
