//! The canonical form of a path or glob, relative to the repository.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::braces::{expand, protect_commas};
use super::segment::Segment;
use crate::limits::{PATTERN_BYTES_MAX, PATTERN_COMPONENTS_MAX};
use crate::refusal::Refusal;

/// Whether a project's file system is case-insensitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseRule {
    Exact,
    Folded,
}

/// A path, directory or glob in canonical form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathPattern(Arc<PatternParts>);

/// Shared by all copies of a pattern: the same one is in the log, in both worlds and in their indexes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PatternParts {
    text: Box<str>,
    alternatives: Box<[Alternative]>,
}

/// One way through a pattern's braces: a literal prefix, then what may follow it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Alternative {
    prefix: Box<str>,
    rest: Box<[Component]>,
}

/// One component after the literal prefix.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Component {
    /// `**`: any number of directories, or none.
    AnyDepth,
    Name(Box<str>),
    /// A glob within the component.
    Glob(Segment),
}

impl PathPattern {
    /// Parses a path or glob as somebody wrote it. A trailing `/` means the directory and everything below it.
    pub fn parse(text: &str, case: CaseRule) -> Result<PathPattern, Refusal> {
        if let Some(pattern) = Self::plain(text, case) {
            return Ok(pattern);
        }
        check_pattern_text(text)?;
        let alternatives = expand(&fold(text, case))?
            .iter()
            .map(|alternative| {
                // Characters that a brace had kept apart may compose now.
                let alternative = &*fold(alternative, CaseRule::Exact);
                let components = normalize(alternative)?;
                let tree = components.is_empty() || alternative.ends_with(['/', '\\']);
                Alternative::new(&[], &components, tree)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let pattern = Self::of(alternatives);
        if !is_nfc(&pattern.0.text) {
            return Err(Refusal::bad_pattern(
                text,
                "it has a class next to a combining mark, or one in it",
                "write the character in one piece, without brackets",
            ));
        }
        Ok(pattern)
    }

    /// The pattern for exactly this path, whatever characters it has.
    pub fn file(path: &str, case: CaseRule) -> Result<PathPattern, Refusal> {
        if let Some(pattern) = Self::plain(path, case) {
            return Ok(pattern);
        }
        check_pattern_text(path)?;
        let components = normalize(&fold(path, case))?;
        Ok(Self::of(vec![Alternative::new(&components, &[], components.is_empty())?]))
    }

    /// The pattern of a text that is already canonical and has nothing to interpret: nearly every path.
    fn plain(text: &str, case: CaseRule) -> Option<PathPattern> {
        let is_plain = |byte: u8| match byte {
            b'*' | b'?' | b'[' | b']' | b'{' | b'}' | b'\\' => false,
            b'A'..=b'Z' => case == CaseRule::Exact,
            other => matches!(other, b' '..=b'~'),
        };
        let is_name = |name: &str| !matches!(name, "" | "." | "..");
        let mut names = text.split('/');
        let fits = text.len() <= PATTERN_BYTES_MAX && text.bytes().all(is_plain);
        if !fits || !names.all(is_name) || text.split('/').count() > PATTERN_COMPONENTS_MAX {
            return None;
        }
        let only = Alternative { prefix: text.into(), rest: Box::default() };
        Some(PathPattern(Arc::new(PatternParts { text: text.into(), alternatives: Box::new([only]) })))
    }

    /// Puts alternatives together; the text is made from them, so equal sets have equal text.
    pub fn of(mut alternatives: Vec<Alternative>) -> PathPattern {
        alternatives.sort();
        alternatives.dedup();
        let text = match &alternatives[..] {
            [one] => one.to_string(),
            several => {
                let texts: Vec<String> = several.iter().map(|one| protect_commas(&one.to_string())).collect();
                format!("{{{}}}", texts.join(","))
            }
        };
        PathPattern(Arc::new(PatternParts { text: text.into(), alternatives: alternatives.into() }))
    }

    /// The canonical text: equal patterns have equal text, and it parses to the same pattern.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// For people: like the canonical text, but a plain path is not escaped.
    pub fn readable(&self) -> String {
        match &self.0.alternatives[..] {
            [Alternative { prefix, rest }] if rest.is_empty() => prefix.to_string(),
            [Alternative { prefix, rest }] if !prefix.is_empty() && **rest == [Component::AnyDepth] => {
                format!("{prefix}/")
            }
            _ => self.0.text.to_string(),
        }
    }

    pub fn alternatives(&self) -> &[Alternative] {
        &self.0.alternatives
    }
}

impl Alternative {
    /// An alternative of names that are literal for sure, and components that may be globs.
    pub fn new(literal: &[String], globs: &[String], tree: bool) -> Result<Alternative, Refusal> {
        let too_long = || {
            Refusal::bad_pattern(
                &globs.join("/"),
                &format!("it has more than {PATTERN_COMPONENTS_MAX} components"),
                "lock a directory above it",
            )
        };
        if literal.len() + globs.len() > PATTERN_COMPONENTS_MAX {
            return Err(too_long());
        }
        let mut prefix = literal.join("/");
        let mut rest: Vec<Component> = Vec::new();
        for component in globs.iter().map(|text| Component::parse(text)) {
            match component? {
                Component::Name(name) if rest.is_empty() => {
                    if !prefix.is_empty() {
                        prefix.push('/');
                    }
                    prefix.push_str(&name);
                }
                Component::AnyDepth if rest.last() == Some(&Component::AnyDepth) => {}
                other => rest.push(other),
            }
        }
        if tree && rest.last() != Some(&Component::AnyDepth) {
            rest.push(Component::AnyDepth);
        }
        Ok(Alternative { prefix: prefix.into(), rest: rest.into() })
    }

    pub fn prefix(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.prefix.split('/').filter(|name| !name.is_empty())
    }

    pub fn rest(&self) -> &[Component] {
        &self.rest
    }
}

impl Component {
    fn parse(text: &str) -> Result<Component, Refusal> {
        if text == "**" {
            return Ok(Component::AnyDepth);
        }
        if !has_glob(text) {
            return Ok(Component::Name(text.into()));
        }
        let segment = Segment::parse(text)?;
        match segment.as_literal() {
            Some(name) if name == "." || name == ".." || name.contains('/') => Err(Refusal::bad_pattern(
                text,
                "it stands for no file name",
                "write the path without brackets",
            )),
            Some(name) => Ok(Component::Name(name.into())),
            None => Ok(Component::Glob(segment)),
        }
    }
}

/// Whether a component has characters that mean something in globs.
pub fn has_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', ']', '{', '}'])
}

