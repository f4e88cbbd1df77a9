//! What a person sees, made the same for every run.

use expect_test::Expect;

use crate::support::{Place, Ran};

/// What a person sees, with everything that changes from run to run replaced.
fn seen(place: &Place, ran: &Ran) -> String {
    let text = format!("{}{}[exit {}]", ran.out, ran.err, ran.code);
    let text = text.replace(&place.dir().display().to_string(), "DIR");
    let lines = text.split_inclusive('\n').map(|line| {
        let is_of_table = ["  exclusive  ", "HOLDER  "].iter().any(|word| line.contains(word));
        let has_spans =
            is_of_table || ["is locked", " left", "locked "].iter().any(|word| line.contains(word));
        let words = line.split_inclusive([' ', '\n', '(', ')', ',', ';']).map(|word| {
            let end = word.trim_end_matches([' ', '\n', '(', ')', ',', ';']);
            format!("{}{}", stable(end, has_spans), &word[end.len()..])
        });
        let mut line = words.collect::<String>().replace("SPAN SPAN", "SPAN");
        // Columns are as wide as what is in them.
        while is_of_table && line.contains("   ") {
            line = line.replace("   ", "  ");
        }
        line
    });
    lines.collect()
}

/// A word, or what stands for it if it is another one in the next run.
fn stable(word: &str, has_spans: bool) -> &str {
    let is_number = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let is_span = ["ms", "m", "s"].iter().any(|unit| word.strip_suffix(unit).is_some_and(is_number));
    match word {
        _ if word.starts_with("agent_") && word.len() == 18 => "AGENT",
        _ if word.contains("cmty_") => "TOKEN",
        _ if word.starts_with("http://") => "URL",
        _ if word.len() >= 12 && is_number(word) => "FENCE",
        _ if word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit()) => "HASH",
        _ if word.len() == 8 && word.split(':').filter(|part| is_number(part)).count() == 3 => "TIME",
        _ if has_spans && is_span => "SPAN",
        _ => word,
    }
}

/// Compares what a person sees with what is expected.
pub(crate) fn check(place: &Place, ran: &Ran, expected: &Expect) {
    expected.assert_eq(&seen(place, ran));
}
