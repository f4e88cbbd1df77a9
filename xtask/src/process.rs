//! Running other programs from the root of the repository.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Why a command ended badly, and the exit code that tells it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) says: String,
    pub(crate) code: u8,
}

impl Failure {
    /// What was asked for was done, and the answer is no.
    pub(crate) fn new(says: impl Into<String>) -> Self {
        Self { says: says.into(), code: 1 }
    }

    /// The command line made no sense.
    pub(crate) fn usage(says: impl Into<String>) -> Self {
        Self { says: says.into(), code: 2 }
    }
}

/// Refuses arguments for a command that takes none.
pub(crate) fn no_arguments(command: &str, arguments: &[String]) -> Result<(), Failure> {
    match arguments.first() {
        None => Ok(()),
        Some(extra) => Err(Failure::usage(format!("`cargo xtask {command}` takes no `{extra}`"))),
    }
}

/// The root of the repository that xtask was started for.
pub(crate) fn root() -> PathBuf {
    // Read when it runs, not when it was built: clones may share a target folder.
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    manifest.and_then(|xtask| xtask.parent().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."))
}

/// The cargo that started xtask, ready to run in the root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    command
}

/// Runs to the end with our own output; anything but success is a failure.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let shown = shown(command);
    println!("$ {shown}");
    let status =
        command.status().map_err(|error| Failure::new(format!("`{shown}` did not start: {error}")))?;
    if status.success() {
        return Ok(());
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Err(Failure { says: format!("`{shown}` failed ({status})"), code })
}

/// What a program prints, or nothing if it is not there or fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    answer(&mut command)
}

/// Whether cargo has this subcommand.
pub(crate) fn cargo_has(subcommand: &str) -> bool {
    let mut command = cargo(&[subcommand, "--version"]);
    command.stdin(Stdio::null());
    answer(&mut command).is_some()
}

fn answer(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let mut words = vec![program.file_name().unwrap_or_default().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}
