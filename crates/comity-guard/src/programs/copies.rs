//! Programs that put something elsewhere: `mv`, `cp`, `install`, `ln`.

use super::walk::{ProgramCall, Walk, below};
use crate::arguments::{Argument, as_glob};
use crate::effects::{FileTarget, WriteKind};
use crate::table::ParsedArguments;

pub(crate) fn mv(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    let sources = sources(given);
    for source in sources {
        walk.writes(source, WriteKind::Move);
    }
    put(walk, given, sources, WriteKind::Move, SourceKind::Whatever);
}

pub(crate) fn cp(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    let recursive = given.has(&["r", "R", "a", "recursive", "archive"]);
    let kind = if recursive { SourceKind::Whatever } else { SourceKind::File };
    put(walk, given, sources(given), WriteKind::Whole, kind);
}

pub(crate) fn install(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    if !given.has(&["d", "directory"]) {
        put(walk, given, sources(given), WriteKind::Whole, SourceKind::File);
    }
}

pub(crate) fn ln(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    if let [to, link] = &given.operands[..] {
        walk.linked(link, to);
    }
    match (&given.operands[..], target_directory(given)) {
        // The link gets its target's name.
        ([one], None) => put_into(
            walk,
            std::slice::from_ref(one),
            &Argument::Plain(".".to_owned()),
            WriteKind::Create,
            SourceKind::File,
        ),
        _ if given.has(&["n", "no-dereference", "h"]) && given.operands.len() == 2 => {
            walk.writes(&given.operands[1], WriteKind::Create);
        }
        _ => put(walk, given, sources(given), WriteKind::Create, SourceKind::File),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceKind {
    File,
    /// A file or a directory.
    Whatever,
}

fn target_directory(given: &ParsedArguments) -> Option<&Argument> {
    given.value(&["t", "target-directory"])
}

fn sources(given: &ParsedArguments) -> &[Argument] {
    match target_directory(given) {
        Some(_) => &given.operands,
        None => &given.operands[..given.operands.len().saturating_sub(1)],
    }
}

fn put(walk: &mut Walk<'_>, given: &ParsedArguments, sources: &[Argument], how: WriteKind, kind: SourceKind) {
    if let Some(directory) = target_directory(given) {
        return put_into(walk, sources, directory, how, kind);
    }
    let Some(to) = given.operands.last().filter(|_| !sources.is_empty()) else { return };
    match sources {
        [_] if given.has(&["T", "no-target-directory"]) => {
            for target in walk.base.targets(to) {
                walk.write(if kind == SourceKind::File { target } else { below(target) }, how);
            }
        }
        [source] if !is_directory(to) && !matches!(source, Argument::Glob(_)) => {
            put_at(walk, source, to, how, kind);
        }
        _ => put_into(walk, sources, to, how, kind),
    }
}

/// Whether a path can only be a directory.
fn is_directory(path: &Argument) -> bool {
    path.plain()
        .is_some_and(|path| path.ends_with('/') || matches!(path.rsplit('/').next(), Some("." | "..")))
}

/// Puts one thing at a path that may be a directory or not.
fn put_at(walk: &mut Walk<'_>, source: &Argument, to: &Argument, how: WriteKind, kind: SourceKind) {
    for target in walk.base.targets(to) {
        let FileTarget::Path(path) = target else {
            walk.write(target, how);
            continue;
        };
        match (name(source), kind) {
            (Some(Argument::Plain(name)), kind) => {
                walk.write(FileTarget::Into { path, name, below: kind == SourceKind::Whatever }, how);
            }
            (_, SourceKind::Whatever) => walk.write(FileTarget::Below(path), how),
            (_, SourceKind::File) => {
                walk.write(FileTarget::Glob(format!("{}/*", as_glob(&path))), how);
                walk.write(FileTarget::Path(path), how);
            }
        }
    }
}

/// Puts things into a directory, each under its own name.
pub(super) fn put_into(
    walk: &mut Walk<'_>,
    sources: &[Argument],
    directory: &Argument,
    how: WriteKind,
    kind: SourceKind,
) {
    for target in walk.base.targets(directory) {
        let FileTarget::Path(directory) = target else {
            walk.write(target, how);
            continue;
        };
        let directory = directory.trim_end_matches('/');
        for source in sources {
            if !walk.spends(directory.len()) {
                return;
            }
            let target = match (name(source), kind) {
                (Some(Argument::Plain(name)), SourceKind::File) => FileTarget::Path(within(directory, &name)),
                (Some(Argument::Plain(name)), SourceKind::Whatever) => {
                    FileTarget::Below(within(directory, &name))
                }
                (Some(Argument::Glob(name)), _) => FileTarget::Glob(within(&as_glob(directory), &name)),
                (_, SourceKind::File) => FileTarget::Glob(within(&as_glob(directory), "*")),
                (_, SourceKind::Whatever) => {
                    FileTarget::Below(if directory.is_empty() { "/" } else { directory }.to_owned())
                }
            };
            walk.write(target, how);
        }
    }
}

fn within(directory: &str, name: &str) -> String {
    match directory {
        "." => name.to_owned(),
        directory => format!("{directory}/{name}"),
    }
}

/// The last name of a path; `None` if only its content is used, or it is not known.
fn name(source: &Argument) -> Option<Argument> {
    let last = |path: &str| match path.rsplit('/').next() {
        None | Some("" | "." | "..") => None,
        Some(name) => Some(name.to_owned()),
    };
    match source {
        Argument::Plain(path) => last(path).map(Argument::Plain),
        Argument::Glob(glob) => last(glob).map(Argument::Glob),
        Argument::Unclear(_) | Argument::Pipe | Argument::Found(_) => None,
    }
}
