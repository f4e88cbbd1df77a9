//! Our hooks among those of others.

use super::EditProblem;
use super::json::Document;
use super::line::{HOOK_PROGRAM, is_hook_line};
use super::piece::Piece;
use super::scan::{JsonContainer, JsonItem, Type};

/// The member that holds the hooks, in a file and in a group within it.
const HOOKS: &str = "hooks";
/// The member that gives a file's version, and the version that we write.
const VERSION: &str = "version";
const VERSION_WRITTEN: u64 = 1;
/// The members that hold a command line.
const COMMANDS: [&str; 3] = ["command", "bash", "powershell"];

pub(super) struct Hook {
    pub(super) event: &'static str,
    pub(super) entry: Piece,
}

/// Which part of an entry is ours.
enum OwnHooks {
    Nothing,
    All,
    /// Some of the hooks in a group: where the group has its hooks, and which.
    Some(usize, Vec<usize>),
}

impl Hook {
    /// An entry with a matcher for tools and a list of hooks.
    pub(super) fn group(event: &'static str, matcher: Option<&str>, handler: Piece) -> Hook {
        let mut members = Vec::new();
        members.extend(matcher.map(|matcher| ("matcher", Piece::text(matcher))));
        members.push((HOOKS, Piece::List(vec![handler])));
        Hook { event, entry: Piece::Members(members) }
    }

    /// An entry with several hooks, for an event without tools.
    pub(super) fn groups(event: &'static str, handlers: Vec<Piece>) -> Hook {
        Hook { event, entry: Piece::Members(vec![(HOOKS, Piece::List(handlers))]) }
    }
}

pub(super) fn connect(
    document: &mut Document,
    wanted: &[Hook],
    is_versioned: bool,
) -> Result<(), EditProblem> {
    let root = document.root();
    let has_hooks = root.position(HOOKS)?.is_some();
    let version = root.position(VERSION)?;
    if let (true, Some(position)) = (is_versioned, version)
        && document.value(&root.items[position]) != Some(VERSION_WRITTEN.into())
    {
        return Err(EditProblem::new(
            format!("the file is of version {}, not {VERSION_WRITTEN}", document.raw(&root.items[position])),
            "look for a newer Comity, which may know that version",
        ));
    }
    for hook in wanted {
        connect_one(document, hook)?;
    }
    // Existing hooks work, or do not, with the version that they have.
    if is_versioned && !has_hooks && version.is_none() {
        document.append(&document.root(), Some(VERSION), &Piece::Number(VERSION_WRITTEN));
    }
    remove_ours(document, |event| wanted.iter().all(|hook| hook.event != event))
}

pub(super) fn disconnect(document: &mut Document, is_versioned: bool) -> Result<(), EditProblem> {
    let has_our_version = is_versioned && has_our_version(document)?;
    remove_ours(document, |_| true)?;
    if document.is_gone() || !has_our_version {
        return Ok(());
    }
    let root = document.root();
    if let (None, Some(version)) = (root.position(HOOKS)?, root.position(VERSION)?) {
        document.remove(&[version]);
    }
    Ok(())
}

/// Whether the version stands where we write it: after the hooks.
fn has_our_version(document: &Document) -> Result<bool, EditProblem> {
    let root = document.root();
    let (hooks, version) = (root.position(HOOKS)?, root.position(VERSION)?);
    Ok(version.is_some_and(|at| {
        hooks.is_some_and(|hooks| hooks + 1 == at)
            && document.value(&root.items[at]) == Some(VERSION_WRITTEN.into())
    }))
}

