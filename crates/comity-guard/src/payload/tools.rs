//! What the tools of agent programs do to files.

use serde_json::Value;

use super::arguments::{guess, named_paths};
use super::fields::Fields;
use super::shell::{COMMANDS, DIRECTORIES, all, is_command_alone};
use crate::dialect::Dialect;
use crate::effects::{Effects, FileTarget, Read, Unknown, Write, WriteKind};
use crate::patch::{Strip, envelope, unified};
use crate::programs::{
    CallDirs, ShellCommands, commands, commands_of_arguments, effects as of_command, effects_of_arguments,
};

/// Fields that name a file.
const PATHS: &[&str] =
    &["file_path", "filePath", "path", "absolute_path", "notebook_path", "notebookPath", "target_file"];
/// Fields that hold the whole new file.
const CONTENTS: &[&str] = &["content", "contents", "file_text", "text"];
/// Fields that hold a patch.
const PATCHES: &[&str] = &["patch", "patchText", "patch_text", "input", "command", "diff"];

/// Fields that ask for a part of a file.
pub(super) const PARTS: &[&str] = &[
    "offset",
    "limit",
    "view_range",
    "start_line",
    "end_line",
    "startLine",
    "endLine",
    "head",
    "tail",
    "start",
    "end",
    "lines",
    "line_start",
    "line_end",
    "max_bytes",
    "length",
];

/// Fields that hold a tool's input.
pub(super) const INPUTS: &[&str] = &["tool_input", "toolInput", "toolArgs", "args", "input"];
/// Tools that only look, besides those that read one file.
const LOOKING: [&str; 21] = [
    "Glob",
    "LS",
    "NotebookRead",
    "TodoRead",
    "glob",
    "list",
    "list_directory",
    "list_dir",
    "file_search",
    // These only change something within their program.
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "TaskOutput",
    "TodoWrite",
    "ToolSearch",
    "ask_user",
    "todoread",
    "todowrite",
    "update_plan",
    "write_todos",
];

/// Tools that show parts of the files that they search.
const SEARCHING: [&str; 6] =
    ["Grep", "grep", "grep_files", "grep_search", "codebase_search", "search_file_content"];

/// What a tool is for, whatever its program calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolKind {
    Write,
    Create,
    Edit,
    Read,
    ReadMany,
    Look,
    Shell,
    Patch,
    Delete,
    /// One tool with several verbs.
    Editor,
    Unknown,
}

/// What a tool is for, what this call does to files, and the command line, if it runs one.
pub fn tool(name: &str, input: &Value) -> (ToolKind, Effects, Option<ShellCommands>) {
    let kind = kind(name);
    let effects = match input {
        Value::Object(input) => of_tool(name, &Fields(input)),
        Value::String(text) => raw(name, text),
        other => without_fields(name, other),
    };
    let given = match input {
        Value::Object(input) => all(&Fields(input), COMMANDS),
        Value::String(_) => vec![input],
        _ => Vec::new(),
    };
    let is_run = matches!(kind, ToolKind::Shell | ToolKind::Unknown) && !given.is_empty();
    let commands = is_run.then(|| match is_command_alone(name, input) {
        true => of_lines(&given),
        false => ShellCommands { single: None, ..of_lines(&given) },
    });
    (kind, effects, commands)
}

/// The commands of all lines of a call; nobody knows which of several is run.
fn of_lines(lines: &[&Value]) -> ShellCommands {
    let each = lines.iter().map(|line| match line {
        Value::String(line) => commands(line),
        Value::Array(words) => {
            words_of(words).map_or_else(ShellCommands::default, |words| commands_of_arguments(&words))
        }
        _ => ShellCommands::default(),
    });
    let mut all: Vec<ShellCommands> = each.collect();
    match all.len() {
        1 => all.remove(0),
        _ => ShellCommands {
            single: None,
            parts: all.into_iter().flat_map(|one| one.parts).collect(),
            is_all: false,
        },
    }
}

