//! Environment variables for Codex's shell, in its TOML. Only ours are added and removed.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Value};

use super::ProgramPaths;
use super::braces::{self, RemovedPart};
use super::configured::{ShellStart, bash_env};
use super::shell::{BASH_ENV, ZDOTDIR, is_our_bash_env, is_our_zsh_dir};
use super::toml::{line_end, newline, without_newline};

const POLICY: &str = "shell_environment_policy";
const SET: &str = "set";
/// The setting that restricts commands to the listed variables.
const INCLUDE_ONLY: &str = "include_only";

/// A variable of ours.
struct Variable {
    name: &'static str,
    is_ours: fn(&str) -> bool,
}

const FOR_BASH: Variable = Variable { name: BASH_ENV, is_ours: is_our_bash_env };
const FOR_ZSH: Variable = Variable { name: ZDOTDIR, is_ours: is_our_zsh_dir };

/// Adds our variables to the text, if that is possible without touching what is there.
///
/// A variable that the user set stays, and so does a form that cannot be added to: Codex then works unconfined, and
/// [`shell_start`] tells.
pub(super) fn connect(text: &str, connection: &ProgramPaths) -> String {
    let edited = with(text, &FOR_BASH, &connection.bash_env);
    match found(&edited, &FOR_BASH) {
        PolicySetting::Ours(..) => with(&edited, &FOR_ZSH, &connection.zsh_dir()),
        PolicySetting::Users
        | PolicySetting::Table(_)
        | PolicySetting::Braces(_)
        | PolicySetting::OuterBraces(_)
        | PolicySetting::Nothing => edited,
    }
}

fn with(text: &str, variable: &Variable, wanted: &str) -> String {
    let (name, wanted) = (variable.name, Value::from(wanted));
    let edited = match found(text, variable) {
        PolicySetting::Ours(span, _) => Some(replaced(text, span, wanted.to_string().trim())),
        PolicySetting::Users => None,
        PolicySetting::Table(end) => {
            let (before, newline) = (&text[..end], newline(text));
            let gap = if before.ends_with('\n') { "" } else { newline };
            let rest = if gap.is_empty() { newline } else { "" };
            Some(format!("{before}{gap}{name} = {wanted}{rest}{}", &text[end..]))
        }
        PolicySetting::Braces(set) => braces::with(text, &set, &format!("{name} = {wanted}")),
        PolicySetting::OuterBraces(policy) => {
            braces::with(text, &policy, &format!("{SET} = {{{name} = {wanted}}}"))
        }
        PolicySetting::Nothing => Some(appended(text, &format!("{name} = {wanted}"))),
    };
    edited.filter(|edited| Document::parse(edited.as_str()).is_ok()).unwrap_or_else(|| text.to_owned())
}

/// Removes our variables, and the table if nothing else is in it.
pub(super) fn disconnect(text: &str) -> String {
    without(&without(text, &FOR_ZSH), &FOR_BASH)
}

fn without(text: &str, variable: &Variable) -> String {
    match found(text, variable) {
        PolicySetting::Ours(span, PolicyForm::Line) => without_line(text, span),
        PolicySetting::Ours(_, PolicyForm::Braces { set, policy }) => {
            let gone = match braces::without(text, &set, variable.name) {
                Some(RemovedPart::Table) => policy.and_then(|policy| braces::without(text, &policy, SET)),
                gone => gone,
            };
            match gone {
                Some(RemovedPart::Part(part)) => replaced(text, part, ""),
                Some(RemovedPart::Table) | None => text.to_owned(),
            }
        }
        PolicySetting::Users
        | PolicySetting::Table(_)
        | PolicySetting::Braces(_)
        | PolicySetting::OuterBraces(_)
        | PolicySetting::Nothing => text.to_owned(),
    }
}

/// What Codex's shell commands start through, in whichever form it is written.
pub(super) fn shell_start(text: &str) -> ShellStart {
    let document = Document::parse(text).ok();
    let policy = document.as_ref().and_then(|document| document.get(POLICY)?.as_table_like());
    let Some(policy) = policy else { return ShellStart::Plain };
    if let Some(only) = policy.get(INCLUDE_ONLY).filter(|only| !keeps(only, BASH_ENV)) {
        return ShellStart::Users { setting: INCLUDE_ONLY, value: only.to_string().trim().to_owned() };
    }
    let set = policy.get(SET).and_then(Item::as_table_like).and_then(|set| set.get(BASH_ENV));
    bash_env(set.and_then(Item::as_str).map(str::to_owned))
}

/// Our directory with zsh's first startup file, if commands get that variable.
pub(super) fn zsh_dir(text: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let policy = document.get(POLICY)?.as_table_like()?;
    let is_kept = policy.get(INCLUDE_ONLY).is_none_or(|only| keeps(only, ZDOTDIR));
    let dir = policy.get(SET)?.as_table_like()?.get(ZDOTDIR)?.as_str()?;
    (is_kept && is_our_zsh_dir(dir)).then(|| dir.to_owned())
}

