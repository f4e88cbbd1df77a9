//! Programs that put something somewhere else: `mv`, `cp`, `install`, `ln`.

use super::walk::{Call, Walk, below};
use crate::arguments::{Argument, as_glob};
use crate::effects::{How, Target};
use crate::table::Given;

pub(crate) fn mv(walk: &mut Walk<'_>, call: &Call<'_>) {
    let given = &call.given;
    let sources = sources(given);
    for source in sources {
        walk.writes(source, How::Move);
    }
    put(walk, given, sources, How::Move, Kind::Whatever);
}

pub(crate) fn cp(walk: &mut Walk<'_>, call: &Call<'_>) {
    let given = &call.given;
    let recursive = given.has(&["r", "R", "a", "recursive", "archive"]);
    let kind = if recursive { Kind::Whatever } else { Kind::File };
    put(walk, given, sources(given), How::Whole, kind);
}

pub(crate) fn install(walk: &mut Walk<'_>, call: &Call<'_>) {
    let given = &call.given;
    if !given.has(&["d", "directory"]) {
        put(walk, given, sources(given), How::Whole, Kind::File);
    }
}

pub(crate) fn ln(walk: &mut Walk<'_>, call: &Call<'_>) {
    let given = &call.given;
    if let [to, link] = &given.operands[..] {
        walk.linked(link, to);
    }
    match (&given.operands[..], target_directory(given)) {
        // The link gets the name of what it leads to.
        ([one], None) => put_into(
            walk,
            std::slice::from_ref(one),
            &Argument::Plain(".".to_owned()),
            How::Create,
            Kind::File,
        ),
        _ if given.has(&["n", "no-dereference", "h"]) && given.operands.len() == 2 => {
            walk.writes(&given.operands[1], How::Create);
        }
        _ => put(walk, given, sources(given), How::Create, Kind::File),
    }
}

/// What is put somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file.
    File,
    /// A file or a directory.
    Whatever,
}

fn target_directory(given: &Given) -> Option<&Argument> {
    given.value(&["t", "target-directory"])
}

fn sources(given: &Given) -> &[Argument] {
    match target_directory(given) {
        Some(_) => &given.operands,
        None => &given.operands[..given.operands.len().saturating_sub(1)],
    }
}

fn put(walk: &mut Walk<'_>, given: &Given, sources: &[Argument], how: How, kind: Kind) {
    if let Some(directory) = target_directory(given) {
        return put_into(walk, sources, directory, how, kind);
    }
    let Some(to) = given.operands.last().filter(|_| !sources.is_empty()) else { return };
    match sources {
        [_] if given.has(&["T", "no-target-directory"]) => {
            for target in walk.base.targets(to) {
                walk.write(if kind == Kind::File { target } else { below(target) }, how);
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

/// Puts one thing to a path that may be a directory or not.
fn put_at(walk: &mut Walk<'_>, source: &Argument, to: &Argument, how: How, kind: Kind) {
    for target in walk.base.targets(to) {
        let Target::Path(path) = target else {
            walk.write(target, how);
            continue;
        };
        match (name(source), kind) {
            (Some(Argument::Plain(name)), kind) => {
                walk.write(Target::Into { path, name, below: kind == Kind::Whatever }, how);
            }
            (_, Kind::Whatever) => walk.write(Target::Below(path), how),
            (_, Kind::File) => {
                walk.write(Target::Glob(format!("{}/*", as_glob(&path))), how);
                walk.write(Target::Path(path), how);
            }
        }
    }
}

/// Puts things into a directory, each under its own name.
pub(super) fn put_into(
    walk: &mut Walk<'_>,
    sources: &[Argument],
    directory: &Argument,
    how: How,
    kind: Kind,
) {
    for target in walk.base.targets(directory) {
        let Target::Path(directory) = target else {
            walk.write(target, how);
            continue;
        };
        let directory = directory.trim_end_matches('/');
        for source in sources {
            let target = match (name(source), kind) {
                (Some(Argument::Plain(name)), Kind::File) => Target::Path(within(directory, &name)),
                (Some(Argument::Plain(name)), Kind::Whatever) => Target::Below(within(directory, &name)),
                (Some(Argument::Glob(name)), _) => Target::Glob(within(&as_glob(directory), &name)),
                (_, Kind::File) => Target::Glob(within(&as_glob(directory), "*")),
                (_, Kind::Whatever) => {
                    Target::Below(if directory.is_empty() { "/" } else { directory }.to_owned())
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

/// The last name of a path; nothing where its content is put, or where it is not known.
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
