//! What a word can become when a shell expands it.

use super::doubt::{Doubt, Proven};
use super::variables::is_name;
use crate::shell::syntax::{Part, Word};

/// Why a `!` is a doubt.
const HISTORY: &str = "an interactive shell puts an earlier command in for this; single quotes keep it";

/// One argument of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Argument {
    /// Exactly this text.
    Known(String),
    /// Something that only running would tell.
    Open(Open),
}

/// An argument whose text is not known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Open {
    /// As it was written.
    pub(super) shown: String,
    /// What it begins with for certain.
    pub(super) prefix: String,
    /// Whether it may become several arguments, or none.
    pub(super) many: bool,
}

impl Argument {
    /// The text, if it is known.
    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Argument::Known(text) => Some(text),
            Argument::Open(_) => None,
        }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.known() == Some(text)
    }

    /// How a person would write it.
    pub(super) fn shown(&self) -> &str {
        match self {
            Argument::Known(text) => text,
            Argument::Open(open) => &open.shown,
        }
    }

    /// An argument that may be anything, once or several times.
    pub(super) fn anything(shown: &str, many: bool) -> Argument {
        Argument::Open(Open { shown: shown.to_owned(), prefix: String::new(), many })
    }
}

impl Open {
    /// Whether no program takes it for an option.
    pub(super) fn is_operand(&self) -> bool {
        !self.prefix.is_empty() && !self.prefix.starts_with(['-', '+', ';'])
    }
}

/// What a word may become, with a doubt where shells would not agree.
pub(super) fn argument(word: &Word) -> Result<Argument, Doubt> {
    let quoting = Quoting::of(word)?;
    checked(word)?;
    if let [Part::Process(_)] = &word.parts[..] {
        return Ok(Argument::Open(Open {
            shown: word.text.clone(),
            prefix: "/dev/fd/".to_owned(),
            many: false,
        }));
    }
    let mut reader = Reader { prefix: String::new(), is_known: !quoting.c_quoted, many: quoting.splits };
    let braces = word.text.contains(',') || word.text.contains("..");
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            Part::Quoted(text) => reader.literal(text),
            Part::Bare(text) => reader.bare(text, at == 0, braces),
            Part::Expansion { .. } | Part::Substitution(_) | Part::Process(_) => reader.is_known = false,
        }
    }
    // A lone bracket is the name of a program, or the end of its arguments.
    if word.text == "[" || word.text == "]" {
        return Ok(Argument::Known(word.text.clone()));
    }
    Ok(match reader.is_known {
        true => Argument::Known(reader.prefix),
        false => {
            // Where a variable makes several words, only the first of them begins like this.
            let is_certain = !quoting.c_quoted && !quoting.splits;
            let prefix = if is_certain { reader.prefix } else { String::new() };
            Argument::Open(Open { shown: word.text.clone(), prefix, many: reader.many })
        }
    })
}

struct Reader {
    prefix: String,
    is_known: bool,
    many: bool,
}

impl Reader {
    fn literal(&mut self, text: &str) {
        if self.is_known {
            self.prefix.push_str(text);
        }
    }

