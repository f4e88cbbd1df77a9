//! Argument strings: their words, and the values in them.

/// The words of a line. Quotes group and are removed; nobody knows whether the tool has a shell.
pub(super) fn words_of_line(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_begun) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'' | '`') => (quote, is_begun) = (Some(c), true),
            None if c.is_whitespace() => {
                if is_begun {
                    words.push(std::mem::take(&mut word));
                }
                is_begun = false;
            }
            Some(_) | None => {
                word.push(c);
                is_begun = true;
            }
        }
    }
    if is_begun {
        words.push(word);
    }
    words
}

/// What a word may name: itself, what follows `=` or `:`, and what is joined to a short option or a redirection.
pub(super) fn values(word: &str) -> impl Iterator<Item = &str> {
    let assigned = word.match_indices(['=', ':']).map(|(at, mark)| &word[at + mark.len()..]);
    let joined = word.strip_prefix('-').filter(|option| !option.starts_with('-'));
    let joined = joined.and_then(|option| option.get(option.chars().next()?.len_utf8()..));
    let redirected = word.contains('>').then(|| word.rsplit('>').next().unwrap_or_default());
    let bare = word.trim_matches(|c: char| {
        matches!(c, ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '"' | '\'')
    });
    let all = [word, bare].into_iter().chain(assigned.take(ASSIGNED_MAX)).chain(joined).chain(redirected);
    all.filter(|value| !value.is_empty())
}

/// Assignments within one word that are followed.
const ASSIGNED_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_they_name() {
        for (line, expected) in [
            ("-o src/a.rs", "-o|src/a.rs"),
            ("--out='src/a b.rs' x", "--out=src/a b.rs|x"),
            (" a\tb\n", "a|b"),
            ("don't stop", "dont stop"),
            ("''", ""),
        ] {
            assert_eq!(words_of_line(line).join("|"), expected, "{line:?}");
        }
        for (word, named) in [
            ("--out=src/a.rs", "src/a.rs"),
            ("-osrc/a.rs", "src/a.rs"),
            ("of=src/a.rs", "src/a.rs"),
            ("2>src/a.rs", "src/a.rs"),
            (">>src/a.rs", "src/a.rs"),
            ("out:src/a.rs", "src/a.rs"),
            ("--set=out=src/a.rs", "src/a.rs"),
            ("src/a.rs,", "src/a.rs"),
        ] {
            assert!(values(word).any(|value| value == named), "{word}");
        }
    }
}
