//! What `git` does to the files of a work tree.

use super::arguments::Argument;
use super::feed::Feed;
use super::options::{FLAGS_ONLY, Given, Options, read, read_before_operands};
use super::walk::Walk;
use super::{copies, patches};
use crate::effects::{How, Target};

/// Sub-commands that may change any file of the work tree.
const TREE_WIDE: [&str; 9] =
    ["am", "bisect", "cherry-pick", "merge", "pull", "read-tree", "rebase", "revert", "checkout-index"];

pub(super) fn git(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], feed: &Feed) {
    const GIT: Options = Options {
        short: "Cc",
        long: &["git-dir", "work-tree", "namespace", "exec-path", "super-prefix", "config-env"],
    };
    let given = read_before_operands(arguments, &GIT);
    let Some((command, arguments)) = given.operands.split_first() else { return };
    let arguments: Vec<Argument> = arguments.iter().copied().cloned().collect();
    walk.apart(|walk| {
        let tree = given.value(&["work-tree"]).into_iter();
        let directories = given.options.iter().filter(|(name, _)| *name == "C");
        for directory in directories.filter_map(|(_, value)| value.as_ref()).chain(tree) {
            walk.base = walk.base.enter(directory);
        }
        if let Some(command) = command.plain() {
            run(walk, command, &arguments, feed);
        }
    });
}

fn run(walk: &mut Walk<'_>, command: &str, arguments: &[Argument], feed: &Feed) {
    match command {
        "apply" => patches::git_apply(walk, arguments, feed),
        "checkout" => checkout(walk, arguments),
        "switch" => switch(walk, arguments),
        "restore" => restore(walk, arguments),
        "rm" => {
            let given = read(arguments, &FLAGS_ONLY);
            if !given.has(&["cached", "n", "dry-run"]) {
                paths(walk, &given.operands, How::Delete);
            }
        }
        "mv" => copies::mv(walk, command, arguments, feed),
        "stash" => stash(walk, arguments),
        "reset" => {
            let given = read(arguments, &FLAGS_ONLY);
            if given.has(&["hard", "merge", "keep"]) {
                whole_tree(walk, How::Whole);
            }
        }
        "clean" => clean(walk, arguments),
        "clone" => clone(walk, arguments),
        "submodule" if arguments.iter().any(|argument| argument.is("update")) => whole_tree(walk, How::Edit),
        command if TREE_WIDE.contains(&command) => whole_tree(walk, How::Edit),
        "archive" | "diff" | "log" | "show" | "format-patch" => {
            let given = read(arguments, &Options { short: "o", long: &["output", "output-directory"] });
            if let Some(output) = given.value(&["o", "output", "output-directory"]) {
                walk.writes(output, How::Whole);
            }
        }
        _ => {}
    }
}

fn whole_tree(walk: &mut Walk<'_>, how: How) {
    let target = match walk.base.here() {
        Some(here) => Target::WorkTree(here),
        None => Target::Unclear("the work tree".to_owned()),
    };
    walk.write(target, how);
}

/// Where `--` stands, if it does; the paths are behind it.
fn behind_dashes(arguments: &[Argument]) -> Option<usize> {
    arguments.iter().position(|argument| argument.is("--"))
}

fn checkout(walk: &mut Walk<'_>, arguments: &[Argument]) {
    if let Some(dashes) = behind_dashes(arguments) {
        let pathspecs: Vec<&Argument> = arguments[dashes + 1..].iter().collect();
        if !pathspecs.is_empty() {
            return paths(walk, &pathspecs, How::Whole);
        }
    }
    let given =
        read(arguments, &Options { short: "bB", long: &["orphan", "conflict", "pathspec-from-file"] });
    let creates = given.has(&["b", "B", "orphan"]);
    match &given.operands[..] {
        // A new branch that begins where we are.
        [] if creates => {}
        [] => {}
        [_, rest @ ..] if !rest.is_empty() && !creates => paths(walk, rest, How::Whole),
        [one] if one.is(".") => paths(walk, &[*one], How::Whole),
        // A branch, or a file: git looks which of them exists.
        _ => whole_tree(walk, How::Whole),
    }
}

fn switch(walk: &mut Walk<'_>, arguments: &[Argument]) {
    let given = read(arguments, &Options { short: "cC", long: &["create", "force-create", "orphan"] });
    let creates = given.has(&["c", "C", "create", "force-create"]);
    if !creates || !given.operands.is_empty() {
        whole_tree(walk, How::Whole);
    }
}

fn restore(walk: &mut Walk<'_>, arguments: &[Argument]) {
    let given = read(arguments, &Options { short: "s", long: &["source", "pathspec-from-file", "conflict"] });
    let index_only = given.has(&["S", "staged"]) && !given.has(&["W", "worktree"]);
    if index_only {
        return;
    }
    if given.has(&["pathspec-from-file"]) {
        return whole_tree(walk, How::Whole);
    }
    paths(walk, &given.operands, How::Whole);
}

fn stash(walk: &mut Walk<'_>, arguments: &[Argument]) {
    let command = arguments.first().and_then(Argument::plain).unwrap_or("push");
    if matches!(command, "list" | "show" | "drop" | "clear" | "create" | "store" | "export") {
        return;
    }
    match behind_dashes(arguments) {
        Some(dashes) if dashes + 1 < arguments.len() => {
            let pathspecs: Vec<&Argument> = arguments[dashes + 1..].iter().collect();
            paths(walk, &pathspecs, How::Whole);
        }
        _ => whole_tree(walk, How::Edit),
    }
}

fn clean(walk: &mut Walk<'_>, arguments: &[Argument]) {
    let given = read(arguments, &Options { short: "e", long: &["exclude"] });
    if given.has(&["n", "dry-run"]) {
        return;
    }
    if given.operands.is_empty() {
        return walk.writes_below(&Argument::Plain(".".to_owned()), How::Delete);
    }
    for operand in &given.operands {
        walk.writes_below(operand, How::Delete);
    }
}

fn clone(walk: &mut Walk<'_>, arguments: &[Argument]) {
    let given: Given<'_> = read(
        arguments,
        &Options {
            short: "bocju",
            long: &[
                "branch",
                "origin",
                "config",
                "jobs",
                "upload-pack",
                "depth",
                "reference",
                "template",
                "filter",
            ],
        },
    );
    let named = match &given.operands[..] {
        [_, directory, ..] => (*directory).clone(),
        [Argument::Plain(url)] => {
            let name = url.trim_end_matches('/').trim_end_matches(".git").rsplit(['/', ':']).next();
            Argument::Plain(name.unwrap_or_default().to_owned())
        }
        _ => return,
    };
    walk.writes_below(&named, How::Create);
}

/// Paths as git reads them: `:` begins something that means more than its name.
fn paths(walk: &mut Walk<'_>, pathspecs: &[&Argument], how: How) {
    for pathspec in pathspecs {
        let Some(path) = pathspec.plain() else {
            walk.writes(pathspec, how);
            continue;
        };
        match (path.strip_prefix(":/"), walk.base.here()) {
            (Some(path), Some(of)) if !path.is_empty() && !path.contains(['*', '?', '[', ':']) => {
                walk.write(Target::FromTop { of, path: path.to_owned() }, how);
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
