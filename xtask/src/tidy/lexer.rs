//! Tells code, comments and literals of Rust source apart, as far as the rules need it.

/// What a character of Rust source belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Code,
    Comment,
    Literal,
}

/// The kind of each character.
pub(super) fn kinds(text: &[char]) -> Vec<Kind> {
    let mut kinds = Vec::with_capacity(text.len());
    while kinds.len() < text.len() {
        let start = kinds.len();
        let (kind, end) = token(text, start);
        // Always at least one character, so that a half-written file cannot stop us.
        kinds.resize(end.clamp(start + 1, text.len()), kind);
    }
    kinds
}

fn token(text: &[char], start: usize) -> (Kind, usize) {
    let at = |index: usize| text.get(index).copied().unwrap_or('\0');
    match (at(start), at(start + 1)) {
        ('/', '/') => (Kind::Comment, find(text, start, |c| c == '\n')),
        ('/', '*') => (Kind::Comment, block_comment_end(text, start)),
        ('"', _) => (Kind::Literal, string_end(text, start, '"')),
        ('r', '"' | '#') if !continues_a_word(text, start) => match raw_string_end(text, start) {
            Some(end) => (Kind::Literal, end),
            None => (Kind::Code, start + 1),
        },
        // A quote is a character if it closes again; else it begins a lifetime.
        ('\'', '\\') => (Kind::Literal, string_end(text, start, '\'')),
        ('\'', _) if at(start + 2) == '\'' => (Kind::Literal, start + 3),
        _ => (Kind::Code, start + 1),
    }
}

/// Whether the `r` here is the end of a name, and not the start of a raw string (`r"`, `br"`, `cr"`).
fn continues_a_word(text: &[char], start: usize) -> bool {
    let before = |back: usize| start.checked_sub(back).and_then(|index| text.get(index)).copied();
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    match before(1) {
        Some('b' | 'c') => in_word(before(2)),
        other => in_word(other),
    }
}

fn find(text: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    text[from..].iter().position(|c| wanted(*c)).map_or(text.len(), |offset| from + offset)
}

fn block_comment_end(text: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut index = start;
    while index < text.len() {
        match text[index..] {
            ['/', '*', ..] => depth += 1,
            ['*', '/', ..] => depth -= 1,
            _ => {
                index += 1;
                continue;
            }
        }
        index += 2;
        if depth == 0 {
            return index;
        }
    }
    index
}

fn string_end(text: &[char], start: usize, quote: char) -> usize {
    let mut index = start + 1;
    while index < text.len() {
        match text[index] {
            '\\' => index += 2,
            c if c == quote => return index + 1,
            _ => index += 1,
        }
    }
    index
}

fn raw_string_end(text: &[char], start: usize) -> Option<usize> {
    let open = find(text, start + 1, |c| c != '#');
    if text.get(open) != Some(&'"') {
        return None;
    }
    let hashes = open - start - 1;
    let closes = |quote: usize| {
        text[quote] == '"' && text[quote + 1..].iter().take_while(|c| **c == '#').count() >= hashes
    };
    let close = (open + 1..text.len()).find(|index| closes(*index));
    Some(close.map_or(text.len(), |close| close + 1 + hashes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `c` for code, `/` for comment, `"` for literal.
    fn check(text: &str, expected: &str) {
        let text: Vec<char> = text.chars().collect();
        let shown = |kind: &Kind| match kind {
            Kind::Code => 'c',
            Kind::Comment => '/',
            Kind::Literal => '"',
        };
        assert_eq!(kinds(&text).iter().map(shown).collect::<String>(), expected);
    }

    #[test]
    fn comments_strings_and_characters() {
        check("a // b", "cc////");
        check("/* /* */ */a", "///////////c");
        check(r#"f("//")"#, r#"cc""""c"#);
        check(r#""\"" a"#, r#"""""cc"#);
        check(r##"r#"""#+a"##, r#"""""""cc"#);
        check("r#type", "cccccc");
        check("'{' 'a ", "\"\"\"cccc");
        check(r"'\'' a", r#"""""cc"#);
        check("/* open", "///////");
        check("\"open", "\"\"\"\"\"");
    }
}
