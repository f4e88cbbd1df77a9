//! What a word can become when a shell expands it.

use super::doubt::{Doubt, Proven};
use crate::arguments::{Argument, Unclear};
use crate::shell::syntax::{Part, Word};

/// What a word may become; a doubt if shells would not agree.
pub(super) fn argument(word: &Word) -> Result<Argument, Doubt> {
    // A lone bracket is the name of a program, or the end of its arguments.
    if matches!(word.text.as_str(), "[" | "]" | "=") {
        return Ok(Argument::Plain(word.text.clone()));
    }
    checked(word).map_err(|doubt| doubt.about(&word.text))?;
    let mut prefix = String::new();
    let mut is_known = true;
    let mut many = false;
    for part in &word.parts {
        match part {
            Part::Quoted(text) if is_known => prefix.push_str(text),
            Part::Bare(text) if is_known => {
                // A home directory, a glob, and what zsh may be configured to take for one.
                let end = text.find(['*', '?', '[', '~', '^', '#']).unwrap_or(text.len());
                prefix.push_str(&text[..end]);
                if end < text.len() {
                    is_known = false;
                    many = !text[end..].starts_with('~') || end > 0;
                    if text[end..].starts_with('~') {
                        prefix.push('~');
                    }
                }
            }
            Part::Bare(text) => many |= text.contains(['*', '?', '[', '^', '#']),
            Part::Quoted(_) => {}
            Part::Expansion { .. } | Part::Substitution(_) | Part::Process(_) => {
                is_known = false;
                if !is_quoted(&word.text) {
                    many = true;
                    // It may become several words, of which only the first begins like this.
                    prefix.clear();
                }
            }
        }
    }
    Ok(match is_known {
        true => Argument::Plain(prefix),
        false => Argument::Unclear(Unclear { text: word.text.clone(), prefix, many }),
    })
}

/// Whether a word is one pair of double quotes.
fn is_quoted(text: &str) -> bool {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.is_some_and(|inner| !inner.contains('"'))
}

/// Doubts a word that shells would expand differently.
fn checked(word: &Word) -> Proven {
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            Part::Quoted(_) | Part::Substitution(_) | Part::Process(_) => {}
            Part::Bare(text) => bare(text, at == 0)?,
            Part::Expansion { text, scripts } => {
                if !scripts.is_empty() || !is_plain(text) {
                    return Err(Doubt::because(
                        "an expansion of this kind may run commands or set variables",
                    ));
                }
                let is_bracket = |next: &Part| matches!(next, Part::Bare(text) | Part::Quoted(text) if text.starts_with('['));
                if word.parts.get(at + 1).is_some_and(is_bracket) {
                    return Err(Doubt::because("zsh calculates what stands in brackets behind a variable"));
                }
            }
        }
    }
    Ok(())
}

/// Unquoted text.
fn bare(text: &str, begins: bool) -> Proven {
    if !text.is_ascii() {
        return Err(Doubt::because(
            "letters beyond ASCII stand outside of quotes, where some shells take them for blanks",
        ));
    }
    if begins && text.starts_with('=') {
        return Err(Doubt::because("zsh takes this for the path of a program"));
    }
    if begins && text.starts_with('~') && text.len() > 1 && !text.starts_with("~/") {
        return Err(Doubt::because("only `~` and `~/` mean the same to every shell"));
    }
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '[']) {
        let length = filled_in(&rest[at..]).or_else(|| class(&rest[at..]));
        let Some(length) = length else {
            return Err(Doubt::because(
                "braces and brackets are not read by all shells alike; put them in quotes",
            ));
        };
        rest = &rest[at + length..];
    }
    Ok(())
}

/// `{}`, which `find` and `xargs` fill in, or the number in `HEAD@{1}`.
fn filled_in(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('{')?.bytes().take_while(u8::is_ascii_digit).count();
    text[1 + digits..].starts_with('}').then_some(digits + 2)
}

/// A plain class of a glob, such as `[a-z]`.
fn class(text: &str) -> Option<usize> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let length = text.strip_prefix('[')?.bytes().take_while(is_plain).count();
    (length > 0 && text[1 + length..].starts_with(']')).then_some(length + 2)
}

/// Whether an expansion can only give a text, and neither runs, sets nor evaluates anything.
fn is_plain(text: &str) -> bool {
    const OPERATORS: [&str; 6] = [":-", "##", "%%", "-", "#", "%"];
    let Some(name) = text.strip_prefix('$') else { return false };
    let Some(inner) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else {
        let is_special = name.len() == 1 && name.bytes().all(|byte| b"0123456789#?$".contains(&byte));
        return is_special || is_name(name);
    };
    let inner = inner.strip_prefix('#').filter(|name| is_name(name)).unwrap_or(inner);
    let length = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, behind) = inner.split_at(length);
    let is_text = |byte: u8| byte.is_ascii_alphanumeric() || b"_./*-".contains(&byte);
    let word = OPERATORS.iter().find_map(|operator| behind.strip_prefix(operator));
    is_name(name) && (behind.is_empty() || word.is_some_and(|word| word.bytes().all(is_text)))
}

/// Whether a name consists of letters, digits and `_`.
pub(super) fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Names without a meaning to any shell or program.
const OWN_NAMES: &str = "file files dir dirs name names line lines word words item items arg count total pattern base root src dst out \
    result output path_to crate module package test tests entry key val value version branch commit hash ref sha tag url id num idx ext \
    first last left right start end size date day log text target source config project repo folder";
/// Variables whose value chooses a language, a time zone or colours.
const LOCAL: [&str; 7] = ["LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "TZ", "NO_COLOR", "COLUMNS"];

/// Doubts that a variable may be set to something unknown.
pub(super) fn may_be_set(name: &str) -> Proven {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_letter = stem.len() == 1 && stem.bytes().all(|byte| byte.is_ascii_alphabetic());
    match is_letter || OWN_NAMES.split_ascii_whitespace().any(|own| own == stem) {
        true => Ok(()),
        false => Err(Doubt::because(
            "setting this variable may change what programs do; one of a single letter would not",
        )
        .about(name)),
    }
}

pub(super) fn may_be_set_to(name: &str, value: &Argument) -> Proven {
    if !LOCAL.contains(&name) {
        return may_be_set(name);
    }
    let is_local = |value: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-/+@".contains(&byte);
        value.bytes().all(is_part) && !value.starts_with(['/', '.']) && !value.contains("..")
    };
    match value.plain().is_some_and(is_local) {
        true => Ok(()),
        false => Err(Doubt::because("this value may name a file").about(name)),
    }
}
