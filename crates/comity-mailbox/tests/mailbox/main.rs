//! The file mailbox, with real files and real processes that are killed.

mod crash;
mod crowd;
mod generated;
mod handover;
mod hostile;
mod post;
mod rules;
mod worker;
