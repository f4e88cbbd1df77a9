//! What relative paths are relative to.

use crate::arguments::{Argument, as_glob};
use crate::effects::FileTarget;
use crate::limits::PATH_BYTES_MAX;

/// Where a call starts, as far as that is needed to name files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallDirs {
    /// Where the command runs, relative to where the call starts; empty if that is the same.
    pub directory: String,
    /// What `~` stands for, if that is known.
    pub home: Option<String>,
}

/// Where a command runs, relative to where the call starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CommandDir {
    /// Empty for the start.
    At(String),
    Lost,
}

impl CommandDir {
    /// Where `cd` to this directory leads. A shell goes up by the name of the directory, not by what it is.
    pub(crate) fn enter(&self, directory: &Argument) -> CommandDir {
        let (CommandDir::At(from), Some(to)) = (self, directory.plain()) else {
            return match directory.plain().filter(|to| to.starts_with('/')) {
                Some(to) => CommandDir::At(to.to_owned()),
                None => CommandDir::Lost,
            };
        };
        if to.is_empty() {
            return self.clone();
        }
        let (root, mut names) = match to.starts_with('/') {
            true => ("/", Vec::new()),
            false if from.starts_with('/') => ("/", from.split('/').collect()),
            false => ("", from.split('/').collect::<Vec<_>>()),
        };
        names.retain(|name| !name.is_empty());
        for name in to.split('/') {
            match name {
                "" | "." => {}
                ".." if names.last().is_some_and(|last| *last != "..") => {
                    names.pop();
                }
                ".." if root == "/" => {}
                name => names.push(name),
            }
        }
        let path = format!("{root}{}", names.join("/"));
        // Nobody gets there, and each path from there would be as long.
        if path.len() > PATH_BYTES_MAX { CommandDir::Lost } else { CommandDir::At(path) }
    }

    pub(crate) fn path(&self, path: &str) -> Option<String> {
        match self {
            _ if path.starts_with('/') => Some(path.to_owned()),
            CommandDir::Lost => None,
            CommandDir::At(base) if base.is_empty() => Some(path.to_owned()),
            CommandDir::At(base) => Some(format!("{}/{path}", base.trim_end_matches('/'))),
        }
    }

    /// The directory itself, `.` for the start.
    pub(crate) fn here(&self) -> Option<String> {
        match self {
            CommandDir::At(base) if base.is_empty() => Some(".".to_owned()),
            CommandDir::At(base) => Some(base.clone()),
            CommandDir::Lost => None,
        }
    }

    /// The files that an argument names; none for a pipe.
    pub(crate) fn targets(&self, argument: &Argument) -> Vec<FileTarget> {
        match argument {
            Argument::Plain(path) => {
                vec![self.path(path).map_or_else(|| FileTarget::Unclear(path.clone()), FileTarget::Path)]
            }
            Argument::Glob(glob) => vec![self.glob(glob)],
            Argument::Unclear(unclear) => vec![FileTarget::Unclear(unclear.text.clone())],
            Argument::Pipe => Vec::new(),
            Argument::Found(targets) => targets.to_vec(),
        }
    }

    pub(crate) fn glob(&self, glob: &str) -> FileTarget {
        match self {
            _ if glob.starts_with('/') => FileTarget::Glob(glob.to_owned()),
            CommandDir::Lost => FileTarget::Unclear(glob.to_owned()),
            CommandDir::At(base) if base.is_empty() => FileTarget::Glob(glob.to_owned()),
            CommandDir::At(base) => {
                FileTarget::Glob(format!("{}/{glob}", as_glob(base.trim_end_matches('/'))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_entered_by_name() {
        let check = |steps: &[&str], expected: &str| {
            let start = CommandDir::At(String::new());
            let end = steps.iter().fold(start, |base, step| base.enter(&Argument::Plain((*step).to_owned())));
            assert_eq!(end, CommandDir::At(expected.to_owned()), "{steps:?}");
        };
        check(&["a"], "a");
        check(&["a", "b/../c"], "a/c");
        check(&["a", ".."], "");
        check(&["..", "b", "..", ".."], "../..");
        check(&["/x/y", "../z"], "/x/z");
        check(&["a", "/", ".."], "/");
        check(&["./a//b/."], "a/b");
    }
}
