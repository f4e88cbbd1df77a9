//! Whether two patterns can mean the same file, exactly.

use super::pattern::{Alternative, Component, PathPattern};

/// Whether some path is meant by both patterns. A file and something below it also clash: only one can exist.
pub fn overlaps(a: &PathPattern, b: &PathPattern) -> bool {
    a.alternatives().iter().any(|x| b.alternatives().iter().any(|y| alternatives_overlap(x, y)))
}

fn alternatives_overlap(a: &Alternative, b: &Alternative) -> bool {
    let (mut left, mut right) = (a.prefix(), b.prefix());
    loop {
        match (left.next(), right.next()) {
            (Some(x), Some(y)) if x == y => {}
            (Some(_), Some(_)) => return false,
            (None, None) => return rests_overlap(a.rest(), &[], b.rest()),
            (Some(name), None) => return below(name, left, a.rest(), b.rest()),
            (None, Some(name)) => return below(name, right, b.rest(), a.rest()),
        }
    }
}

/// One side's prefix goes on with `name` and `more`; the other has only `rest` left.
fn below<'a>(
    name: &'a str,
    more: impl Iterator<Item = &'a str>,
    longer_rest: &[Component],
    shorter_rest: &[Component],
) -> bool {
    if always_meets(shorter_rest) {
        return true;
    }
    let names: Vec<&str> = std::iter::once(name).chain(more).collect();
    rests_overlap(shorter_rest, &names, longer_rest)
}

/// A plain path (nothing left) clashes with all that begins with it, and a directory holds all of it.
pub(super) fn always_meets(rest: &[Component]) -> bool {
    rest.is_empty() || *rest == [Component::AnyDepth]
}

/// Whether `rest` and `names` followed by `other` have a path in common. Both begin at the same directory.
pub(super) fn rests_overlap(rest: &[Component], names: &[&str], other: &[Component]) -> bool {
    if always_meets(rest) || (names.is_empty() && always_meets(other)) {
        return true;
    }
    let (a_len, b_len) = (rest.len(), names.len() + other.len());
    let at = |j: usize| match j.checked_sub(names.len()) {
        None => Step::Name(names[j]),
        Some(k) => Step::of(&other[k]),
    };
    let width = b_len + 1;
    let mut seen = vec![false; (a_len + 1) * width];
    let mut open = vec![(0, 0)];
    while let Some((i, j)) = open.pop() {
        if std::mem::replace(&mut seen[i * width + j], true) {
            continue;
        }
        let x = rest.get(i).map(Step::of);
        let y = (j < b_len).then(|| at(j));
        match (x, y) {
            (None, None) => return true,
            (Some(Step::AnyDepth), _) => {
                open.push((i + 1, j));
                if y.is_some() {
                    open.push((i, j + 1));
                }
            }
            (_, Some(Step::AnyDepth)) => {
                open.push((i, j + 1));
                if x.is_some() {
                    open.push((i + 1, j));
                }
            }
            (Some(x), Some(y)) if x.meets(y) => open.push((i + 1, j + 1)),
            _ => {}
        }
    }
    false
}

#[derive(Clone, Copy)]
enum Step<'a> {
    AnyDepth,
    Name(&'a str),
    Glob(&'a super::Segment),
}

impl<'a> Step<'a> {
    fn of(component: &'a Component) -> Step<'a> {
        match component {
            Component::AnyDepth => Step::AnyDepth,
            Component::Name(name) => Step::Name(name),
            Component::Glob(segment) => Step::Glob(segment),
        }
    }

    fn meets(self, other: Step<'_>) -> bool {
        match (self, other) {
            (Step::AnyDepth, _) | (_, Step::AnyDepth) => true,
            (Step::Name(a), Step::Name(b)) => a == b,
            (Step::Name(name), Step::Glob(glob)) | (Step::Glob(glob), Step::Name(name)) => glob.matches(name),
            (Step::Glob(a), Step::Glob(b)) => a.intersects(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::CaseRule;

    #[test]
    fn what_overlaps_and_what_does_not() {
        for (a, b, expected) in [
            ("src/**/*.rs", "src/*/mod.rs", true),
            ("src/a.rs", "src/**", true),
            ("x/*.rs", "x/m*", true),
            ("y/**/t.rs", "y/q/*.rs", true),
            ("w/./a.rs", "w/a.rs", true),
            ("lib/**", "lib/b.rs", true),
            ("src/*.rs", "src/*/mod.rs", false),
            ("src/new.rs", "src/*/mod.rs", false),
            ("src/a.rs", "src/b.rs", false),
            ("src", "src/a.rs", true),
            ("src/", "src/deep/x", true),
            ("src/*", "src/deep/x", false),
            ("**", "anything/at/all", true),
            ("**/a/**/b", "x/a/y", false),
            ("**/a/**/b", "x/a/y/b", true),
            ("{a,b}/x", "b/*", true),
            ("{a,b}/x", "c/*", false),
            ("a/[0-4]*", "a/[5-9]*", false),
            ("src/auth", "src/authz", false),
        ] {
            let parse = |text| PathPattern::parse(text, CaseRule::Exact).expect(text);
            assert_eq!(overlaps(&parse(a), &parse(b)), expected, "{a} against {b}");
            assert_eq!(overlaps(&parse(b), &parse(a)), expected, "{b} against {a}");
        }
    }
}
