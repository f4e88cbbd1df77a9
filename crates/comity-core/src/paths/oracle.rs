//! Overlap by brute force over all small paths, and the property that overlap and index agree with it.

use proptest::prelude::*;

use super::{CaseRule, PathPattern, PatternIndex, expand, overlaps};

/// Each glob of `PIECES` matches at least two of these, so that none looks like a plain name.
const NAMES: [&str; 8] = ["a", "b", "ab", "ba", "c", "abc", "ac", "cb"];
const DEPTH: usize = 4;
const PIECES: [&str; 14] =
    ["a", "b", "ab", "c", "*", "?", "a*", "*b", "[ab]", "[!a]", "a?", "**", "{a,b}", "{ab,c*}"];

fn all_paths() -> Vec<Vec<&'static str>> {
    let mut all = vec![vec![]];
    let mut last: Vec<Vec<&str>> = vec![vec![]];
    for _ in 0..DEPTH {
        last = last.iter().flat_map(|path| NAMES.map(|name| [&path[..], &[name]].concat())).collect();
        all.extend(last.iter().cloned());
    }
    all.remove(0);
    all
}

/// The naive meaning of one alternative.
fn means(pattern: &str, path: &[&str]) -> bool {
    let tree = pattern.ends_with('/');
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    path_means(&parts, path) || tree && (1..path.len()).any(|end| path_means(&parts, &path[..end]))
}

fn path_means(parts: &[&str], path: &[&str]) -> bool {
    match (parts, path) {
        ([], []) => true,
        (["**", more @ ..], _) => {
            path_means(more, path) || (!path.is_empty() && path_means(parts, &path[1..]))
        }
        ([part, more @ ..], [name, deeper @ ..]) => {
            let part: Vec<char> = part.chars().collect();
            let name: Vec<char> = name.chars().collect();
            name_means(&part, &name) && path_means(more, deeper)
        }
        _ => false,
    }
}

fn name_means(part: &[char], name: &[char]) -> bool {
    match part {
        [] => name.is_empty(),
        ['*', more @ ..] => (0..=name.len()).any(|skip| name_means(more, &name[skip..])),
        ['?', more @ ..] => !name.is_empty() && name_means(more, &name[1..]),
        ['[', '!', not, ']', more @ ..] => {
            !name.is_empty() && name[0] != *not && name_means(more, &name[1..])
        }
        ['[', x, y, ']', more @ ..] => {
            !name.is_empty() && (name[0] == *x || name[0] == *y) && name_means(more, &name[1..])
        }
        [c, more @ ..] => name.first() == Some(c) && name_means(more, &name[1..]),
    }
}

/// Two texts overlap when both match a small path, or when one is a plain path that contains all of the other.
fn naive_overlap(a: &str, b: &str, paths: &[Vec<&str>]) -> bool {
    let (a, b) = (expand(a).expect("braces"), expand(b).expect("braces"));
    a.iter().any(|x| b.iter().any(|y| naive_alternatives(x, y, paths)))
}

fn naive_alternatives(a: &str, b: &str, paths: &[Vec<&str>]) -> bool {
    let plain_above = |file: &str, other: &str| {
        let is_plain = !file.contains(['*', '?', '[']) && !file.ends_with('/');
        let below = |path: &Vec<&str>| (1..=path.len()).any(|end| means(file, &path[..end]));
        is_plain && paths.iter().filter(|path| means(other, path)).all(below)
    };
    paths.iter().any(|path| means(a, path) && means(b, path)) || plain_above(a, b) || plain_above(b, a)
}

fn pattern_text() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(PIECES.to_vec());
    (proptest::collection::vec(piece, 1..=3), any::<bool>())
        .prop_map(|(pieces, tree)| pieces.join("/") + if tree { "/" } else { "" })
}

fn parse(text: &str) -> PathPattern {
    PathPattern::parse(text, CaseRule::Exact).expect("a good pattern")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn overlap_is_exact(a in pattern_text(), b in pattern_text()) {
        // Deeper pairs may meet only in paths that are not enumerated.
        let depth = |text: &str| text.split('/').filter(|part| !part.is_empty() && *part != "**").count();
        prop_assume!(depth(&a) + depth(&b) <= DEPTH);
        let paths = all_paths();
        let expected = naive_overlap(&a, &b, &paths);
        prop_assert_eq!(overlaps(&parse(&a), &parse(&b)), expected, "{} against {}", a, b);
        prop_assert_eq!(overlaps(&parse(&b), &parse(&a)), expected, "{} against {}", b, a);
    }

    #[test]
    fn canonical_text_means_the_same(a in pattern_text(), b in pattern_text()) {
        let again = parse(parse(&a).as_str());
        prop_assert_eq!(&again, &parse(&a));
        prop_assert_eq!(overlaps(&again, &parse(&b)), overlaps(&parse(&a), &parse(&b)));
    }

    #[test]
    fn the_index_finds_exactly_what_overlaps(
        held in proptest::collection::vec(pattern_text(), 0..24),
        gone in proptest::collection::vec(any::<bool>(), 24),
        asked in pattern_text(),
    ) {
        let mut index = PatternIndex::default();
        let held: Vec<PathPattern> = held.iter().map(|text| parse(text)).collect();
        for (id, pattern) in held.iter().enumerate() {
            index.insert(id as u64, pattern);
        }
        for (id, pattern) in held.iter().enumerate().filter(|(id, _)| gone[*id]) {
            index.remove(id as u64, pattern);
        }
        let asked = parse(&asked);
        let naive: Vec<u64> = held.iter().enumerate()
            .filter(|(id, pattern)| !gone[*id] && overlaps(pattern, &asked))
            .map(|(id, _)| id as u64).collect();
        prop_assert_eq!(index.overlaps(&asked), naive);
    }
}
