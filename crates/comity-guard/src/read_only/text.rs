//! Invisible text, and text that means something else before a shell begins to read it.

use super::doubt::{Doubt, Proven};

/// Doubts a text that shells or readers might read differently.
pub(super) fn is_read_alike(text: &str) -> Proven {
    if text.trim().is_empty() {
        return Err(Doubt::because("there is no command"));
    }
    if let Some(hidden) = text.chars().find(|character| !is_seen(*character)) {
        let code = u32::from(hidden);
        return Err(Doubt::because(format!("it has a character that is not seen (U+{code:04X})")));
    }
    // Elsewhere it would join two halves of an operator.
    if text.match_indices("\\\n").any(|(at, _)| !text[..at].ends_with([' ', '\t'])) {
        return Err(Doubt::because("a backslash at the end of a line needs a blank before it"));
    }
    if text.match_indices(['<', '>']).any(|(at, _)| text[..at].ends_with('}')) {
        return Err(Doubt::because("a redirection may set a variable"));
    }
    match recalls_history(text) {
        true => Err(Doubt::because(
            "an interactive shell puts an earlier command in for `!` or `^`; single quotes keep it",
        )),
        false => Ok(()),
    }
}

/// ASCII, letters, and the usual punctuation and symbols; only plain blanks, and nothing that changes the text
/// direction.
fn is_seen(character: char) -> bool {
    match character {
        ' '..='~' | '\n' | '\t' => true,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => false,
        '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{27bf}' => true,
        other => other.is_alphanumeric(),
    }
}

/// Whether an interactive shell may expand something from its history. That looks at lines and quotes, not at
/// commands: single quotes within double ones protect nothing, nor do those that began on an earlier line.
fn recalls_history(text: &str) -> bool {
    if text.lines().any(|line| line.trim_start().starts_with('^')) {
        return true;
    }
    let has_lines = text.trim_end().contains('\n');
    let mut in_double = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if !in_double => drop(characters.next()),
            '"' => in_double = !in_double,
            '\'' if !in_double => {
                let mut quoted = characters.by_ref().take_while(|character| *character != '\'');
                if quoted.any(|character| character == '!') {
                    if has_lines {
                        return true;
                    }
                    characters.by_ref().find(|character| *character == '\'');
                }
            }
            '!' if !matches!(characters.peek(), None | Some(' ' | '\t' | '\n' | '=')) => return true,
            _ => {}
        }
    }
    false
}
