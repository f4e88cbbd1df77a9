//! A note in the state directory that says how to take Comity out once its programs are gone, and cannot do it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use comity_wire::Home;

use super::InitMode;

const FILE: &str = "UNINSTALL.txt";

/// Writes the note, or removes it with what it is about.
pub(super) fn note<'a>(
    home: &Home,
    what: InitMode,
    settings: impl Iterator<Item = &'a Path>,
    commit_hooks: &[PathBuf],
) -> Result<(), String> {
    let file = home.path().join(FILE);
    let done = match what {
        InitMode::Do => fs::write(&file, text(settings, commit_hooks)),
        InitMode::Undo if commit_hooks.is_empty() => match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
        InitMode::Undo | InitMode::Show | InitMode::ShowUndo => Ok(()),
    };
    done.map_err(|error| format!("{}: {error}", file.display()))
}

fn text<'a>(settings: impl Iterator<Item = &'a Path>, commit_hooks: &[PathBuf]) -> String {
    let list =
        |files: Vec<&Path>| files.iter().map(|file| format!("  {}\n", file.display())).collect::<String>();
    format!(
        "Remove Comity with: comity uninstall\n\n\
         If its programs are gone already, agent programs say that comity-hook or comity-confine is not found, and may refuse\n\
         every tool call. Then take out by hand what names comity, comity-hook or comity-confine (CLAUDE_CODE_SHELL_PREFIX,\n\
         BASH_ENV and ZDOTDIR, too) from those of these files that exist; a copy from before is beside each, named\n\
         *.before-comity:\n{}\n\
         And the lines from \"# comity: begin\" to \"# comity: end\" from:\n{}",
        list(settings.collect()),
        list(commit_hooks.iter().map(PathBuf::as_path).collect())
    )
}
