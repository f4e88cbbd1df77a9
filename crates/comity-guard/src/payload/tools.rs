//! What the tools of agent programs do to files.

use serde_json::{Map, Value};

use super::fields::Fields;
use crate::dialect::Dialect;
use crate::effects::{Effects, How, Read, Target, Unknown, Write};
use crate::patch::envelope;
use crate::programs::{Place, effects as of_command, effects_of_arguments};

/// Names of the field that says which file.
const PATHS: &[&str] =
    &["file_path", "filePath", "path", "absolute_path", "notebook_path", "notebookPath", "target_file"];
/// Names of the field that holds all of a new file.
const CONTENTS: &[&str] = &["content", "contents", "file_text", "text"];
/// Names of the field that holds a command line.
const COMMANDS: &[&str] = &["command", "cmd", "script"];
/// Names of the field that holds a patch.
const PATCHES: &[&str] = &["patch", "patchText", "patch_text", "input", "command", "diff"];

/// What a tool is for.
enum Kind {
    Write,
    Create,
    Edit,
    Read,
    ReadMany,
    Shell,
    Patch,
    Delete,
    /// One tool with several verbs.
    Editor,
    Unknown,
}

fn kind(tool: &str) -> Kind {
    match tool {
        "Write" | "write_file" | "write" => Kind::Write,
        "create" | "create_file" => Kind::Create,
        "Edit" | "MultiEdit" | "NotebookEdit" | "replace" | "edit" | "multiedit" | "edit_file"
        | "StrReplace" | "search_replace" | "str_replace" | "insert" => Kind::Edit,
        "Read" | "read_file" | "read" | "view" => Kind::Read,
        "read_many_files" => Kind::ReadMany,
        "Bash" | "bash" | "run_shell_command" | "shell" | "local_shell" | "Shell" | "exec_command"
        | "unified_exec" | "powershell" | "run_terminal_cmd" | "container.exec" => Kind::Shell,
        "apply_patch" | "patch" | "ApplyPatch" => Kind::Patch,
        "Delete" | "delete_file" => Kind::Delete,
        "str_replace_editor" | "str_replace_based_edit_tool" => Kind::Editor,
        _ => Kind::Unknown,
    }
}

/// What the call of a tool does to files; of a tool that nobody has told us about nothing is known.
pub(super) fn effects(
    dialect: Dialect,
    event_name: &str,
    tool: Option<&str>,
    fields: &Fields<'_>,
) -> Effects {
    // Cursor has events of their own for what are tools elsewhere.
    match (dialect, event_name) {
        (Dialect::Cursor, "beforeShellExecution" | "afterShellExecution") => return shell(fields),
        (Dialect::Cursor, "afterFileEdit") => return file(fields, How::Edit),
        _ => {}
    }
    let owned;
    let input = match fields.get(&["tool_input", "toolInput", "toolArgs", "args", "input"]) {
        Some(Value::Object(input)) => input,
        // Copilot CLI gives the arguments as a text of JSON.
        Some(Value::String(text)) => match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(input) => {
                owned = input;
                &owned
            }
            Err(_) => return raw(tool, text),
        },
        _ => return without_input(tool),
    };
    of_tool(tool.unwrap_or_default(), &Fields(input))
}

/// Whether a tool runs commands.
pub(super) fn runs_commands(dialect: Dialect, event_name: &str, tool: Option<&str>) -> bool {
    let is_cursors = matches!(event_name, "beforeShellExecution" | "afterShellExecution");
    (dialect == Dialect::Cursor && is_cursors) || matches!(kind(tool.unwrap_or_default()), Kind::Shell)
}

