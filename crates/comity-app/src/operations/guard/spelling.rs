//! What a text that a tool takes for a path may mean: programs read `~`, addresses and quotes differently.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

/// The ways in which a text may be read, the likeliest first.
pub(super) fn readings(text: &str) -> Vec<String> {
    let mut readings =
        vec![address(text).or_else(|| at_home(text, &Homes::System)).unwrap_or_else(|| text.into())];
    let mut add = |reading: &str| {
        if !reading.is_empty() && !readings.iter().any(|known| known == reading) {
            readings.push(reading.to_owned());
        }
    };
    add(text);
    for bare in bare(text) {
        add(bare);
        address(bare).iter().for_each(|reading| add(reading));
        at_home(bare, &Homes::System).iter().for_each(|reading| add(reading));
        decoded(bare).iter().for_each(|reading| add(reading));
    }
    readings
}

/// The parts of a text that names several.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(['\n', ',', ';']).map(str::trim).filter(|part| !part.is_empty());
    let is_one = !text.contains(['\n', ',', ';']);
    parts.filter(move |_| !is_one)
}

/// The text without what some programs strip: spaces, quotes, the mark of a mention.
fn bare(text: &str) -> Vec<&str> {
    let mut all = vec![text];
    let trimmed = text.trim();
    all.push(trimmed);
    let unquoted =
        ['"', '\'', '`'].into_iter().find_map(|quote| trimmed.strip_prefix(quote)?.strip_suffix(quote));
    let unquoted = unquoted.unwrap_or(trimmed);
    all.push(unquoted);
    all.extend(unquoted.strip_prefix('@'));
    all
}

/// The path of a `file:` address.
fn address(text: &str) -> Option<String> {
    let scheme = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:"))?;
    let rest = &text[scheme.len()..];
    let path = match rest.strip_prefix("//") {
        // What comes before the first slash is a host, nearly always this one.
        Some(with_host) => &with_host[with_host.find('/')?..],
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    Some(decoded(path).unwrap_or_else(|| path.to_owned()))
}

/// A text with `%20` and the like decoded.
fn decoded(text: &str) -> Option<String> {
    text.contains('%').then(|| percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned))?
}

enum Homes<'a> {
    /// From the system's list of users.
    System,
    /// A test's: the user's own, and a list of users.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests say where users live"))]
    Given(&'a str, &'a str),
}

/// The path of a text that begins in somebody's home: `~/x`, `~ann/x`, `$HOME/x`.
fn at_home(text: &str, homes: &Homes<'_>) -> Option<String> {
    let own = ["$HOME", "${HOME}"].iter().find_map(|name| text.strip_prefix(name));
    let (user, rest) = match own {
        Some(rest) => ("", rest),
        None => text.strip_prefix('~').map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len())))?,
    };
    if !rest.is_empty() && !rest.starts_with('/') {
        return None;
    }
    let home: PathBuf = match (homes, user) {
        (Homes::System, "") => own_home()?,
        (Homes::System, user) => home_of(&users()?, NAME, user)?,
        (Homes::Given(own, _), "") => own.into(),
        (Homes::Given(_, users), user) => home_of(users, NAME, user)?,
    };
    Some(home.join(rest.trim_start_matches('/')).to_string_lossy().into_owned())
}

/// As in a shell: the variable, otherwise the system's entry for the user.
fn own_home() -> Option<PathBuf> {
    let variable = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let listed = || home_of(&users()?, ID, &rustix::process::getuid().as_raw().to_string());
    variable.map(PathBuf::from).or_else(listed)
}

fn users() -> Option<String> {
    std::fs::read_to_string("/etc/passwd").ok()
}

const NAME: usize = 0;
const ID: usize = 2;

fn home_of(users: &str, field: usize, value: &str) -> Option<PathBuf> {
    let line = users.lines().find(|line| line.split(':').nth(field) == Some(value))?;
    line.split(':').nth(5).map(Path::new).filter(|home| home.is_absolute()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("file:///srv/a.rs", Some("/srv/a.rs")),
            ("FILE:///srv/a%20b.rs", Some("/srv/a b.rs")),
            ("file://localhost/srv/a.rs", Some("/srv/a.rs")),
            ("file:/srv/a.rs", Some("/srv/a.rs")),
            ("file:src/a.rs", Some("src/a.rs")),
            ("file:///srv/a.rs#L3", Some("/srv/a.rs")),
            ("file:///srv/a.rs?x=1", Some("/srv/a.rs")),
            ("file:///srv/%2e%2e/a.rs", Some("/srv/../a.rs")),
            ("https://srv/a.rs", None),
            ("src/file:x", None),
        ] {
            assert_eq!(address(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn homes() {
        let homes = Homes::Given("/srv/ann", "root:x:0:0:root:/root:/bin/sh\nbob:x:1:1::/srv/bob:/bin/sh\n");
        for (text, expected) in [
            ("~", Some("/srv/ann/")),
            ("~/src/a.rs", Some("/srv/ann/src/a.rs")),
            ("~//src/a.rs", Some("/srv/ann/src/a.rs")),
            ("~bob/a.rs", Some("/srv/bob/a.rs")),
            ("~nobody-here/a.rs", None),
            ("$HOME/a.rs", Some("/srv/ann/a.rs")),
            ("${HOME}/a.rs", Some("/srv/ann/a.rs")),
            ("$HOMELY/a.rs", None),
            ("src/~/a.rs", None),
        ] {
            assert_eq!(at_home(text, &homes).as_deref(), expected, "{text}");
        }
        let Homes::Given(_, users) = homes else { unreachable!("given above") };
        assert_eq!(home_of(users, ID, "1"), Some("/srv/bob".into()));
        assert_eq!(home_of(users, ID, "2"), None);
    }

    #[test]
    fn what_a_text_may_mean() {
        for (text, expected) in [
            ("src/a.rs", "src/a.rs"),
            (" src/a.rs\n", " src/a.rs\n|src/a.rs"),
            ("@src/a.rs", "@src/a.rs|src/a.rs"),
            ("'src/a.rs'", "'src/a.rs'|src/a.rs"),
            ("src/a%2Ers", "src/a%2Ers|src/a.rs"),
            ("file:///srv/a.rs", "/srv/a.rs|file:///srv/a.rs"),
            (
                "\"@file:///srv/a%20b\"",
                "\"@file:///srv/a%20b\"|\"@file:///srv/a b\"|@file:///srv/a%20b|\
              @file:///srv/a b|file:///srv/a%20b|/srv/a b|file:///srv/a b",
            ),
        ] {
            assert_eq!(readings(text).join("|"), expected, "{text:?}");
        }
        assert_eq!(parts("a.rs, b.rs\nc.rs").collect::<Vec<_>>(), ["a.rs", "b.rs", "c.rs"]);
        assert_eq!(parts("a.rs").count(), 0);
    }
}
