//! What the hooks of agent programs mean, and how they are answered.
//!
//! [`payload`] reads what an agent program says before it acts; [`patch`], [`shell`] and [`programs`] find out
//! which files that act would change, [`read_only`] proves that a command changes none; [`verdict`] words the answer so that the program obeys it; `connect` edits
//! the programs' settings so that they ask at all. Everything in here is a function of values: no file is opened,
//! no clock read, nothing sent.

mod arguments;
pub mod connect;
pub mod dialect;
pub mod effects;
pub mod limits;
pub mod patch;
pub mod payload;
pub mod programs;
pub mod read_only;
pub mod shell;
mod table;
pub mod verdict;

pub use dialect::Dialect;
pub use effects::{Effects, FileTarget, GitCommit, GitVersion, GuessedPath, Read, Unknown, Write, WriteKind};
pub use read_only::{Classification, classify, index_has_no_repositories, settings_run_nothing};
