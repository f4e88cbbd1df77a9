//! `git`: the commands that only look, and what of their arguments would do more.
//!
//! Git runs programs that its settings name: a pager, a file monitor, a filter for differences, one that checks
//! signatures, a transport that fetches missing objects. The settings of the repository in which a command starts
//! are taken for trusted; a command that leads to another repository, or gives settings of its own, is not proven.

use super::doubt::{Doubt, Proven, shown};
use super::git_options as known;
use super::options::{self, Given, Options};
use super::table::{Program, own};
use super::walk::Walk;
use super::words::Argument;

pub(super) const PROGRAMS: &[Program] = &[own("git", git)];

/// What a command of git needs beyond listed options.
enum Rule {
    /// Nothing: its operands are only looked at.
    Looks,
    /// An operand makes something new, unless one of these options asks for a list.
    Lists(&'static [&'static str]),
    /// One of these options is needed: without them it changes something.
    Needs(&'static [&'static str]),
    /// The first operand says what it does; these only look, and so does none at all if so said.
    Words(&'static [&'static str], Alone),
    /// It has at most this many operands; with more it changes something.
    Operands(usize),
}

/// What a command does without a word.
enum Alone {
    Looks,
    Acts,
}

const COMMANDS: [(&str, Options, Rule); 33] = [
    ("status", known::STATUS, Rule::Looks),
    ("log", known::LOG, Rule::Looks),
    ("show", known::LOG, Rule::Looks),
    ("diff", known::DIFF, Rule::Looks),
    ("diff-tree", known::DIFF_TREE, Rule::Looks),
    ("diff-index", known::DIFF_TREE, Rule::Looks),
    ("diff-files", known::DIFF_TREE, Rule::Looks),
    ("shortlog", known::SHORTLOG, Rule::Looks),
    ("rev-list", known::LOG, Rule::Looks),
    ("rev-parse", known::REV_PARSE, Rule::Looks),
    ("blame", known::BLAME, Rule::Looks),
    ("annotate", known::BLAME, Rule::Looks),
    ("grep", known::GREP, Rule::Looks),
    ("ls-files", known::LS_FILES, Rule::Looks),
    ("ls-tree", known::LS_TREE, Rule::Looks),
    ("cat-file", known::CAT_FILE, Rule::Looks),
    ("merge-base", known::MERGE_BASE, Rule::Looks),
    ("name-rev", known::NAME_REV, Rule::Looks),
    ("describe", known::DESCRIBE, Rule::Looks),
    ("show-ref", known::SHOW_REF, Rule::Looks),
    ("for-each-ref", known::REFS, Rule::Looks),
    ("count-objects", known::COUNT_OBJECTS, Rule::Looks),
    ("check-ignore", known::CHECK_IGNORE, Rule::Looks),
    ("check-attr", known::CHECK_ATTR, Rule::Looks),
    ("cherry", known::CHERRY, Rule::Looks),
    ("version", known::VERSION, Rule::Looks),
    ("branch", known::BRANCH, Rule::Lists(&["list"])),
    ("tag", known::TAG, Rule::Lists(&["l", "list"])),
    ("config", known::CONFIG, Rule::Needs(&["get", "get-all", "get-regexp", "list", "l"])),
    ("remote", known::REMOTE, Rule::Words(&["get-url"], Alone::Looks)),
    ("stash", known::STASH, Rule::Words(&["list"], Alone::Acts)),
    ("worktree", known::WORKTREE, Rule::Words(&["list"], Alone::Acts)),
    ("symbolic-ref", known::SYMBOLIC_REF, Rule::Operands(1)),
];

fn git(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    walk.asks_git = true;
    let given = options::read(&known::GLOBAL, arguments)?;
    let Some((command, arguments)) = given.operands.split_first() else {
        return match given.has(&["version"]) {
            true => Ok(()),
            false => Err(Doubt::because("it has no command")),
        };
    };
    let name = command.known().unwrap_or_default();
    let Some((_, options, rule)) = COMMANDS.iter().find(|(command, ..)| *command == name) else {
        return Err(Doubt::because(format!("`git {}` is not known to only look", shown(command.shown()))));
    };
    // Help is a page in a program of its own.
    if given.has(&["help"]) || arguments.iter().any(|argument| argument.is("--help")) {
        return Err(Doubt::because("help opens a program to read it"));
    }
    let given = options::read(options, arguments)?;
    checks_no_signature(&given)?;
    obeys(rule, &given, arguments.first())
}

/// A format may ask for what a signature is worth, and another program answers that.
fn checks_no_signature(given: &Given) -> Proven {
    for format in given.values(&["format", "pretty", "sort"]) {
        let is_plain = |format: &str| !format.contains("%G") && !format.contains("signature");
        if !format.known().is_some_and(is_plain) {
            let format = shown(format.shown());
            return Err(Doubt::because(format!(
                "the format `{format}` may check signatures with another program"
            )));
        }
    }
    Ok(())
}

fn obeys(rule: &Rule, given: &Given, beginning: Option<&Argument>) -> Proven {
    let first = given.operands.first();
    let is_proven = match rule {
        Rule::Looks => true,
        Rule::Lists(options) => first.is_none() || given.has(options),
        Rule::Needs(options) => given.has(options),
        Rule::Words(words, alone) => match first {
            // Behind an option it would be an operand of another command: `git stash -p list`.
            Some(word) => beginning == Some(word) && word.known().is_some_and(|word| words.contains(&word)),
            None => matches!(alone, Alone::Looks),
        },
        Rule::Operands(most) => {
            let many = given.operands.iter().any(|word| matches!(word, Argument::Open(open) if open.many));
            given.operands.len() <= *most && !many
        }
    };
    match is_proven {
        true => Ok(()),
        false => Err(Doubt::because("with these arguments it is not known to only look")),
    }
}
