//! What is Comity's own, and nothing that an agent's command writes to.

use std::path::{Path, PathBuf};

use crate::application::Application;

/// The state directory, the socket and the directory of the person's settings.
///
/// If somebody works below one of them, all that is in it instead, except for that.
pub(super) fn paths(app: &Application, worked_in: &[PathBuf]) -> Vec<String> {
    let server = app.server();
    let worktrees = app.config().worktree.dir.clone();
    let worked_in: Vec<PathBuf> =
        worked_in.iter().cloned().chain(worktrees).map(|dir| dir.canonicalize().unwrap_or(dir)).collect();
    let settings = server.settings.as_deref().and_then(Path::parent);
    let all = [Some(&*server.home), Some(&*server.socket), settings].into_iter().flatten();
    let all = all.filter_map(|path| path.canonicalize().ok()).flat_map(|path| without(path, &worked_in));
    all.map(|path| path.to_string_lossy().into_owned()).collect()
}

fn without(path: PathBuf, worked_in: &[PathBuf]) -> Vec<PathBuf> {
    if !worked_in.iter().any(|dir| dir.starts_with(&path)) {
        return vec![path];
    }
    let inside = std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
    inside.filter(|path| !worked_in.iter().any(|dir| dir.starts_with(path))).collect()
}
