//! What a tool call would do to files, as far as reading it can tell.

use std::collections::HashSet;
use std::fmt;

use crate::limits::EFFECTS_MAX;

/// What a call would do to files. Relative paths begin where the call starts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// What it would change, in order.
    pub writes: Vec<Write>,
    /// What it would show to the model.
    pub reads: Vec<Read>,
    /// The directories and files in whose contents it searches.
    pub searches: Vec<String>,
    /// The commits that git would make, besides what they do to files.
    pub commits: Vec<GitCommit>,
    /// What it may change, if these are paths at all: the arguments of a tool that nobody has told us about.
    pub guesses: Vec<GuessedPath>,
    /// Why there may be more writes than listed, if so. A program that nobody has told us about is no reason:
    /// nearly every command would have one.
    pub unknown: Option<Unknown>,
}

/// One change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Write {
    pub target: FileTarget,
    pub how: WriteKind,
    /// What the file will hold, where the call says it as a whole.
    pub content: Option<String>,
}

/// A text that may be a path, and then is written to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuessedPath {
    /// The text, as it was given.
    pub text: String,
    /// Whether the name of the argument says that it is a path.
    pub is_named: bool,
    /// Whether a directory means all below it; else only files are meant.
    pub with_trees: bool,
}

/// In what way a file is changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WriteKind {
    Whole,
    /// A part of it is changed.
    Edit,
    /// Something is added at its end.
    Append,
    Delete,
    Create,
    /// It gets another name, or is the place where something with another name goes.
    Move,
    /// Its mode, owner or group is changed.
    Mode,
}

/// Which files are meant. A path that is a directory means all below it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FileTarget {
    /// This path, as it was given.
    Path(String),
    /// What the glob matches (`*`, `?`, `[..]`; characters that are meant literally are in brackets).
    Glob(String),
    /// The directory with all below it, whether it exists yet or not.
    Below(String),
    /// `path`; or `name` in it, where `path` is a directory.
    Into {
        path: String,
        /// The name that it gets if `path` is a directory.
        name: String,
        /// Whether it may be a directory itself.
        below: bool,
    },
    /// All files of the work tree that this directory is in.
    WorkTree(String),
    /// A path from the top of the work tree that the directory `of` is in.
    FromTop {
        /// A directory of that work tree.
        of: String,
        /// The path, from its top.
        path: String,
    },
    /// Something that only running it would tell; the text as it was written.
    Unclear(String),
}

/// One look at a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Read {
    /// What is read, as it was given; may be a glob.
    pub path: String,
    /// Whether all of it is read.
    pub whole: bool,
    /// The version of it that git shows, if it is not the file itself.
    pub version: Option<GitVersion>,
}

/// A file as git has it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GitVersion {
    /// A directory of the work tree.
    pub of: String,
    /// What git calls it, such as `HEAD:src/a.rs`.
    pub name: String,
}

/// A commit that `git commit` would make. Relative paths begin where the call starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitCommit {
    /// A directory of the work tree.
    pub of: String,
    /// Whether all that was staged before is in it.
    pub staged: bool,
    /// Whether all that is tracked and changed is in it.
    pub tracked: bool,
    /// What else is in it, if it is changed.
    pub paths: Vec<FileTarget>,
}

