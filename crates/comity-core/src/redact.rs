//! Takes secrets out of free text before it is stored.

use std::borrow::Cow;

/// What stands in the place of a secret.
pub const MARK: &str = "[redacted]";
/// Beginnings of keys that vendors give out, and how long the rest must be.
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

/// Names in an address whose values let somebody in.
const SECRET_PARAMETERS: [&str; 10] =
    ["auth", "code", "jwt", "key", "otp", "pass", "pwd", "sid", "sig", "ticket"];
/// How such names end.
const SECRET_ENDINGS: [&str; 10] = [
    "_key",
    "-key",
    "authorization",
    "credential",
    "session",
    "session-id",
    "session_id",
    "sessionid",
    "sessid",
    "signature",
];

/// What stands between the parameters of an address.
const PARAMETERS_BETWEEN: [char; 4] = ['?', '&', ';', '#'];

/// Gives an address without passwords, tokens, signatures and codes that let somebody in.
pub fn redact_url(url: &str) -> String {
    let url = without_user(url);
    let parameters_start = url.find(PARAMETERS_BETWEEN).unwrap_or(url.len());
    let (page, parameters) = url.split_at(parameters_start);
    let clean = parameters.split_inclusive(PARAMETERS_BETWEEN).map(|part| {
        let (part, end) = match part.strip_suffix(PARAMETERS_BETWEEN) {
            Some(bare) => (bare, &part[bare.len()..]),
            None => (part, ""),
        };
        match part.split_once('=') {
            Some((_, "")) | None => format!("{}{end}", redact(part)),
            Some((name, _)) if lets_in(name) => format!("{name}={MARK}{end}"),
            Some((name, value)) => format!("{name}={}{end}", redact(value)),
        }
    });
    let steps: Vec<Cow<'_, str>> = page.split('/').map(redact).collect();
    format!("{}{}", steps.join("/"), clean.collect::<String>())
}

fn lets_in(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut endings = SECRET_ENDINGS.iter().chain(&SECRET_WORDS);
    SECRET_PARAMETERS.contains(&name.as_str()) || endings.any(|end| name.ends_with(end))
}

/// An address without the name and the password that may stand before its host.
fn without_user(url: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    let host_ends = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    match rest[..host_ends].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]).into(),
        None => url.into(),
    }
}

/// Gives `text` without anything that looks like a key, a token or a password.
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

/// The runs of characters that a key may have, with where they begin.
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
    fn addresses_keep_where_they_lead_and_lose_what_lets_in() {
        for (url, clean) in [
            ("https://ann:hunter2@example.com/a@b?c", "https://example.com/a@b?c"),
            ("https://example.com?mail=ann@example.com", "https://example.com?mail=ann@example.com"),
            ("https://a@b:c@example.com", "https://example.com"),
            ("https://example.com/?token=hunter2", "https://example.com/?token=[redacted]"),
            ("https://a.b/cb?code=4/0Ab&state=xyz", "https://a.b/cb?code=[redacted]&state=xyz"),
            ("https://a.b/#access_token=abcdefg&x=1", "https://a.b/#access_token=[redacted]&x=1"),
            ("https://a.b/?a=1;Sig=x#code=y", "https://a.b/?a=1;Sig=[redacted]#code=[redacted]"),
            ("https://a.b/?X-Amz-Signature=0f&n=2", "https://a.b/?X-Amz-Signature=[redacted]&n=2"),
            ("https://a.b/?barcode=123&code=", "https://a.b/?barcode=123&code="),
            ("https://a.b/?password=p%40ssword&x=1", "https://a.b/?password=[redacted]&x=1"),
            ("https://a.b/?X-Amz-Security-Token=IQo%2F%2Fr", "https://a.b/?X-Amz-Security-Token=[redacted]"),
            (
                "https://a.b/?PHPSESSID=1&secret_key=2",
                "https://a.b/?PHPSESSID=[redacted]&secret_key=[redacted]",
            ),
            ("https://a.b/p;jsessionid=0A1B?x", "https://a.b/p;jsessionid=[redacted]?x"),
            ("https://a.b/?token=&page=settings", "https://a.b/?token=&page=settings"),
            ("https://a.b/sk-abcDEF0123456789xyz?monkey=1", "https://a.b/[redacted]?monkey=1"),
            ("https://a.b/code=1?q=code", "https://a.b/code=1?q=code"),
            ("about:blank", "about:blank"),
            ("", ""),
        ] {
            assert_eq!(redact_url(url), clean, "{url}");
        }
    }

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
