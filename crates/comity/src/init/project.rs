//! `comity init --scope project`: settings that are checked in, for everybody who works on the repository.
//!
//! They name programs without paths, and do nothing where Comity is not installed.

use std::path::{Path, PathBuf};

use comity_guard::Dialect;
use comity_guard::connect::{ProgramPaths, connect, disconnect, project_places};

use super::files::{FileEdit, FileOutcome, InitRecord};
use super::report::{ClientReport, InitReport};
use super::{InitMode, User, chosen, found, pre_commit, shared_hooks};

pub(super) fn report(what: InitMode, only: &[String]) -> Result<InitReport, String> {
    let user = User::from_env()?;
    let root = pre_commit::top_level()
        .ok_or("not in a git repository: run this inside the one whose settings it is about")?;
    let connection = ProgramPaths::by_name();
    let mut clients: Vec<ClientReport> = Vec::new();
    for dialect in chosen(only)? {
        let is_found = found::is_here(dialect, &user);
        if is_found || !only.is_empty() || what.is_undo() {
            let changes = edits(dialect, what, &root, &connection);
            let by_hand = (!what.is_undo()).then(|| by_hand(dialect)).flatten();
            clients.push(ClientReport { dialect, is_found, changes, proof: None, by_hand });
        }
    }
    clients.retain(|client| !what.is_undo() || !only.is_empty() || client.has_changes());
    let mut repositories = match what.is_undo() {
        false => shared_hooks::written(&root),
        true => shared_hooks::removed(&root),
    };
    if what.is_undo() {
        repositories.retain(FileEdit::is_change);
    }
    let all = clients.iter_mut().flat_map(|client| client.changes.iter_mut()).chain(&mut repositories);
    // What is checked in belongs to the repository: git knows what it was, and another branch may not have it.
    all.for_each(|change| {
        change.keeps_copy = false;
        if !what.is_shown() {
            change.write(&mut InitRecord::default());
        }
    });
    let first = (!what.is_undo() && !is_on_path("comity-hook")).then(|| {
        "comity-hook isn't on your PATH: until it is, these settings do nothing on this machine (comity install)".to_owned()
    });
    Ok(InitReport {
        what,
        clients,
        repositories,
        scripts: Vec::new(),
        confined: None,
        first,
        is_project: true,
    })
}

fn edits(dialect: Dialect, what: InitMode, root: &Path, connection: &ProgramPaths) -> Vec<FileEdit> {
    let edits = project_places(dialect).iter().map(|place| {
        let file = place.file(root, |_| None);
        let other = place.other_file(root, |_| None).filter(|other| other.is_file() && !file.exists());
        let file = other.unwrap_or(file);
        let mut edit = FileEdit::of(&file, |text| match (what.is_undo(), text) {
            (false, text) => {
                connect(dialect, place.kind, text, connection).map(Some).map_err(|no| no.to_string())
            }
            (true, Some(text)) => disconnect(dialect, place.kind, text).map_err(|no| no.to_string()),
            (true, None) => Ok(None),
        });
        edit.new_mode = 0o644;
        leave_what_is_personal(edit, what, root)
    });
    edits.collect()
}

/// Leaves out files that git ignores: nobody checks them in.
fn leave_what_is_personal(mut edit: FileEdit, what: InitMode, root: &Path) -> FileEdit {
    let is_new = matches!(edit.outcome, FileOutcome::Created | FileOutcome::Changed) && !what.is_undo();
    if is_new && pre_commit::is_ignored(root, &edit.file) {
        edit.outcome = FileOutcome::Left(
            "git ignores it, so it can't be checked in; take it out of .gitignore first".into(),
        );
    }
    edit
}

/// What everybody has to do once on their machine.
fn by_hand(dialect: Dialect) -> Option<String> {
    Some(match dialect {
        Dialect::Codex => "everybody who uses it trusts the project and its hooks once, in /hooks".into(),
        Dialect::ClaudeCode | Dialect::GeminiCli => {
            "everybody who uses it trusts the folder once, when asked".into()
        }
        Dialect::CopilotCli | Dialect::Cursor | Dialect::OpenCode => return None,
    })
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir: PathBuf| dir.join(program)).any(|program| program.is_file())
}
