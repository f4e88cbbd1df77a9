//! Commits: who was told of one finds it on a branch, and each one on a branch is in the log.

use std::collections::BTreeSet;

use super::{Evidence, Findings, GitCommit, entries, texts};
use crate::told::Told;

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let log = &evidence.log;
    let there: BTreeSet<&str> = evidence.commits.iter().map(|commit| commit.id.as_str()).collect();
    let mut recorded = texts(log, "branch_merged", "commit");
    recorded.extend(entries(log, "file_commit").filter_map(|details| details["commit"]["id"].as_str()));
    for GitCommit { id, subject, .. } in evidence.commits.iter().filter(|commit| commit.is_on_branch) {
        if !recorded.contains(id.as_str()) {
            findings.unrecorded.push(format!("{id} {subject}"));
        }
    }
    let (added, removed) = (trees(evidence), texts(log, "worktree_removed", "slug"));
    let mut contents = evidence.contents.iter();
    for told in &evidence.told {
        let is_true = match told {
            Told::Committed { commit, text, .. } => {
                let content = contents.next().and_then(Option::as_ref);
                there.contains(commit.as_str()) && content == Some(text)
            }
            Told::Merged { commit } => there.contains(commit.as_str()),
            Told::TreeAdded { slug } => added.contains(slug.as_str()),
            Told::TreeRemoved { slug } => removed.contains(slug.as_str()),
            Told::NothingToCommit { subject } => {
                match evidence.commits.iter().find(|commit| commit.subject == *subject) {
                    Some(GitCommit { id, .. }) => findings.denied.push(format!("{id} {subject}")),
                    None => findings.lost.push(format!("{told:?}, though its file was changed")),
                }
                true
            }
            _ => true,
        };
        if !is_true {
            findings.lost.push(format!("{told:?}"));
        }
    }
}

fn trees(evidence: &Evidence) -> BTreeSet<&str> {
    entries(&evidence.log, "worktree_added").filter_map(|details| details["tree"]["slug"].as_str()).collect()
}
