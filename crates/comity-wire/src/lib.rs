//! The local protocol: lines of JSON over a Unix socket.
//!
//! A [`Request`] names an operation and its input; a [`Reply`] carries the same `id` and the output, or an error.
//! Identity is the connection's: the kernel's peer credentials, and the token of the first request that has one.

mod client;
mod eager;
mod frame;
mod home;
mod trust;
mod version;

pub use client::{Client, ClientError};
pub use eager::{EAGER, Eagerness, Wait, wait_eagerly};
pub use frame::{FRAME_BYTES_MAX, Fault, PROTOCOL, Reply, Request};
pub use home::{Home, HomeError, user_settings};
pub use trust::listener_of;
pub use version::version;