/// The Unicode and case form in which names are compared.
pub fn fold(text: &str, case: CaseRule) -> std::borrow::Cow<'_, str> {
    let composed: std::borrow::Cow<'_, str> =
        if text.is_ascii() || is_nfc(text) { text.into() } else { text.nfc().collect::<String>().into() };
    match case {
        CaseRule::Exact => composed,
        // Lower-casing may decompose (`İ`), so the result is normalized again. One character at a time, because a
        // sigma depends on what follows it, and may not become a final one.
        CaseRule::Folded => {
            let lower = composed.chars().flat_map(char::to_lowercase);
            lower.map(|c| if c == 'ς' { 'σ' } else { c }).nfc().collect::<String>().into()
        }
    }
}

/// Resolves `.`, `..`, `//` and `\` by the text alone. Above the root is outside of the repository.
pub fn normalize(text: &str) -> Result<Vec<String>, Refusal> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or_else(|| Refusal::OutsideRepository { path: text.to_owned() })?;
            }
            name => names.push(name.to_owned()),
        }
    }
    Ok(names)
}

/// Refuses a text that is too long or too deep for a pattern.
pub fn check_pattern_text(text: &str) -> Result<(), Refusal> {
    let problem = if text.is_empty() {
        "it is empty"
    } else if text.len() > PATTERN_BYTES_MAX {
        "it is longer than 1,024 bytes"
    } else if text.chars().any(char::is_control) {
        "it has control characters"
    } else {
        return Ok(());
    };
    Err(Refusal::bad_pattern(text, problem, "give a path or glob inside the repository"))
}

/// Escapes a character, so that it stands for itself in a pattern.
pub(super) fn write_literal(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '*' | '?' | '[' | '{' | '}' | ']' => write!(f, "[{c}]"),
        _ => write!(f, "{c}"),
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.prefix.chars().try_for_each(|c| write_literal(f, c))?;
        let mut slash = !self.prefix.is_empty();
        if slash && *self.rest == [Component::AnyDepth] {
            return f.write_str("/");
        }
        for component in &self.rest {
            if slash {
                f.write_str("/")?;
            }
            slash = true;
            match component {
                Component::AnyDepth => f.write_str("**")?,
                Component::Name(name) => name.chars().try_for_each(|c| write_literal(f, c))?,
                Component::Glob(segment) => segment.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.readable())
    }
}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl Serialize for PathPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.text)
    }
}

