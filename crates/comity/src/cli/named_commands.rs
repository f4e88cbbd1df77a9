//! What hints, help and comments call a command must be one.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;

use comity_app::catalog;

use super::tree::command;

/// What follows the program's name where no command is meant: the heading of a file, or of a refusal.
const NO_COMMANDS: [&str; 2] = ["journal", "refused"];
/// Groups that also mean something without a verb.
const SHORT_FORMS: [&str; 1] = ["inbox"];

#[test]
fn every_command_that_is_named_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    rust_files(&crates, &mut files);
    let tree = command();
    let (mut named, mut unknown) = (0, Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file");
        for (number, line) in text.lines().enumerate() {
            for words in commands_in(line) {
                named += 1;
                if let Err(word) = follow(&tree, words) {
                    unknown.push(format!("{}:{}: {word} in: {}", file.display(), number + 1, line.trim()));
                }
            }
        }
        let constants = text.lines().filter(|_| file.ends_with("comity-core/src/calls.rs"));
        let constants = constants.filter_map(|line| line.strip_prefix("pub const ")?.split('"').nth(1));
        for operation in calls_in(&text).chain(constants) {
            named += 1;
            if catalog::CATALOG.iter().all(|entry| entry.name != operation) {
                unknown.push(format!("{}: the operation {operation}", file.display()));
            }
        }
    }
    assert!(named > 200, "only {named} commands were found");
    assert!(unknown.is_empty(), "no such command:\n{}", unknown.join("\n"));
}

#[test]
fn commands_are_found_in_sentences() {
    let tree = command();
    let unknown = |line: &str| {
        commands_in(line)
            .filter_map(|words| follow(&tree, words).err())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for good in [
        "see: comity task list",
        "`comity tasks`",
        "\"comity lock {path}\"",
        "run `comity worktree add` first",
        "Comity is",
    ] {
        assert_eq!(unknown(good), [""; 0], "{good}");
    }
    assert_eq!(unknown("see: comity task look, or comity tell"), ["look", "tell"]);
    assert_eq!(unknown("\"comity\" and 'comity lok'"), ["lok"]);
}

#[test]
fn operations_are_found_in_calls() {
    let text = "call(\"lock\", []); NextCall::of(\n    \"task_get\", []); it.call(\"log\"); recall(\"x\"); call(name)\n#[cfg(test)] call(\"x\")";
    assert_eq!(calls_in(text).collect::<Vec<_>>(), ["lock", "task_get"]);
}

/// What follows each `comity ` that begins a command.
fn commands_in(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("comity ").filter_map(|(at, name)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|before| " \"'`(".contains(before)).then(|| &line[at + name.len()..])
    })
}

/// The operation of each call that hints contain as data; what tests call need not exist.
fn calls_in(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    ["call(", "NextCall::of("].into_iter().flat_map(move |begin| {
        text.match_indices(begin).filter_map(move |(at, _)| {
            let is_whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || "._".contains(c));
            let given = text[at + begin.len()..].trim_start().strip_prefix('"')?;
            is_whole.then(|| given.split('"').next().unwrap_or_default())
        })
    })
}

/// The first word that is not a command where one is expected.
fn follow<'a>(tree: &Command, words: &'a str) -> Result<(), &'a str> {
    let mut at = tree;
    let plain =
        |word: &'a str| word.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().unwrap_or_default();
    let typed: Vec<&str> = words.split(' ').map(plain).collect();
    if catalog::spelled(&typed).is_some() {
        return Ok(());
    }
    for word in typed {
        let is_choice = at.is_subcommand_required_set();
        match at.find_subcommand(word) {
            Some(_) if SHORT_FORMS.contains(&word) => break,
            Some(below) => at = below,
            None if !is_choice
                || !word.starts_with(|c: char| c.is_ascii_lowercase())
                || word == "help"
                || NO_COMMANDS.contains(&word) =>
            {
                break;
            }
            None => return Err(word),
        }
    }
    Ok(())
}

/// The product's and the benchmarks'; tests name commands that should fail.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("tests") && !path.ends_with("target") {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("named_commands.rs")
        {
            files.push(path);
        }
    }
}
