//! Parses a tool call for the rules: which files, which commands, whether it only reads.

use std::path::Path;

use comity_core::limits::{PERMISSION_INPUT_BYTES_MAX, PERMISSION_SUMMARY_BYTES_MAX, PERMISSION_WRITES_MAX};
use comity_core::permissions::{Commands, ProjectFile, ToolCall, ToolClass};
use comity_core::redact::redact;
use comity_core::{CaseRule, ContentHash, PathPattern, Principal};
use comity_guard::payload::{ShellCall, ToolKind, shell_call, tool};
use comity_guard::{Classification, Effects, FileTarget, classify};
use serde_json::Value;

use super::repositories::run_nothing;
use crate::application::Application;
use crate::operation::Failure;
use crate::operations::guard::{TargetSource, Touch, doubts, touches};

/// A tool call as the rules see it. What cannot be read makes it harder to allow, never easier.
pub(crate) fn call(app: &Application, cwd: &Path, name: &str, input: &Value) -> Result<ToolCall, Failure> {
    let (kind, effects, commands) = tool(name, input);
    let exact = input.to_string();
    let shown = if exact.len() <= PERMISSION_INPUT_BYTES_MAX { redact(&exact) } else { "".into() };
    let by = if kind == ToolKind::Shell { TargetSource::Command } else { TargetSource::Tool };
    let mut found = files(app, cwd, &effects, by)?;
    if kind == ToolKind::Unknown {
        let guesses = Effects { guesses: effects.guesses.clone(), ..Effects::default() };
        let touched = doubts(app, Principal::Nobody, cwd, &guesses, by).unwrap_or_default();
        let room = PERMISSION_WRITES_MAX
            .saturating_sub(found.writes.len() + found.reads.len() + found.outside.len());
        found.writes.extend(
            touched
                .into_iter()
                .take(room)
                .map(|touch| ProjectFile { project: touch.place.project(), path: touch.pattern }),
        );
    }
    let command = commands.is_some().then(|| command_line(input)).flatten();
    let summary = summary(kind, command.as_deref(), &effects, &exact);
    let reads_only = match kind {
        ToolKind::Read | ToolKind::ReadMany | ToolKind::Look => true,
        ToolKind::Shell => shell_call(name, input).is_some_and(|call| is_read_only(cwd, &call)),
        // The editor's verb that only shows a file has no writes, and nothing unknown.
        ToolKind::Editor => effects.are_none(),
        ToolKind::Write
        | ToolKind::Create
        | ToolKind::Edit
        | ToolKind::Patch
        | ToolKind::Delete
        | ToolKind::Unknown => false,
    };
    Ok(ToolCall {
        tool: name.into(),
        class: class(kind),
        hash: hash(name, &exact),
        input: shown.into(),
        summary: summary.into(),
        project: app.projects().at(cwd).ok().map(|place| place.project()),
        writes: found.writes,
        reads: found.reads,
        outside: found.outside,
        is_all: found.is_all,
        commands: commands.map(stored),
        reads_only,
    })
}

pub(crate) fn class_of(name: &str) -> ToolClass {
    class(tool(name, &Value::Null).0)
}

pub(crate) fn hash(tool: &str, input: &str) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(tool.len() as u64).to_le_bytes()).update(tool.as_bytes()).update(input.as_bytes());
    ContentHash(*hasher.finalize().as_bytes())
}

/// Whether a command line is proven to change nothing, where it runs.
fn is_read_only(cwd: &Path, call: &ShellCall) -> bool {
    match classify(&call.command) {
        Classification::ReadOnly { asks_git: false } => true,
        Classification::ReadOnly { asks_git: true } => run_nothing(&cwd.join(&call.directory)),
        Classification::NotProven { .. } => false,
    }
}

fn class(kind: ToolKind) -> ToolClass {
    match kind {
        ToolKind::Shell => ToolClass::Shell,
        ToolKind::Read | ToolKind::ReadMany | ToolKind::Look => ToolClass::Read,
        ToolKind::Write
        | ToolKind::Create
        | ToolKind::Edit
        | ToolKind::Patch
        | ToolKind::Delete
        | ToolKind::Editor => ToolClass::Edit,
        ToolKind::Unknown => ToolClass::Other,
    }
}

#[derive(Default)]
struct CallFiles {
    writes: Vec<ProjectFile>,
    reads: Vec<ProjectFile>,
    outside: Vec<PathPattern>,
    is_all: bool,
}

