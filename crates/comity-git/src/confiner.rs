//! How to run programs that others than the user may have written.

use std::ffi::OsString;
use std::process::Command;

/// A program that runs others so that they can change only what they may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confiner {
    /// The program and its first arguments; those of the other program follow.
    pub argv: Vec<OsString>,
    /// Goes to its standard input first; the other program's input follows.
    pub told: Vec<u8>,
}

impl Confiner {
    /// The command that runs a program, confined or not; only arguments are to be added.
    pub(crate) fn command(confiner: Option<&Confiner>, program: impl Into<OsString>) -> Command {
        let confined = confiner.and_then(|confiner| confiner.argv.split_first());
        let Some((first, rest)) = confined else { return Command::new(program.into()) };
        let mut command = Command::new(first);
        command.args(rest).arg(program.into());
        command
    }

    pub(crate) fn input(confiner: Option<&Confiner>, input: Vec<u8>) -> Vec<u8> {
        confiner.map(|confiner| confiner.told.clone()).into_iter().flatten().chain(input).collect()
    }
}
