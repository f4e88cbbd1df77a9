//! How programs are run that others than the user may have written.

use std::ffi::OsString;
use std::process::Command;

/// A program that runs others where they can change only what they may.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confiner {
    /// The program and its first arguments, after which the other program and its arguments come.
    pub argv: Vec<OsString>,
    /// What it reads on its input, before the other program reads on there.
    pub told: Vec<u8>,
}

impl Confiner {
    /// The command that runs a program, by itself or confined; only arguments are to be added to it.
    pub(crate) fn command(confiner: Option<&Confiner>, program: impl Into<OsString>) -> Command {
        let confined = confiner.and_then(|confiner| confiner.argv.split_first());
        let Some((first, rest)) = confined else { return Command::new(program.into()) };
        let mut command = Command::new(first);
        command.args(rest).arg(program.into());
        command
    }

    /// The input of such a command.
    pub(crate) fn input(confiner: Option<&Confiner>, input: Vec<u8>) -> Vec<u8> {
        confiner.map(|confiner| confiner.told.clone()).into_iter().flatten().chain(input).collect()
    }
}
