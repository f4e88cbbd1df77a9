//! Expands `{a,b}` into its alternatives.

use crate::limits::PATTERN_ALTERNATIVES_MAX;
use crate::refusal::Refusal;

/// Every alternative of `text`; brackets protect their contents.
pub fn expand(text: &str) -> Result<Vec<String>, Refusal> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(next) = open.pop() {
        match first_group(&next)? {
            None => done.push(next),
            Some(group) => {
                // Pushed in reverse, so that alternatives come out in the written order.
                for choice in group.choices.iter().rev() {
                    open.push(format!("{}{choice}{}", &next[..group.start], &next[group.end..]));
                }
            }
        }
        if open.len() + done.len() > PATTERN_ALTERNATIVES_MAX {
            return Err(Refusal::bad_pattern(
                text,
                &format!("its braces stand for more than {PATTERN_ALTERNATIVES_MAX} paths"),
                "name fewer alternatives, or lock the directory",
            ));
        }
    }
    Ok(done)
}

/// Writes a text as one of several alternatives: no comma outside of brackets splits it.
pub(super) fn protect_commas(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        let end = if c == '[' { class_end(text, next).unwrap_or(next) } else { next };
        match c {
            ',' => safe.push_str("[,]"),
            _ => safe.push_str(&text[at..end]),
        }
        at = end;
    }
    safe
}

struct BraceGroup<'a> {
    start: usize,
    end: usize,
    choices: Vec<&'a str>,
}

fn first_group(text: &str) -> Result<Option<BraceGroup<'_>>, Refusal> {
    let (mut depth, mut start, mut choice) = (0_usize, 0, 0);
    let mut choices = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let next = at + c.len_utf8();
        match c {
            '[' => {
                at = class_end(text, next).unwrap_or(next);
                continue;
            }
            '{' => {
                if depth == 0 {
                    (start, choice) = (at, next);
                }
                depth += 1;
            }
            ',' if depth == 1 => {
                choices.push(&text[choice..at]);
                choice = next;
            }
            '}' if depth == 0 => return Err(unbalanced(text)),
            '}' => {
                depth -= 1;
                if depth == 0 {
                    choices.push(&text[choice..at]);
                    return Ok(Some(BraceGroup { start, end: next, choices }));
                }
            }
            _ => {}
        }
        at = next;
    }
    if depth > 0 { Err(unbalanced(text)) } else { Ok(None) }
}

/// Where the class that opens just before `from` ends, if it does.
fn class_end(text: &str, from: usize) -> Option<usize> {
    let skip = usize::from(text[from..].starts_with(['!', '^']));
    let body = from + skip;
    let first = text[body..].chars().next()?.len_utf8();
    text[body + first..].find(']').map(|end| body + first + end + 1)
}

fn unbalanced(text: &str) -> Refusal {
    Refusal::bad_pattern(text, "its braces do not match", "write a literal brace as [{] or [}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_in_order() {
        let check = |text: &str, all: &[&str]| assert_eq!(expand(text).expect(text), all, "{text}");
        check("src/a.rs", &["src/a.rs"]);
        check("{a,b}/c", &["a/c", "b/c"]);
        check("x{1,2{a,b}}y", &["x1y", "x2ay", "x2by"]);
        check("{a,b}{c,d}", &["ac", "ad", "bc", "bd"]);
        check("a[{,}]b", &["a[{,}]b"]);
        check("{a}", &["a"]);
        check("[]{]x", &["[]{]x"]);
    }

    #[test]
    fn too_many_or_unbalanced() {
        for text in ["{a", "a}", "{a,{b}", &"{a,b}".repeat(10)] {
            assert!(expand(text).is_err(), "{text}");
        }
    }
}
