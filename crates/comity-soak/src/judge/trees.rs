//! Worktrees: each is made, brought back and put into the trash as often as its agent was told.

use std::collections::BTreeMap;

use super::{Evidence, Findings, entries};
use crate::told::Told;

/// What was told of one worktree, and what the log has.
#[derive(Default)]
struct TreeStory {
    told_there: usize,
    told_gone: usize,
    there: usize,
    gone: usize,
}

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let mut stories: BTreeMap<&str, TreeStory> = BTreeMap::new();
    for told in &evidence.told {
        match told {
            Told::TreeAdded { slug } | Told::TreeRestored { slug } => {
                stories.entry(slug).or_default().told_there += 1;
            }
            Told::TreeRemoved { slug } => stories.entry(slug).or_default().told_gone += 1,
            _ => {}
        }
    }
    for slug in
        entries(&evidence.log, "worktree_added").filter_map(|details| details["tree"]["slug"].as_str())
    {
        stories.entry(slug).or_default().there += 1;
    }
    for slug in entries(&evidence.log, "worktree_removed").filter_map(|details| details["slug"].as_str()) {
        stories.entry(slug).or_default().gone += 1;
    }
    for (slug, TreeStory { told_there, told_gone, there, gone }) in stories {
        if there < told_there || gone < told_gone {
            findings.lost.push(format!(
                "worktree {slug}: told {told_there} times that it is there and {told_gone} times that it is gone; the \
                 log has {there} and {gone}"
            ));
        }
        if there > told_there || gone > told_gone {
            findings.twice.push(format!(
                "worktree {slug}: in the log {there} times there and {gone} times gone; told {told_there} and \
                 {told_gone}"
            ));
        }
    }
}