fn files(app: &Application, cwd: &Path, effects: &Effects, by: TargetSource) -> Result<CallFiles, Failure> {
    let is_clear = |target: &FileTarget| !matches!(target, FileTarget::Unclear(_));
    let mut found = CallFiles {
        is_all: effects.unknown.is_none()
            && effects.guesses.is_empty()
            && effects.writes.iter().all(|write| is_clear(&write.target)),
        ..CallFiles::default()
    };
    let touched = touches(app, cwd, effects, by)?;
    let file = |touch: &Touch| ProjectFile { project: touch.place.project(), path: touch.pattern.clone() };
    found.writes.extend(touched.iter().map(file));
    // What is in no repository was left out above.
    let clear = effects.writes.iter().filter(|write| is_clear(&write.target)).count();
    if touched.len() < clear {
        for write in &effects.writes {
            match outside(app, cwd, &write.target) {
                Outside::Inside => {}
                Outside::At(path) => found.outside.push(path),
                Outside::Unclear => found.is_all = false,
            }
        }
    }
    for read in &effects.reads {
        let path = cwd.join(&read.path);
        let place = app.projects().at(path.parent().unwrap_or(cwd));
        match place
            .ok()
            .and_then(|place| Some((place.project(), place.resolve_file(&path.to_string_lossy()).ok()?)))
        {
            Some((project, path)) => found.reads.push(ProjectFile { project, path }),
            None => found.outside.extend(absolute(&path)),
        }
    }
    if found.writes.len() + found.reads.len() + found.outside.len() > PERMISSION_WRITES_MAX {
        return Ok(CallFiles::default());
    }
    Ok(found)
}

/// Where something outside of repositories is.
enum Outside {
    Inside,
    At(PathPattern),
    Unclear,
}

fn outside(app: &Application, cwd: &Path, target: &FileTarget) -> Outside {
    let (path, below) = match target {
        FileTarget::Path(path) => (path, false),
        FileTarget::Into { path, .. } | FileTarget::Below(path) => (path, true),
        FileTarget::Glob(_)
        | FileTarget::WorkTree(_)
        | FileTarget::FromTop { .. }
        | FileTarget::Unclear(_) => {
            return Outside::Unclear;
        }
    };
    let path = cwd.join(path);
    let there = path.ancestors().skip(1).find(|above| above.is_dir()).unwrap_or(Path::new("/"));
    match (app.projects().at(there), absolute(&path)) {
        (Ok(_), _) => Outside::Inside,
        (Err(_), None) => Outside::Unclear,
        (Err(_), Some(path)) if !below => Outside::At(path),
        (Err(_), Some(path)) => PathPattern::parse(&format!("{}/", path.as_str()), CaseRule::Exact)
            .map_or(Outside::Unclear, Outside::At),
    }
}

/// An absolute path without the leading slash, with links resolved as far as it exists.
fn absolute(path: &Path) -> Option<PathPattern> {
    let there =
        path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    let (above, rest) = there?;
    let whole = if rest.as_os_str().is_empty() { above } else { above.join(rest) };
    PathPattern::file(whole.to_str()?.strip_prefix('/')?, CaseRule::Exact).ok()
}

/// The commands as they are stored: without secrets.
fn stored(commands: comity_guard::programs::ShellCommands) -> Commands {
    let clean = |word: String| -> Box<str> { redact(&word).into() };
    let part = |part: Vec<Option<String>>| part.into_iter().map(|word| word.map(clean)).collect();
    Commands {
        single: commands.single.map(|words| words.into_iter().map(clean).collect()),
        parts: commands.parts.into_iter().map(part).collect(),
        is_all: commands.is_all,
    }
}

/// The command line in a shell's input, if it is a text.
pub(crate) fn command_line(input: &Value) -> Option<String> {
    let text = |names: &[&str]| names.iter().find_map(|name| input.get(*name)?.as_str());
    input.as_str().or_else(|| text(&["command", "cmd", "script"])).map(str::to_owned)
}

/// What stands for the middle of a call that is too long, after how many bytes it has.
const CUT: &str = " more bytes…]";
/// Bytes of that with the number.
const CUT_BYTES_MAX: usize = 40;

/// What a call is about, in a line.
fn summary(kind: ToolKind, command: Option<&str>, effects: &Effects, input: &str) -> String {
    let first = effects.writes.first().map(|write| write.target.to_string());
    let first = first.or_else(|| effects.reads.first().map(|read| read.path.clone()));
    let text = match (kind, command, first) {
        (ToolKind::Shell, Some(command), _) => command.to_owned(),
        (ToolKind::Shell, None, _) | (ToolKind::Unknown, _, _) | (_, _, None) => input.to_owned(),
        (_, _, Some(path)) if effects.writes.len() > 1 => {
            format!("{path} and {} more", effects.writes.len() - 1)
        }
        (_, _, Some(path)) => path,
    };
    let text = redact(&text);
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    in_short(&lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ⏎ "))
}

/// How it begins and how it ends: what is dangerous may stand there.
fn in_short(text: &str) -> String {
    if text.len() <= PERMISSION_SUMMARY_BYTES_MAX {
        return text.to_owned();
    }
    let half = (PERMISSION_SUMMARY_BYTES_MAX - CUT_BYTES_MAX) / 2;
    let head = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = (text.len() - half..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    format!("{} […{}{CUT} {}", &text[..head], tail - head, &text[tail..])
}

/// Whether a summary leaves something out.
pub(crate) fn is_cut(summary: &str) -> bool {
    summary.contains(CUT)
}
