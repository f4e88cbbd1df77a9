//! The log as files: a backup is made and restored, and the rest of a damaged log is kept.

use comity_core::display::shell_word;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use comity_app::catalog::name_of;
use comity_app::ledger::date;
use comity_app::log::{self, BackedUp, RecoverMode, Recovery};
use comity_app::operations::agents::ListAgents;
use comity_app::operations::people::Whoami;
use comity_wire::Home;
use serde_json::json;

use super::output::{self, OutputFormat};
use super::server;
use crate::serve::state_dir::{self, StateDirLock, Unusable};
use crate::session::Session;
use crate::start;

/// Adds commands that need no server to those of the log.
pub(super) fn commands(log: Command) -> Command {
    let look = Arg::new("dry-run").long("dry-run").action(ArgAction::SetTrue);
    log.subcommand(
        Command::new("recover")
            .about("Show what is missing from a damaged log, and keep the rest")
            .long_about(
                "Show what is missing from a damaged log, and keep the rest. The old files are set aside, \
                 never deleted; afterwards the server starts again",
            )
            .arg(look.help("Only show what is missing and what would be kept")),
    )
}

pub(super) fn backup_command() -> Command {
    Command::new("backup")
        .about("Copy the whole log into a new file while the server runs, and prove the copy")
        .arg(file("The new file; nothing is ever overwritten"))
}

pub(super) fn restore_command() -> Command {
    Command::new("restore")
        .about("Stop the server and put a backup back; the log that was there is set aside")
        .arg(file("The file that comity backup made"))
        .arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help("Even if agents are here"))
}

fn file(help: &'static str) -> Arg {
    Arg::new("file").value_name("FILE").required(true).value_parser(clap::value_parser!(PathBuf)).help(help)
}

pub(super) fn backup(home: &Home, arguments: &ArgMatches, form: OutputFormat) -> ExitCode {
    let Some(file) = arguments.get_one::<PathBuf>("file") else { return ExitCode::from(output::USAGE) };
    if let Some(who) = no_person(home) {
        let problem = format!("{who} runs this, and a backup holds everybody's mail: it takes a person");
        return output::refused(
            form,
            &problem,
            "ask your human to run it outside of the agent's program; see: comity whoami",
        );
    }
    private();
    match log::back_up(home.path(), file) {
        Ok(made) => {
            let records = made.verified.records;
            let words = format!(
                "{records} records are in {}, and were read again\n  put them back with: comity restore {}",
                file.display(),
                shell_word(&file.display().to_string())
            );
            show(form, file, &made, &words)
        }
        Err(problem) => output::fault(form, &problem),
    }
}

/// Who runs this, if it is not a person. A server knows more than can be seen here: orphans of agents, say.
fn no_person(home: &Home) -> Option<String> {
    if comity_app::identity::is_below_an_agent_program() {
        return Some("an agent program".into());
    }
    // Without a server a person can still access the log.
    if !matches!(start::connect_if_running(home), Ok(Some(_))) {
        return None;
    }
    let answer = Session::from_env(home.clone()).ask(name_of::<Whoami>(), &json!({})).ok();
    let known: Option<serde_json::Value> =
        answer.and_then(|answer| serde_json::from_str(answer.json.get()).ok());
    match known.as_ref().and_then(|known| known["you"].as_str()) {
        Some("human") => None,
        Some("nobody") | None => Some("nobody that the server knows".into()),
        Some(agent) => Some(format!("the agent {agent}")),
    }
}

/// The agents that work with the running server, if any: `ann and bob are here`.
fn agents_here(home: &Home) -> Option<String> {
    start::connect_if_running(home).ok().flatten()?;
    let answer = Session::from_env(home.clone()).ask(name_of::<ListAgents>(), &json!({})).ok()?;
    let list: serde_json::Value = serde_json::from_str(answer.json.get()).ok()?;
    let names: Vec<&str> =
        list["agents"].as_array()?.iter().filter_map(|agent| agent["name"].as_str()).collect();
    match &names[..] {
        [] => None,
        [only] => Some(format!("{only} is here")),
        names => Some(format!("{} are here", names.join(", "))),
    }
}