fn of_tool(tool: &str, input: &Fields<'_>) -> Effects {
    match kind(tool) {
        Kind::Write => file(input, How::Whole),
        Kind::Create => file(input, How::Create),
        Kind::Edit => file(input, How::Edit),
        Kind::Delete => file(input, How::Delete),
        Kind::Read => read(input),
        Kind::ReadMany => read_many(input),
        Kind::Shell => shell(input),
        Kind::Patch => patch(input),
        Kind::Editor => match input.text(&["command"]).unwrap_or_default() {
            "create" => file(input, How::Whole),
            "view" => read(input),
            "undo_edit" | "str_replace" | "insert" => file(input, How::Edit),
            _ => Effects::unknown(Unknown::Field("command")),
        },
        Kind::Unknown => Effects::default(),
    }
}

/// A tool whose arguments are no object: a patch or a command line as it is.
fn raw(tool: Option<&str>, text: &str) -> Effects {
    match kind(tool.unwrap_or_default()) {
        Kind::Patch => patch_text(text),
        Kind::Shell => of_command(text, &place(None)),
        Kind::Unknown => Effects::default(),
        Kind::Write | Kind::Create | Kind::Edit | Kind::Delete | Kind::Editor => {
            Effects::unknown(Unknown::Field("arguments"))
        }
        Kind::Read | Kind::ReadMany => Effects::default(),
    }
}

fn without_input(tool: Option<&str>) -> Effects {
    match kind(tool.unwrap_or_default()) {
        Kind::Unknown | Kind::Read | Kind::ReadMany => Effects::default(),
        Kind::Write | Kind::Create | Kind::Edit | Kind::Delete | Kind::Editor | Kind::Shell | Kind::Patch => {
            Effects::unknown(Unknown::Field("arguments"))
        }
    }
}

fn file(input: &Fields<'_>, how: How) -> Effects {
    let Some(path) = input.text(PATHS) else { return Effects::unknown(Unknown::Field("path")) };
    let mut write = Write::new(Target::Path(path.to_owned()), how);
    if matches!(how, How::Whole | How::Create) {
        write.content = input.text(CONTENTS).map(str::to_owned);
    }
    Effects { writes: vec![write], ..Effects::default() }
}

fn read(input: &Fields<'_>) -> Effects {
    let Some(path) = input.text(PATHS) else { return Effects::default() };
    let part = ["offset", "limit", "view_range", "start_line", "end_line", "startLine", "endLine"];
    let whole = input.get(&part).is_none();
    Effects { reads: vec![Read { path: path.to_owned(), whole }], ..Effects::default() }
}

fn read_many(input: &Fields<'_>) -> Effects {
    let paths = input.get(&["paths", "include"]).and_then(Value::as_array);
    let paths = paths.into_iter().flatten().filter_map(Value::as_str);
    let is_plain = |path: &&str| !path.contains(['*', '?', '[', '{']);
    let reads = paths.filter(is_plain).map(|path| Read { path: path.to_owned(), whole: true });
    Effects { reads: reads.collect(), ..Effects::default() }
}

fn shell(input: &Fields<'_>) -> Effects {
    let own = input.text(&["workdir", "dir_path", "directory"]);
    let place = place(own);
    match input.get(COMMANDS) {
        Some(Value::String(command)) => of_command(command, &place),
        Some(Value::Array(words)) => {
            let words: Option<Vec<String>> =
                words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            match words {
                Some(words) => effects_of_arguments(&words, &place),
                None => Effects::unknown(Unknown::Field("command")),
            }
        }
        Some(_) | None => Effects::unknown(Unknown::Field("command")),
    }
}

fn patch(input: &Fields<'_>) -> Effects {
    match input.text(PATCHES) {
        Some(text) => patch_text(text),
        None => Effects::unknown(Unknown::Field("patch")),
    }
}

fn patch_text(text: &str) -> Effects {
    match envelope(text) {
        Ok(writes) => Effects { writes, ..Effects::default() },
        Err(malformed) => Effects::unknown(malformed.into()),
    }
}

/// Where a command runs, from where the call starts.
fn place(own: Option<&str>) -> Place {
    Place { directory: own.unwrap_or_default().to_owned(), home: None }
}