fn words_of(words: &[Value]) -> Option<Vec<String>> {
    words.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

pub(super) fn kind(tool: &str) -> ToolKind {
    match tool {
        "Write" | "write_file" | "write" => ToolKind::Write,
        "create" | "create_file" => ToolKind::Create,
        "Edit" | "MultiEdit" | "NotebookEdit" | "replace" | "edit" | "multiedit" | "edit_file"
        | "StrReplace" | "search_replace" | "str_replace" | "insert" => ToolKind::Edit,
        "Read" | "read_file" | "read" | "view" | "view_image" => ToolKind::Read,
        "read_many_files" => ToolKind::ReadMany,
        "Bash" | "bash" | "run_shell_command" | "shell" | "local_shell" | "Shell" | "exec_command"
        | "unified_exec" | "powershell" | "run_terminal_cmd" | "container.exec" => ToolKind::Shell,
        "apply_patch" | "patch" | "ApplyPatch" => ToolKind::Patch,
        "Delete" | "delete_file" => ToolKind::Delete,
        "str_replace_editor" | "str_replace_based_edit_tool" => ToolKind::Editor,
        _ if LOOKING.contains(&tool) || SEARCHING.contains(&tool) => ToolKind::Look,
        _ => ToolKind::Unknown,
    }
}

/// What a tool call does to files; for an unknown tool, nothing is known.
pub(super) fn effects(
    dialect: Dialect,
    event_name: &str,
    tool: Option<&str>,
    fields: &Fields<'_>,
) -> Effects {
    // In Cursor, some tools are events of their own.
    match (dialect, event_name) {
        (Dialect::Cursor, "beforeShellExecution" | "afterShellExecution") => return shell(fields),
        (Dialect::Cursor, "afterFileEdit" | "afterTabFileEdit") => {
            return first_file(fields, WriteKind::Edit);
        }
        _ => {}
    }
    // Without a name it could be any tool.
    let Some(tool) = tool else { return Effects::unknown(Unknown::Field("name of a tool")) };
    let owned;
    let input = match fields.get(INPUTS) {
        Some(Value::Object(input)) => input,
        // Copilot CLI passes the arguments as JSON text.
        Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(input)) => {
                owned = input;
                &owned
            }
            Ok(list @ Value::Array(_)) => return without_fields(tool, &list),
            Ok(_) | Err(_) => return raw(tool, text),
        },
        Some(other) => return without_fields(tool, other),
        None => return without_fields(tool, &Value::Null),
    };
    let is_of_a_server = matches!(event_name, "beforeMCPExecution" | "afterMCPExecution");
    let mut effects = of_tool(tool, &Fields(input));
    // Cursor uses a server's own names for its tools: one with the name of a built-in need not be like it.
    if is_of_a_server && matches!(kind(tool), ToolKind::Look | ToolKind::Read | ToolKind::ReadMany) {
        effects.guesses = guess(tool, &Value::Object(input.clone())).guesses;
    }
    effects
}

pub(super) fn runs_commands(dialect: Dialect, event_name: &str, tool: Option<&str>) -> bool {
    let is_cursors = matches!(event_name, "beforeShellExecution" | "afterShellExecution");
    (dialect == Dialect::Cursor && is_cursors) || matches!(kind(tool.unwrap_or_default()), ToolKind::Shell)
}

fn of_tool(tool: &str, input: &Fields<'_>) -> Effects {
    match kind(tool) {
        ToolKind::Write => files(input, WriteKind::Whole),
        ToolKind::Create => files(input, WriteKind::Create),
        ToolKind::Edit => files(input, WriteKind::Edit),
        ToolKind::Delete => files(input, WriteKind::Delete),
        ToolKind::Read => read(input),
        ToolKind::ReadMany => read_many(input),
        ToolKind::Shell => shell(input),
        ToolKind::Patch => patch(input),
        ToolKind::Editor => match input.text(&["command"]).unwrap_or_default() {
            "create" => files(input, WriteKind::Whole),
            "view" => read(input),
            "undo_edit" | "str_replace" | "insert" => files(input, WriteKind::Edit),
            _ => Effects::unknown(Unknown::Field("command")),
        },
        ToolKind::Look if SEARCHING.contains(&tool) => search(input),
        ToolKind::Look => Effects::default(),
        ToolKind::Unknown => of_stranger(tool, input),
    }
}

/// An unknown tool: what it names counts, and what looks like a command line or a patch.
fn of_stranger(tool: &str, input: &Fields<'_>) -> Effects {
    let mut effects = guess(tool, &Value::Object(input.0.clone()));
    let named = tool.rsplit("__").next().unwrap_or(tool);
    if !matches!(kind(named), ToolKind::Unknown | ToolKind::Look | ToolKind::Read | ToolKind::ReadMany) {
        effects.merge(of_tool(named, input));
    }
    if !all(input, COMMANDS).is_empty() {
        effects.merge(Effects { unknown: None, ..shell(input) });
    }
    let texts = input.0.values().filter_map(Value::as_str);
    for text in texts.filter(|text| text.contains("\n")) {
        let writes = match text.contains("*** Begin Patch") {
            true => envelope(text),
            false if text.contains("+++ ") && text.contains("--- ") => unified(text, Strip::Components(1)),
            false => continue,
        };
        writes.into_iter().flatten().for_each(|write| effects.write(write));
    }
    effects.without_repeats()
}

/// A tool whose arguments are not an object: a patch or a command line as it is.
fn raw(tool: &str, text: &str) -> Effects {
    match kind(tool) {
        ToolKind::Patch => patch_text(text),
        ToolKind::Shell => of_command(text, &place(None)),
        ToolKind::Unknown => guess(tool, &Value::String(text.to_owned())),
        ToolKind::Write | ToolKind::Create | ToolKind::Edit | ToolKind::Delete | ToolKind::Editor => {
            Effects::unknown(Unknown::Field("arguments"))
        }
        ToolKind::Look | ToolKind::Read | ToolKind::ReadMany => Effects::default(),
    }
}

