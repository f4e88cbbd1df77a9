//! What `comity init` did, in words and as JSON.

use std::process::ExitCode;

use comity_core::display::counted;
use comity_guard::Dialect;
use comity_guard::connect::gaps;
use serde_json::{Value, json};

use super::files::{FileEdit, FileOutcome};
use super::proof::{GuardProof, ProgramProof};
use super::{InitMode, shells};
use crate::cli::output::{self, FAULT, OutputFormat};

pub(super) struct ClientReport {
    pub(super) dialect: Dialect,
    pub(super) is_found: bool,
    pub(super) changes: Vec<FileEdit>,
    /// The result of proving its guard, if that was tried.
    pub(super) proof: Option<ProgramProof>,
    /// What the user has to do besides.
    pub(super) by_hand: Option<String>,
}

pub(super) struct InitReport {
    pub(super) what: InitMode,
    pub(super) clients: Vec<ClientReport>,
    /// The git hooks: of this repository, or all from which ours are removed.
    pub(super) repositories: Vec<FileEdit>,
    /// The file that bash reads first, or all such files that are removed.
    pub(super) scripts: Vec<FileEdit>,
    /// Whether commands can be confined here, if that was tried.
    pub(super) confined: Option<Result<(), String>>,
    /// What has to be done before any of it can be.
    pub(super) first: Option<String>,
    /// Whether it is about settings that are checked in.
    pub(super) is_project: bool,
}

impl ClientReport {
    pub(super) fn has_changes(&self) -> bool {
        self.changes.iter().any(FileEdit::is_change)
    }

    fn is_good(&self) -> bool {
        self.proof.as_ref().is_none_or(|proof| {
            // What is left to its user is no fault.
            matches!(proof.guard, GuardProof::Proven | GuardProof::NotActive(_))
        })
    }

    fn json(&self) -> Value {
        let guard = self.proof.as_ref().map(|proof| &proof.guard);
        json!({
            "client": self.dialect.name(),
            "found": self.is_found,
            "files": self.changes.iter().map(file).collect::<Vec<Value>>(),
            "connected": guard.map(|guard| !matches!(guard, GuardProof::NotConnected(_))),
            "proven": guard.map(|guard| matches!(guard, GuardProof::Proven)),
            "active": guard.map(|guard| !matches!(guard, GuardProof::NotConnected(_) | GuardProof::NotActive(_))),
            "problem": guard.and_then(GuardProof::problem),
            "confined": self.proof.as_ref().map(|proof| proof.shell.is_ok()),
            "not_confined_because": self.proof.as_ref().and_then(|proof| proof.shell.as_ref().err()),
            "by_hand": self.by_hand,
            "gaps": gaps(self.dialect),
        })
    }

    /// What was proven, for people. If nothing can be confined, that is said once for all.
    fn tell(&self, can_confine: bool, lines: &mut Vec<String>) {
        let Some(ProgramProof { guard, shell }) = &self.proof else { return };
        lines.push(match guard {
            GuardProof::Proven => {
                "  proven   a write to a file that somebody else has locked is denied".into()
            }
            GuardProof::NotConnected(why) => format!("  NOT CONNECTED  {why}"),
            GuardProof::NotActive(why) => format!("  NOT ACTIVE  {why}"),
            GuardProof::NotProven(why) => format!("  NOT PROVEN  {why}"),
        });
        match shell {
            Ok(()) => {
                lines.push(
                    "  confined what others hold is read-only for its shell commands, in the kernel".into(),
                );
            }
            Err(why) if can_confine => lines.push(format!("  NOT CONFINED  {why}")),
            Err(_) => {}
        }
    }
}

impl InitReport {
    pub(super) fn show(&self, form: OutputFormat) -> ExitCode {
        match form {
            OutputFormat::Json => output::print(&self.json().to_string()),
            OutputFormat::Text => output::page(&self.words().join("\n")),
        }
        if self.is_good() { ExitCode::SUCCESS } else { ExitCode::from(FAULT) }
    }

    fn is_good(&self) -> bool {
        let changes = self.clients.iter().flat_map(|client| client.changes.iter());
        let mut changes = changes.chain(&self.repositories).chain(&self.scripts);
        !changes.any(|change| matches!(change.outcome, FileOutcome::Failed(_)))
            && self.clients.iter().all(ClientReport::is_good)
    }

    fn json(&self) -> Value {
        let files = |changes: &[FileEdit]| changes.iter().map(file).collect::<Vec<Value>>();
        json!({
            "ok": self.is_good(),
            "dry_run": self.what.is_shown(),
            "clients": self.clients.iter().map(ClientReport::json).collect::<Vec<Value>>(),
            "repositories": files(&self.repositories),
            "shells": files(&self.scripts),
            "can_confine": self.confined.as_ref().map(Result::is_ok),
        })
    }

