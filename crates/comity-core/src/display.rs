//! Makes text of agents safe to show: control characters become visible.

use std::borrow::Cow;

/// Gives `text` with every control, bidi and zero-width character spelled out as `\u{..}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Like [`visible`], but keeps line breaks and tabs.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let lines: Vec<String> =
        text.split('\n').map(|line| line.split('\t').map(visible).collect::<Vec<_>>().join("\t")).collect();
    Cow::Owned(lines.join("\n"))
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A number of things: one lock, two locks.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_is_left() {
        assert_eq!(visible("plain äöü 日本 🦀"), "plain äöü 日本 🦀");
        assert_eq!(visible("a\x1b[31mred\x07"), "a\\u{1b}[31mred\\u{7}");
        assert_eq!(visible("x\u{202e}gnp.exe\u{200b}"), "x\\u{202e}gnp.exe\\u{200b}");
        assert_eq!(visible("two\nlines\u{9b}"), "two\\u{a}lines\\u{9b}");
        assert_eq!(visible_lines("two\n\tlines\r"), "two\n\tlines\\u{d}");
    }
}
