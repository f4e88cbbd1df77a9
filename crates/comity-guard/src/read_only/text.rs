//! What in a text is invisible, or means something else to another shell or to an older one.
//!
//! These checks look at the text alone, quotes or not: a few harmless commands fail them, and no harmful one passes
//! because two readers disagree about where a quote ends.

use super::doubt::{Doubt, Proven, shown};

/// Dollar signs behind which zsh expands something that others take for text.
const ZSH_EXPANSIONS: [&str; 4] = ["$=", "$~", "$^", "$+"];
/// An array, whose subscripts are calculated, and to zsh a file that a command has written.
const ARRAY: &str = "=(";
/// A command in braces, which bash learned in 5.3.
const BRACED_COMMANDS: [&str; 4] = ["${ ", "${\t", "${\n", "${|"];

/// Doubts a text that not every shell and every reader would read alike.
pub(super) fn is_read_alike(text: &str) -> Proven {
    if text.trim().is_empty() {
        return Err(Doubt::because("there is no command"));
    }
    if let Some(hidden) = text.chars().find(|character| is_hidden(*character)) {
        let code = u32::from(hidden);
        return Err(Doubt::because(format!("it has a character that is not seen (U+{code:04X})")));
    }
    for sign in ZSH_EXPANSIONS.iter().chain(&BRACED_COMMANDS).chain([&ARRAY]) {
        if text.contains(sign) {
            return Err(Doubt::because("not every shell reads this alike").about(sign));
        }
    }
    joined_lines(text)?;
    parentheses(text)?;
    descriptors(text)
}

/// Control characters, blanks that no shell takes for one, and what changes how text is shown.
fn is_hidden(character: char) -> bool {
    match character {
        ' ' | '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{fff0}'..='\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control() || other.is_whitespace(),
    }
}

/// A line may be joined to the next one only behind a blank: elsewhere it would join two halves of a sign.
fn joined_lines(text: &str) -> Proven {
    for (at, _) in text.match_indices("\\\n") {
        if !text[..at].ends_with([' ', '\t']) {
            return Err(Doubt::because("a backslash at the end of a line needs a blank before it"));
        }
    }
    Ok(())
}

/// `((` is arithmetic to one shell and a subshell to another, unless it is a sum of numbers.
fn parentheses(text: &str) -> Proven {
    for (at, _) in text.match_indices("((") {
        let is_number = |byte: &u8| byte.is_ascii_digit() || b" +-*/%".contains(byte);
        let behind = &text.as_bytes()[at + 2..];
        let length = behind.iter().take_while(|byte| is_number(byte)).count();
        if !text[..at].ends_with('$') || !behind[length..].starts_with(b"))") {
            let part = shown(&text[at..]);
            return Err(Doubt::because("arithmetic may run commands that stand in variables").about(&part));
        }
    }
    Ok(())
}

/// `{name}<file` sets a variable; what follows `>&-` without a blank is read in different ways.
fn descriptors(text: &str) -> Proven {
    for (at, _) in text.match_indices(['<', '>']) {
        if text[..at].ends_with('}') {
            return Err(Doubt::because("a redirection may set a variable").about(&text[at - 1..]));
        }
        let behind = &text[at + 1..];
        let follows = behind.strip_prefix("&-").and_then(|behind| behind.chars().next());
        if follows.is_some_and(|follows| !" \t\n;|&)".contains(follows)) {
            return Err(Doubt::because("not every shell reads this alike").about(&text[at..]));
        }
    }
    Ok(())
}