impl<'de> Deserialize<'de> for PathPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        // The text is canonical: it was folded and normalized when it was first read.
        PathPattern::parse(&text, CaseRule::Exact).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(text: &str) -> String {
        PathPattern::parse(text, CaseRule::Exact)
            .map_or_else(|no| no.code().to_owned(), |p| p.as_str().to_owned())
    }

    #[test]
    fn one_spelling_for_each_path() {
        for spelling in
            ["src/a.rs", "./src/a.rs", "src//a.rs", "src/./a.rs", "src/x/../a.rs", "src\\a.rs", "[s]rc/a.rs"]
        {
            assert_eq!(canonical(spelling), "src/a.rs", "{spelling}");
        }
        assert_eq!(canonical("src/**"), "src/");
        assert_eq!(canonical("src/**/**"), "src/");
        assert_eq!(canonical("."), "**");
        assert_eq!(canonical("cafe\u{301}"), "caf\u{e9}");
        assert_eq!(canonical("{b,a,b}.rs"), "{a.rs,b.rs}");
        assert_eq!(canonical("a/b**c"), "a/b*c");
        assert_eq!(canonical("../x"), "outside_repository");
        assert_eq!(canonical(""), "bad_pattern");
        assert_eq!(canonical("a\nb"), "bad_pattern");
        assert_eq!(canonical(&"x".repeat(2_000)), "bad_pattern");
        assert_eq!(canonical(&"x/".repeat(70)), "bad_pattern");
        assert_eq!(canonical("x/[.]"), "bad_pattern");
        assert_eq!(canonical("{a,e}\u{301}"), "{\u{e1},\u{e9}}");
        assert_eq!(canonical("[a]\u{301}"), "bad_pattern");
        assert_eq!(canonical("[\u{301}a]"), "bad_pattern");
    }

    #[test]
    fn case_is_folded_only_where_the_file_system_does() {
        let folded = |text| PathPattern::parse(text, CaseRule::Folded).expect(text);
        assert_eq!(folded("SRC/Ä.rs"), folded("src/a\u{308}.RS"));
        assert_eq!(folded("ΟΔΟΣ.txt"), folded("οδος.txt"));
        assert_eq!(folded("ΟΔΟΣ"), folded("οδοσ"));
        assert_ne!(canonical("SRC/a.rs"), canonical("src/a.rs"));
    }

    #[test]
    fn a_file_may_have_any_characters() {
        let page = PathPattern::file("app/[id]/{x},*.tsx", CaseRule::Exact).expect("a path");
        assert_eq!(page.readable(), "app/[id]/{x},*.tsx");
        assert_eq!(canonical(page.as_str()), page.as_str());
        assert_ne!(page, PathPattern::parse("app/[id]/x", CaseRule::Exact).expect("a glob"));
    }

    #[test]
    fn the_text_parses_to_the_same_pattern() {
        for text in [
            "**",
            "a/",
            "{a/,b/*.rs}",
            "x/[!a-c]?/**/y",
            "{a[,]b,c}",
            "[{]x[}]",
            "a/**/b/**",
            "{x,[!,]y,a[,]b}",
        ] {
            let pattern = PathPattern::parse(text, CaseRule::Exact).expect(text);
            let again = PathPattern::parse(pattern.as_str(), CaseRule::Exact).expect(text);
            assert_eq!(again, pattern, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_plain_text_is_read_as_the_long_way_reads_it(text in "[a-zA-Z.~, /-]{1,12}|(src|a|[.]|[.][.]|B)(/(x|[.]|Y|)){0,4}") {
            for case in [CaseRule::Exact, CaseRule::Folded] {
                let Some(plain) = PathPattern::plain(&text, case) else { continue };
                let components = normalize(&fold(&text, case)).expect("inside");
                let long = PathPattern::of(vec![Alternative::new(&[], &components, false).expect("short")]);
                prop_assert_eq!(&plain, &long);
                prop_assert_eq!(plain.as_str(), long.as_str());
            }
        }
    }
}
