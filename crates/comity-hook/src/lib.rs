//! What agent programs and git run before they change something: one question to the server, one answer, an exit
//! code.
//!
//! It runs before every tool call of every agent, so its start is its cost: no argument parser, no settings, no
//! runtime. Every error is a no: agent programs let a call pass if a hook fails in any other way.

mod check;
mod commit;
mod confine;
mod connected;
mod failing;
mod question;
mod server;
mod tool;
mod wait;

pub use comity_confine::is_read_only;
pub use confine::confine;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// The exit code for a call that cannot be judged: the one that all agent programs take for a no.
const BLOCKED: u8 = 2;
const FAULT: u8 = 1;
const REFUSED: u8 = 3;

const USAGE: &str = "\
usage: comity-hook [CLIENT]         judges the tool call on standard input
       comity-hook CLIENT --project does so unless the user's own settings have it judged
       comity-hook CLIENT --wait    waits for what comes for an idle agent, to wake it
       comity-hook check PATH       says whether a path may be edited
       comity-hook pre-commit       judges the commit that git is about to make";

/// Runs a command confined, from a program whose own start has changed how signals are handled.
pub fn run_confined(words: impl Iterator<Item = OsString>) -> ExitCode {
    comity_confine::restore_broken_pipe();
    ExitCode::from(confine(words.collect()))
}

/// Runs a hook with the words after its name.
pub fn run(words: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match &words[..] {
        [] => tool::judge(None),
        ["check", path] => check::ask(path),
        ["pre-commit", ..] => commit::judge(),
        ["-h" | "--help"] => {
            let _ = writeln!(std::io::stdout(), "{USAGE}");
            ExitCode::SUCCESS
        }
        // A repository's settings only ask for users whose own settings do not.
        [client, rest @ .., "--project"] if !client.starts_with('-') && rest.len() < 2 => {
            match (connected::by_user(client), rest) {
                (true, _) => ExitCode::SUCCESS,
                (false, ["--wait"]) => wait::for_mail(client),
                (false, _) => tool::judge(Some(client)),
            }
        }
        [client, "--wait"] if !client.starts_with('-') => wait::for_mail(client),
        // What earlier plugins claim about their shell is not trusted.
        [client] | [client, "--confined"] if !client.starts_with('-') => tool::judge(Some(client)),
        _ => {
            say(USAGE);
            ExitCode::from(BLOCKED)
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
