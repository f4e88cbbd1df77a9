//! What others wrote is shown, never interpreted: what steers terminals or cannot be seen becomes visible.

/// What has no shape of its own, as in `comity_core::display`, which this crate does without; a test says that they agree.
const WITHOUT_SHAPE: [(char, char); 27] = [
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
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

pub(super) fn visible(text: &str) -> String {
    match text.contains(is_hidden) {
        false => text.to_owned(),
        true => text
            .chars()
            .map(|c| if is_hidden(c) { c.escape_default().to_string() } else { c.to_string() })
            .collect(),
    }
}

fn is_hidden(c: char) -> bool {
    let has_no_shape = || WITHOUT_SHAPE.iter().any(|(first, last)| (*first..=*last).contains(&c));
    !matches!(c, '\n' | '\t') && (c.is_control() || (!c.is_ascii() && has_no_shape()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_hidden_here_as_everywhere() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let elsewhere = *comity_core::display::visible_lines(&text) != *text;
            assert_eq!(is_hidden(c), elsewhere, "{:x}", u32::from(c));
        }
    }
}
