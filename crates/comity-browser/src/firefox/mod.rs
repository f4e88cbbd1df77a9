//! The Firefox process: its program, its profile, its life and the private sockets that it listens on.

pub(crate) mod appearing;
pub(crate) mod inside;
pub(crate) mod private_socket;
pub(crate) mod process;
pub(crate) mod profile;
pub(crate) mod program;
