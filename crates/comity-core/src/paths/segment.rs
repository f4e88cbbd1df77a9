//! One glob component, such as `*.rs` or `[a-c]?`, and the exact intersection of two of them.

use std::fmt;

use crate::refusal::Refusal;

/// A glob within one path component.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Segment(Box<[GlobUnit]>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum GlobUnit {
    Char(char),
    AnyChar,
    AnyRun,
    OneOf(Box<[(char, char)]>),
}

impl Segment {
    /// Parses a component with glob characters; braces are already expanded.
    pub(crate) fn parse(text: &str) -> Result<Segment, Refusal> {
        let mut units: Vec<GlobUnit> = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let unit = match c {
                '*' if units.last() == Some(&GlobUnit::AnyRun) => continue,
                '*' => GlobUnit::AnyRun,
                '?' => GlobUnit::AnyChar,
                '[' => class(&mut rest, text)?,
                other => GlobUnit::Char(other),
            };
            units.push(unit);
        }
        Ok(Segment(units.into()))
    }

    /// The text, if the segment can only match one name.
    pub(crate) fn as_literal(&self) -> Option<String> {
        self.0
            .iter()
            .map(|unit| match unit {
                GlobUnit::Char(c) => Some(*c),
                GlobUnit::AnyChar | GlobUnit::AnyRun | GlobUnit::OneOf(_) => None,
            })
            .collect()
    }

    /// Whether the segment matches `name`.
    pub fn matches(&self, name: &str) -> bool {
        let (mut unit, mut at) = (0, 0);
        // Where to continue when the last `*` has to match one more character.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let next = name[at..].chars().next();
            match (self.0.get(unit), next) {
                (None, None) => return true,
                (Some(GlobUnit::AnyRun), _) => {
                    retry = Some((unit, at));
                    unit += 1;
                    continue;
                }
                (Some(wanted), Some(c)) if wanted.accepts(c) => {
                    unit += 1;
                    at += c.len_utf8();
                    continue;
                }
                _ => {}
            }
            let Some((star, from)) = retry else { return false };
            let Some(c) = name[from..].chars().next() else { return false };
            retry = Some((star, from + c.len_utf8()));
            unit = star + 1;
            at = from + c.len_utf8();
        }
    }

    /// Whether both match some name.
    pub(crate) fn intersects(&self, other: &Segment) -> bool {
        let (a, b) = (&self.0, &other.0);
        let width = b.len() + 1;
        let mut seen = vec![false; (a.len() + 1) * width];
        let mut open = vec![(0, 0)];
        while let Some((i, j)) = open.pop() {
            if std::mem::replace(&mut seen[i * width + j], true) {
                continue;
            }
            match (a.get(i), b.get(j)) {
                (None, None) => return true,
                (Some(GlobUnit::AnyRun), Some(GlobUnit::AnyRun)) => open.extend([(i + 1, j), (i, j + 1)]),
                (Some(GlobUnit::AnyRun), Some(_)) => open.extend([(i + 1, j), (i, j + 1)]),
                (Some(_), Some(GlobUnit::AnyRun)) => open.extend([(i, j + 1), (i + 1, j)]),
                (Some(GlobUnit::AnyRun), None) => open.push((i + 1, j)),
                (None, Some(GlobUnit::AnyRun)) => open.push((i, j + 1)),
                (Some(x), Some(y)) if x.meets(y) => open.push((i + 1, j + 1)),
                _ => {}
            }
        }
        false
    }
}

impl GlobUnit {
    fn accepts(&self, c: char) -> bool {
        match self {
            GlobUnit::Char(own) => *own == c,
            GlobUnit::AnyChar | GlobUnit::AnyRun => true,
            GlobUnit::OneOf(ranges) => ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)),
        }
    }

    fn meets(&self, other: &GlobUnit) -> bool {
        match (self, other) {
            (GlobUnit::Char(c), unit) | (unit, GlobUnit::Char(c)) => unit.accepts(*c),
            (GlobUnit::AnyChar | GlobUnit::AnyRun, _) | (_, GlobUnit::AnyChar | GlobUnit::AnyRun) => true,
            (GlobUnit::OneOf(a), GlobUnit::OneOf(b)) => {
                a.iter().any(|(from, to)| b.iter().any(|(start, end)| from <= end && start <= to))
            }
        }
    }
}

/// Parses what follows a `[` up to its `]`, as sorted ranges that do not touch.
fn class(rest: &mut std::str::Chars<'_>, whole: &str) -> Result<GlobUnit, Refusal> {
    let unclosed = || {
        Refusal::bad_pattern(
            whole,
            "'[' is never closed",
            "write a literal bracket as [[], or close the class with ]",
        )
    };
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut next = rest.next().ok_or_else(unclosed)?;
    let negated = matches!(next, '!' | '^');
    if negated {
        next = rest.next().ok_or_else(unclosed)?;
    }
    let mut first = true;
    while first || next != ']' {
        first = false;
        let ahead = rest.as_str();
        let range_end = ahead.strip_prefix('-').and_then(|s| s.chars().next()).filter(|c| *c != ']');
        let to = match range_end {
            Some(to) => {
                rest.next();
                rest.next();
                to
            }
            None => next,
        };
        if to < next {
            return Err(Refusal::bad_pattern(
                whole,
                &format!("the range {next}-{to} runs backwards"),
                "write the smaller character first",
            ));
        }
        ranges.push((next, to));
        next = rest.next().ok_or_else(unclosed)?;
    }
    let ranges = merged(ranges);
    let ranges = if negated { complement(&ranges) } else { ranges };
    match ranges[..] {
        [] => Err(Refusal::bad_pattern(whole, "a class that no character is in", "leave the class out")),
        [(from, to)] if from == to => Ok(GlobUnit::Char(from)),
        // This could not be written down again: whichever came first would negate.
        [('!', '!'), ('^', '^')] => {
            Err(Refusal::bad_pattern(whole, "a class of ! and ^", "write it as {!,^}"))
        }
        _ => Ok(GlobUnit::OneOf(ranges.into())),
    }
}

