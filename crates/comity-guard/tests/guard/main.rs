//! What agent programs send to their hooks, and what they are answered.

mod payloads;
mod verdicts;
