//! Starting, stopping and finding the server.

use std::process::ExitCode;

use comity_wire::{Home, Request};

use super::output::{self, Form};
use crate::session::{Session, Trouble};
use crate::start;

/// Starts the server if it does not run, and says what to do next.
pub(crate) fn up(home: &Home, form: Form) -> ExitCode {
    let was_running = matches!(start::connect_if_running(home), Ok(Some(_)));
    let answer = Session::from_env(home.clone()).ask("status", &serde_json::json!({}));
    let is_up = answer.is_ok();
    let code = output::show(form, answer);
    if is_up && form == Form::Text {
        let what = if was_running { "it ran already" } else { "it is up" };
        output::print(&format!(
            "\n{what}. Next, in a git repository:\n\
             \x20 comity agent join ann        register an agent; it prints a token for COMITY_TOKEN\n\
             \x20 comity lock src/ --reason …  lock a path, as whoever you are\n\
             \x20 comity locks                 see who has what\n\
             \x20 comity log --follow          watch what happens"
        ));
    }
    code
}

/// Stops the server, if it runs.
pub(crate) fn down(home: &Home, form: Form) -> ExitCode {
    let say = |stopped: bool, words: &str| {
        match form {
            Form::Json => output::print(&serde_json::json!({ "stopped": stopped }).to_string()),
            Form::Text => output::print(words),
        }
        ExitCode::SUCCESS
    };
    let mut client = match start::connect_if_running(home) {
        Ok(Some(client)) => client,
        Ok(None) => return say(false, "no server runs"),
        Err(problem) => return output::fault(form, &problem),
    };
    let token = std::env::var("COMITY_TOKEN").ok().filter(|token| !token.is_empty());
    let request = Request { op: "$stop".into(), token: token.map(Into::into), ..Request::empty() };
    match client.call(request) {
        Ok(reply) if reply.error.is_some() => {
            let error = reply.error.map(|error| error.get().to_owned()).unwrap_or_default();
            match serde_json::from_str(&error) {
                Ok(fault) => output::show(form, Err(Trouble::Refused(raw(&error), fault))),
                Err(problem) => output::fault(form, &problem.to_string()),
            }
        }
        Ok(_) => {
            // The server closes the connection when it is done.
            let _ = client.receive();
            say(true, "stopped; nothing is lost")
        }
        Err(error) => output::fault(form, &error.to_string()),
    }
}

fn raw(json: &str) -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string(json.to_owned()).unwrap_or_default()
}

/// Says how the server is; it is not started for that.
pub(crate) fn status(home: &Home, form: Form) -> ExitCode {
    match start::connect_if_running(home) {
        Ok(Some(_)) => {
            output::show(form, Session::from_env(home.clone()).ask("status", &serde_json::json!({})))
        }
        Ok(None) => {
            match form {
                Form::Json => output::print(
                    &serde_json::json!({"error": {
                        "code": "not_running", "message": "no server runs", "hint": "start it with: comity up",
                        "home": home.path(), "socket": home.socket(),
                    }})
                    .to_string(),
                ),
                Form::Text => output::complain("comity: no server runs\n  start it with: comity up"),
            }
            ExitCode::from(output::FAULT)
        }
        Err(problem) => output::fault(form, &problem),
    }
}