fn merged(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    let mut merged: Vec<(char, char)> = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        match merged.last_mut() {
            Some(last) if from <= last.1 || after(last.1) == Some(from) => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

fn complement(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let mut free = Vec::new();
    let mut from = Some('\0');
    for (start, end) in ranges {
        if let (Some(from), Some(before)) = (from, before(*start))
            && from <= before
        {
            free.push((from, before));
        }
        from = after(*end);
    }
    free.extend(from.map(|from| (from, char::MAX)));
    free
}

fn after(c: char) -> Option<char> {
    match c {
        '\u{d7ff}' => Some('\u{e000}'),
        _ => char::from_u32(c as u32 + 1),
    }
}

fn before(c: char) -> Option<char> {
    match c {
        '\u{e000}' => Some('\u{d7ff}'),
        _ => (c as u32).checked_sub(1).and_then(char::from_u32),
    }
}

/// Prints a form that parses to the same segment.
impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for unit in &self.0 {
            match unit {
                GlobUnit::Char(c) => super::pattern::write_literal(f, *c)?,
                GlobUnit::AnyChar => f.write_str("?")?,
                GlobUnit::AnyRun => f.write_str("*")?,
                GlobUnit::OneOf(ranges) => write_class(f, ranges)?,
            }
        }
        Ok(())
    }
}

/// Writes ranges so that none of the class's own signs is misread: `]` goes first, `-` last, `!^` never first.
fn write_class(f: &mut fmt::Formatter<'_>, ranges: &[(char, char)]) -> fmt::Result {
    let negate = ranges.first().is_some_and(|range| range.0 == '\0');
    let mut ranges = if negate { complement(ranges) } else { ranges.to_vec() };
    if ranges.is_empty() {
        return f.write_str("?");
    }
    let mut signs: Vec<char> = Vec::new();
    while let Some(at) = ranges.iter().position(|range| matches!(range.0, ']' | '!' | '^' | '-')) {
        let (from, to) = ranges[at];
        signs.push(from);
        match after(from) {
            Some(next) if from < to => ranges[at].0 = next,
            _ => drop(ranges.remove(at)),
        }
    }
    f.write_str(if negate { "[!" } else { "[" })?;
    let dash_first = ranges.is_empty() && !signs.contains(&']');
    let first = if dash_first { '-' } else { ']' };
    if signs.contains(&first) {
        write!(f, "{first}")?;
    }
    for (from, to) in ranges {
        if from == to { write!(f, "{from}")? } else { write!(f, "{from}-{to}")? }
    }
    let last = if dash_first { ']' } else { '-' };
    signs.iter().filter(|sign| matches!(sign, '!' | '^')).try_for_each(|sign| write!(f, "{sign}"))?;
    if signs.contains(&last) {
        write!(f, "{last}")?;
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(text: &str) -> Segment {
        Segment::parse(text).expect(text)
    }

    #[test]
    fn names_that_a_segment_means() {
        for (glob, name, meant) in [
            ("*.rs", "a.rs", true),
            ("*.rs", ".rs", true),
            ("*.rs", "a.rst", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "ac", false),
            ("?", "ä", true),
            ("?", "ab", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]]", "]", true),
            ("[a-]", "-", true),
            ("v[0-9]*", "v12", true),
        ] {
            assert_eq!(segment(glob).matches(name), meant, "{glob} {name}");
        }
    }

    #[test]
    fn intersections() {
        for (a, b, meet) in [
            ("*.rs", "m*", true),
            ("*.rs", "*.ts", false),
            ("a*", "*b", true),
            ("[a-c]*", "[d-f]*", false),
            ("[!a]", "a", false),
            ("[!a]", "[!b]", true),
            ("?", "??", false),
            ("*a*b", "b*a", false),
            ("x*y", "xy", true),
        ] {
            assert_eq!(segment(a).intersects(&segment(b)), meet, "{a} {b}");
            assert_eq!(segment(b).intersects(&segment(a)), meet, "{b} {a}");
        }
    }

    #[test]
    fn a_segment_prints_what_it_parses_to() {
        for text in [
            "*.rs", "[a-c]?", "[!x]*", "[]a]", "[!]a-]", "[a!^-]", "a[*]b*", "[+-.]x", "[--9]]x", "[-!]",
            "[]-z]", "[!-%]",
        ] {
            let first = segment(text);
            assert_eq!(segment(&first.to_string()), first, "{text} printed as {first}");
        }
    }

    #[test]
    fn bad_classes_are_refused() {
        for text in ["[", "[a", "[!", "a[z-a]"] {
            assert!(Segment::parse(text).is_err(), "{text}");
        }
    }
}
