//! Expands `{a,b}` and `{1..3}` in a word, as a shell does.

use super::{ReadingEffort, WordChar};
use crate::limits::{BRACE_CHARS_MAX, BRACE_WORDS_MAX, READING_STEP_UNITS};

/// The words that a word with braces stands for; `None` if they are too many.
pub(super) fn expand(letters: Vec<WordChar>, effort: &ReadingEffort) -> Option<Vec<Vec<WordChar>>> {
    if !letters.iter().any(|letter| letter.is_bare('{')) {
        return Some(vec![letters]);
    }
    if letters.len() > BRACE_CHARS_MAX {
        return None;
    }
    let mut done = Vec::new();
    let mut open = vec![(letters, 0)];
    while let Some((letters, from)) = open.pop() {
        if !effort.spend(letters.len() + READING_STEP_UNITS) {
            return None;
        }
        match first_group(&letters, from) {
            None => done.push(letters),
            Some(group) => {
                let choices = group.choices(&letters)?;
                // Pushed in reverse, so that words come out in the written order.
                for choice in choices.into_iter().rev() {
                    let mut word = letters[..group.start].to_vec();
                    word.extend(choice);
                    word.extend(&letters[group.end + 1..]);
                    open.push((word, group.start));
                }
            }
        }
        if done.len() + open.len() > BRACE_WORDS_MAX {
            return None;
        }
    }
    Some(done)
}

struct BracePair {
    start: usize,
    end: usize,
    commas: Vec<usize>,
}

/// The first pair of braces from `from` on that expands to several words. One pass: open braces wait on a stack.
fn first_group(letters: &[WordChar], from: usize) -> Option<BracePair> {
    let mut open: Vec<BracePair> = Vec::new();
    let mut first: Option<BracePair> = None;
    for (at, letter) in letters.iter().enumerate().skip(from).filter(|(_, letter)| letter.bare) {
        match letter.character {
            '{' => open.push(BracePair { start: at, end: at, commas: Vec::new() }),
            ',' => open.last_mut().into_iter().for_each(|group| group.commas.push(at)),
            '}' => {
                let Some(mut group) = open.pop() else { continue };
                group.end = at;
                let earlier = first.as_ref().is_none_or(|first| group.start < first.start);
                if earlier && (!group.commas.is_empty() || group.bounds(letters).is_some()) {
                    first = Some(group);
                }
                if open.is_empty() && first.is_some() {
                    break;
                }
            }
            _ => {}
        }
    }
    first
}

impl BracePair {
    fn choices(&self, letters: &[WordChar]) -> Option<Vec<Vec<WordChar>>> {
        if let Some((first, last)) = self.bounds(letters) {
            return sequence(&first, &last);
        }
        let mut choices = Vec::new();
        let mut start = self.start + 1;
        for end in self.commas.iter().chain([&self.end]) {
            choices.push(letters[start..*end].to_vec());
            start = end + 1;
        }
        (choices.len() <= BRACE_WORDS_MAX).then_some(choices)
    }

    /// The two ends of `{first..last}`.
    fn bounds(&self, letters: &[WordChar]) -> Option<(String, String)> {
        // More digits than any range worth expanding has.
        const BOUNDS_CHARS_MAX: usize = 24;
        let inner = letters.get(self.start + 1..self.end)?;
        if !self.commas.is_empty() || inner.len() > BOUNDS_CHARS_MAX {
            return None;
        }
        let inner: String = inner.iter().map(|letter| letter.character).collect();
        let (first, last) = inner.split_once("..")?;
        let is_end = |end: &str| end.parse::<i32>().is_ok() || is_letter(end);
        (is_end(first) && is_end(last)).then(|| (first.to_owned(), last.to_owned()))
    }
}

fn is_letter(text: &str) -> bool {
    text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn sequence(first: &str, last: &str) -> Option<Vec<Vec<WordChar>>> {
    // Numbers with leading zeros are padded; those stay unclear.
    let is_padded =
        |text: &str| text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0');
    if is_padded(first) || is_padded(last) {
        return None;
    }
    let (from, to) = match (first.parse::<i32>(), last.parse::<i32>()) {
        (Ok(from), Ok(to)) => (i64::from(from), i64::from(to)),
        _ => (i64::from(first.bytes().next()?), i64::from(last.bytes().next()?)),
    };
    let count = usize::try_from((from - to).abs()).ok()?.checked_add(1)?;
    if count > BRACE_WORDS_MAX {
        return None;
    }
    let step = if from <= to { 1 } else { -1 };
    let numbers = (0..count).filter_map(|index| i64::try_from(index).ok()).map(|index| from + step * index);
    let word = |number: i64| {
        let text = match is_letter(first) {
            true => u8::try_from(number).map(|byte| char::from(byte).to_string()).unwrap_or_default(),
            false => number.to_string(),
        };
        text.chars().map(|character| WordChar { character, bare: false }).collect()
    };
    Some(numbers.map(word).collect())
}