pub(super) fn restore(home: &Home, arguments: &ArgMatches, form: OutputFormat) -> ExitCode {
    let Some(file) = arguments.get_one::<PathBuf>("file") else { return ExitCode::from(output::USAGE) };
    if let Err(code) = refuse_agents(form) {
        return code;
    }
    private();
    // Before a server is stopped for nothing.
    if let Err(problem) = log::check_backup(file) {
        return output::fault_with(form, &problem, "name a file that comity backup has made");
    }
    if let Some(here) = agents_here(home).filter(|_| !arguments.get_flag("force")) {
        let problem = format!("{here}, and would lose what they hold and have done since the backup");
        let file = shell_word(&file.display().to_string()).into_owned();
        let hint = format!("wait until they are done, or restore anyway: comity restore {file} --force");
        return output::refused(form, &problem, &hint);
    }
    let _alone = match server::take_alone(home, form) {
        Ok(alone) => alone,
        Err(code) => return code,
    };
    match log::restore(home.path(), file) {
        Ok(put_back) => {
            let mut words = format!("{} records are back", put_back.verified.records);
            if let Some(dir) = &put_back.set_aside {
                words += &format!("\n  what was there before is in {}", dir.display());
            }
            words += "\n  start the server with: comity up";
            show(form, file, &put_back, &words)
        }
        Err(problem) => output::fault(form, &problem),
    }
}

fn show(form: OutputFormat, file: &Path, done: &BackedUp, words: &str) -> ExitCode {
    let hash = comity_core::TokenHash(done.verified.hash).to_string();
    match form {
        OutputFormat::Json => output::print(
            &json!({ "file": file, "records": done.verified.records, "hash": hash, "set_aside": done.set_aside })
                .to_string(),
        ),
        OutputFormat::Text => output::print(words),
    }
    ExitCode::SUCCESS
}

/// Keeps what can be kept of an incomplete log, or shows it.
pub(super) fn recover(home: &Home, arguments: &ArgMatches, form: OutputFormat) -> ExitCode {
    let extent = if arguments.get_flag("dry-run") { RecoverMode::Look } else { RecoverMode::Keep };
    let _held = match take(home, extent, form) {
        Ok(held) => held,
        Err(code) => return code,
    };
    match log::recover(home.path(), extent) {
        Ok(recovery) => {
            match form {
                OutputFormat::Json => output::print(&document(&recovery).to_string()),
                OutputFormat::Text => output::print(&words(&recovery)),
            }
            ExitCode::SUCCESS
        }
        Err(problem) => output::fault(form, &problem),
    }
}

fn document(recovery: &Recovery) -> serde_json::Value {
    let Recovery { problem, kept, written, rebuilt, set_aside } = recovery;
    let (written, at) = written.unzip();
    json!({
        "whole": problem.is_none(), "problem": problem, "kept": kept, "written": written, "at": at.map(date),
        "rebuilt": rebuilt, "set_aside": set_aside,
    })
}

fn words(recovery: &Recovery) -> String {
    let Recovery { problem, kept, written, rebuilt, set_aside } = recovery;
    let Some(problem) = problem else {
        return format!("the log is whole: {kept} records; nothing was changed");
    };
    let mut lines = vec![format!("the log is not whole: {problem}")];
    lines.push(match kept {
        0 => "kept       nothing".into(),
        _ => format!("kept       all records up to {kept}"),
    });
    lines.push(match written {
        Some((last, at)) if last > kept => {
            let count = last - kept;
            format!("missing    {count} records: {} to {last}, the last of {}", kept + 1, date(*at))
        }
        Some(_) => "missing    nothing that is known of".into(),
        None => "missing    nobody knows: the witness (log.witness, ledger/witness) is gone, too".into(),
    });
    let rebuilt =
        rebuilt.iter().map(|end| format!("rebuilt    the world after record {end}, from its records"));
    lines.extend(rebuilt);
    lines.push(match set_aside {
        Some(dir) => format!("set aside  {}\nstart the server with: comity up", dir.display()),
        None => "nothing was changed; keep what there is with: comity log recover".into(),
    });
    lines.push("a backup that has more is put back with: comity restore FILE".into());
    lines.join("\n")
}

/// The state directory, while its files are read or changed.
fn take(home: &Home, extent: RecoverMode, form: OutputFormat) -> Result<StateDirLock, ExitCode> {
    if extent == RecoverMode::Keep {
        refuse_agents(form)?;
    }
    private();
    state_dir::take(home).map_err(|unusable| match unusable {
        Unusable::Taken => {
            let problem = format!("a server runs for {}; stop it with: comity down", home.path().display());
            output::fault(form, &problem)
        }
        Unusable::Bad(problem) => output::fault(form, &problem),
    })
}

fn refuse_agents(form: OutputFormat) -> Result<(), ExitCode> {
    if !comity_app::identity::is_below_an_agent_program() {
        return Ok(());
    }
    let problem = "an agent program runs this, and what becomes of the log is for you to decide";
    Err(output::refused(form, problem, "run it outside of the agent's program"))
}

/// Makes everything that this process creates private.
fn private() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
}