    /// Text without quotes; globs and braces make several words of one, each with the same beginning.
    fn bare(&mut self, text: &str, is_first: bool, braces: bool) {
        let is_sign = matches!(text, "=" | "==" | "=~");
        if is_first && text.starts_with(['~', '=', '^']) && !is_sign {
            // A home directory, and to zsh the path of a program, or all files but some.
            self.is_known = false;
            self.many |= text.starts_with('^');
            self.prefix.push_str(if text.starts_with('^') { "" } else { &text[..1] });
        }
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            // `{}` is what `find` and `xargs` fill in, and no brace to a shell.
            if let Some(behind) = rest.strip_prefix("{}") {
                self.literal("{}");
                rest = behind;
                continue;
            }
            let expands = matches!(character, '*' | '?' | '[') || (braces && matches!(character, '{' | '}'));
            if expands {
                self.is_known = false;
                self.many = true;
            }
            rest = &rest[character.len_utf8()..];
            self.literal(character.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Where the quotes of a word are.
struct Quoting {
    /// Whether an expansion stands outside of quotes, or is one that makes several words of itself.
    splits: bool,
    /// Whether it has a `$'…'`, which a POSIX shell does not know.
    c_quoted: bool,
}

impl Quoting {
    fn of(word: &Word) -> Result<Quoting, Doubt> {
        let runs = word.parts.iter().any(|part| matches!(part, Part::Substitution(_) | Part::Process(_)));
        if runs { Quoting::around_commands(word) } else { Quoting::scanned(word) }
    }

    /// A word with commands in it, whose quotes are not looked into: it is quoted as a whole, or not at all.
    fn around_commands(word: &Word) -> Result<Quoting, Doubt> {
        let text = &word.text;
        if text.contains("$'") || text.contains("$\"") {
            return Err(
                Doubt::because("quotes behind a dollar sign are not read by all shells alike").about(text)
            );
        }
        if text.contains('`') && text.contains(['\\', '\'', '"']) {
            return Err(
                Doubt::because("quotes next to backticks are not read by all shells alike").about(text)
            );
        }
        if text.match_indices('!').any(|(at, _)| recalls(text[at + 1..].chars().next().as_ref(), true)) {
            return Err(Doubt::because(HISTORY).about(text));
        }
        let begins_comment =
            |(at, _): (usize, &str)| text[..at].ends_with([' ', '\t', '\n', ';', '(', '&', '|']);
        if text.match_indices('#').any(begins_comment) {
            return Err(Doubt::because("a comment within a substitution hides its end").about(text));
        }
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let is_quoted = inner.is_some_and(|inner| !inner.contains('"') && !inner.contains("$@"));
        Ok(Quoting { splits: !is_quoted, c_quoted: false })
    }

    fn scanned(word: &Word) -> Result<Quoting, Doubt> {
        let doubt = |reason: &str| Err(Doubt::because(reason).about(&word.text));
        let mut quoting = Quoting { splits: word.text.contains("$@"), c_quoted: false };
        let mut in_double = false;
        let mut characters = word.text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' => {
                    characters.next();
                }
                '"' => in_double = !in_double,
                '\'' if !in_double => {
                    characters.by_ref().find(|character| *character == '\'');
                }
                '!' if recalls(characters.peek(), in_double) => return doubt(HISTORY),
                '$' if !in_double && characters.peek() == Some(&'"') => {
                    return doubt("a text that is translated may be any other text");
                }
                '$' if !in_double && characters.peek() == Some(&'\'') => {
                    quoting.c_quoted = true;
                    characters.next();
                    while let Some(character) = characters.next().filter(|character| *character != '\'') {
                        if character == '\\' && !matches!(characters.next(), Some('t' | 'n' | '\\')) {
                            return doubt("this escape is not read by all shells alike");
                        }
                    }
                }
                '$' if !in_double => quoting.splits = true,
                _ => {}
            }
        }
        Ok(quoting)
    }
}

/// Whether an interactive shell takes a `!` before this character for an earlier command.
fn recalls(next: Option<&char>, in_double: bool) -> bool {
    match next {
        None | Some(' ' | '\t' | '\n' | '=') => false,
        Some('"') => !in_double,
        Some(_) => true,
    }
}

/// Doubts words that shells would expand in different ways.
fn checked(word: &Word) -> Proven {
    let doubt = |reason: &str| Err(Doubt::because(reason).about(&word.text));
    if matches!(word.text.as_str(), "{" | "}") {
        return doubt("a lone brace ends a group in some shells");
    }
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            Part::Quoted(_) | Part::Substitution(_) | Part::Process(_) => {}
            Part::Bare(text) if !text.is_ascii() => {
                return doubt(
                    "letters beyond ASCII stand outside of quotes, where some shells take them for blanks",
                );
            }
            Part::Bare(text) if text.matches('{').count() != text.matches('}').count() => {
                return doubt("its braces have no partner");
            }
            Part::Bare(_) => {}
            Part::Expansion { text, scripts } => {
                if !scripts.is_empty() || !is_plain(text) {
                    return doubt("an expansion of this kind may run commands or set variables");
                }
                let follows = word.parts.get(at + 1).map(|next| match next {
                    Part::Bare(text) | Part::Quoted(text) => text.as_str(),
                    Part::Expansion { .. } | Part::Substitution(_) | Part::Process(_) => "",
                });
                if follows.is_some_and(|follows| follows.starts_with('[')) {
                    return doubt("zsh calculates what stands in brackets behind a variable");
                }
            }
        }
    }
    Ok(())
}

/// Whether an expansion can only give a text, and neither runs, sets nor calculates anything.
fn is_plain(text: &str) -> bool {
    const OPERATORS: [&str; 14] =
        [":-", ":+", "##", "%%", "//", "^^", ",,", "-", "+", "#", "%", "/", "^", ","];
    let Some(name) = text.strip_prefix('$') else { return false };
    // What stands between these was looked at before.
    if name.starts_with("((") {
        return true;
    }
    let Some(inner) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
        let is_special = name.len() == 1 && name.bytes().all(|byte| b"0123456789@*#?-$!".contains(&byte));
        return is_special || is_name(name);
    };
    if inner.strip_prefix('#').is_some_and(is_name) {
        return true;
    }
    let length = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, behind) = inner.split_at(length);
    let is_digits = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if !is_name(name) && !is_digits(name) {
        return false;
    }
    let is_text = |byte: u8| byte.is_ascii_alphanumeric() || b"_./*?:,=@+- ".contains(&byte);
    let word = OPERATORS.iter().find_map(|operator| behind.strip_prefix(operator));
    behind.is_empty() || word.is_some_and(|word| word.bytes().all(is_text))
}
