//! What a call may write besides what it says: other readings of its paths, arguments of unknown tools, and other
//! names of the same file.

use std::path::Path;

use comity_core::Principal;
use comity_guard::{Effects, FileTarget, GuessedPath, WriteKind};

use super::aliases::aliases;
use super::spelling::{parts, readings};
use super::targets::{TargetSource, Touch, file, glob, leads_through_process, tree};
use crate::application::Application;
use crate::operation::Failure;

pub(crate) fn doubts(
    app: &Application,
    who: Principal,
    cwd: &Path,
    effects: &Effects,
    by: TargetSource,
) -> Result<Vec<Touch>, Failure> {
    let mut found = Doubts { app, who, cwd, by, touches: Vec::new() };
    for write in &effects.writes {
        if let Some(text) = named(&write.target) {
            // The first is what it says.
            for reading in readings(text).iter().skip(1) {
                found.other_reading(reading, write.how)?;
            }
            let first = readings(text).swap_remove(0);
            found.other_names(Path::new(&first), write.how)?;
        }
    }
    for guess in &effects.guesses {
        found.guess(guess)?;
    }
    Ok(found.touches)
}

fn named(target: &FileTarget) -> Option<&str> {
    match target {
        FileTarget::Path(path) | FileTarget::Into { path, .. } => Some(path),
        FileTarget::Glob(_)
        | FileTarget::Below(_)
        | FileTarget::WorkTree(_)
        | FileTarget::FromTop { .. }
        | FileTarget::Unclear(_) => None,
    }
}

struct Doubts<'a> {
    app: &'a Application,
    who: Principal,
    cwd: &'a Path,
    by: TargetSource,
    touches: Vec<Touch>,
}

impl Doubts<'_> {
    /// A less likely reading: nobody else may hold it, and it is not locked for the agent.
    fn other_reading(&mut self, text: &str, how: WriteKind) -> Result<(), Failure> {
        leads_through_process(&self.cwd.join(text), self.by)?;
        // What cannot be read like this is not meant like this.
        if let Ok(Some(touch)) = file(self.app, self.cwd, Path::new(text), how, self.by) {
            self.touches.push(Touch { stays_unlocked: true, ..touch });
        }
        Ok(())
    }

    fn other_names(&mut self, path: &Path, how: WriteKind) -> Result<(), Failure> {
        let path = self.cwd.join(path);
        let is_inside = matches!(file(self.app, self.cwd, &path, how, self.by), Ok(Some(_)));
        self.touches.extend(aliases(self.app, self.who, &path, is_inside, how)?);
        Ok(())
    }

    fn guess(&mut self, guess: &GuessedPath) -> Result<(), Failure> {
        for (at, reading) in readings(&guess.text).iter().enumerate() {
            // The likeliest reading of an argument with a path's name is a path; everything else only may be.
            let is_meant = at == 0 && guess.is_named;
            self.guessed(guess, reading, is_meant)?;
        }
        if guess.is_named {
            parts(&guess.text).try_for_each(|part| self.guessed(guess, part, false))?;
        }
        Ok(())
    }

    fn guessed(&mut self, guess: &GuessedPath, text: &str, is_meant: bool) -> Result<(), Failure> {
        let path = self.cwd.join(text);
        if guess.is_named || text.starts_with('/') {
            leads_through_process(&path, self.by)?;
        }
        let (is_dir, is_there) = (path.is_dir(), path.exists());
        let looks_like_path = text.contains(['/', '.']) && !text.chars().any(char::is_control);
        let is_glob = !is_there && text.contains(['*', '?', '[', '{']);
        let may_be = is_there || (guess.is_named && looks_like_path) || may_become(&path, text, is_glob);
        if !may_be {
            return Ok(());
        }
        let how = WriteKind::Edit;
        let touch = match () {
            () if is_dir && !guess.with_trees => return Ok(()),
            () if is_dir => tree(self.app, self.cwd, &path, how, self.by),
            () if is_glob => glob(self.app, self.cwd, text, how, self.by),
            () => file(self.app, self.cwd, &path, how, self.by),
        };
        match touch {
            Ok(Some(touch)) => {
                let stays_unlocked = !is_meant || is_dir || is_glob;
                self.touches.push(Touch { stays_unlocked, ..touch });
            }
            Ok(None) => {}
            // What is not a path for us is none for a tool, either.
            Err(_) if !is_there => {}
            Err(refused) => return Err(refused),
        }
        match is_dir {
            true => Ok(()),
            false => self.other_names(&path, how),
        }
    }
}

/// Whether a text that nothing calls a path may be that of a file which does not exist yet, or of several.
fn may_become(path: &Path, text: &str, is_glob: bool) -> bool {
    let is_plain = !text.contains("://") && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let is_in_a_directory = || text.contains('/') && path.parent().is_some_and(Path::is_dir);
    is_plain && if is_glob { text.contains('/') || text.contains("**") } else { is_in_a_directory() }
}
