//! What `git` does to the files of a work tree.

use super::feed::CommandInput;
use super::walk::{ProgramCall, Walk};
use crate::arguments::Argument;
use crate::effects::{FileTarget, WriteKind};
use crate::table::{self, ProgramOptions};

pub(crate) fn git(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let Some((command, arguments)) = call.given.operands.split_first() else { return };
    // An alias that begins with `!` is a line for a shell.
    for setting in call.given.values(&["c", "config-env"]) {
        match setting.plain().filter(|setting| !setting.starts_with("alias.")) {
            Some(_) => {}
            None => match setting.plain().and_then(|setting| setting.split_once("=!")) {
                Some((_, line)) => walk.apart(|walk| walk.line(line)),
                None => walk.runs_unseen("git"),
            },
        }
    }
    let Some(row) = command.plain().and_then(|name| table::in_family(table::GIT_COMMANDS, name)) else {
        return;
    };
    walk.apart(|walk| {
        for directory in call.given.values(&["C"]).chain(call.given.values(&["work-tree"])) {
            walk.base = walk.base.enter(directory);
        }
        walk.row(row, command.shown(), arguments, call.feed);
        starts(walk, command.shown(), arguments);
    });
}

/// Programs that some commands start.
fn starts(walk: &mut Walk<'_>, command: &str, arguments: &[Argument]) {
    let words = |from: usize| arguments.get(from..).unwrap_or_default();
    let given = ProgramOptions::new(&["-x: --exec="]).guess(arguments);
    match (command, arguments.first().map(Argument::shown)) {
        ("submodule", Some("foreach")) => {
            let options = words(1).iter().take_while(|word| word.shown().starts_with('-')).count();
            let line: Vec<&str> = words(1 + options).iter().map(Argument::shown).collect();
            walk.apart(|walk| walk.line(&line.join(" ")));
        }
        ("bisect", Some("run")) => walk.apart(|walk| walk.program(words(1), &CommandInput::Unknown)),
        ("rebase", _) => {
            for line in given.values(&["x", "exec"]).filter_map(Argument::plain) {
                walk.apart(|walk| walk.line(line));
            }
        }
        _ => {}
    }
}

pub(crate) fn git_rm(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if !call.given.has(&["cached", "n", "dry-run"]) {
        paths(walk, &call.given.operands, WriteKind::Delete);
    }
}

pub(crate) fn git_reset(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if call.given.has(&["hard", "merge", "keep"]) {
        whole_tree(walk, WriteKind::Whole);
    }
}

pub(crate) fn git_submodule(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if call.arguments.iter().any(|argument| argument.is("update")) {
        whole_tree(walk, WriteKind::Edit);
    }
}

/// `merge`, `rebase` and others that may change any file.
pub(crate) fn git_tree(walk: &mut Walk<'_>, _: &ProgramCall<'_>) {
    whole_tree(walk, WriteKind::Edit);
}

fn whole_tree(walk: &mut Walk<'_>, how: WriteKind) {
    let target = match walk.base.here() {
        Some(here) => FileTarget::WorkTree(here),
        None => FileTarget::Unclear("the work tree".to_owned()),
    };
    walk.write(target, how);
}

/// What follows `--`: paths.
fn behind_dashes(arguments: &[Argument]) -> &[Argument] {
    let dashes = arguments.iter().position(|argument| argument.is("--"));
    dashes.map_or(&[], |dashes| &arguments[dashes + 1..])
}

pub(crate) fn git_checkout(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let pathspecs = behind_dashes(call.arguments);
    if !pathspecs.is_empty() {
        return paths(walk, pathspecs, WriteKind::Whole);
    }
    let creates = call.given.has(&["b", "B", "orphan"]);
    match &call.given.operands[..] {
        [] => {}
        [_, rest @ ..] if !rest.is_empty() && !creates => paths(walk, rest, WriteKind::Whole),
        [one] if one.is(".") => paths(walk, std::slice::from_ref(one), WriteKind::Whole),
        // A branch or a file: git checks which of them exists.
        _ => whole_tree(walk, WriteKind::Whole),
    }
}

pub(crate) fn git_switch(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let creates = call.given.has(&["c", "C", "create", "force-create"]);
    if !creates || !call.given.operands.is_empty() {
        whole_tree(walk, WriteKind::Whole);
    }
}

pub(crate) fn git_restore(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    let index_only = given.has(&["S", "staged"]) && !given.has(&["W", "worktree"]);
    match index_only {
        true => {}
        false if given.has(&["pathspec-from-file"]) => whole_tree(walk, WriteKind::Whole),
        false => paths(walk, &given.operands, WriteKind::Whole),
    }
}

pub(crate) fn git_stash(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let command = call.arguments.first().and_then(Argument::plain).unwrap_or("push");
    if matches!(command, "list" | "show" | "drop" | "clear" | "create" | "store" | "export") {
        return;
    }
    match behind_dashes(call.arguments) {
        [] => whole_tree(walk, WriteKind::Edit),
        pathspecs => paths(walk, pathspecs, WriteKind::Whole),
    }
}

pub(crate) fn git_clean(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if call.given.has(&["n", "dry-run"]) {
        return;
    }
    let here = [Argument::Plain(".".to_owned())];
    let cleaned = if call.given.operands.is_empty() { &here[..] } else { &call.given.operands };
    cleaned.iter().for_each(|operand| walk.writes_below(operand, WriteKind::Delete));
}

pub(crate) fn git_clone(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let named = match &call.given.operands[..] {
        [_, directory, ..] => directory.clone(),
        [Argument::Plain(url)] => {
            let name = url.trim_end_matches('/').trim_end_matches(".git").rsplit(['/', ':']).next();
            Argument::Plain(name.unwrap_or_default().to_owned())
        }
        _ => return,
    };
    walk.writes_below(&named, WriteKind::Create);
}

/// Pathspecs: a leading `:` has a special meaning.
fn paths(walk: &mut Walk<'_>, pathspecs: &[Argument], how: WriteKind) {
    for pathspec in pathspecs {
        let Some(path) = pathspec.plain() else {
            walk.writes(pathspec, how);
            continue;
        };
        match (path.strip_prefix(":/"), walk.base.here()) {
            (Some(path), Some(of)) if !path.is_empty() && !path.contains(['*', '?', '[', ':']) => {
                walk.write(FileTarget::FromTop { of, path: path.to_owned() }, how);
            }
            _ if path.starts_with(':') => whole_tree(walk, how),
            // Quoted from the shell, a glob is one for git.
            _ if path.contains(['*', '?', '[']) => {
                let glob = Argument::Glob(path.replace('{', "[{]").replace('}', "[}]"));
                walk.writes(&glob, how);
            }
            _ => walk.writes(pathspec, how),
        }
    }
}
