//! Resolves what somebody wrote to the one name that the file has in its project.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use comity_core::limits::PATTERN_BYTES_MAX;
use comity_core::paths::{Alternative, check_pattern_text, expand, has_glob};
use comity_core::{PathPattern, Refusal};

use crate::Repository;
use crate::fast_path;
use crate::spelling::{self, Spelling, unreadable};
use crate::walk::{LINKS_MAX, PathWalk, WalkError, WalkStep};

const HINT: &str = "give a path or glob inside the repository";

/// Whether glob characters are special.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GlobReading {
    /// In components that do not exist as written.
    Globs,
    Literal,
}

/// The canonical form of a text that was written in `cwd`.
pub(crate) fn resolve(
    repository: &Repository,
    cwd: &Path,
    text: &str,
    reading: GlobReading,
) -> Result<PathPattern, Refusal> {
    check_pattern_text(text)?;
    if let Some(pattern) = fast_path::resolve(repository, cwd, text) {
        return Ok(pattern);
    }
    check_backslashes(cwd, text, reading)?;
    let text = slashes(text);
    let ask = PathQuestion { repository, cwd, text: &text, reading };
    let pattern = PathPattern::of(ask.alternatives()?);
    // It is stored and parsed again as text, with the same bound.
    if pattern.as_str().len() > PATTERN_BYTES_MAX {
        let hint = "name fewer alternatives, or lock the directory";
        return Err(Refusal::bad_pattern(&text, "what it stands for is longer than 1,024 bytes", hint));
    }
    Ok(pattern)
}

struct PathQuestion<'a> {
    repository: &'a Repository,
    cwd: &'a Path,
    text: &'a str,
    reading: GlobReading,
}

impl PathQuestion<'_> {
    fn alternatives(&self) -> Result<Vec<Alternative>, Refusal> {
        let (mut walk, mut left) = self.start(self.text)?;
        let has_braces = self.reading == GlobReading::Globs && self.text.contains(['{', '}']);
        if !has_braces {
            self.go(&mut walk, left)?;
            return self.end(&walk, self.text);
        }
        // Braces in existing names are only characters.
        loop {
            let (name, after) = left.split_once('/').unwrap_or((left, ""));
            if self.step(&mut walk, name)? == WalkStep::Missing && name.contains(['{', '}']) {
                walk.step_back();
                return self.expanded(&walk, left);
            }
            if after.is_empty() {
                return self.end(&walk, self.text);
            }
            left = after;
        }
    }

    /// Continues from `walk` for each expansion of the braces in `left`.
    fn expanded(&self, walk: &PathWalk, left: &str) -> Result<Vec<Alternative>, Refusal> {
        let is_all = left.len() == self.text.len();
        let resolve = |alternative: String| {
            if !is_all {
                let mut walk = walk.clone();
                self.go(&mut walk, &alternative)?;
                return self.end(&walk, &alternative);
            }
            if alternative.is_empty() {
                return Err(Refusal::bad_pattern(self.text, "one of its alternatives is empty", HINT));
            }
            let (mut walk, left) = self.start(&alternative)?;
            self.go(&mut walk, left)?;
            self.end(&walk, &alternative)
        };
        let all = expand(left).map_err(|no| match no {
            // It is about the expanded part; people know the whole.
            Refusal::BadPattern { problem, hint, .. } => Refusal::bad_pattern(self.text, &problem, &hint),
            other => other,
        })?;
        Ok(all.into_iter().map(resolve).collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Where a text begins, and what is left to walk from there.
    fn start<'t>(&self, text: &'t str) -> Result<(PathWalk, &'t str), Refusal> {
        let root = self.repository.root();
        if text.starts_with('/') {
            let below =
                below(root.as_os_str().as_bytes(), text.as_bytes()).map(|rest| text.len() - rest.len());
            return Ok(match below {
                Some(at) => (PathWalk::from(root, self.repository.plain()), &text[at..]),
                None => (PathWalk::from(Path::new("/"), self.repository.plain()), text),
            });
        }
        if !self.cwd.is_absolute() {
            let problem = format!("{:?} isn't an absolute path", self.cwd.display());
            return Err(Refusal::bad_input(problem, "give the directory from the root of the file system"));
        }
        let cwd = self.cwd.as_os_str().as_bytes();
        let (mut walk, rest) = match below(root.as_os_str().as_bytes(), cwd) {
            Some(rest) => (PathWalk::from(root, self.repository.plain()), rest),
            None => (PathWalk::from(Path::new("/"), self.repository.plain()), cwd),
        };
        walk.go(rest).map_err(|stuck| self.refusal(stuck))?;
        Ok((walk, text))
    }

    fn go(&self, walk: &mut PathWalk, path: &str) -> Result<(), Refusal> {
        walk.go(path.as_bytes()).map_err(|stuck| self.refusal(stuck))
    }

    fn step(&self, walk: &mut PathWalk, name: &str) -> Result<WalkStep, Refusal> {
        walk.step(name.as_bytes()).map_err(|stuck| self.refusal(stuck))
    }

    /// The project's name for where a walk ended.
    fn end(&self, walk: &PathWalk, text: &str) -> Result<Vec<Alternative>, Refusal> {
        let says_dir = matches!(text.rsplit('/').next(), Some("" | "." | ".."));
        let tree = walk.ends_at_dir() || (says_dir && !walk.missing().is_empty());
        let alternative = |Spelling { names: mut literal, case }: Spelling| {
            let mut globs = Vec::new();
            for name in walk.missing() {
                let name = spelling::name(name, case, self.text)?;
                let is_glob = self.reading == GlobReading::Globs && has_glob(&name);
                if is_glob || !globs.is_empty() { globs.push(name) } else { literal.push(name) }
            }
            Alternative::new(&literal, &globs, tree)
        };
        spelling::spellings(self.repository, walk, self.text)?.into_iter().map(alternative).collect()
    }

    fn refusal(&self, stuck: WalkError) -> Refusal {
        match stuck {
            WalkError::Links => Refusal::bad_pattern(
                self.text,
                &format!("it goes through more than {LINKS_MAX} symlinks"),
                "give the path of the file itself",
            ),
            WalkError::Unreadable(error) => unreadable(self.text, &error),
            WalkError::Process(_) => leads_elsewhere(self.text),
        }
    }
}

/// Refuses a path that means something else for every process.
pub fn leads_elsewhere(text: &str) -> Refusal {
    let problem =
        format!("{text:?} goes through a link of a process, which leads elsewhere for every other one");
    Refusal::bad_input(problem, "give the path of the file itself")
}

/// The part of a path below `root`, if it is below.
pub(crate) fn below<'p>(root: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let rest = path.strip_prefix(root)?;
    (rest.is_empty() || rest.starts_with(b"/") || root.ends_with(b"/")).then_some(rest)
}

/// Refuses a backslash that would lead to another file than the one with this very name.
fn check_backslashes(cwd: &Path, text: &str, reading: GlobReading) -> Result<(), Refusal> {
    let is_there = || cwd.join(text).symlink_metadata().is_ok();
    match reading == GlobReading::Globs && text.contains('\\') && is_there() {
        true => Err(Refusal::bad_pattern(
            text,
            "there is a file with a backslash in its name",
            "give its directory",
        )),
        false => Ok(()),
    }
}

fn slashes(text: &str) -> Cow<'_, str> {
    if text.contains('\\') { text.replace('\\', "/").into() } else { text.into() }
}
