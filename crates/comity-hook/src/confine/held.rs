//! What the server says that others hold, as paths.

use std::collections::HashMap;
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
        let (mut paths, mut dirs) = (Vec::new(), Dirs::default());
        for (roots, patterns) in &self.held {
            // The text is canonical: it was folded when the lock was taken.
            let patterns: Vec<PathPattern> =
                patterns.iter().filter_map(|text| PathPattern::parse(text, CaseRule::Exact).ok()).collect();
            for root in roots {
                patterns.iter().for_each(|pattern| held_below(root, pattern, &mut dirs, &mut paths));
            }
        }
        paths
    }
}

fn held_below(root: &Path, pattern: &PathPattern, dirs: &mut Dirs, paths: &mut Vec<PathBuf>) {
    for alternative in pattern.alternatives() {
        let at: PathBuf = std::iter::once(root).chain(alternative.prefix().map(Path::new)).collect();
        match alternative.rest() {
            [] => paths.extend(dirs.resolved(at).filter(|(_, is_dir)| !is_dir).map(|(path, _)| path)),
            [Component::AnyDepth] => paths.extend(dirs.resolved(at).map(|(path, _)| path)),
            _ => globs::expand(root, &at, pattern, paths),
        }
    }
}

/// Directories by where they really are: many held paths are in one.
#[derive(Default)]
struct Dirs(HashMap<PathBuf, Option<PathBuf>>);

impl Dirs {
    /// The path that leads there without symlinks, and whether it is a directory: a name alone does not hold what is
    /// below it.
    fn resolved(&mut self, path: PathBuf) -> Option<(PathBuf, bool)> {
        let found = path.symlink_metadata().ok().map(|found| found.file_type());
        if found.is_some_and(|found| found.is_symlink()) {
            let real = path.canonicalize().ok()?;
            let is_dir = real.is_dir();
            return Some((real, is_dir));
        }
        let (parent, name) = (path.parent()?, path.file_name()?);
        if !self.0.contains_key(parent) {
            self.0.insert(parent.to_owned(), parent.canonicalize().ok());
        }
        let real = self.0.get(parent).cloned().flatten().unwrap_or_else(|| parent.to_owned());
        Some((real.join(name), found.is_some_and(|found| found.is_dir())))
    }
}
