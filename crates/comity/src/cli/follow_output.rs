//! `comity logs AGENT --follow`: what an agent's program writes, as it writes it, until the agent ends.

use std::io::Write;
use std::process::ExitCode;

use comity_app::catalog::name_of;
use comity_app::operations::runs::{RunLogs, plain};
use comity_core::display::visible_lines;
use comity_wire::Home;
use serde::Deserialize;
use serde_json::Value;

use super::output::{self, OutputFormat};
use crate::session::Session;

/// How long one question for output lasts.
const WAIT: &str = "20s";

#[derive(Deserialize)]
struct WrittenOutput {
    name: String,
    /// The agent that wrote it: one that is started again is another.
    agent: String,
    text: String,
    next: u64,
    over: bool,
}

/// Shows what is there, and then what comes.
pub(super) fn go_on(home: Home, input: &Value, form: OutputFormat) -> ExitCode {
    let (mut session, mut input) = (Session::from_env(home), input.clone());
    let mut agent: Option<String> = None;
    let mut kept = String::new();
    loop {
        let answer = match session.ask(name_of::<RunLogs>(), &input) {
            Ok(answer) => answer,
            refused => return output::show(form, refused),
        };
        let Ok(written) = serde_json::from_str::<WrittenOutput>(answer.json.get()) else {
            return output::fault(form, "the server's answer can't be read");
        };
        let is_another = agent.as_ref().is_some_and(|agent| *agent != written.agent);
        if is_another {
            return ExitCode::SUCCESS;
        }
        let mut out = std::io::stdout().lock();
        let shown = match form {
            OutputFormat::Json if written.text.is_empty() && !written.over => Ok(()),
            OutputFormat::Json => writeln!(out, "{}", answer.json.get()),
            OutputFormat::Text => {
                kept.push_str(&written.text);
                let (text, taken) = plain(&kept);
                kept.drain(..taken);
                out.write_all(visible_lines(&text).as_bytes())
            }
        };
        if shown.and_then(|()| out.flush()).is_err() {
            return ExitCode::SUCCESS;
        }
        if written.over {
            if form == OutputFormat::Text {
                eprintln!("{} has ended", written.name);
            }
            return ExitCode::SUCCESS;
        }
        (input["since"], input["wait"]) = (written.next.into(), WAIT.into());
        agent = Some(written.agent);
    }
}
