//! Control: ask an agent to end, answer that, and say that one waits for work.

mod idle;
mod shutdown;

pub use idle::ReportIdle;
pub use shutdown::{ApproveShutdown, RejectShutdown, RequestShutdown};
