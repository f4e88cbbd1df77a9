//! What names may look like: path segments, branches, and paths inside a worktree.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::failure::{FailureKind, WorktreeError};

const BRANCH_BYTES_MAX: usize = 200;
const INNER_PATH_BYTES_MAX: usize = 512;

/// The name of a branch, without `refs/heads/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Branch(String);

impl Branch {
    /// Checks the syntax, not whether it exists.
    pub fn parse(text: &str) -> Result<Branch, WorktreeError> {
        let name = text.strip_prefix("refs/heads/").unwrap_or(text);
        let is_legal =
            name.len() <= BRANCH_BYTES_MAX && !name.starts_with('-') && name != "HEAD" && is_legal_ref(name);
        if is_legal {
            Ok(Branch(name.to_owned()))
        } else {
            Err(WorktreeError::bad_name(text, "git does not take it as a branch"))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The full name of the ref.
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

/// A given path inside a worktree, such as a directory to link: no way out of it, no odd characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InnerPath(String);

impl InnerPath {
    /// Checks each segment by the rule for slugs.
    pub fn parse(text: &str) -> Result<InnerPath, WorktreeError> {
        let path = text.strip_suffix('/').unwrap_or(text);
        let is_git = |segment: &str| segment.eq_ignore_ascii_case(".git");
        let problem = path.split('/').find_map(|segment| {
            segment_problem(segment).or_else(|| is_git(segment).then_some("git owns it"))
        });
        match problem {
            None if path.len() <= INNER_PATH_BYTES_MAX => Ok(InnerPath(path.to_owned())),
            None => Err(WorktreeError::bad_name(text, "it is too long")),
            Some(problem) => Err(WorktreeError::bad_name(text, problem)),
        }
    }

    /// With `/` between its names.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }
}

/// What is wrong with one name of a path, if anything is.
pub(crate) fn segment_problem(segment: &str) -> Option<&'static str> {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    match segment {
        "" => Some("a part of it is empty"),
        "." | ".." => Some("`.` and `..` are no names"),
        _ if segment.starts_with('-') => Some("a part of it begins with `-`"),
        _ if !segment.bytes().all(is_fit) => Some("only letters, digits, `.`, `_` and `-` are allowed"),
        _ => None,
    }
}

/// Whether a name is valid for a ref, by the rules of `git check-ref-format`.
pub(crate) fn is_legal_ref(name: &str) -> bool {
    let is_fit = |c: char| !c.is_control() && !matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name != "@"
        && name.chars().all(is_fit)
        && name.split('/').all(is_part)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

/// Eight random digits.
pub(crate) fn random_suffix() -> Result<String, WorktreeError> {
    let number =
        getrandom::u32().map_err(|error| WorktreeError::new(FailureKind::Disk, error.to_string(), ""))?;
    Ok(format!("{number:08x}"))
}

macro_rules! plain_text {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = WorktreeError;

            fn try_from(text: String) -> Result<$name, WorktreeError> {
                $name::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }
    };
}

plain_text!(Branch);
plain_text!(InnerPath);
pub(crate) use plain_text;
