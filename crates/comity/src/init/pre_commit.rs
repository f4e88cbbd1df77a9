//! The guard in a repository: git's `pre-commit` hook.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use comity_guard::connect::Connection;

use super::files::Change;

const BEGIN: &str = "# comity: begin (comity init --undo takes this out)\n";
const END: &str = "# comity: end\n";

/// The change of the repository that the command runs in, if it runs in one.
pub(super) struct InRepository(pub(super) Option<Change>);

impl InRepository {
    pub(super) fn as_slice_mut(&mut self) -> &mut [Change] {
        self.0.as_mut_slice()
    }
}

/// What has to be done in the repository that this runs in.
pub(super) fn change(connection: &Connection, undo: bool) -> Result<InRepository, String> {
    let Some(hooks) = hooks_dir() else { return Ok(InRepository(None)) };
    let hook = quoted(&connection.hook)?;
    let mut change = Change::of(&hooks.join("pre-commit"), |text| match undo {
        false => with(text, &hook).map(Some),
        true => Ok(text.and_then(without)),
    });
    change.mode = Some(0o755);
    Ok(InRepository(Some(change)))
}

/// Where git looks for hooks here, settings included.
fn hooks_dir() -> Option<PathBuf> {
    let mut git = Command::new("git");
    git.args(["rev-parse", "--path-format=absolute", "--git-path", "hooks"]).stdin(Stdio::null());
    let said = git.stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(said.stdout).ok()?;
    let path = Path::new(path.trim_end_matches('\n'));
    (said.status.success() && path.is_absolute()).then(|| path.to_owned())
}

fn with(text: Option<&str>, hook: &str) -> Result<String, String> {
    let ours = format!("{BEGIN}{hook} pre-commit || exit 1\n{END}");
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
        _ => Err(format!("it is no shell script; add this to it by hand: {hook} pre-commit")),
    }
}

/// The script without our lines; nothing if there is nothing else in it.
fn without(text: &str) -> Option<String> {
    let Some((before, rest)) = text.split_once(BEGIN) else { return Some(text.to_owned()) };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    let left = format!("{before}{after}");
    (left.trim() != "#!/bin/sh").then_some(left)
}

fn quoted(path: &str) -> Result<String, String> {
    match path.contains(['\'', '\n']) {
        true => {
            Err(format!("{path:?} cannot be written into a shell script; install the programs elsewhere"))
        }
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
            assert!(guarded.contains("\n'/opt/comity-hook' pre-commit || exit 1\n"), "{guarded}");
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
