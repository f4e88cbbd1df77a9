//! What agent programs send to their hooks, and what they are answered.

mod payloads;
mod shell_calls;
mod verdicts;
