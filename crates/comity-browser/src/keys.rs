//! Keys by name, and their codes in the protocol.

use crate::error::{BrowserError, Result};

/// A key that is held down while another is pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
}

impl Modifier {
    pub(crate) fn code(self) -> char {
        match self {
            Modifier::Alt => '\u{E00A}',
            Modifier::Control => '\u{E009}',
            Modifier::Meta => '\u{E03D}',
            Modifier::Shift => '\u{E008}',
        }
    }

    fn named(name: &str) -> Option<Modifier> {
        match name.to_ascii_lowercase().as_str() {
            "alt" | "option" => Some(Modifier::Alt),
            "control" | "ctrl" => Some(Modifier::Control),
            "meta" | "cmd" | "command" | "super" | "win" => Some(Modifier::Meta),
            "shift" => Some(Modifier::Shift),
            _ => None,
        }
    }
}

/// Keys without a character.
const NAMED: &[(&str, char)] = &[
    ("cancel", '\u{E001}'),
    ("help", '\u{E002}'),
    ("backspace", '\u{E003}'),
    ("tab", '\u{E004}'),
    ("clear", '\u{E005}'),
    ("enter", '\u{E007}'),
    ("return", '\u{E007}'),
    ("shift", '\u{E008}'),
    ("control", '\u{E009}'),
    ("ctrl", '\u{E009}'),
    ("alt", '\u{E00A}'),
    ("pause", '\u{E00B}'),
    ("escape", '\u{E00C}'),
    ("esc", '\u{E00C}'),
    ("space", ' '),
    ("pageup", '\u{E00E}'),
    ("pagedown", '\u{E00F}'),
    ("end", '\u{E010}'),
    ("home", '\u{E011}'),
    ("arrowleft", '\u{E012}'),
    ("left", '\u{E012}'),
    ("arrowup", '\u{E013}'),
    ("up", '\u{E013}'),
    ("arrowright", '\u{E014}'),
    ("right", '\u{E014}'),
    ("arrowdown", '\u{E015}'),
    ("down", '\u{E015}'),
    ("insert", '\u{E016}'),
    ("delete", '\u{E017}'),
    ("del", '\u{E017}'),
    ("f1", '\u{E031}'),
    ("f2", '\u{E032}'),
    ("f3", '\u{E033}'),
    ("f4", '\u{E034}'),
    ("f5", '\u{E035}'),
    ("f6", '\u{E036}'),
    ("f7", '\u{E037}'),
    ("f8", '\u{E038}'),
    ("f9", '\u{E039}'),
    ("f10", '\u{E03A}'),
    ("f11", '\u{E03B}'),
    ("f12", '\u{E03C}'),
    ("meta", '\u{E03D}'),
];

/// The protocol's key codes; in text they would press keys instead of being typed.
const CODES: std::ops::RangeInclusive<char> = '\u{E000}'..='\u{E05D}';

pub(crate) const ENTER: char = '\u{E007}';
pub(crate) const BACKSPACE: char = '\u{E003}';

/// A key with its modifiers: `a`, `Enter`, `Control+Shift+T`, `Ctrl++`.
pub(crate) fn parse(text: &str) -> Result<(Vec<Modifier>, char)> {
    let mut modifiers = Vec::new();
    let mut rest = text;
    // A plus at the beginning is the key itself.
    while let Some((name, after)) =
        rest.split_once('+').filter(|(name, after)| !name.is_empty() && !after.is_empty())
    {
        let modifier = Modifier::named(name.trim())
            .ok_or_else(|| BrowserError::invalid(format!("{name:?} in {text:?} isn't a modifier key")))?;
        modifiers.push(modifier);
        rest = after;
    }
    Ok((modifiers, key(rest)?))
}

/// The codes of a text to type; a line break is Enter.
pub(crate) fn typed(text: &str) -> Result<Vec<char>> {
    if text.contains(|c| CODES.contains(&c)) {
        return Err(BrowserError::invalid("the text has private characters that stand for keys"));
    }
    let letters = text.chars().filter(|c| *c != '\r');
    Ok(letters.map(|c| if c == '\n' { ENTER } else { c }).collect())
}

fn key(name: &str) -> Result<char> {
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return match letter {
            '\n' => Ok(ENTER),
            letter if CODES.contains(&letter) => Err(BrowserError::invalid("that isn't a key")),
            letter => Ok(letter),
        };
    }
    let plain = name.trim().to_ascii_lowercase().replace(['_', '-', ' '], "");
    let found = NAMED.iter().find(|(known, _)| *known == plain);
    found.map(|(_, code)| *code).ok_or_else(|| {
        BrowserError::invalid(format!(
            "there is no key {name:?}; keys are like a, Enter, ArrowDown, Control+a"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        expected.assert_eq(&match parse(text) {
            Ok((modifiers, key)) => format!("{modifiers:?} {}", key.escape_unicode()),
            Err(error) => error.to_string(),
        });
    }

    #[test]
    fn keys_have_names() {
        check("a", expect![[r"[] \u{61}"]]);
        check("Enter", expect![[r"[] \u{e007}"]]);
        check("PAGE_DOWN", expect![[r"[] \u{e00f}"]]);
        check("ctrl+a", expect![[r"[Control] \u{61}"]]);
        check("Control+Shift+ArrowLeft", expect![[r"[Control, Shift] \u{e012}"]]);
        check("+", expect![[r"[] \u{2b}"]]);
        check("Ctrl++", expect![[r"[Control] \u{2b}"]]);
        check("漢", expect![[r"[] \u{6f22}"]]);
        check(" ", expect![[r"[] \u{20}"]]);
        check("Hyper+x", expect![[r#""Hyper" in "Hyper+x" isn't a modifier key"#]]);
        check("Entr", expect![[r#"there is no key "Entr"; keys are like a, Enter, ArrowDown, Control+a"#]]);
        check("", expect![[r#"there is no key ""; keys are like a, Enter, ArrowDown, Control+a"#]]);
        check("\u{E007}", expect!["that isn't a key"]);
    }

    #[test]
    fn text_is_typed_letter_by_letter() {
        assert_eq!(typed("Zoë\r\n漢").unwrap(), ['Z', 'o', 'ë', ENTER, '漢']);
        assert!(typed("a\u{E007}").is_err(), "a page could hide keys in a text that somebody copies");
    }
}
