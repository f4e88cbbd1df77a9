//! Removes secrets from text before it is stored.

mod url;

use std::borrow::Cow;

pub use url::redact_url;

/// What replaces a secret.
pub const MARK: &str = "[redacted]";
/// Prefixes of vendors' keys, and how long the rest must be.
const KEY_STARTS: [(&str, usize); 14] = [
    ("sk-", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("AKIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("cmty_", 20),
    ("eyJ", 40),
];
/// Words after which a value is secret.
const SECRET_WORDS: [&str; 9] =
    ["password", "passwd", "secret", "token", "api_key", "apikey", "api-key", "access_key", "bearer"];

/// `text` without anything that looks like a key, token or password.
pub fn redact(text: &str) -> Cow<'_, str> {
    if text.contains("-----BEGIN") && text.contains("PRIVATE KEY") {
        return Cow::Borrowed(MARK);
    }
    let mut clean = String::new();
    let mut kept = 0;
    let mut after_secret_word = false;
    for (start, word) in words(text) {
        if looks_like_key(word) || (after_secret_word && word.len() >= 4) {
            clean.push_str(&text[kept..start]);
            clean.push_str(MARK);
            kept = start + word.len();
            after_secret_word = false;
            continue;
        }
        let gap = &text[start + word.len()..];
        let lower = word.to_ascii_lowercase();
        let names_secret = SECRET_WORDS.iter().any(|secret| lower.ends_with(secret));
        let assigned = gap.starts_with(['=', ':']) || gap.starts_with("\":") || gap.starts_with("':");
        after_secret_word = names_secret && (assigned || lower == "bearer");
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[kept..]);
    Cow::Owned(clean)
}

/// Runs of characters that a key may consist of, with their positions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '~');
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(in_word)?;
        let end = text[start..].find(|c| !in_word(c)).map_or(text.len(), |len| start + len);
        at = end;
        Some((start, &text[start..end]))
    })
}

fn looks_like_key(word: &str) -> bool {
    KEY_STARTS.iter().any(|(start, rest)| {
        word.strip_prefix(start).is_some_and(|tail| {
            tail.len() >= *rest && tail.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_words_stay() {
        for (text, clean) in [
            ("fixing the login form", "fixing the login form"),
            ("use sk-abcDEF0123456789xyz now", "use [redacted] now"),
            ("token=cmty_0123456789abcdef0123456789", "token=[redacted]"),
            ("the token: hunter2hunter2", "the token: [redacted]"),
            ("PASSWORD=hunter2 make", "PASSWORD=[redacted] make"),
            ("Authorization: Bearer abc.def.ghi", "Authorization: Bearer [redacted]"),
            ("a token ring", "a token ring"),
            ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
            ("{\"api_key\": \"abcd1234\"}", "{\"api_key\": \"[redacted]\"}"),
            ("skip sk-lines", "skip sk-lines"),
        ] {
            assert_eq!(redact(text), clean, "{text}");
        }
        assert_eq!(redact("-----BEGIN RSA PRIVATE KEY-----\nabc"), MARK);
    }
}
