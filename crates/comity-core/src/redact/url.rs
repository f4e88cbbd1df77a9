//! Removes secrets from addresses before they are stored.
//!
//! Parameters are decoded before they are judged, as servers do: `%74oken` is `token`, and the value of `next` is
//! often an address with parameters of its own.

use std::borrow::Cow;

use super::{MARK, redact};

/// How deep addresses in parameters are examined; what is deeper is removed as a whole.
const DEPTH_MAX: usize = 6;
/// Separators of an address's parameters.
const PARAMETERS_BETWEEN: [char; 4] = ['?', '&', ';', '#'];
/// Schemes whose addresses have a host, however many slashes are written.
const WITH_HOST: [&str; 5] = ["http:", "https:", "ws:", "wss:", "ftp:"];

/// Words in a name that mark its value as a credential.
const SECRET_WORDS: [&str; 36] = [
    "assertion",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cred",
    "credential",
    "credentials",
    "creds",
    "csrf",
    "hmac",
    "jsessionid",
    "jwt",
    "otp",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "phpsessid",
    "pin",
    "pw",
    "pwd",
    "secret",
    "sess",
    "session",
    "sessionid",
    "sid",
    "sig",
    "sign",
    "signature",
    "ticket",
    "token",
    "totp",
    "verifier",
    "xsrf",
];
/// The same, but only as the last word of a name: before that they tell what something is about.
const SECRET_LAST: [&str; 2] = ["code", "key"];
/// Words that make those harmless when they come right before.
const HARMLESS_BEFORE: [&str; 16] = [
    "area", "bar", "color", "colour", "country", "currency", "error", "foreign", "lang", "language", "post",
    "postal", "primary", "sort", "status", "zip",
];
/// Parts of a name, wherever its words begin.
const SECRET_PARTS: [&str; 15] = [
    "accesskey",
    "apikey",
    "authcode",
    "authkey",
    "authoriz",
    "credential",
    "passwd",
    "password",
    "privatekey",
    "saml",
    "secret",
    "sessid",
    "session",
    "signature",
    "token",
];
/// Endings of such names.
const SECRET_ENDINGS: [&str; 4] = ["jwt", "pw", "pwd", "userpass"];

/// An address without passwords, tokens, signatures and codes that grant access.
pub fn redact_url(url: &str) -> String {
    // Browsers drop these anywhere, and a name that contains one would not be recognized.
    let url: String = url.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    clean(&url, 0)
}

fn clean(url: &str, depth: usize) -> String {
    if let Some(target) = target_of_error_page(url) {
        return if depth < DEPTH_MAX { clean(&target, depth + 1) } else { MARK.to_owned() };
    }
    let url = without_users(url);
    let parameters_start = url.find(PARAMETERS_BETWEEN).unwrap_or(url.len());
    let (page, parameters) = url.split_at(parameters_start);
    let steps: Vec<String> = page.split('/').map(|step| clean_value(step, depth)).collect();
    let clean = parameters.split_inclusive(PARAMETERS_BETWEEN).map(|part| {
        let (part, end) = match part.strip_suffix(PARAMETERS_BETWEEN) {
            Some(bare) => (bare, &part[bare.len()..]),
            None => (part, ""),
        };
        format!("{}{end}", clean_parameter(part, depth))
    });
    format!("{}{}", steps.join("/"), clean.collect::<String>())
}

/// An error page of Firefox has the address of the failed page as a parameter: that is where the tab is.
fn target_of_error_page(url: &str) -> Option<String> {
    let (name, parameters) = url.split_once(['?', '#'])?;
    if !name.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("about:")) {
        return None;
    }
    let value = |part: &str| {
        let (name, value) = part.split_once('=')?;
        ["u", "url"].contains(&name).then(|| decoded(value).into_owned())
    };
    // Without one it is just the error page's own name.
    Some(parameters.split(['&', '#']).find_map(value).unwrap_or_else(|| name.to_owned()))
}

fn clean_parameter(part: &str, depth: usize) -> String {
    match part.split_once('=') {
        Some((name, "")) => format!("{}=", clean_value(name, depth)),
        Some((name, _)) if lets_in(&wholly_decoded(name)) => format!("{name}={MARK}"),
        Some((name, value)) => format!("{}={}", clean_value(name, depth), clean_value(value, depth)),
        None => clean_value(part, depth),
    }
}

/// A value as it is spelled, unless something in it has to go. A plain address in it was examined as part of the
/// outer one; an encoded one has to be examined here.
fn clean_value(value: &str, depth: usize) -> String {
    let Cow::Owned(inner) = decoded(value) else { return redact(value).into_owned() };
    if depth >= DEPTH_MAX {
        return MARK.to_owned();
    }
    let cleaned = clean(&inner, depth + 1);
    if cleaned == inner { value.to_owned() } else { encoded(&cleaned) }
}

/// Whether the value of a parameter with this name grants access.
fn lets_in(name: &str) -> bool {
    // `token[]` and `user[token]` are named by what is inside.
    let words = words(name);
    let smashed: String = words.concat();
    let has_word = words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()));
    let last = match &words[..] {
        [.., before, last] => (!HARMLESS_BEFORE.contains(&before.as_str())).then_some(last),
        [last] => Some(last),
        [] => None,
    };
    has_word
        || last.is_some_and(|last| SECRET_LAST.contains(&last.as_str()))
        || SECRET_PARTS.iter().any(|part| smashed.contains(part))
        || SECRET_ENDINGS.iter().any(|end| smashed.ends_with(end))
}

