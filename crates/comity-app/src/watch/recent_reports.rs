//! Recent reports: a file that is written continuously is reported once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use comity_core::ProjectId;

use super::observation::WriteSuspects;

/// The same is reported again after this long without a write.
const QUIET: Duration = Duration::from_secs(10);
/// Remembered reports; beyond that all are forgotten, and perhaps repeated.
const TOLD_MAX: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct RecentReports(HashMap<(ProjectId, Box<str>), (WriteSuspects, Instant)>);

impl RecentReports {
    /// Whether just this was reported recently; asking keeps it remembered.
    pub(super) fn has(
        &mut self,
        project: ProjectId,
        path: &str,
        suspects: &WriteSuspects,
        now: Instant,
    ) -> bool {
        match self.0.get_mut(&(project, path.into())) {
            Some((told, at)) if told == suspects && now.duration_since(*at) < QUIET => {
                *at = now;
                true
            }
            _ => false,
        }
    }

    pub(super) fn note(&mut self, project: ProjectId, path: &str, suspects: &WriteSuspects, now: Instant) {
        if self.0.len() >= TOLD_MAX {
            self.0.retain(|_, (_, at)| now.duration_since(*at) < QUIET);
        }
        if self.0.len() >= TOLD_MAX {
            self.0.clear();
        }
        self.0.insert((project, path.into()), (suspects.clone(), now));
    }
}

#[cfg(test)]
mod tests {
    use comity_core::AgentId;

    use super::*;

    #[test]
    fn the_same_is_told_once_until_it_was_quiet() {
        let (project, begun, mut told) = (ProjectId::from_bits(1), Instant::now(), RecentReports::default());
        let nobody = WriteSuspects { holder: None, candidates: vec![] };
        let ann = WriteSuspects { holder: None, candidates: vec![AgentId::from_bits(1)] };
        assert!(!told.has(project, "a", &nobody, begun));
        told.note(project, "a", &nobody, begun);
        for step in 1..=5 {
            let later = begun + QUIET / 2 * step;
            assert!(told.has(project, "a", &nobody, later), "it goes on");
        }
        let later = begun + QUIET / 2 * 5;
        assert!(!told.has(project, "a", &ann, later), "another author is news");
        assert!(!told.has(project, "b", &nobody, later));
        assert!(!told.has(project, "a", &nobody, later + QUIET));
    }
}