/// Why not all writes of a call are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// It is longer, deeper or more than we read; the bound that it passes.
    Bound(&'static str),
    /// It cannot be read as what it should be; what is wrong with it.
    Unreadable(String),
    /// It is code of another language, or a line that only running makes; what runs it.
    Code(String),
    /// It is a program that changes files in place without naming them.
    InPlace(String),
    /// The name of the command itself is not written down; the text as it is.
    Hidden(String),
    /// A tool that changes files was called without the field that says which.
    Field(&'static str),
    /// A patch that is not well-formed; what is wrong with it.
    Patch(String),
    /// A patch that stands in a file; what applies it.
    PatchFile(String),
}

impl Effects {
    /// The effects of a call of which nothing can be said.
    pub fn unknown(why: Unknown) -> Effects {
        Effects { unknown: Some(why), ..Effects::default() }
    }

    /// Whether the call is known to change no file.
    pub fn are_none(&self) -> bool {
        self.writes.is_empty() && self.guesses.is_empty() && self.unknown.is_none()
    }

    pub(crate) fn write(&mut self, write: Write) {
        match self.writes.len() < EFFECTS_MAX {
            true => self.writes.push(write),
            false => self.note(Unknown::Bound("too many writes")),
        }
    }

    pub(crate) fn read(&mut self, read: Read) {
        if self.reads.len() < EFFECTS_MAX {
            self.reads.push(read);
        }
    }

    pub(crate) fn commit(&mut self, commit: GitCommit) {
        match self.commits.len() < EFFECTS_MAX {
            true => self.commits.push(commit),
            false => self.note(Unknown::Bound("too many commits")),
        }
    }

    /// Keeps the first reason: the others rarely say more.
    pub(crate) fn note(&mut self, why: Unknown) {
        self.unknown.get_or_insert(why);
    }

    /// Adds what another reading has found.
    pub(crate) fn merge(&mut self, other: Effects) {
        other.writes.into_iter().for_each(|write| self.write(write));
        other.reads.into_iter().for_each(|read| self.read(read));
        self.searches.extend(other.searches);
        other.commits.into_iter().for_each(|commit| self.commit(commit));
        if let Some(why) = other.unknown {
            self.note(why);
        }
    }

    /// Says everything once.
    pub(crate) fn without_repeats(mut self) -> Effects {
        let mut seen = HashSet::new();
        self.writes.retain(|write| seen.insert((write.target.clone(), write.how)));
        let mut seen = HashSet::new();
        self.reads.retain(|read| seen.insert(read.clone()));
        self.commits.dedup();
        self
    }
}

impl Read {
    /// A look at a file.
    pub fn new(path: impl Into<String>, whole: bool) -> Read {
        Read { path: path.into(), whole, version: None }
    }
}

impl Write {
    /// A change whose content is not known.
    pub fn new(target: FileTarget, how: WriteKind) -> Write {
        Write { target, how, content: None }
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.how {
            WriteKind::Whole => "write",
            WriteKind::Edit => "edit",
            WriteKind::Append => "append",
            WriteKind::Delete => "delete",
            WriteKind::Create => "create",
            WriteKind::Move => "move",
            WriteKind::Mode => "mode",
        };
        write!(f, "{how} {}", self.target)
    }
}

impl fmt::Display for FileTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileTarget::Path(path) => f.write_str(path),
            FileTarget::Glob(glob) => write!(f, "glob {glob}"),
            FileTarget::Below(directory) => write!(f, "all below {directory}"),
            FileTarget::Into { path, name, below: false } => write!(f, "{path} or {path}/{name}"),
            FileTarget::Into { path, name, below: true } => write!(f, "all below {path} or {path}/{name}"),
            FileTarget::WorkTree(of) => write!(f, "the work tree of {of}"),
            FileTarget::FromTop { of, path } => write!(f, "{path} from the top of {of}"),
            FileTarget::Unclear(text) => write!(f, "unclear {text}"),
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::Bound(bound) => f.write_str(bound),
            Unknown::Unreadable(why) => write!(f, "it can't be read: {why}"),
            Unknown::Code(what) => write!(f, "{what} runs code that is not looked into"),
            Unknown::InPlace(what) => write!(f, "{what} changes files that it does not name"),
            Unknown::Hidden(text) => write!(f, "the command is not written down: {text}"),
            Unknown::Field(field) => write!(f, "the call has no {field}"),
            Unknown::Patch(why) => write!(f, "the patch is malformed: {why}"),
            Unknown::PatchFile(what) => write!(f, "{what} applies a patch that stands in a file"),
        }
    }
}
