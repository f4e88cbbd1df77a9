//! Patterns for paths that exist, even if nobody could write them down.

use super::pattern::{Alternative, CaseRule, PathPattern, fold, normalize};
use crate::limits::PATTERN_COMPONENTS_MAX;
use crate::refusal::Refusal;

impl PathPattern {
    /// The pattern of an existing path. Very long paths and those with control characters cannot be locked by name,
    /// but a directory or a glob covers them. For a path that is too deep, all of its last possible directory stands
    /// in.
    pub fn existing(path: &str, case: CaseRule) -> Result<PathPattern, Refusal> {
        if let Ok(pattern) = PathPattern::file(path, case) {
            return Ok(pattern);
        }
        let names = normalize(&fold(path, case))?;
        let known = names.get(..PATTERN_COMPONENTS_MAX).unwrap_or(&names);
        Ok(PathPattern::of(vec![Alternative::new(known, &[], known.len() < names.len())?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::overlaps;

    #[test]
    fn directories_and_globs_mean_what_nobody_can_write_down() {
        let long = format!("src/{}/x.rs", "y".repeat(2_000));
        let deep = format!("src/{}x.rs", "d/".repeat(90));
        for (path, lock, is_meant) in [
            ("src/a\n.rs", "src/", true),
            ("src/a\n.rs", "src/*.rs", true),
            ("src/a\n.rs", "src/a.rs", false),
            ("src/a\n.rs", "docs/", false),
            ("src/\u{7}/x.rs", "src/**/x.rs", true),
            (&long, "src/", true),
            (&long, "src/*/*.rs", true),
            (&long, "src/x.rs", false),
            (&deep, "src/d/", true),
            (&deep, "src/d/e", false),
        ] {
            let path = PathPattern::existing(path, CaseRule::Exact).expect("a pattern");
            let lock = PathPattern::parse(lock, CaseRule::Exact).expect("a lock");
            assert_eq!(overlaps(&lock, &path), is_meant, "{lock} {path:?}");
        }
    }
}
