//! Which paths may be in a commit, and where to look for them.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use comity_core::paths::{Alternative, covers, fold};
use comity_core::{CaseRule, PathPattern};

/// Decides which paths may be in a commit.
pub trait CommitScope: Sync {
    /// Where to look for changes: at least what is covered.
    fn look(&self) -> SearchScope;

    /// Whether a path from the top of the worktree, as git spells it, may be in the commit.
    fn covers(&self, path: &Path) -> bool;
}

/// Where to look for changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchScope {
    Everywhere,
    /// At these files, and in these directories.
    At(Vec<PathBuf>),
}

/// The scope of somebody with locks: everything that one of the patterns matches.
#[derive(Clone, Debug)]
pub struct Patterns<'a> {
    pub patterns: &'a [PathPattern],
    pub case: CaseRule,
}

impl CommitScope for Patterns<'_> {
    fn look(&self) -> SearchScope {
        let prefix = |alternative: &Alternative| {
            // Git compares bytes, and the disk may have another Unicode form than the pattern.
            let names: Vec<&str> = alternative.prefix().take_while(|name| name.is_ascii()).collect();
            (!names.is_empty()).then(|| PathBuf::from(names.join("/")))
        };
        let alternatives = self.patterns.iter().flat_map(PathPattern::alternatives);
        alternatives.map(prefix).collect::<Option<_>>().map_or(SearchScope::Everywhere, SearchScope::At)
    }

    fn covers(&self, path: &Path) -> bool {
        let is_covered = |meant: &PathPattern| self.patterns.iter().any(|pattern| covers(pattern, meant));
        let names: Vec<&[u8]> = path.as_os_str().as_bytes().split(|byte| *byte == b'/').collect();
        let known: Vec<String> = names.iter().map_while(|name| self.name(name)).collect();
        // What no pattern can spell is covered only together with its whole directory.
        let is_tree = known.len() < names.len();
        Alternative::new(&known, &[], is_tree).is_ok_and(|file| is_covered(&PathPattern::of(vec![file])))
    }
}

impl Patterns<'_> {
    /// A name in the form that patterns have, if it has one.
    fn name(&self, name: &[u8]) -> Option<String> {
        let name = str::from_utf8(name).ok()?;
        let is_plain = !name.chars().any(|c| c.is_control() || c == '\\');
        is_plain.then(|| fold(name, self.case).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn what_patterns_cover() {
        let check = |patterns: &[&str], case: CaseRule, path: &[u8], expected: bool| {
            let patterns: Vec<PathPattern> =
                patterns.iter().map(|text| PathPattern::parse(text, case).expect("a pattern")).collect();
            let scope = Patterns { patterns: &patterns, case };
            assert_eq!(scope.covers(Path::new(OsStr::from_bytes(path))), expected, "{patterns:?} {path:?}");
        };
        use CaseRule::{Exact, Folded};
        check(&["src/a.rs"], Exact, b"src/a.rs", true);
        check(&["src/a.rs"], Exact, b"src/A.rs", false);
        check(&["src/a.rs"], Folded, b"Src/A.rs", true);
        check(&["src/a.rs"], Exact, b"src/a.rs/below", false);
        check(&["docs/", "src/*.rs"], Exact, b"src/b.rs", true);
        check(&["docs/", "src/*.rs"], Exact, b"src/deep/b.rs", false);
        check(&["src/"], Exact, b"src/line\nend", true);
        check(&["src/*"], Exact, b"src/line\nend", false);
        check(&["src/"], Exact, b"src/\xff", true);
        check(&["src/\u{fffd}"], Exact, b"src/\xff", false);
        check(&["src/"], Exact, b"src\\a.rs", false);
        check(&["**"], Exact, b"src\\a.rs", true);
        check(&["caf\u{e9}/"], Exact, "cafe\u{301}/x".as_bytes(), true);
        check(&["src/[[]id[]].rs"], Exact, b"src/[id].rs", true);
        check(&[], Exact, b"src/a.rs", false);
    }

    #[test]
    fn where_patterns_look() {
        let check = |patterns: &[&str], expected: SearchScope| {
            let patterns: Vec<PathPattern> = patterns
                .iter()
                .map(|text| PathPattern::parse(text, CaseRule::Exact).expect("a pattern"))
                .collect();
            assert_eq!(Patterns { patterns: &patterns, case: CaseRule::Exact }.look(), expected);
        };
        check(&["src/a.rs", "docs/"], SearchScope::At(vec!["src/a.rs".into(), "docs".into()]));
        check(&["src/*/x", "{a,b/c}"], SearchScope::At(vec!["src".into(), "a".into(), "b/c".into()]));
        check(&["src/", "*.rs"], SearchScope::Everywhere);
        check(&["top/caf\u{e9}/x"], SearchScope::At(vec!["top".into()]));
        check(&[], SearchScope::At(vec![]));
    }
}
