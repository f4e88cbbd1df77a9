//! Settings of agent programs in a repository: with them the next agent could be started without hooks and
//! confinement.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use comity_core::paths::{covers, overlaps};
use comity_core::{CaseRule, PathPattern, Principal, ProjectId, Refusal};

use super::targets::Touch;
use super::tool::words_of;
use crate::application::Application;

/// What agent programs read by themselves at the top of a worktree: hooks, variables, servers, plugins. Directories
/// include everything in them.
const NAMES: [&str; 18] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".gemini/.env",
    ".gemini/settings.json",
    ".github/hooks/",
    ".mcp.json",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".opencode/plugin/",
    ".opencode/plugins/",
    ".opencode/tool/",
    ".opencode/tools/",
    "opencode.json",
    "opencode.jsonc",
];
const EVERYTHING: &str = "**";

/// Refuses a call that would write any of it.
pub(super) fn check(app: &Application, touches: &[Touch]) -> Result<(), Refusal> {
    if app.config().guard.program_settings {
        return Ok(());
    }
    let is_meant = |touch: &&Touch| {
        let repository = touch.place.repository();
        NAMES.iter().any(|name| is_meant(&touch.pattern, name, repository.root(), repository.case()))
    };
    match touches.iter().find(is_meant) {
        Some(touch) => Err(refusal(app, &touch.pattern.readable())),
        None => Ok(()),
    }
}

/// Whether a pattern covers one of the names: the file itself, something in it, or an existing directory above it.
fn is_meant(pattern: &PathPattern, name: &str, root: &Path, case: CaseRule) -> bool {
    let Ok(named) = PathPattern::parse(name, case) else { return false };
    // What is done to a whole worktree, such as a checkout, is not about these.
    if pattern.as_str() == EVERYTHING || !overlaps(pattern, &named) {
        return false;
    }
    // As in shells, a wildcard at the beginning matches no hidden name.
    let first = name.split('/').next();
    let begins_with_it = pattern.alternatives().iter().any(|one| one.prefix().next() == first);
    (begins_with_it || !name.starts_with('.'))
        && (covers(&named, pattern) || root.join(name.trim_end_matches('/')).exists())
}

/// Those of them that exist at or below a path from the top of a worktree.
pub(crate) fn program_settings_at(root: &Path, path: &Path) -> Vec<PathBuf> {
    let named = NAMES.iter().map(Path::new);
    let all = named.filter_map(|name| match path.starts_with(name) {
        true => Some(path),
        false => name.starts_with(path).then_some(name),
    });
    all.filter(|path| root.join(path).exists()).map(Path::to_owned).collect()
}

/// Why no agent may write it, and what it can do.
fn refusal(app: &Application, path: &str) -> Refusal {
    let file = match &app.server().settings {
        Some(file) => file.display().to_string(),
        None => "your settings of Comity".into(),
    };
    Refusal::NotAllowed {
        problem: format!(
            "{path} says how agent programs start here, with which hooks and servers, so no agent writes to it"
        ),
        hint: format!(
            "ask your human to change it, or to let agents do so: program_settings = true below [guard] in {file}, then: comity restart"
        ),
    }
}

/// Those that exist in the worktrees of the projects that agents work in, and in this directory's.
pub(super) fn paths(app: &Application, cwd: Option<&Path>) -> Vec<PathBuf> {
    if app.config().guard.program_settings {
        return Vec::new();
    }
    let dirs = dirs_of_agents(app).into_iter().chain(cwd.map(Path::to_owned));
    let places = dirs.filter_map(|dir| app.projects().at(&dir).ok());
    let common_dirs: BTreeSet<PathBuf> =
        places.map(|place| place.repository().common_dir().to_owned()).chain(locked_in(app)).collect();
    let roots = common_dirs.iter().filter_map(|dir| comity_git::worktrees(dir).ok()).flatten();
    let files = roots.flat_map(|root| NAMES.map(|name| root.join(name.trim_end_matches('/'))));
    files.filter_map(|file| file.canonicalize().ok()).collect()
}

fn dirs_of_agents(app: &Application) -> BTreeSet<PathBuf> {
    let live: Vec<_> = {
        let world = app.engine().world();
        world.agents.live().map(|agent| (agent.id, agent.profile.cwd.clone())).collect()
    };
    let of = |(id, cwd): (_, Option<_>)| {
        let cwd: Option<Box<str>> = cwd;
        cwd.map(|cwd| PathBuf::from(&*cwd)).into_iter().chain(app.watch().places_of(id))
    };
    live.into_iter().flat_map(of).collect()
}

fn locked_in(app: &Application) -> Vec<PathBuf> {
    let world = app.engine().world();
    let projects: BTreeSet<ProjectId> = world
        .locks
        .iter()
        .filter(|lock| matches!(lock.holder, Principal::Agent(_)))
        .map(|lock| lock.wanted.project)
        .collect();
    let known = projects.iter().filter_map(|id| world.projects.get(id));
    known.map(|project| PathBuf::from(&*project.common_dir)).collect()
}

/// Why a command could not write one of these, if its output names one.
pub(super) fn explanation(app: &Application, told: &str) -> Option<String> {
    if app.config().guard.program_settings {
        return None;
    }
    let name = NAMES.iter().map(|name| name.trim_end_matches('/')).find(|name| told.contains(name))?;
    Some(words_of(&refusal(app, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expected: bool) {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join(".claude")).expect("made");
        for name in [".claude/settings.json", "opencode.json"] {
            std::fs::write(dir.path().join(name), "{}").expect("written");
        }
        let pattern = PathPattern::parse(pattern, CaseRule::Exact).expect("a pattern");
        let is = NAMES.iter().any(|name| is_meant(&pattern, name, dir.path(), CaseRule::Exact));
        assert_eq!(is, expected, "{pattern:?}");
    }

    #[test]
    fn it_is_meant_by_its_name_and_by_what_is_above_it() {
        for pattern in [
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".claude/",
            ".claude",
            ".claude/*.json",
            "*.json",
            ".github/hooks/any.json",
            ".opencode/plugins/any/deep.js",
        ] {
            check(pattern, true);
        }
        for pattern in [
            "**",
            ".claude/commands/review.md",
            ".claude/agents/",
            ".gemini/",
            ".github/workflows/ci.yml",
            "src/.claude/settings.json",
            "src/**/*.json",
            "*.rs",
        ] {
            check(pattern, false);
        }
    }
}
