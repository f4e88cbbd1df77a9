//! Whether two patterns can match the same file, exactly.

use super::pattern::{Alternative, Component, PathPattern};

/// Whether both patterns match some path. A file and something below it also clash: only one can exist.
pub fn overlaps(a: &PathPattern, b: &PathPattern) -> bool {
    a.alternatives().iter().any(|x| b.alternatives().iter().any(|y| alternatives_overlap(x, y)))
}

/// Whether `outer` surely matches everything that `inner` does: exact for files, conservative for globs.
pub fn covers(outer: &PathPattern, inner: &PathPattern) -> bool {
    inner.alternatives().iter().all(|x| outer.alternatives().iter().any(|y| alternative_covers(y, x)))
}

fn alternative_covers(outer: &Alternative, inner: &Alternative) -> bool {
    if outer == inner {
        return true;
    }
    let mut path = inner.prefix();
    if *outer.rest() == [Component::AnyDepth] {
        return outer.prefix().all(|name| path.next() == Some(name));
    }
    // A plain path only clashes with what lies below it; a glob matches a file that it overlaps.
    inner.rest().is_empty() && !outer.rest().is_empty() && alternatives_overlap(outer, inner) && {
        let above = outer.prefix().zip(inner.prefix()).all(|(x, y)| x == y);
        above && outer.prefix().count() < inner.prefix().count()
    }
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

/// One side's prefix goes on with `name` and `more`; the other side has only `rest` left.
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

/// A plain path (nothing left) clashes with everything below it, and a directory contains everything.
pub(super) fn always_meets(rest: &[Component]) -> bool {
    rest.is_empty() || *rest == [Component::AnyDepth]
}

/// Whether `rest`, and `names` followed by `other`, match a common path. Both begin at the same directory.
pub(super) fn rests_overlap(rest: &[Component], names: &[&str], other: &[Component]) -> bool {
    if always_meets(rest) || (names.is_empty() && always_meets(other)) {
        return true;
    }
    let total = names.len() + other.len();
    debug_assert!(total < 128, "components are bounded, so that a row fits into its bits");
    let at = |j: usize| match j.checked_sub(names.len()) {
        None => PatternStep::Name(names[j]),
        Some(k) => PatternStep::of(&other[k]),
    };
    // Row by row: bit `j` says that `i` components of one side and `j` of the other can have been used up together.
    let mut row: u128 = 1;
    for x in rest.iter().map(PatternStep::of) {
        let mut next: u128 = 0;
        for j in 0..=total {
            if row & (1 << j) == 0 {
                continue;
            }
            match (x, (j < total).then(|| at(j))) {
                (PatternStep::AnyDepth, None) => next |= 1 << j,
                (PatternStep::AnyDepth, Some(_)) | (_, Some(PatternStep::AnyDepth)) => {
                    next |= 1 << j;
                    row |= 1 << (j + 1);
                }
                (x, Some(y)) if x.meets(y) => next |= 1 << (j + 1),
                (_, _) => {}
            }
        }
        if next == 0 {
            return false;
        }
        row = next;
    }
    // One side is used up: what is left of the other must be able to match nothing.
    let nothing_from = (0..total).rev().take_while(|j| matches!(at(*j), PatternStep::AnyDepth)).last();
    row >> nothing_from.unwrap_or(total) != 0
}

#[derive(Clone, Copy)]
enum PatternStep<'a> {
    AnyDepth,
    Name(&'a str),
    Glob(&'a super::Segment),
}

impl<'a> PatternStep<'a> {
    fn of(component: &'a Component) -> PatternStep<'a> {
        match component {
            Component::AnyDepth => PatternStep::AnyDepth,
            Component::Name(name) => PatternStep::Name(name),
            Component::Glob(segment) => PatternStep::Glob(segment),
        }
    }

    fn meets(self, other: PatternStep<'_>) -> bool {
        match (self, other) {
            (PatternStep::AnyDepth, _) | (_, PatternStep::AnyDepth) => true,
            (PatternStep::Name(a), PatternStep::Name(b)) => a == b,
            (PatternStep::Name(name), PatternStep::Glob(glob))
            | (PatternStep::Glob(glob), PatternStep::Name(name)) => glob.matches(name),
            (PatternStep::Glob(a), PatternStep::Glob(b)) => a.intersects(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::CaseRule;

    #[test]
    fn what_covers_what() {
        for (outer, inner, expected) in [
            ("src/", "src/a.rs", true),
            ("src/", "src/**/*.rs", true),
            ("src/a.rs", "src/a.rs", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/b/a.rs", false),
            ("src/a.rs", "src/", false),
            ("src/*.rs", "src", false),
            ("src/a", "src/a/b", false),
            ("{a,b}/*", "{a/x,b/y}", true),
            ("{a,b}/*", "{a/x,c/y}", false),
            ("**", "anything/at/all", true),
        ] {
            let parse = |text| PathPattern::parse(text, CaseRule::Exact).expect(text);
            assert_eq!(covers(&parse(outer), &parse(inner)), expected, "{outer} over {inner}");
        }
    }

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