/// The words of a name in lower case: `X-Amz-Signature`, `accessToken` and `user[pw]` have several.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// An address without user names and passwords before hosts.
fn without_users(url: &str) -> String {
    let mut clean = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(c) = rest.chars().next() {
        let Some(length) = before_authority(rest) else {
            clean.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        let (before, after) = rest.split_at(length);
        let authority = after.find(['/', '?', '#', '\\']).unwrap_or(after.len());
        let user = after[..authority].rfind('@').map_or(0, |at| at + 1);
        clean.push_str(before);
        rest = &after[user..];
    }
    clean
}

/// The length of what comes before a host at the start of the text, if there is such a thing.
fn before_authority(text: &str) -> Option<usize> {
    let begins = |start: &&&str| text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let scheme = WITH_HOST.iter().find(begins).map_or(0, |scheme| scheme.len());
    let slashes = text[scheme..].len() - text[scheme..].trim_start_matches(['/', '\\']).len();
    (scheme > 0 || slashes >= 2).then_some(scheme + slashes)
}

/// Percent-decoded, repeatedly if necessary.
fn wholly_decoded(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..DEPTH_MAX {
        match decoded(&text) {
            Cow::Borrowed(_) => break,
            Cow::Owned(inner) => text = inner,
        }
    }
    text
}

fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let (mut plain, mut at, mut changed) = (Vec::with_capacity(bytes.len()), 0, false);
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                plain.push((high * 16 + low) as u8);
                at += 3;
                changed = true;
            }
            _ => {
                plain.push(*byte);
                at += 1;
            }
        }
    }
    if changed { Cow::Owned(String::from_utf8_lossy(&plain).into_owned()) } else { Cow::Borrowed(text) }
}

fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~[]".contains(&byte);
    let spelled = text.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    spelled.collect()
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
            // Names are read as whoever serves the address reads them.
            ("https://a.b/?%74oken=x&%2574oken=x", "https://a.b/?%74oken=[redacted]&%2574oken=[redacted]"),
            ("https://a.b/?token[]=x&user[pw]=y", "https://a.b/?token[]=[redacted]&user[pw]=[redacted]"),
            ("https://a.b/?to\tken=x", "https://a.b/?token=[redacted]"),
            (
                "https://a.b/?pw=1&SAMLResponse=2&authCode=3&sessionToken=4",
                "https://a.b/?pw=[redacted]&SAMLResponse=[redacted]&authCode=[redacted]&sessionToken=[redacted]",
            ),
            ("https://a.b/?zip_code=1&keyword=2&author=3", "https://a.b/?zip_code=1&keyword=2&author=3"),
            // Addresses in addresses, written out or encoded, once or several times.
            (
                "https://a.b/?next=http%3A%2F%2Fc.d%2F%3Ftoken%3Dx%26n%3D1",
                "https://a.b/?next=http%3A%2F%2Fc.d%2F%3Ftoken%3D[redacted]%26n%3D1",
            ),
            ("https://a.b/?next=%2Fp%3Fa%3Db&x=a%20b", "https://a.b/?next=%2Fp%3Fa%3Db&x=a%20b"),
            ("https://a.b/?u=c%253Ftoken%253Dx", "https://a.b/?u=c%253Ftoken%253D[redacted]"),
            ("https://a.b/?to=https://u:pw@x.y/?sig=1", "https://a.b/?to=https://x.y/?sig=[redacted]"),
            ("https://a.b/web/https://u:pw@x.y/", "https://a.b/web/https://x.y/"),
            ("https://a.b/?to=%2F%2Fu%3Apw%40x.y", "https://a.b/?to=%2F%2Fx.y"),
            ("http:\\\\u:pw@a.b", "http:\\\\a.b"),
            ("http:u:pw@a.b/", "http:a.b/"),
            ("view-source:https://u:pw@a.b/", "view-source:https://a.b/"),
            (
                "https://a.b/?s=%7B%22token%22%3A%22abcd1%22%7D",
                "https://a.b/?s=%7B%22token%22%3A%22[redacted]%22%7D",
            ),
            // What the browser shows instead of a page is at that page.
            (
                "about:neterror?e=x&u=http%3A//u%3Apw%40a.b/%3Ftoken%3Dx&c=UTF-8&d=u%3Apw",
                "http://a.b/?token=[redacted]",
            ),
            ("about:certerror?e=x&d=secret", "about:certerror"),
            ("about:blocked?e=x&u=https%3A//a.b/", "https://a.b/"),
            ("", ""),
        ] {
            assert_eq!(redact_url(url), clean, "{url}");
        }
    }

    #[test]
    fn what_is_nested_too_deeply_is_taken_out_as_a_whole() {
        let mut url = "https://a.b/?token=SECRET".to_owned();
        for _ in 0..2 * DEPTH_MAX {
            url = format!("https://a.b/?next={}", encoded(&url));
        }
        assert!(!redact_url(&url).contains("SECRET"));
        assert!(redact_url(&url).starts_with("https://a.b/?next="));
    }
}
