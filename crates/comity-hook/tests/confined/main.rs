//! What a command can do that the shipped `comity-confine` runs, and what it cannot, without any server: it is told what
//! is held, as the server tells it for programs that it runs itself.
#![cfg(target_os = "linux")]

mod held;
mod hidden;
mod inherited;
mod kept;
mod nested;
mod place;
mod typing;