/// The sandbox in which Codex runs commands, according to its settings; `None` if that is off. Without a setting
/// Codex chooses.
pub fn sandbox(text: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    match document.get("sandbox_mode").and_then(Item::as_str) {
        Some("danger-full-access") => None,
        Some(mode) => Some(format!("sandbox_mode is \"{mode}\"")),
        None => Some("sandbox_mode is not set".into()),
    }
}

/// Whether all windows of Codex share a background server, and are one agent with it: they do unless its settings say
/// otherwise.
pub fn shares_server(text: &str) -> bool {
    let Ok(document) = Document::parse(text) else { return true };
    let features = document.get("features").and_then(Item::as_table_like);
    features.and_then(|features| features.get("daemon_auto_start")).and_then(Item::as_bool) != Some(false)
}

/// Whether commands restricted to these variables get this one.
fn keeps(only: &Item, name: &str) -> bool {
    let names = only.as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut names = names.map(str::to_uppercase).peekable();
    names.peek().is_none()
        || names.any(|kept| match kept.split_once('*') {
            Some((start, end)) => name.starts_with(start) && name.ends_with(end),
            None => kept == name,
        })
}

fn without_line(text: &str, span: Range<usize>) -> String {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = line_end(text, span.end);
    let header = format!("[{POLICY}.{SET}]");
    let above = without_newline(&text[..start]);
    let is_alone = above.ends_with(&header) && !starts_with_a_key(&text[end..]);
    let from = match is_alone {
        true => above.len() - header.len(),
        false => start,
    };
    let mut before = &text[..from];
    // The file's last line had no line break before ours was added, and an empty line came with the table.
    let was_open = end == text.len() && !text.ends_with('\n');
    if was_open {
        before = without_newline(before);
    }
    if is_alone {
        let shorter = without_newline(before);
        if shorter.is_empty() || shorter.ends_with('\n') || was_open {
            before = shorter;
        }
    }
    format!("{before}{}", &text[end..])
}

enum PolicySetting {
    /// Our variable, by the position of its value.
    Ours(Range<usize>, PolicyForm),
    /// The user's own, or a form that cannot be added to.
    Users,
    /// The table, by the position where a line can be added.
    Table(usize),
    Braces(Box<InlineTable>),
    /// The inline table that our table belongs in.
    OuterBraces(Box<InlineTable>),
    Nothing,
}

enum PolicyForm {
    Line,
    /// In braces, which may be nested.
    Braces {
        set: Box<InlineTable>,
        policy: Option<Box<InlineTable>>,
    },
}

fn found(text: &str, variable: &Variable) -> PolicySetting {
    let Ok(document) = Document::parse(text) else { return PolicySetting::Users };
    let Some(policy) = document.get(POLICY) else { return PolicySetting::Nothing };
    let outer = policy.as_inline_table().cloned().map(Box::new);
    let Some(policy) = policy.as_table_like() else { return PolicySetting::Users };
    let set = match (policy.get(SET), outer.clone()) {
        (Some(set), _) => set,
        (None, Some(outer)) => return PolicySetting::OuterBraces(outer),
        (None, None) if policy.is_dotted() => return PolicySetting::Users,
        (None, None) => return PolicySetting::Nothing,
    };
    let ours = |item: &Item, form: PolicyForm| {
        let span = item.as_value().and_then(Value::span);
        match (item.as_str().is_some_and(variable.is_ours), span) {
            (true, Some(span)) => PolicySetting::Ours(span, form),
            (true, None) | (false, _) => PolicySetting::Users,
        }
    };
    match set {
        Item::Table(set) if !set.is_dotted() && !set.is_implicit() => match set.get(variable.name) {
            None => {
                set.span().map_or(PolicySetting::Users, |span| PolicySetting::Table(line_end(text, span.end)))
            }
            Some(item) => ours(item, PolicyForm::Line),
        },
        Item::Value(Value::InlineTable(set)) if !set.is_dotted() => {
            match policy.get(SET).and_then(Item::as_table_like).and_then(|set| set.get(variable.name)) {
                None => PolicySetting::Braces(Box::new(set.clone())),
                Some(item) => ours(item, PolicyForm::Braces { set: Box::new(set.clone()), policy: outer }),
            }
        }
        Item::None | Item::Value(_) | Item::Table(_) | Item::ArrayOfTables(_) => PolicySetting::Users,
    }
}

fn replaced(text: &str, span: Range<usize>, by: &str) -> String {
    let mut text = text.to_owned();
    text.replace_range(span, by);
    text
}

/// The text with the table added. A last line without a line break stays one.
fn appended(text: &str, line: &str) -> String {
    let newline = newline(text);
    let block = format!("[{POLICY}.{SET}]{newline}{line}");
    match text {
        "" => format!("{block}{newline}"),
        text if text.ends_with('\n') => format!("{text}{newline}{block}{newline}"),
        text => format!("{text}{newline}{newline}{block}"),
    }
}

/// Whether what follows belongs to the same table.
fn starts_with_a_key(rest: &str) -> bool {
    let first = rest.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| !line.starts_with('['))
}
