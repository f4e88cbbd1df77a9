//! Judges what clients were told against the log, git and each other.

mod commits;
mod letters;
mod locks;
mod rescues;
mod tasks;
#[cfg(test)]
mod tests;
mod trees;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::told::Told;

/// All that is known when a run is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) told: Vec<Told>,
    /// The log, from its first entry.
    pub(crate) log: Vec<Value>,
    /// All commits but the first one.
    pub(crate) commits: Vec<RepoCommit>,
    /// What each commit that somebody was told of has in its file; nothing if it is not there.
    pub(crate) contents: Vec<Option<String>>,
    /// The refs that keep what was put aside, and their commits.
    pub(crate) rescues: BTreeMap<String, String>,
}

/// A commit that git has.
#[derive(Clone, Debug)]
pub(crate) struct RepoCommit {
    pub(crate) id: String,
    pub(crate) parents: Vec<String>,
    pub(crate) subject: String,
    /// Whether a branch has it; else only what keeps work from being lost.
    pub(crate) is_on_branch: bool,
}

/// What is wrong, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// What was told, and is not so.
    pub(crate) lost: Vec<String>,
    /// What two had at the same time, or came twice.
    pub(crate) twice: Vec<String>,
    /// Commits on a branch that no entry of the log tells of.
    pub(crate) unrecorded: Vec<String>,
    /// Commits whose agent was told that there was nothing to commit.
    pub(crate) denied: Vec<String>,
}

pub(crate) fn judge(evidence: &Evidence) -> Findings {
    let mut findings = Findings::default();
    for (at, entry) in evidence.log.iter().enumerate() {
        if entry["seq"].as_u64() != Some(at as u64 + 1) {
            findings.lost.push(format!("entry {} of the log", at + 1));
            break;
        }
    }
    for told in &evidence.told {
        let Told::Followed { seq, action } = told else { continue };
        let entry = seq.checked_sub(1).and_then(|at| evidence.log.get(usize::try_from(at).ok()?));
        if entry.is_none_or(|entry| entry["action"] != **action) {
            findings.lost.push(format!("{told:?}; the log has {entry:?}"));
        }
    }
    locks::judge(evidence, &mut findings);
    tasks::judge(evidence, &mut findings);
    letters::judge(evidence, &mut findings);
    commits::judge(evidence, &mut findings);
    rescues::judge(evidence, &mut findings);
    trees::judge(evidence, &mut findings);
    findings
}

/// The entries with this action.
fn entries<'a>(log: &'a [Value], action: &'a str) -> impl Iterator<Item = &'a Value> {
    log.iter().filter(move |entry| entry["action"] == action).map(|entry| &entry["details"])
}

/// The texts of a field in all entries with this action.
fn texts<'a>(log: &'a [Value], action: &'a str, field: &'a str) -> BTreeSet<&'a str> {
    entries(log, action).filter_map(move |details| details[field].as_str()).collect()
}

/// The numbers of a field in all entries with this action.
fn numbers(log: &[Value], action: &str, field: &str) -> BTreeSet<u64> {
    entries(log, action).filter_map(|details| details[field].as_u64()).collect()
}
