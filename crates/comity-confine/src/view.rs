//! What a sandbox is to show.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the program finds the proxy, on a loopback that nobody else has.
pub const PROXY_PORT: u16 = 3128;

/// What a program in a sandbox sees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// What it sees of this machine, by absolute names; what is below another comes after that.
    pub shown: Vec<ShownPath>,
    /// What of that it cannot write to, by absolute names, as far as it is there.
    pub held: Vec<PathBuf>,
    /// What of that is empty to it.
    pub hidden: Vec<PathBuf>,
}

/// A file or directory that is shown under its own name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPath {
    pub path: PathBuf,
    pub access: PathAccess,
}

/// What can be done with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathAccess {
    /// Left out, if it is not there.
    Read,
    Write,
    /// Something else stands for it.
    Replaced {
        by: PathBuf,
    },
    /// What is changed goes to another directory, which is kept for the next time.
    Copied {
        changes: PathBuf,
    },
}
