//! Programs that apply patches: `apply_patch`, `git apply`, `patch`.

use super::feed::CommandInput;
use super::walk::{ProgramCall, Walk};
use crate::arguments::Argument;
use crate::effects::{FileTarget, Unknown, Write, WriteKind};
use crate::patch::{self, Malformed, Strip};

/// With the patch as its argument or its input.
pub(crate) fn apply_patch(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let patch = match (call.arguments.first(), call.feed) {
        (Some(Argument::Plain(patch)), _) => patch,
        (None, CommandInput::Text(patch)) => patch,
        _ => return walk.unknown(Unknown::PatchFile("apply_patch".to_owned())),
    };
    applied(walk, patch::envelope(patch));
}

pub(crate) fn git_apply(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    let looks = ["check", "stat", "numstat", "summary", "cached"];
    if given.has(&looks) && !given.has(&["apply", "index"]) {
        return;
    }
    let (true, CommandInput::Text(text)) = (given.operands.iter().all(|operand| operand.is("-")), call.feed)
    else {
        return walk.unknown(Unknown::PatchFile("git apply".to_owned()));
    };
    let strip = given.value(&["p"]).map_or(Some(1), number);
    let Some(strip) = strip else { return walk.unknown(Unknown::PatchFile("git apply".to_owned())) };
    let directory = given.value(&["directory"]).and_then(Argument::plain).unwrap_or_default();
    match patch::unified(text, Strip::Components(strip)) {
        Err(malformed) => walk.unknown(malformed.into()),
        Ok(writes) => {
            for Write { target, how, .. } in writes {
                let target = from_top(walk, target, directory);
                walk.write(target, how);
            }
        }
    }
}

/// Paths in a patch for git are relative to the top of the work tree.
fn from_top(walk: &Walk<'_>, target: FileTarget, directory: &str) -> FileTarget {
    match (target, walk.base.here()) {
        (FileTarget::Path(path), Some(of)) => {
            let directory = directory.trim_end_matches('/');
            let path = if directory.is_empty() { path } else { format!("{directory}/{path}") };
            FileTarget::FromTop { of, path }
        }
        (target, _) => FileTarget::Unclear(target.to_string()),
    }
}

pub(crate) fn patch(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    if given.has(&["dry-run", "C", "check", "version", "v"]) {
        return;
    }
    walk.apart(|walk| {
        if let Some(directory) = given.value(&["d", "directory"]) {
            walk.base = walk.base.enter(directory);
        }
        if let Some(output) = given.value(&["o", "output"]) {
            return walk.writes(output, WriteKind::Whole);
        }
        if let Some(original) = given.operands.first() {
            return walk.writes(original, WriteKind::Edit);
        }
        let strip = match given.value(&["p", "strip"]) {
            None => Some(Strip::ToName),
            Some(value) => number(value).map(Strip::Components),
        };
        match (call.feed, strip, given.has(&["i", "input"])) {
            (CommandInput::Text(text), Some(strip), false) => applied(walk, patch::unified(text, strip)),
            _ => walk.unknown(Unknown::PatchFile("patch".to_owned())),
        }
    });
}

fn number(argument: &Argument) -> Option<usize> {
    argument.plain()?.parse().ok()
}

fn applied(walk: &mut Walk<'_>, writes: Result<Vec<Write>, Malformed>) {
    match writes {
        Err(malformed) => walk.unknown(malformed.into()),
        Ok(writes) => {
            for Write { target, how, content } in writes {
                // In an unquoted here-document a path may have a variable in it.
                let argument = match target {
                    FileTarget::Path(path) if path.contains(['$', '`']) => Argument::unclear(&path, false),
                    FileTarget::Path(path) => Argument::Plain(path),
                    other => Argument::Found([other].into()),
                };
                for target in walk.base.targets(&argument) {
                    walk.found.write(Write { target, how, content: content.clone() });
                }
            }
        }
    }
}
