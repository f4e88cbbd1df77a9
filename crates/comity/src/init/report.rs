//! What `comity init` did, in words and as JSON.

use std::process::ExitCode;

use comity_guard::Dialect;
use serde_json::{Value, json};

use super::files::{Change, Outcome};
use super::{What, shells};
use crate::cli::output::{self, FAULT, Form};

/// One agent program.
pub(super) struct ClientReport {
    pub(super) dialect: Dialect,
    pub(super) is_found: bool,
    pub(super) changes: Vec<Change>,
    /// Whether its guard was proven, if that was tried.
    pub(super) proven: Option<Result<(), String>>,
    /// What the user has to do besides.
    pub(super) by_hand: Option<String>,
}

/// All that was done.
pub(super) struct Report {
    pub(super) what: What,
    pub(super) clients: Vec<ClientReport>,
    pub(super) repository: Option<Change>,
    /// The file that bash reads first.
    pub(super) script: Change,
    /// Whether commands can be confined here, if that was tried.
    pub(super) confined: Option<Result<(), String>>,
    pub(super) gaps: Vec<(Dialect, &'static [&'static str])>,
}

impl Report {
    pub(super) fn show(&self, form: Form) -> ExitCode {
        match form {
            Form::Json => output::print(&self.json().to_string()),
            Form::Text => self.words().iter().for_each(|line| output::print(line)),
        }
        if self.is_good() { ExitCode::SUCCESS } else { ExitCode::from(FAULT) }
    }

    fn changes(&self) -> impl Iterator<Item = &Change> {
        let changes = self.clients.iter().flat_map(|client| client.changes.iter());
        changes.chain(self.repository.iter()).chain([&self.script])
    }

    fn is_good(&self) -> bool {
        let failed = |change: &Change| matches!(change.outcome, Outcome::Failed(_));
        !self.changes().any(failed)
            && !self.clients.iter().any(|client| matches!(client.proven, Some(Err(_))))
    }

    fn json(&self) -> Value {
        let client = |client: &ClientReport| {
            json!({
                "client": client.dialect.name(),
                "found": client.is_found,
                "files": client.changes.iter().map(file).collect::<Vec<Value>>(),
                "proven": client.proven.as_ref().map(Result::is_ok),
                "problem": client.proven.as_ref().and_then(|proven| proven.as_ref().err()),
                "by_hand": client.by_hand,
                "gaps": self.gaps_of(client.dialect),
            })
        };
        json!({
            "ok": self.is_good(),
            "dry_run": self.what == What::Show,
            "clients": self.clients.iter().map(client).collect::<Vec<Value>>(),
            "repository": self.repository.as_ref().map(file),
            "shells": file(&self.script),
            "confined": self.confined.as_ref().map(Result::is_ok),
        })
    }

    fn gaps_of(&self, dialect: Dialect) -> &'static [&'static str] {
        self.gaps.iter().find(|(of, _)| *of == dialect).map_or(&[], |(_, gaps)| gaps)
    }

    fn words(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.clients.is_empty() {
            lines.push(
                "no agent program was found; name one to set it up all the same: comity init --client claude"
                    .into(),
            );
        }
        for client in &self.clients {
            lines.push(client.dialect.name().to_owned());
            client.changes.iter().for_each(|change| self.tell(change, &mut lines));
            match &client.proven {
                None => {}
                Some(Ok(())) => {
                    lines.push("  proven   a write to a file that somebody else has locked is denied".into())
                }
                Some(Err(problem)) => lines.push(format!("  NOT PROVEN  {problem}")),
            }
            if self.what != What::Undo {
                lines.extend(client.by_hand.iter().map(|rest| format!("  by hand  {rest}")));
                lines.extend(self.gaps_of(client.dialect).iter().map(|gap| format!("  gap      {gap}")));
            }
        }
        lines.push("shell commands".into());
        self.tell(&self.script, &mut lines);
        match &self.confined {
            None => {}
            Some(Ok(())) => lines.push(
                "  confined what others hold is read-only for the shell commands of agents, in the kernel"
                    .into(),
            ),
            Some(Err(problem)) => lines.extend([
                format!("  NOT CONFINED  {problem}; hooks alone guard what others hold"),
                format!("           {}", shells::advice()),
            ]),
        }
        match &self.repository {
            Some(change) => {
                lines.push("this repository".into());
                self.tell(change, &mut lines);
            }
            None => lines
                .push("not in a git repository: commits are guarded where you run this inside of one".into()),
        }
        lines.push(match self.what {
            What::Do => "undo all of it with: comity init --undo".into(),
            What::Show => "nothing was changed; do it with: comity init".into(),
            What::Undo => "what is left of it are backups beside the files, named *.before-comity".into(),
        });
        lines
    }

    fn tell(&self, change: &Change, lines: &mut Vec<String>) {
        lines.push(format!("  {:<8} {}", word(&change.outcome), change.file.display()));
        match &change.outcome {
            Outcome::Failed(problem) => lines.push(format!("           {problem}")),
            Outcome::Created | Outcome::Changed | Outcome::Removed if self.what == What::Show => {
                lines.extend(change.difference().lines().map(|line| format!("           {line}")));
            }
            Outcome::Same | Outcome::Created | Outcome::Changed | Outcome::Removed => {}
        }
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Same => "same",
        Outcome::Created => "created",
        Outcome::Changed => "changed",
        Outcome::Removed => "removed",
        Outcome::Failed(_) => "FAILED",
    }
}

fn file(change: &Change) -> Value {
    let problem = match &change.outcome {
        Outcome::Failed(problem) => Some(problem),
        Outcome::Same | Outcome::Created | Outcome::Changed | Outcome::Removed => None,
    };
    json!({ "file": change.file, "change": word(&change.outcome).to_lowercase(), "problem": problem })
}
