//! The server itself.

mod status;

pub use status::Status;
