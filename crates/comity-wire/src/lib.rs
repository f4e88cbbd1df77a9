//! The local protocol: lines of JSON over a Unix socket.
//!
//! A [`Request`] names an operation and its input; a [`Reply`] carries the same `id` and the output, or an error.
//! Identity is the connection's: the kernel's peer credentials, and the token of the first request that has one.

mod client;
mod frame;
mod home;
mod spin_wait;
mod trust;
mod version;

pub use client::{Client, ClientError};
pub use frame::{FRAME_BYTES_MAX, Fault, InboxCount, PROTOCOL, Reply, Request};
pub use home::{Home, HomeError, SANDBOX_HOME, user_settings};
pub use spin_wait::{SPIN_TIME, SpinBudget, Wait, spin_wait};
pub use trust::listener_of;
pub use version::version;
