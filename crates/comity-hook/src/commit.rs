//! Judges the commit that git is about to make: git's `pre-commit` hook.

use std::process::{Command, ExitCode, Stdio};

use comity_wire::Fault;

use crate::question::HookQuestion;
use crate::server::{HookClient, quoted};
use crate::{FAULT, failing, say};

pub(crate) fn judge() -> ExitCode {
    match verdict() {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(refusal)) => {
            say(&format!("Comity stopped this commit: {}\n  {}", refusal.message, refusal.hint));
            ExitCode::from(FAULT)
        }
        Err(problem) if failing::is_open() => {
            say(&format!("comity-hook: {problem}; guard.policy is open, so the commit goes ahead"));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            say(&format!(
                "Comity could not judge this commit, so it is stopped: {problem}\n  see what is wrong with: comity doctor\n  commit anyway with: git commit --no-verify"
            ));
            ExitCode::from(FAULT)
        }
    }
}

fn verdict() -> Result<Option<Fault>, String> {
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
        return Ok(None);
    }
    let paths = names.iter().map(|name| quoted(&String::from_utf8_lossy(name)));
    let paths = paths.collect::<Result<Vec<String>, String>>()?.join(",");
    let mut server = HookClient::find()?;
    let reply = server.ask(HookQuestion::MayCommit, format!("{{\"paths\":[{paths}]}}"))?;
    let Some(error) = reply.error else { return Ok(None) };
    serde_json::from_str(error.get()).map(Some).map_err(|error| error.to_string())
}
