//! The paths that the simulation is about, and which files each of them means, written down by hand.

use std::collections::BTreeMap;

use comity_core::{CaseRule, PathPattern, ProjectId};

/// A set of files, one bit each; the second project's files have bits of their own.
pub(crate) type SimFiles = u64;

/// One pattern in one project.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) project: ProjectId,
    pub(crate) pattern: PathPattern,
}

/// All spots of all projects.
#[derive(Clone, Debug)]
pub(crate) struct SimPaths {
    pub(crate) spots: Vec<Spot>,
    by_text: BTreeMap<Box<str>, SimFiles>,
    projects: [ProjectId; 2],
}

const SECOND_PROJECT_SHIFT: u32 = 32;

/// Each pattern with the numbers of the files that it means. The files: 0 README.md, 1 src/main.rs, 2 src/lib.rs,
/// 3 src/ui/mod.rs, 4 src/ui/page.ts, 5 src/net/mod.rs, 6 docs/guide.md, 7 docs/mod.rs, 8 src/mod.rs, 9 mod.rs,
/// 10 docs/a/b.md. Any two patterns that overlap have one of these in common.
const PATTERNS: [(&str, &[u32]); 15] = [
    ("README.md", &[0]),
    ("src/main.rs", &[1]),
    ("src/lib.rs", &[2]),
    ("src/ui/mod.rs", &[3]),
    ("src/ui/page.ts", &[4]),
    ("docs/guide.md", &[6]),
    ("src/ui/", &[3, 4]),
    ("src/", &[1, 2, 3, 4, 5, 8]),
    ("src/*.rs", &[1, 2, 8]),
    ("src/**/*.rs", &[1, 2, 3, 5, 8]),
    ("src/*/mod.rs", &[3, 5]),
    ("**/mod.rs", &[3, 5, 7, 8, 9]),
    ("{docs,src/net}/", &[5, 6, 7, 10]),
    ("docs/*.md", &[6]),
    ("**", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
];

impl SimPaths {
    pub(crate) fn new() -> SimPaths {
        let projects = [ProjectId::from_bits(1), ProjectId::from_bits(2)];
        let mut spots = Vec::new();
        let mut by_text = BTreeMap::new();
        for (text, numbers) in PATTERNS {
            let Ok(pattern) = PathPattern::parse(text, CaseRule::Exact) else { continue };
            let files: SimFiles = numbers.iter().map(|number| 1 << number).sum();
            by_text.insert(pattern.as_str().into(), files);
            spots.extend(projects.map(|project| Spot { project, pattern: pattern.clone() }));
        }
        SimPaths { spots, by_text, projects }
    }

    /// The files that a pattern means in a project; none if it is not one of ours.
    pub(crate) fn files(&self, project: ProjectId, pattern: &PathPattern) -> SimFiles {
        let files = self.by_text.get(pattern.as_str()).copied().unwrap_or_default();
        files << if project == self.projects[1] { SECOND_PROJECT_SHIFT } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_agrees_with_exact_overlap() {
        let paths = SimPaths::new();
        assert_eq!(paths.spots.len(), 2 * PATTERNS.len(), "every pattern parses");
        for a in &paths.spots {
            for b in paths.spots.iter().filter(|b| b.project == a.project) {
                let exact = comity_core::paths::overlaps(&a.pattern, &b.pattern);
                let common = paths.files(a.project, &a.pattern) & paths.files(b.project, &b.pattern);
                assert_eq!(common != 0, exact, "{:?} against {:?}", a.pattern, b.pattern);
            }
        }
    }
}
