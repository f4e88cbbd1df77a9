//! Judges the commit that git is about to make: git's `pre-commit` hook.

use std::process::{Command, ExitCode, Stdio};

use comity_wire::Fault;

use crate::question::HookQuestion;
use crate::server::{HookClient, quoted};
use crate::{FAULT, failing, say};

pub(crate) fn judge() -> ExitCode {
    match verdict() {
        Ok(Ok(notes)) => {
            notes.iter().for_each(|note| say(&format!("Comity: you commit {note}")));
            ExitCode::SUCCESS
        }
        Ok(Err(refusal)) => {
            say(&format!("Comity stopped this commit: {}\n  {}", refusal.message, refusal.hint));
            ExitCode::from(FAULT)
        }
        Err(problem) if failing::is_open() => {
            say(&format!("comity-hook: {problem}; guard.policy is open, so the commit goes on"));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            say(&format!(
                "Comity could not judge this commit, so it is stopped: {problem}\n  see what is wrong with: comity doctor\n  commit all the same with: git commit --no-verify"
            ));
            ExitCode::from(FAULT)
        }
    }
}

/// Whose work goes along, or why it may not.
fn verdict() -> Result<Result<Vec<String>, Fault>, String> {
    // Git has set the index that it commits from in the environment.
    let listed = Command::new("git")
        .args(["diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("git can't be asked: {error}"))?;
    if !listed.status.success() {
        return Err(format!("git diff: {}", String::from_utf8_lossy(&listed.stderr).trim()));
    }
    let names: Vec<&[u8]> = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let paths = names.iter().map(|name| quoted(&String::from_utf8_lossy(name)));
    let paths = paths.collect::<Result<Vec<String>, String>>()?.join(",");
    let mut server = HookClient::find()?;
    let reply = server.ask(HookQuestion::MayCommit, format!("{{\"paths\":[{paths}]}}"))?;
    let Some(error) = reply.error else {
        let answer = reply.ok.and_then(|ok| serde_json::from_str::<serde_json::Value>(ok.get()).ok());
        let notes = answer.as_ref().and_then(|answer| answer["notes"].as_array());
        let notes = notes.into_iter().flatten().filter_map(serde_json::Value::as_str);
        return Ok(Ok(notes.map(str::to_owned).collect()));
    };
    serde_json::from_str(error.get()).map(Err).map_err(|error| error.to_string())
}
