//! LK2, the part that needs no disk: one canonical form for each path, however it is spelled.

use comity_core::paths::{PatternIndex, overlaps};
use comity_core::{CaseRule, PathPattern};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

/// Names with one, several and combining code points, and some that mean something elsewhere.
const NAMES: [&str; 9] = ["src", "a.rs", "Öl", "café", "日本", "...", "~", "한글", "x y"];
/// Characters that patterns, shells and file systems stumble over.
const HOSTILE: [&str; 26] = [
    "*", "**", "?", "[", "]", "[!", "[^", "{", "}", ",", "/", "\\", ".", "..", "-", "!", "^", "a", "ß",
    "\u{301}", "\u{0}", "\u{202e}", "İ", "[a-", "]]", "\n",
];

/// Ways of writing `name` that add nothing, before it goes on.
#[derive(Clone, Copy, Debug)]
enum Detour {
    None,
    Dot,
    DoubleSlash,
    BackAndForth,
    Backslash,
}

fn detour() -> impl Strategy<Value = Detour> {
    prop_oneof![
        Just(Detour::None),
        Just(Detour::Dot),
        Just(Detour::DoubleSlash),
        Just(Detour::BackAndForth),
        Just(Detour::Backslash),
    ]
}

fn spelled(names: &[(&str, Detour)], decomposed: bool) -> String {
    let mut text = String::new();
    for (at, (name, detour)) in names.iter().enumerate() {
        let slash = if at == 0 { "" } else { "/" };
        text += &match detour {
            Detour::None => format!("{slash}{name}"),
            Detour::Dot => format!("{slash}./{name}"),
            Detour::DoubleSlash if at > 0 => format!("//{name}"),
            Detour::DoubleSlash => name.to_string(),
            Detour::BackAndForth => format!("{slash}elsewhere/../{name}"),
            Detour::Backslash if at > 0 => format!("\\{name}"),
            Detour::Backslash => format!(".\\{name}"),
        };
    }
    if decomposed { text.nfd().collect() } else { text.nfc().collect() }
}

fn cased(text: &str, upper: &[bool]) -> String {
    let swap = |(c, up): (char, &bool)| match up {
        true => c.to_uppercase().collect::<String>(),
        false => c.to_lowercase().collect(),
    };
    text.chars().zip(upper.iter().cycle()).map(swap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_spelling_is_one_path(
        names in proptest::collection::vec((proptest::sample::select(NAMES.to_vec()), detour()), 1..6),
        decomposed in any::<bool>(),
    ) {
        let plain: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let expected = PathPattern::parse(&plain.join("/"), CaseRule::Exact).expect("a path");
        let spelling = spelled(&names, decomposed);
        prop_assert_eq!(&PathPattern::parse(&spelling, CaseRule::Exact).expect("a path"), &expected);
        prop_assert_eq!(&PathPattern::file(&spelling, CaseRule::Exact).expect("a path"), &expected);
    }

    #[test]
    fn every_case_is_one_path_where_case_is_folded(
        names in proptest::collection::vec((proptest::sample::select(NAMES.to_vec()), detour()), 1..6),
        upper in proptest::collection::vec(any::<bool>(), 1..9),
        decomposed in any::<bool>(),
    ) {
        let plain: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let expected = PathPattern::parse(&plain.join("/"), CaseRule::Folded).expect("a path");
        let spelling = cased(&spelled(&names, decomposed), &upper);
        prop_assert_eq!(PathPattern::parse(&spelling, CaseRule::Folded).expect("a path"), expected);
    }

    #[test]
    fn hostile_patterns_are_read_or_refused(
        one in proptest::collection::vec(proptest::sample::select(HOSTILE.to_vec()), 0..24),
        other in proptest::collection::vec(proptest::sample::select(HOSTILE.to_vec()), 0..12),
        case in prop_oneof![Just(CaseRule::Exact), Just(CaseRule::Folded)],
    ) {
        let read = [one.concat(), other.concat()].map(|text| PathPattern::parse(&text, case));
        if let [Ok(a), Ok(b)] = &read {
            prop_assert_eq!(overlaps(a, b), overlaps(b, a), "{} against {}", a, b);
            prop_assert!(overlaps(a, a), "{} against itself", a);
            let mut index = PatternIndex::default();
            index.insert(1, a);
            prop_assert_eq!(index.overlaps(b), if overlaps(a, b) { vec![1] } else { vec![] });
        }
        for pattern in read.into_iter().flatten() {
            let again = PathPattern::parse(pattern.as_str(), CaseRule::Exact);
            prop_assert_eq!(again.as_ref(), Ok(&pattern), "{:?}", pattern);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        if let Ok(pattern) = PathPattern::parse(&text, CaseRule::Exact) {
            prop_assert_eq!(PathPattern::parse(pattern.as_str(), CaseRule::Exact), Ok(pattern));
        }
        let _ = PathPattern::file(&text, CaseRule::Folded);
    }
}