fn connect_one(document: &mut Document, hook: &Hook) -> Result<(), EditProblem> {
    let root = document.root();
    let Some(hooks_at) = root.position(HOOKS)? else {
        let list = Piece::List(vec![hook.entry.clone()]);
        document.append(&root, Some(HOOKS), &Piece::Members(vec![(hook.event, list)]));
        return Ok(());
    };
    let hooks = inside(document, &root.items[hooks_at], HOOKS, Type::Object)?;
    let Some(list_at) = hooks.position(hook.event)? else {
        document.append(&hooks, Some(hook.event), &Piece::List(vec![hook.entry.clone()]));
        return Ok(());
    };
    let list = inside(document, &hooks.items[list_at], hook.event, Type::List)?;
    let mut kept = None;
    let mut others = Vec::new();
    for (at, item) in list.items.iter().enumerate() {
        match share(document, item)? {
            OwnHooks::Nothing => {}
            OwnHooks::All if kept.is_none() => kept = Some(at),
            OwnHooks::All => others.push(vec![hooks_at, list_at, at]),
            OwnHooks::Some(inner, which) => {
                others.extend(which.into_iter().map(|one| vec![hooks_at, list_at, at, inner, one]));
            }
        }
    }
    // From the back, so that earlier positions stay valid.
    others.iter().rev().for_each(|path| document.remove(path));
    let list = document.inside(&document.inside(&document.root().items[hooks_at]).items[list_at]);
    match kept.map(|at| &list.items[at]) {
        Some(item) if document.value(item) == Some(hook.entry.value()) => {}
        Some(item) => document.replace(item, &hook.entry),
        None => document.append(&list, None, &hook.entry),
    }
    Ok(())
}

/// Removes our hooks from the matching events.
fn remove_ours(document: &mut Document, is_asked: impl Fn(&str) -> bool) -> Result<(), EditProblem> {
    while let Some(path) = first_of_ours(document, &is_asked)? {
        document.remove(&path);
        if document.is_gone() {
            break;
        }
    }
    Ok(())
}

fn first_of_ours(
    document: &Document,
    is_asked: &impl Fn(&str) -> bool,
) -> Result<Option<Vec<usize>>, EditProblem> {
    let root = document.root();
    let Some(hooks_at) = root.position(HOOKS)? else { return Ok(None) };
    if document.type_of(&root.items[hooks_at]) != Type::Object {
        return Ok(None);
    }
    let hooks = document.inside(&root.items[hooks_at]);
    for (list_at, list) in hooks.items.iter().enumerate() {
        let event = list.key.as_deref().unwrap_or_default();
        if !is_asked(event) || document.type_of(list) != Type::List {
            continue;
        }
        for (at, item) in document.inside(list).items.iter().enumerate() {
            let path = match share(document, item)? {
                OwnHooks::Nothing => continue,
                OwnHooks::All => vec![hooks_at, list_at, at],
                OwnHooks::Some(inner, which) => vec![hooks_at, list_at, at, inner, which[0]],
            };
            hooks.position(event)?;
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn share(document: &Document, item: &JsonItem) -> Result<OwnHooks, EditProblem> {
    if document.type_of(item) != Type::Object || !document.raw(item).contains(HOOK_PROGRAM) {
        return Ok(OwnHooks::Nothing);
    }
    if calls_us(document, item) {
        return Ok(OwnHooks::All);
    }
    let group = document.inside(item);
    let Some(inner) = group.position(HOOKS)? else { return Ok(OwnHooks::Nothing) };
    if document.type_of(&group.items[inner]) != Type::List {
        return Ok(OwnHooks::Nothing);
    }
    let handlers = document.inside(&group.items[inner]).items;
    let ours: Vec<usize> = (0..handlers.len()).filter(|at| calls_us(document, &handlers[*at])).collect();
    Ok(match ours.len() {
        0 => OwnHooks::Nothing,
        all if all == handlers.len() => OwnHooks::All,
        _ => OwnHooks::Some(inner, ours),
    })
}

fn calls_us(document: &Document, item: &JsonItem) -> bool {
    if document.type_of(item) != Type::Object {
        return false;
    }
    let members = document.inside(item).items;
    let commands =
        members.iter().filter(|member| member.key.as_deref().is_some_and(|key| COMMANDS.contains(&key)));
    commands.filter_map(|member| document.value(member)).any(|value| value.as_str().is_some_and(is_hook_line))
}

fn inside(
    document: &Document,
    item: &JsonItem,
    name: &str,
    wanted: Type,
) -> Result<JsonContainer, EditProblem> {
    if document.type_of(item) == wanted {
        return Ok(document.inside(item));
    }
    Err(EditProblem::wrong_type(name, if wanted == Type::Object { "an object" } else { "a list" }))
}
