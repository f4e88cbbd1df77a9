//! The guard in a repository: git's `pre-commit` hook.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use comity_guard::connect::ProgramPaths;

use super::files::{FileEdit, FileOutcome};
use super::shared_hooks;

const BEGIN: &str = "# comity: begin (comity init --undo takes this out)\n";
const END: &str = "# comity: end\n";

/// The edit of the current repository's hook, if there is a repository.
pub(super) fn written(connection: &ProgramPaths) -> Result<Option<FileEdit>, String> {
    let Some(hooks) = hooks_dir() else { return Ok(None) };
    let shared = top_level().and_then(|top| shared_hooks::lefthook(&top));
    if let Some(file) = shared.or_else(|| Some(shared_dir()?.join("pre-commit"))) {
        let mut edit = FileEdit::of(&file, |text| Ok(text.map(str::to_owned)));
        if !shared_hooks::calls_us(&file) {
            edit.outcome = FileOutcome::Left(shared_hooks::by_hand(&file));
        }
        return Ok(Some(edit));
    }
    let (file, hook) = (hooks.join("pre-commit"), quoted(&connection.hook)?);
    let mut change = FileEdit::of(&file, |text| with(text, &hook).map(Some));
    change.new_mode = 0o755;
    let is_new_here = matches!(change.outcome, FileOutcome::Created | FileOutcome::Changed);
    if is_new_here && is_switched_off(&file) {
        change.outcome = FileOutcome::Failed(format!(
            "git doesn't run it: make it executable or remove it, and run this again (chmod +x '{}')",
            file.display()
        ));
    }
    Ok(Some(change))
}

/// The edits that remove our lines from the hooks of these repositories, and of the current one.
pub(super) fn removed(known: &[PathBuf]) -> Vec<FileEdit> {
    let mut files: Vec<PathBuf> = known.to_vec();
    files.extend(hooks_dir().map(|hooks| hooks.join("pre-commit")));
    let real = |file: PathBuf| file.canonicalize().unwrap_or(file);
    let mut files: Vec<PathBuf> = files.into_iter().map(real).collect();
    files.sort();
    files.dedup();
    files.iter().map(|file| FileEdit::of(file, |text| Ok(text.and_then(without)))).collect()
}

/// What is wrong with a hook that contains our lines, or should. A missing repository is no damage.
pub(super) fn damage(file: &Path, connection: &ProgramPaths) -> Option<String> {
    let shown = file.display();
    if !file.parent().is_some_and(Path::is_dir) {
        return None;
    }
    let hook = quoted(&connection.hook).ok()?;
    let change = FileEdit::of(file, |text| with(text, &hook).map(Some));
    match change.damage() {
        None if is_switched_off(file) => Some(format!("{shown} is not executable, so git doesn't run it")),
        damage => damage,
    }
}

/// Where git looks for hooks here, considering its settings.
fn hooks_dir() -> Option<PathBuf> {
    git_path(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"])
}

/// The hooks directory, if it is checked in or would be with the next commit of everything.
pub(super) fn shared_dir() -> Option<PathBuf> {
    let hooks = hooks_dir()?;
    // There husky keeps what calls the hooks that are checked in above.
    let hooks = hooks.parent().filter(|_| hooks.ends_with(".husky/_")).map_or(hooks.clone(), Path::to_owned);
    let (tree, git) = (top_level()?, git_path(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?);
    let is_shared = hooks.starts_with(&tree) && !hooks.starts_with(&git);
    (is_shared && !is_ignored(&tree, &hooks.join("pre-commit"))).then_some(hooks)
}

/// Whether git ignores a file of a worktree.
pub(super) fn is_ignored(tree: &Path, file: &Path) -> bool {
    let mut look = Command::new("git");
    look.arg("-C").arg(tree).args(["check-ignore", "--quiet", "--"]).arg(file).stdin(Stdio::null());
    look.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The top directory of the current worktree.
pub(super) fn top_level() -> Option<PathBuf> {
    git_path(&["rev-parse", "--path-format=absolute", "--show-toplevel"])
}

fn git_path(words: &[&str]) -> Option<PathBuf> {
    let mut git = Command::new("git");
    let said = git.args(words).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(said.stdout).ok()?;
    let path = Path::new(path.trim_end_matches('\n'));
    (said.status.success() && path.is_absolute()).then(|| path.to_owned())
}

/// Whether there is a hook that git does not run: with our lines in it, all of it would run.
fn is_switched_off(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 == 0)
}

fn with(text: Option<&str>, hook: &str) -> Result<String, String> {
    let ours = format!(
        "{BEGIN}if [ -x {hook} ]; then\n  {hook} pre-commit || exit 1\nelse\n  \
         echo \"Comity: $0 did not check this commit, as {} is gone; take its lines out, or install it again\" >&2\n\
         fi\n{END}",
        hook.trim_matches('\'').replace(['"', '$', '`', '\\'], "?")
    );
    let text = match text.map(without) {
        None | Some(None) => return Ok(format!("#!/bin/sh\n{ours}")),
        Some(Some(text)) => text,
    };
    let first = text.lines().next().unwrap_or_default();
    let is_shell = first.starts_with("#!")
        && ["sh", "bash", "dash", "zsh"]
            .iter()
            .any(|shell| first.split(['/', ' ']).any(|word| word == *shell));
    match text.split_once('\n') {
        Some((first, rest)) if is_shell => Ok(format!("{first}\n{ours}{rest}")),
        _ => Err(format!("it isn't a shell script; call this from it: {hook} pre-commit")),
    }
}

/// The script without our lines; `None` if nothing else is in it.
fn without(text: &str) -> Option<String> {
    let Some((before, rest)) = text.split_once(BEGIN) else { return Some(text.to_owned()) };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    let left = format!("{before}{after}");
    (left.trim() != "#!/bin/sh").then_some(left)
}

fn quoted(path: &str) -> Result<String, String> {
    match path.contains(['\'', '\n']) {
        true => Err(format!("{path:?} can't be written into a shell script; install the programs elsewhere")),
        false => Ok(format!("'{path}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_goes_in_and_out_and_the_rest_stays() {
        let hook = "'/opt/comity-hook'";
        for text in ["#!/bin/sh\nmake test\n", "#!/usr/bin/env bash\nset -e\nnpm test\n"] {
            let guarded = with(Some(text), hook).expect("a shell script");
            assert!(guarded.contains("\n  '/opt/comity-hook' pre-commit || exit 1\n"), "{guarded}");
            assert_eq!(with(Some(&guarded), hook).as_deref(), Ok(&*guarded), "once is enough");
            assert_eq!(without(&guarded).as_deref(), Some(text), "byte for byte");
        }
        let alone = with(None, hook).expect("a new one");
        assert_eq!(without(&alone), None, "nothing is left of it");
        assert!(with(Some("#!/usr/bin/env python3\nprint()\n"), hook).is_err());
        assert!(with(Some("\x7fELF"), hook).is_err());
        let moved = with(Some(&alone), "'/usr/bin/comity-hook'").expect("a new path");
        assert!(!moved.contains("/opt/"), "the old path is replaced: {moved}");
    }
}
