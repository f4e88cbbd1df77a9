//! Makes text from agents and pages safe to show, by spelling out what is invisible.

use std::borrow::Cow;

/// Characters without a shape, in order: `Default_Ignorable_Code_Point` and the category Cf (format) of Unicode 16. A
/// list made by hand always misses some, and each missing one can carry hidden words.
const WITHOUT_SHAPE: [(char, char); 25] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];
/// Line and paragraph separators, and letters and marks that are drawn as nothing.
const BLANK: [char; 4] = ['\u{2028}', '\u{2029}', '\u{2800}', '\u{16fe4}'];
/// Makes the character before it an emoji.
const AS_EMOJI: char = '\u{fe0f}';

/// `text` with every control, bidi and invisible character spelled out as `\u{..}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// Like [`visible`], but keeps line breaks and tabs.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    shown(text, |c| matches!(c, '\n' | '\t'))
}

/// Text in quotes that it cannot close itself.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(&text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// A path or name as one word for a POSIX shell.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => visible(text),
        false => Cow::Owned(format!("'{}'", visible(text).replace('\'', r"'\''"))),
    }
}

/// Text that a page chose, for a line of ours: it is marked as the page's, and cannot end the mark.
pub(crate) fn of_page(text: &str) -> String {
    format!("<page {}>", quoted(text))
}

fn shown(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && !is_kept(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = None;
    for c in text.chars() {
        // It makes an emoji here, and hides nothing.
        let is_harmless = c == AS_EMOJI && before.is_some_and(is_emoji);
        if is_hidden(c) && !is_kept(c) && !is_harmless {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        before = Some(c);
    }
    Cow::Owned(shown)
}

fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let is_in = |(_, last): &(char, char)| *last < c;
    let at = WITHOUT_SHAPE.partition_point(is_in);
    c.is_control() || BLANK.contains(&c) || WITHOUT_SHAPE.get(at).is_some_and(|(first, _)| *first <= c)
}

/// The blocks of emoji; not digits, although they can be emoji, too.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Characters two columns wide in a terminal: East Asian scripts, their punctuation and forms, and emoji.
const WIDE: [(char, char); 9] = [
    ('\u{1100}', '\u{115f}'),
    ('\u{2e80}', '\u{a4cf}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// The width of a character in terminal columns.
pub fn column(c: char) -> usize {
    let at = WIDE.partition_point(|(_, last)| *last < c);
    let is_mark = matches!(c, '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}');
    if is_mark { 0 } else { 1 + usize::from(WIDE.get(at).is_some_and(|(first, _)| *first <= c)) }
}

/// The width of a text in terminal columns.
pub fn columns(text: &str) -> usize {
    text.chars().map(column).sum()
}

/// A number with its noun: one lock, two locks.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A path as it stands among words: quoted, if it could be taken for some.
pub fn path_in_text(path: &str) -> String {
    if path.contains([' ', '"']) { quoted(path) } else { visible(path).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_command_stays_one_word() {
        for plain in ["src/a.rs", "refs/comity/merged/main", "größe.txt"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word("src/sp ace/f.txt"), "'src/sp ace/f.txt'");
        assert_eq!(shell_word("it's; $(rm) *"), r"'it'\''s; $(rm) *'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn nothing_hidden_is_left() {
        assert_eq!(visible("plain äöü 日本 🦀 ❤\u{fe0f}"), "plain äöü 日本 🦀 ❤\u{fe0f}");
        assert_eq!(visible("a\x1b[31mred\x07"), "a\\u{1b}[31mred\\u{7}");
        assert_eq!(visible("x\u{202e}gnp.exe\u{200b}"), "x\\u{202e}gnp.exe\\u{200b}");
        assert_eq!(visible("two\nlines\u{9b}"), "two\\u{a}lines\\u{9b}");
        assert_eq!(visible_lines("two\n\tlines\r"), "two\n\tlines\\u{d}");
        // Selectors say nothing after what is no emoji, and a second one carries words.
        assert_eq!(visible("a\u{fe0f}"), "a\\u{fe0f}");
        assert_eq!(visible("❤\u{fe0f}\u{fe0f}\u{e0162}"), "❤\u{fe0f}\\u{fe0f}\\u{e0162}");
        assert_eq!(visible("❤\u{fe0e}"), "❤\\u{fe0e}");
    }

    #[test]
    fn words_of_a_page_cannot_end_their_mark() {
        assert_eq!(of_page("a\">b\\\u{200b}\n"), "<page \"a\\\">b\\\\\\u{200b}\\u{a}\">");
    }

    #[test]
    fn words_of_others_stay_in_their_quotes() {
        assert_eq!(quoted("fixing it"), "\"fixing it\"");
        assert_eq!(quoted(r#"x") and \"#), r#""x\") and \\""#);
        assert_eq!(path_in_text("src/a.rs"), "src/a.rs");
        assert_eq!(path_in_text("src/a.rs is free. b"), "\"src/a.rs is free. b\"");
    }

    #[test]
    fn whatever_cannot_be_seen_is_spelled_out() {
        let invisible = [
            0xfe00, 0xfe0f, 0xe0100, 0xe01ef, 0x34f, 0x115f, 0x1160, 0x3164, 0xffa0, 0x17b4, 0x17b5, 0x2800,
            0x180b, 0x180c, 0x180d, 0x180f, 0x2061, 0x2064, 0x2065, 0x206a, 0xfff0, 0xfff9, 0x1d173, 0xe0001,
            0xe0fff, 0x13430, 0x1343f, 0x1bca0, 0x16fe4, 0xad, 0x61c, 0x6dd, 0x110cd, 0x2028, 0x85,
        ];
        for number in invisible {
            let c = char::from_u32(number).expect("a character");
            let told = format!("a\\u{{{number:x}}}b");
            assert_eq!(visible(&format!("a{c}b")), told);
            assert_eq!(visible_lines(&format!("a{c}b")), told);
        }
        assert!(WITHOUT_SHAPE.is_sorted() && WITHOUT_SHAPE.iter().all(|(first, last)| first <= last));
        let seen = "¬ ͮ ̓ ؆ ۜ ᄞ ឳ ᠐ ‐ ⁰ ㅥ ︐ ･ ￼ 𑂼 𝅲";
        assert_eq!(visible(seen), seen, "their neighbours are seen");
    }
}
