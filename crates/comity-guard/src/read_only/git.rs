//! `git`: the commands that only look, and which arguments do more.
//!
//! Git runs programs that its settings name. A command that leads to another repository or brings settings is not
//! proven; the settings of the repository where the command starts have to be checked by whoever relies on the proof.

use super::doubt::{Doubt, Proven, shown};
use super::prover::Prover;
use crate::arguments::Argument;
use crate::table::{self, ParsedArguments, ReadProof};

/// What a format for commits may ask for: nothing that checks a signature.
const OF_COMMITS: &str = "H h T t P p an ae aN aE al ad aD ar at ai aI as ah cn ce cN cE cl cd cD cr ct ci cI cs ch d D s f b B n N e m C( < > x gD gd gs";
/// What a format for references may ask for.
const OF_REFERENCES: &str = "refname objectname objecttype subject authorname authordate committername committerdate creatordate upstream HEAD";

pub(crate) fn git(prover: &mut Prover, given: &ParsedArguments) -> Proven {
    let Some((command, arguments)) = given.operands.split_first() else {
        return if given.has(&["version"]) { Ok(()) } else { Err(Doubt::because("it has no command")) };
    };
    let row = command.plain().and_then(|name| table::in_family(table::GIT_COMMANDS, name));
    let Some(row) = row.filter(|row| !matches!(row.proof, ReadProof::Never)) else {
        return Err(Doubt::because(format!("`git {}` is not known to only look", shown(command.shown()))));
    };
    prover.asks_git = true;
    row.prove(prover, arguments)
}

/// A format may ask for a signature's validity, which another program checks.
pub(crate) fn git_formats(_: &mut Prover, given: &ParsedArguments) -> Proven {
    for format in given.values(&["format", "pretty"]).chain(given.values(&["sort"])) {
        if !format.plain().is_some_and(is_plain) {
            let format = shown(format.shown());
            return Err(Doubt::because(format!("the format `{format}` is not known to only show")));
        }
    }
    Ok(())
}

fn is_plain(format: &str) -> bool {
    const NAMED: [&str; 7] = ["oneline", "short", "medium", "full", "fuller", "raw", "reference"];
    let is_key = |key: &str| OF_REFERENCES.split(' ').any(|known| known == key);
    // A sort key: `-committerdate`.
    let key = format.trim_start_matches('-').split(':').next().unwrap_or_default();
    if !format.contains('%') {
        return NAMED.contains(&format) || is_key(key);
    }
    let mut rest = format.replace("%%", "");
    while let Some(at) = rest.find('%') {
        rest = rest[at + 1..].to_owned();
        let is_reference =
            rest.strip_prefix('(').and_then(|atom| atom.split([')', ':']).next()).is_some_and(is_key);
        let is_commit = OF_COMMITS.split(' ').any(|known| rest.starts_with(known));
        if !is_reference && !is_commit {
            return false;
        }
    }
    true
}

/// `branch`, `tag`: an operand creates something, unless a list is asked for.
pub(crate) fn git_lists(prover: &mut Prover, given: &ParsedArguments) -> Proven {
    git_formats(prover, given)?;
    proven_if(given.operands.is_empty() || given.has(&["l", "list"]))
}

/// `config`: changes something unless a value is asked for.
pub(crate) fn git_needs(_: &mut Prover, given: &ParsedArguments) -> Proven {
    let asks = given.has(&["get", "get-all", "get-regexp"]) && given.operands.len() == 1;
    proven_if(asks || (given.has(&["l", "list"]) && given.operands.is_empty()))
}

/// `remote`, `worktree`: the first word says what is done.
pub(crate) fn git_one_word(prover: &mut Prover, given: &ParsedArguments) -> Proven {
    git_formats(prover, given)?;
    // After an option it would be an operand of another command: `git stash -p list`.
    let word = given.operands.first().and_then(Argument::plain);
    proven_if(match word {
        Some("list") => given.operands.len() == 1,
        Some("get-url") => given.options.is_empty(),
        Some(_) => false,
        // `git remote` alone lists, with names or addresses.
        None => {
            given.operands.is_empty()
                && given.options.iter().all(|(name, _)| matches!(name.as_str(), "v" | "verbose"))
        }
    })
}

/// `stash`, which does something without a subcommand.
pub(crate) fn git_stash_list(prover: &mut Prover, given: &ParsedArguments) -> Proven {
    proven_if(!given.operands.is_empty())?;
    git_one_word(prover, given)
}

fn proven_if(holds: bool) -> Proven {
    if holds { Ok(()) } else { Err(Doubt::because("with these arguments it is not known to only look")) }
}
