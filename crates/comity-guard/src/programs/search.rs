//! `find`, which names files for itself and for others.

use std::rc::Rc;

use super::feed::CommandInput;
use super::walk::{ProgramCall, Walk, below};
use crate::arguments::{Argument, as_glob};
use crate::effects::{FileTarget, WriteKind};

/// Words of an expression after which nothing surely narrows the result.
const WIDENING: [&str; 8] = ["-o", "-or", "!", "-not", "(", ")", ",", "-prune"];
/// Words that run a program on what is found.
const RUNNING: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
/// Words that write a list to the file that follows.
const LISTING: [&str; 4] = ["-fprint", "-fprint0", "-fls", "-fprintf"];

pub(crate) fn find(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let Some(found) = found(walk, call.arguments) else { return };
    let found: Rc<[FileTarget]> = found.into();
    let mut rest = call.arguments;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        let word = word.plain().unwrap_or_default();
        if word == "-delete" {
            for target in found.iter() {
                walk.write(target.clone(), WriteKind::Delete);
            }
        }
        if LISTING.contains(&word) {
            rest.first().into_iter().for_each(|file| walk.writes(file, WriteKind::Whole));
        }
        if RUNNING.contains(&word) {
            let ends = |argument: &Argument| argument.is(";") || argument.is("+");
            let end = rest.iter().position(ends).unwrap_or(rest.len());
            let program: Vec<Argument> = rest[..end].iter().map(|word| filled(word, "{}", &found)).collect();
            walk.apart(|walk| walk.program(&program, &CommandInput::Unknown));
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }
}

/// An argument of another program, in which `mark` stands for what was found.
pub(super) fn filled(word: &Argument, mark: &str, found: &Rc<[FileTarget]>) -> Argument {
    match word {
        Argument::Plain(text) if text == mark => Argument::Found(Rc::clone(found)),
        Argument::Plain(text) if !mark.is_empty() && text.contains(mark) => Argument::unclear(text, false),
        other => other.clone(),
    }
}

/// What `find` may list with these arguments.
pub(super) fn found(walk: &Walk<'_>, arguments: &[Argument]) -> Option<Vec<FileTarget>> {
    let is_flag = |argument: &&Argument| matches!(argument.shown(), "-H" | "-L" | "-P");
    let arguments = &arguments[arguments.iter().take_while(is_flag).count()..];
    let begins_expression =
        |argument: &Argument| argument.shown().starts_with('-') || matches!(argument.shown(), "(" | "!");
    let end = arguments.iter().position(begins_expression).unwrap_or(arguments.len());
    let (starts, expression) = arguments.split_at(end);
    let starts: Vec<FileTarget> = match starts {
        [] => vec![FileTarget::Path(walk.base.here()?)],
        starts => starts.iter().flat_map(|start| walk.base.targets(start)).collect(),
    };
    let name = name(expression);
    Some(starts.into_iter().map(|start| narrowed(start, name)).collect())
}

/// The glob that every found name matches, if there surely is one.
fn name(expression: &[Argument]) -> Option<&str> {
    if expression.iter().any(|word| WIDENING.contains(&word.shown())) {
        return None;
    }
    let at = expression.iter().position(|word| word.is("-name"))?;
    let name = expression.get(at + 1)?.plain()?;
    let is_plain_glob = !name.is_empty() && !name.contains(['/', '\\', '[', ']', '{', '}', ',']);
    is_plain_glob.then_some(name)
}

fn narrowed(start: FileTarget, name: Option<&str>) -> FileTarget {
    match (start, name) {
        (FileTarget::Path(path), Some(name)) => {
            let path = path.trim_end_matches('/');
            match path {
                "." => FileTarget::Glob(format!("**/{name}")),
                path => FileTarget::Glob(format!("{}/**/{name}", as_glob(path))),
            }
        }
        (start, _) => below(start),
    }
}
