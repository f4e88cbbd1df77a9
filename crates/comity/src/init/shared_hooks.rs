//! The guard in hooks that are checked in, for husky and lefthook: without a path, and passing where Comity is not
//! installed.

use std::path::{Path, PathBuf};

use super::files::{FileEdit, FileOutcome};
use super::pre_commit;

const BEGIN: &str = "# comity: begin (comity init --scope project --undo takes this out)\n";
const END: &str = "# comity: end\n";
/// Fails if the guard says no, and passes if there is none.
pub(super) const CALL: &str = "! command -v comity-hook >/dev/null || comity-hook pre-commit";
/// The names under which lefthook looks for its settings.
const LEFTHOOK: [&str; 4] = ["lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml"];

/// The edits of the hooks that are checked in here, if there are any.
pub(super) fn written(root: &Path) -> Vec<FileEdit> {
    let husky = husky(root).map(|file| {
        let mut edit = FileEdit::of(&file, |text| Ok(Some(with_line(text))));
        edit.new_mode = 0o755;
        edit
    });
    let lefthook = lefthook(root).map(|file| {
        let mut edit = FileEdit::of(&file, |text| {
            Ok(text.map(|text| with_command(text).unwrap_or_else(|| text.to_owned())))
        });
        if !edit.is_change() && !calls_us(&file) {
            edit.outcome = FileOutcome::Left(by_hand(&file));
        }
        edit
    });
    husky.into_iter().chain(lefthook).collect()
}

pub(super) fn removed(root: &Path) -> Vec<FileEdit> {
    let files = husky(root).into_iter().chain(lefthook(root));
    files.map(|file| FileEdit::of(&file, |text| Ok(text.and_then(without)))).collect()
}

/// The settings of lefthook, which writes git's own hooks.
pub(super) fn lefthook(root: &Path) -> Option<PathBuf> {
    LEFTHOOK.iter().map(|name| root.join(name)).find(|file| file.is_file())
}

/// The hook that is checked in, if there is a place for one.
fn husky(root: &Path) -> Option<PathBuf> {
    let shared = pre_commit::shared_dir().map(|dir| dir.join("pre-commit"));
    shared.or_else(|| Some(root.join(".husky")).filter(|dir| dir.is_dir()).map(|dir| dir.join("pre-commit")))
}

/// Whether a file asks the guard, whoever wrote that.
pub(super) fn calls_us(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains("comity-hook pre-commit"))
}

/// What to do about hooks that are checked in.
pub(super) fn by_hand(file: &Path) -> String {
    let is_lefthook = file.extension().is_some_and(|extension| extension == "yml" || extension == "yaml");
    let line = match is_lefthook {
        true => format!("a command below pre-commit with run: '{CALL}'"),
        false => format!("{CALL} || exit 1"),
    };
    format!(
        "{} is part of the repository, so it is yours to change; to guard everybody's commits: comity init --scope project, \
         or add to it: {line}",
        file.display()
    )
}

fn with_line(text: Option<&str>) -> String {
    let ours = format!("{BEGIN}{CALL} || exit 1\n{END}");
    match text.and_then(without) {
        None => format!("#!/bin/sh\n{ours}"),
        Some(text) => match text.split_once('\n') {
            Some((first, rest)) if first.starts_with("#!") => format!("{first}\n{ours}{rest}"),
            _ => format!("{ours}{text}"),
        },
    }
}

/// The settings of lefthook with a command of ours; `None` if they have pre-commit commands that ours would have to
/// join.
fn with_command(text: &str) -> Option<String> {
    let text = without(text).unwrap_or_default();
    let is_taken = text.lines().any(|line| line.starts_with("pre-commit:") || line.starts_with("---"));
    (!is_taken)
        .then(|| format!("{BEGIN}pre-commit:\n  commands:\n    comity:\n      run: '{CALL}'\n{END}{text}"))
}

/// The text without our lines; `None` if nothing else is in it.
fn without(text: &str) -> Option<String> {
    let Some((before, rest)) = text.split_once(BEGIN) else { return Some(text.to_owned()) };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    let left = format!("{before}{after}");
    (left.trim() != "#!/bin/sh").then_some(left)
}
