//! Which files a command line changes, as far as reading it can tell.
//!
//! The walk goes through a parsed command line, follows `cd`, looks into substitutions and lines for other shells,
//! and asks the table what each program writes. For a program that is not in the table only a named output counts. It
//! assumes that a `cd` succeeds, a function is called, and every branch is taken.

mod archives;
mod base;
mod commands;
mod copies;
mod feed;
mod files;
mod git;
mod git_commits;
mod git_versions;
mod grep;
mod inplace;
mod links;
mod moves;
mod names;
mod patches;
mod runners;
mod search;
mod shells;
mod strangers;
mod walk;

pub use base::CallDirs;
pub use commands::{ShellCommands, commands, commands_of_arguments};

pub(crate) use archives::{cpio, curl, gzip, rsync, tar, unzip, wget, zip};
pub(crate) use copies::{cp, install, ln, mv};
pub(crate) use files::{dd, first_operand, make, mode, named_output, rename, rm, second_operand, shred, tee};
pub(crate) use git::{
    git, git_checkout, git_clean, git_clone, git_reset, git_restore, git_rm, git_stash, git_submodule,
    git_switch, git_tree,
};
pub(crate) use git_commits::{git_add, git_commit};
pub(crate) use git_versions::{git_cat_file, git_show};
pub(crate) use grep::grep;
pub(crate) use inplace::{awk, editor, formatter, perl, sed, yq};
pub(crate) use patches::{apply_patch, git_apply, patch};
pub(crate) use runners::{comity, joined_line, parallel, run_word, script, ssh, su, unseen, xargs};
pub(crate) use search::find;
pub(crate) use shells::{alias, cd, eval, interpreter, sets, shell, trap, word_or_code};
pub(crate) use walk::{ProgramCall, Walk};

use crate::arguments::Argument;
use crate::effects::{Effects, Unknown};
use crate::shell;
use feed::CommandInput;

/// What a command line would do to files.
pub fn effects(command: &str, place: &CallDirs) -> Effects {
    let mut walk = Walk::new(place);
    walk.line(command);
    walk.through_links();
    walk.found.without_repeats()
}

/// What a program with these arguments would do to files, without a shell.
pub fn effects_of_arguments(arguments: &[String], place: &CallDirs) -> Effects {
    let mut walk = Walk::new(place);
    let arguments: Vec<Argument> = arguments.iter().cloned().map(Argument::Plain).collect();
    walk.program(&arguments, &CommandInput::Unknown);
    walk.found.without_repeats()
}

impl From<shell::ParseProblem> for Unknown {
    fn from(problem: shell::ParseProblem) -> Unknown {
        match problem {
            shell::ParseProblem::TooLong => Unknown::Bound("the command is too long"),
            shell::ParseProblem::TooDeep => Unknown::Bound("the command is nested too deep"),
            shell::ParseProblem::TooMuchAhead => Unknown::Bound("the command has too many parentheses"),
            shell::ParseProblem::Unterminated(_) | shell::ParseProblem::Unexpected(_) => {
                Unknown::Unreadable(problem.to_string())
            }
        }
    }
}
