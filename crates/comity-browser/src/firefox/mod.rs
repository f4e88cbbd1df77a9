//! The Firefox process: its program, its profile, its life and the ports it listens on.

pub(crate) mod port;
pub(crate) mod process;
pub(crate) mod profile;
pub(crate) mod program;
