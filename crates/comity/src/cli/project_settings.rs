//! What `comity doctor` says about the current project's settings.

use comity_app::config::ProjectConfig;

use super::doctor::{Finding, bad, good};

const WHAT: &str = "project";

pub(super) fn look() -> Finding {
    let here = std::env::current_dir().and_then(|cwd| comity_git::Repository::containing(&cwd));
    let repository = match here {
        Ok(Some(repository)) => repository,
        Ok(None) => return good(WHAT, "none here"),
        Err(error) => {
            return bad(WHAT, format!("the repository here can't be used: {error}"), "see: git status");
        }
    };
    let file = repository.root().join("comity.toml");
    match ProjectConfig::read(repository.root()) {
        Ok(_) if file.is_file() => good(WHAT, format!("{} is in order", file.display())),
        Ok(_) => good(WHAT, format!("{} has no settings of its own", repository.root().display())),
        Err(problem) => {
            bad(WHAT, problem, "fix it; until then locks and worktrees of this project are refused")
        }
    }
}
