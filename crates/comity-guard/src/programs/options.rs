//! Tells the options of a program from its operands.

use super::arguments::Argument;

/// The options of a program that take a value; all others take none.
pub(super) struct Options {
    /// One letter each.
    pub(super) short: &'static str,
    /// Without the two dashes.
    pub(super) long: &'static [&'static str],
}

/// A program whose options take no values.
pub(super) const FLAGS_ONLY: Options = Options { short: "", long: &[] };

/// Arguments, told apart.
pub(super) struct Given<'a> {
    /// Each option by its name without dashes, with its value if it takes one.
    pub(super) options: Vec<(&'a str, Option<Argument>)>,
    /// Everything else.
    pub(super) operands: Vec<&'a Argument>,
}

impl Given<'_> {
    /// Whether one of these options was given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(name))
    }

    /// The value of the last of these options that was given.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Argument> {
        self.options.iter().rev().find(|(name, _)| names.contains(name)).and_then(|(_, value)| value.as_ref())
    }
}

/// Tells options from operands, wherever they stand.
pub(super) fn read<'a>(arguments: &'a [Argument], known: &Options) -> Given<'a> {
    collect(arguments, known, false)
}

/// Like [`read`], but the first operand ends the options: behind it stands another program.
pub(super) fn read_before_operands<'a>(arguments: &'a [Argument], known: &Options) -> Given<'a> {
    collect(arguments, known, true)
}

fn collect<'a>(arguments: &'a [Argument], known: &Options, until_operand: bool) -> Given<'a> {
    let mut given = Given { options: Vec::new(), operands: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.shown();
        if text == "--" {
            given.operands.extend(rest);
            break;
        }
        let is_option = text.len() > 1 && text.starts_with('-') && *argument != Argument::Pipe;
        match text.strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((name, _)) => {
                    given.options.push((name, argument.after(&text[..name.len() + 3])));
                }
                None if known.long.contains(&long) => given.options.push((long, rest.next().cloned())),
                None => given.options.push((long, None)),
            },
            None if is_option => short(&mut given, argument, known, &mut rest),
            None => {
                given.operands.push(argument);
                if until_operand {
                    given.operands.extend(rest);
                    break;
                }
            }
        }
    }
    given
}

/// `-abc`, of which the last may have a value: the rest of the word, or the next one.
fn short<'a>(
    given: &mut Given<'a>,
    argument: &'a Argument,
    known: &Options,
    rest: &mut std::slice::Iter<'a, Argument>,
) {
    let text = argument.shown();
    for (at, letter) in text.char_indices().skip(1) {
        let end = at + letter.len_utf8();
        let name = &text[at..end];
        if !known.short.contains(letter) {
            given.options.push((name, None));
            continue;
        }
        let value = if end < text.len() { argument.after(&text[..end]) } else { rest.next().cloned() };
        return given.options.push((name, value));
    }
}
