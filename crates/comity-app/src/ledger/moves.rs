//! Branches that move, as people read it.

use comity_core::moves::{Act, Move};

use crate::operations::commits::files;

/// The first characters of a commit's id, as git shows it.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

pub(super) fn intended(by: &str, intended: &Move) -> String {
    let commit = short(&intended.new);
    match &intended.act {
        Act::Commit { commit: made, .. } => {
            let (files, on) = (files(made.files_total), on(intended.branch.as_deref()));
            format!("{by} is about to commit {files} as {commit}{on}: {}", made.subject)
        }
        Act::Merge { source, target, .. } => {
            format!("{by} is about to merge {source} into {target} as {commit}")
        }
    }
}

pub(super) fn undone(of: &str, commit: &str, branch: Option<&str>) -> String {
    format!("{of} did not move {} to {} after all", branch.map_or("HEAD", name), short(commit))
}

/// What is said of one that was found on its branch.
pub(super) fn found_later(recovered: bool) -> &'static str {
    if recovered { " (found on its branch: it was made, and not recorded)" } else { "" }
}

fn on(branch: Option<&str>) -> String {
    branch.map(|branch| format!(" on {}", name(branch))).unwrap_or_default()
}

fn name(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}