/// A tool whose arguments are neither an object nor a text.
fn without_fields(tool: &str, input: &Value) -> Effects {
    match kind(tool) {
        ToolKind::Unknown => guess(tool, input),
        ToolKind::Look | ToolKind::Read | ToolKind::ReadMany => Effects::default(),
        ToolKind::Write
        | ToolKind::Create
        | ToolKind::Edit
        | ToolKind::Delete
        | ToolKind::Editor
        | ToolKind::Shell
        | ToolKind::Patch => Effects::unknown(Unknown::Field("arguments")),
    }
}

/// The files of a tool that changes some: it is not known which field its program uses, so all count.
fn files(input: &Fields<'_>, how: WriteKind) -> Effects {
    let paths = named_paths(input.0);
    let mut effects = match paths.is_empty() {
        true => Effects::unknown(Unknown::Field("path")),
        false => Effects::default(),
    };
    let content = matches!(how, WriteKind::Whole | WriteKind::Create).then(|| input.text(CONTENTS)).flatten();
    for path in paths {
        let write = Write::new(FileTarget::Path(path.to_owned()), how);
        effects.write(Write { content: content.map(str::to_owned), ..write });
    }
    effects
}

/// The file of an event that names one next to fields about itself.
fn first_file(input: &Fields<'_>, how: WriteKind) -> Effects {
    let Some(path) = input.text(PATHS) else { return Effects::unknown(Unknown::Field("path")) };
    Effects { writes: vec![Write::new(FileTarget::Path(path.to_owned()), how)], ..Effects::default() }
}

fn read(input: &Fields<'_>) -> Effects {
    let Some(path) = input.text(PATHS) else { return Effects::default() };
    let whole = input.get(PARTS).is_none();
    Effects { reads: vec![Read::new(path, whole)], ..Effects::default() }
}

fn read_many(input: &Fields<'_>) -> Effects {
    let paths = ["paths", "include"].into_iter().filter_map(|name| input.0.get(name)?.as_array());
    let (plain, globs): (Vec<&str>, Vec<&str>) =
        paths.flatten().filter_map(Value::as_str).partition(|path| !path.contains(['*', '?', '[', '{']));
    let reads = plain.into_iter().map(|path| Read::new(path, true));
    // Part of what is below the literal prefix is shown.
    let above = globs.into_iter().map(|glob| {
        let literal = glob.split(['*', '?', '[', '{']).next().unwrap_or_default();
        literal
            .rsplit_once('/')
            .map_or(".", |(above, _)| if above.is_empty() { "/" } else { above })
            .to_owned()
    });
    Effects { reads: reads.collect(), searches: above.collect(), ..Effects::default() }
}

fn search(input: &Fields<'_>) -> Effects {
    let given = all(input, PATHS).into_iter().chain(all(input, DIRECTORIES)).filter_map(Value::as_str);
    let given: Vec<String> = given.map(str::to_owned).collect();
    let searches = if given.is_empty() { vec![".".to_owned()] } else { given };
    Effects { searches, ..Effects::default() }
}

fn shell(input: &Fields<'_>) -> Effects {
    let (lines, directories) = (all(input, COMMANDS), all(input, DIRECTORIES));
    if lines.is_empty() {
        return Effects::unknown(Unknown::Field("command"));
    }
    // If several fields could mean it, nobody knows which one counts: all of them do.
    let places: Vec<CallDirs> = match &directories[..] {
        [] => vec![place(None)],
        directories => directories.iter().map(|directory| place(directory.as_str())).collect(),
    };
    let mut found = Effects::default();
    for (line, place) in lines.iter().flat_map(|line| places.iter().map(move |place| (line, place))) {
        found.merge(match line {
            Value::String(command) => of_command(command, place),
            Value::Array(words) => words_of(words).map_or_else(
                || Effects::unknown(Unknown::Field("command")),
                |words| effects_of_arguments(&words, place),
            ),
            _ => Effects::unknown(Unknown::Field("command")),
        });
    }
    found.without_repeats()
}

/// It is not known which field its program uses: all count, and so do files named next to them.
fn patch(input: &Fields<'_>) -> Effects {
    let patches: Vec<&str> = PATCHES.iter().filter_map(|name| input.text(&[name])).collect();
    if patches.is_empty() {
        return Effects::unknown(Unknown::Field("patch"));
    }
    let mut all = Effects::default();
    for text in patches {
        let Effects { writes, unknown, .. } = patch_text(text);
        writes.into_iter().for_each(|write| all.write(write));
        unknown.into_iter().for_each(|why| all.note(why));
    }
    for path in named_paths(input.0) {
        all.write(Write::new(FileTarget::Path(path.to_owned()), WriteKind::Edit));
    }
    all.without_repeats()
}

fn patch_text(text: &str) -> Effects {
    match envelope(text) {
        Ok(writes) => Effects { writes, ..Effects::default() },
        Err(malformed) => Effects::unknown(malformed.into()),
    }
}

/// Where a command runs, relative to where the call starts.
fn place(own: Option<&str>) -> CallDirs {
    CallDirs { directory: own.unwrap_or_default().to_owned(), home: None }
}
