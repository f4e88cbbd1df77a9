//! Commits: who was told of one finds it on a branch, and each one on a branch is in the log.

use std::collections::BTreeSet;

use super::{Evidence, Findings, RepoCommit, entries, texts};
use crate::told::Told;

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let log = &evidence.log;
    let there: BTreeSet<&str> = evidence.commits.iter().map(|commit| commit.id.as_str()).collect();
    let mut recorded = texts(log, "branch_merged", "commit");
    recorded.extend(entries(log, "file_commit").filter_map(|details| details["commit"]["id"].as_str()));
    for RepoCommit { id, subject, .. } in evidence.commits.iter().filter(|commit| commit.is_on_branch) {
        if !recorded.contains(id.as_str()) {
            findings.unrecorded.push(format!("{id} {subject}"));
        }
    }
    let mut contents = evidence.contents.iter();
    for told in &evidence.told {
        let is_content = told.content().map(|(commit, _, text)| {
            let content = contents.next().and_then(Option::as_deref);
            there.contains(commit) && content == Some(text)
        });
        let is_true = match told {
            Told::Merged { commit } => there.contains(commit.as_str()),
            Told::MergeFinished { commit, theirs } => {
                let made = evidence.commits.iter().find(|made| made.id == *commit);
                made.is_some_and(|made| made.parents.len() == 2 && made.parents[1] == *theirs)
            }
            Told::NothingToCommit { subject } => {
                match evidence.commits.iter().find(|commit| commit.subject == *subject) {
                    Some(RepoCommit { id, .. }) => findings.denied.push(format!("{id} {subject}")),
                    None => findings.lost.push(format!("{told:?}, though its file was changed")),
                }
                true
            }
            _ => is_content.unwrap_or(true),
        };
        if !is_true {
            findings.lost.push(format!("{told:?}"));
        }
    }
}
