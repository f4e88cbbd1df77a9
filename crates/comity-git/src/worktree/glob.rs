//! Matches one pattern in the syntax of `.gitignore` against one path, in time bounded by the length of both.

use std::collections::HashSet;

/// A pattern, ready to be matched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Glob {
    /// Nothing if the pattern is malformed: it matches nothing, as in git.
    tokens: Option<Vec<Token>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    /// This byte.
    Byte(u8),
    /// One of these bytes, never a slash.
    OneOf(Box<[bool; 256]>),
    /// Any bytes but slashes.
    Name,
    /// Any bytes.
    All,
    /// Nothing, or any directories with the slash behind them.
    Dirs,
}

impl Glob {
    /// Reads a pattern.
    pub(crate) fn parse(pattern: &[u8]) -> Glob {
        Glob { tokens: tokens(pattern) }
    }

    /// Whether the pattern matches the whole text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let Some(tokens) = &self.tokens else { return false };
        // Each pair of places is tried once.
        let mut tried = HashSet::new();
        let mut waiting = vec![(0, 0)];
        while let Some((token, at)) = waiting.pop() {
            if !tried.insert((token, at)) {
                continue;
            }
            let next = text.get(at).copied();
            match (tokens.get(token), next) {
                (None, None) => return true,
                (None, Some(_)) => {}
                (Some(Token::Byte(byte)), next) if next == Some(*byte) => waiting.push((token + 1, at + 1)),
                (Some(Token::OneOf(set)), Some(next)) if set[usize::from(next)] => {
                    waiting.push((token + 1, at + 1))
                }
                (Some(Token::Byte(_) | Token::OneOf(_)), _) => {}
                (Some(Token::Name), next) => {
                    waiting.push((token + 1, at));
                    if next.is_some_and(|next| next != b'/') {
                        waiting.push((token, at + 1));
                    }
                }
                (Some(Token::All), next) => {
                    waiting.push((token + 1, at));
                    if next.is_some() {
                        waiting.push((token, at + 1));
                    }
                }
                (Some(Token::Dirs), _) => {
                    waiting.push((token + 1, at));
                    let slashes = text[at..].iter().enumerate().filter(|(_, byte)| **byte == b'/');
                    waiting.extend(slashes.map(|(slash, _)| (token + 1, at + slash + 1)));
                }
            }
        }
        false
    }
}

fn tokens(pattern: &[u8]) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        match byte {
            b'\\' => {
                tokens.push(Token::Byte(*pattern.get(at + 1)?));
                at += 2;
            }
            b'?' => {
                tokens.push(one_of(|byte| byte != b'/'));
                at += 1;
            }
            b'*' => at = stars(pattern, at, &mut tokens),
            b'[' => {
                let (set, end) = class(pattern, at + 1)?;
                tokens.push(set);
                at = end;
            }
            byte => {
                tokens.push(Token::Byte(*byte));
                at += 1;
            }
        }
    }
    Some(tokens)
}

/// Reads a run of stars, and gives where it ends. Two alone between slashes mean directories.
fn stars(pattern: &[u8], from: usize, tokens: &mut Vec<Token>) -> usize {
    let count = pattern[from..].iter().take_while(|byte| **byte == b'*').count();
    let to = from + count;
    // Git compares what comes before the first special character by itself, and begins anew behind it.
    let is_first_special = !pattern[..from].iter().any(|byte| b"*?[\\".contains(byte));
    let begins_a_name = is_first_special || pattern[from - 1] == b'/';
    match &pattern[to..] {
        _ if count == 1 || !begins_a_name => tokens.push(Token::Name),
        [] | [b'\\', b'/', ..] => tokens.push(Token::All),
        [b'/', ..] => {
            tokens.push(Token::Dirs);
            return to + 1;
        }
        [_, ..] => tokens.push(Token::Name),
    }
    to
}

/// Reads a set of characters behind its `[`, and gives where it ends; nothing if it does not end.
fn class(pattern: &[u8], mut at: usize) -> Option<(Token, usize)> {
    let is_negated = matches!(pattern.get(at)?, b'!' | b'^');
    at += usize::from(is_negated);
    let mut set = [false; 256];
    let mut before = None;
    let first = at;
    loop {
        let byte = *pattern.get(at)?;
        match byte {
            b']' if at > first => break,
            b'[' if pattern.get(at + 1) == Some(&b':') => {
                let length = pattern[at + 2..].iter().position(|byte| *byte == b']')?;
                let name = &pattern[at + 2..at + 2 + length];
                match name.strip_suffix(b":") {
                    Some(name) => {
                        let is_member = named_class(name)?;
                        (0..=u8::MAX).filter(is_member).for_each(|byte| set[usize::from(byte)] = true);
                        at += 2 + length;
                        before = None;
                    }
                    None => {
                        set[usize::from(byte)] = true;
                        before = Some(byte);
                    }
                }
            }
            b'-' if before.is_some() && pattern.get(at + 1).is_some_and(|next| *next != b']') => {
                at += 1;
                if pattern[at] == b'\\' {
                    at += 1;
                }
                let to = *pattern.get(at)?;
                (before.unwrap_or(to)..=to).for_each(|byte| set[usize::from(byte)] = true);
                before = None;
            }
            _ => {
                if byte == b'\\' {
                    at += 1;
                }
                let byte = *pattern.get(at)?;
                set[usize::from(byte)] = true;
                before = Some(byte);
            }
        }
        at += 1;
    }
    Some((one_of(|byte| byte != b'/' && set[usize::from(byte)] != is_negated), at + 1))
}

fn one_of(is_member: impl Fn(u8) -> bool) -> Token {
    let mut set = Box::new([false; 256]);
    (0..=u8::MAX).for_each(|byte| set[usize::from(byte)] = is_member(byte));
    Token::OneOf(set)
}

fn named_class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| byte.is_ascii_graphic() || *byte == b' ',
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| byte.is_ascii_whitespace() || *byte == 0x0b,
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}
