//! What agent programs send to their hooks, and what they are answered.

mod payloads;
mod servers;
mod shell_calls;
mod verdicts;