    fn words(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.first.iter().cloned().collect();
        if self.clients.is_empty() && !self.what.is_undo() {
            lines.push(
                "no agent program was found; to set one up anyway, name it: comity init --client claude"
                    .into(),
            );
        }
        let can_confine = !matches!(self.confined, Some(Err(_)));
        for client in &self.clients {
            lines.push(client.dialect.name().to_owned());
            let told = client.changes.iter().filter(|change| change.is_change() || !self.what.is_undo());
            told.for_each(|change| self.tell(change, &mut lines));
            client.tell(can_confine, &mut lines);
            if !self.what.is_undo() {
                lines.extend(client.by_hand.iter().map(|rest| format!("  by hand  {rest}")));
            }
        }
        if !self.scripts.is_empty() || self.confined.is_some() {
            lines.push("shell commands".into());
        }
        self.scripts.iter().for_each(|script| self.tell(script, &mut lines));
        if let Some(Err(problem)) = &self.confined {
            lines.extend([
                format!("  NOT CONFINED  {problem}; hooks alone guard what others hold"),
                format!("           {}", shells::advice()),
            ]);
        }
        match (self.repositories.is_empty(), self.what.is_undo()) {
            (false, _) => {
                lines.push(if self.what.is_undo() { "repositories" } else { "this repository" }.into());
                self.repositories.iter().for_each(|change| self.tell(change, &mut lines));
            }
            (true, false) if self.is_project => {
                lines.push("no hooks of git are checked in here: comity init guards the commits of your own checkout".into());
            }
            (true, false) => {
                lines.push("not in a git repository: run this inside one to guard its commits".into());
            }
            (true, true) => {}
        }
        if !self.what.is_undo() {
            let dialects: Vec<Dialect> = self.clients.iter().map(|client| client.dialect).collect();
            lines.extend(told_gaps(&dialects));
        }
        lines.push(match self.what {
            InitMode::Do if self.is_project => {
                "commit these files; undo all of it with: comity init --scope project --undo".into()
            }
            InitMode::Undo if self.is_project && !lines.is_empty() => "commit what has changed".into(),
            InitMode::Do => "undo all of it with: comity init --undo".into(),
            InitMode::Show => "nothing was changed; do it with: comity init".into(),
            InitMode::Undo | InitMode::ShowUndo if lines.is_empty() => {
                "nothing of comity init's is left here".into()
            }
            InitMode::Undo => "backups stay beside the files, named *.before-comity".into(),
            InitMode::ShowUndo => "nothing was changed; do it with: comity init --undo".into(),
        });
        lines
    }

    fn tell(&self, change: &FileEdit, lines: &mut Vec<String>) {
        let word = match self.what.is_shown() {
            true => intention(&change.outcome),
            false => word(&change.outcome),
        };
        lines.push(format!("  {word:<8} {}", change.file.display()));
        match &change.outcome {
            FileOutcome::Failed(problem) | FileOutcome::Left(problem) => {
                lines.push(format!("           {problem}"))
            }
            FileOutcome::Changed if self.what.is_shown() => {
                lines.extend(change.difference().lines().map(|line| format!("           {line}")));
            }
            // All of it is Comity's.
            FileOutcome::Created if self.what.is_shown() => {
                let count = change.after().unwrap_or_default().lines().count();
                lines.push(format!("           {}", counted(count, "line")));
            }
            FileOutcome::Same | FileOutcome::Created | FileOutcome::Changed | FileOutcome::Removed => {}
        }
    }
}

/// What the guards of these programs leave open, each said once.
fn told_gaps(dialects: &[Dialect]) -> Vec<String> {
    let mut open: Vec<(&str, Vec<&str>)> = Vec::new();
    for dialect in dialects {
        for gap in gaps(*dialect) {
            match open.iter_mut().find(|(known, _)| known == gap) {
                Some((_, names)) => names.push(dialect.name()),
                None => open.push((gap, vec![dialect.name()])),
            }
        }
    }
    let whose = |names: &[&str]| match names.len() == dialects.len() && names.len() > 1 {
        true => "all".to_owned(),
        false => names.join(", "),
    };
    let lines = open.iter().map(|(gap, names)| format!("  {}: {gap}", whose(names)));
    let title = (!open.is_empty()).then(|| "gaps that remain".to_owned());
    title.into_iter().chain(lines).collect()
}

fn word(outcome: &FileOutcome) -> &'static str {
    match outcome {
        FileOutcome::Same => "same",
        FileOutcome::Created => "created",
        FileOutcome::Changed => "changed",
        FileOutcome::Removed => "removed",
        FileOutcome::Failed(_) => "FAILED",
        FileOutcome::Left(_) => "by hand",
    }
}

fn intention(outcome: &FileOutcome) -> &'static str {
    match outcome {
        FileOutcome::Created => "create",
        FileOutcome::Changed => "change",
        FileOutcome::Removed => "remove",
        FileOutcome::Failed(_) => "CAN'T",
        FileOutcome::Same | FileOutcome::Left(_) => word(outcome),
    }
}

fn file(change: &FileEdit) -> Value {
    let problem = match &change.outcome {
        FileOutcome::Failed(problem) | FileOutcome::Left(problem) => Some(problem),
        FileOutcome::Same | FileOutcome::Created | FileOutcome::Changed | FileOutcome::Removed => None,
    };
    let word = word(&change.outcome).to_lowercase().replace(' ', "_");
    json!({ "file": change.file, "change": word, "problem": problem })
}
