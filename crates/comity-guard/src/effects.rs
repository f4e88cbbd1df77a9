//! What a tool call would do to files, as far as reading it can tell.

use std::collections::HashSet;
use std::fmt;

use crate::limits::EFFECTS_MAX;

/// Relative paths are relative to where the call starts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// In order.
    pub writes: Vec<Write>,
    /// What it would show to the model.
    pub reads: Vec<Read>,
    /// The directories and files whose contents it searches.
    pub searches: Vec<String>,
    /// The commits that git would make, besides what they do to files.
    pub commits: Vec<GitCommit>,
    /// What it may change, if these are paths at all: the arguments of an unknown tool.
    pub guesses: Vec<GuessedPath>,
    /// Why there may be more writes than listed, if so. An unknown program is no reason: nearly every command would
    /// have one.
    pub unknown: Option<Unknown>,
}

/// A change of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Write {
    pub target: FileTarget,
    pub how: WriteKind,
    /// What the file will contain, if the call gives all of it.
    pub content: Option<String>,
}

/// A text that is written to if it is a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuessedPath {
    pub text: String,
    /// Whether the argument's name says that it is a path.
    pub is_named: bool,
    /// Whether a directory means everything below it; otherwise only files are meant.
    pub with_trees: bool,
}

/// How a file is changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WriteKind {
    Whole,
    Edit,
    Append,
    Delete,
    Create,
    /// It is renamed, or is where a renamed file goes.
    Move,
    /// Its mode, owner or group is changed.
    Mode,
}

/// Which files are meant. A path of a directory includes everything below it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FileTarget {
    Path(String),
    /// What the glob matches (`*`, `?`, `[..]`; literal characters are in brackets).
    Glob(String),
    /// The directory and everything below it, whether it exists yet or not.
    Below(String),
    /// `path`; or `name` in it, if `path` is a directory.
    Into {
        path: String,
        /// Its name if `path` is a directory.
        name: String,
        /// Whether it may be a directory itself.
        below: bool,
    },
    /// All files of the work tree that contains this directory.
    WorkTree(String),
    /// A path from the top of the work tree that contains the directory `of`.
    FromTop {
        of: String,
        path: String,
    },
    /// Something that only running would tell; the text as written.
    Unclear(String),
}

/// A read of one file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Read {
    /// As given; may be a glob.
    pub path: String,
    /// Whether all of it is read.
    pub whole: bool,
    /// The version that git shows, if it is not the file itself.
    pub version: Option<GitVersion>,
}

/// A file as git has it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GitVersion {
    /// A directory of the work tree.
    pub of: String,
    /// As git spells it, such as `HEAD:src/a.rs`.
    pub name: String,
}

/// A commit that `git commit` would make. Relative paths are relative to where the call starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitCommit {
    /// A directory of the work tree.
    pub of: String,
    /// Whether it includes everything that was staged before.
    pub staged: bool,
    /// Whether it includes all tracked changes.
    pub tracked: bool,
    /// What else it includes, if changed.
    pub paths: Vec<FileTarget>,
}

/// Why not all writes of a call are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// It exceeds this bound.
    Bound(&'static str),
    /// It cannot be parsed, for this reason.
    Unreadable(String),
    /// It is code in another language, or a line that only running makes; what runs it.
    Code(String),
    /// It is a program that changes files in place without naming them.
    InPlace(String),
    /// The name of the command is not literal; the text as written.
    Hidden(String),
    /// A tool that changes files was called without this field.
    Field(&'static str),
    /// A malformed patch; what is wrong with it.
    Patch(String),
    /// A patch in a file; what applies it.
    PatchFile(String),
}

impl Effects {
    /// The effects of a call that cannot be known.
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

    /// Keeps the first reason: others rarely say more.
    pub(crate) fn note(&mut self, why: Unknown) {
        self.unknown.get_or_insert(why);
    }

    pub(crate) fn merge(&mut self, other: Effects) {
        other.writes.into_iter().for_each(|write| self.write(write));
        other.reads.into_iter().for_each(|read| self.read(read));
        self.searches.extend(other.searches);
        other.commits.into_iter().for_each(|commit| self.commit(commit));
        if let Some(why) = other.unknown {
            self.note(why);
        }
    }

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
    /// A read of a file.
    pub fn new(path: impl Into<String>, whole: bool) -> Read {
        Read { path: path.into(), whole, version: None }
    }
}

impl Write {
    /// A change with unknown content.
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
