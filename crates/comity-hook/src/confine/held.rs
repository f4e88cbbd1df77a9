//! What the server says that others hold, as paths.

use std::path::{Path, PathBuf};

use comity_core::paths::Component;
use comity_core::{CaseRule, PathPattern};
use serde_json::Value;

use super::globs;
use crate::server::Server;

/// What a command of this agent is confined to.
pub(super) struct Answer {
    pub(super) policy: String,
    pub(super) sealed: bool,
    pub(super) network: bool,
    held: Vec<(Vec<PathBuf>, Vec<String>)>,
}

pub(super) fn ask() -> Result<Answer, String> {
    let mut server = Server::find()?;
    let reply = server.ask("guard_confine", "{}".into())?;
    if let Some(error) = reply.error {
        return Err(error.get().to_owned());
    }
    let said = reply.ok.ok_or("an answer without output")?;
    let said: Value = serde_json::from_str(said.get()).map_err(|error| error.to_string())?;
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    let project = |project: &Value| {
        let roots = texts(&project["roots"]).into_iter().map(PathBuf::from).collect();
        (roots, texts(&project["patterns"]))
    };
    Ok(Answer {
        policy: said["policy"].as_str().unwrap_or_default().to_owned(),
        sealed: said["sealed"].as_bool().ok_or("an answer that is not understood")?,
        network: said["network"].as_bool().ok_or("an answer that is not understood")?,
        held: said["held"].as_array().into_iter().flatten().map(project).collect(),
    })
}

impl Answer {
    /// The worktrees of all projects in which somebody holds something.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        self.held.iter().flat_map(|(roots, _)| roots.iter().cloned()).collect()
    }

    /// All that is held, in all worktrees: the name in each of them is what the lock is about.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for (roots, patterns) in &self.held {
            // The text is canonical: it was folded when the lock was taken.
            let patterns: Vec<PathPattern> =
                patterns.iter().filter_map(|text| PathPattern::parse(text, CaseRule::Exact).ok()).collect();
            for root in roots {
                patterns.iter().for_each(|pattern| held_below(root, pattern, &mut paths));
            }
        }
        paths
    }
}

fn held_below(root: &Path, pattern: &PathPattern, paths: &mut Vec<PathBuf>) {
    for alternative in pattern.alternatives() {
        let at: PathBuf = std::iter::once(root).chain(alternative.prefix().map(Path::new)).collect();
        match alternative.rest() {
            // A name alone does not hold what is below it.
            [] if at.is_dir() => {}
            [] | [Component::AnyDepth] => paths.push(resolved(at)),
            _ => globs::expand(root, &at, pattern, paths),
        }
    }
}

/// The path that leads there without symlinks.
fn resolved(path: PathBuf) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path,
    }
}
