//! `comity-hook check PATH`: may this path be edited?
//!
//! Exit codes: 0 free, 3 locked by somebody else, 1 the server could not be asked.

use std::process::ExitCode;

use comity_wire::Fault;

use crate::question::HookQuestion;
use crate::server::{HookClient, quoted};
use crate::{FAULT, REFUSED, say};

pub(crate) fn ask(path: &str) -> ExitCode {
    match answer(path) {
        Ok(code) => code,
        Err(problem) => {
            say(&format!("comity-hook: {problem}\n  see what is wrong with: comity doctor"));
            ExitCode::from(FAULT)
        }
    }
}

fn answer(path: &str) -> Result<ExitCode, String> {
    let input = format!("{{\"path\":{}}}", quoted(path)?);
    let mut server = HookClient::find()?;
    let reply = server.ask(HookQuestion::MayEdit, input)?;
    let Some(error) = reply.error else { return Ok(ExitCode::SUCCESS) };
    let fault: Fault = serde_json::from_str(error.get()).map_err(|error| error.to_string())?;
    say(&format!("{}\n  {}", fault.message, fault.hint));
    Ok(ExitCode::from(if fault.code == "locked" { REFUSED } else { FAULT }))
}
