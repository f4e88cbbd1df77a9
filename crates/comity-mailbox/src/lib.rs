//! The file mailbox: mail between agents that needs no server, and its handover to one.
//!
//! A box is the file `teams/{team}/inboxes/{agent}.json`, an array of messages. Whoever changes it holds its lock,
//! which the kernel releases when the holder dies, and replaces the file as a whole. The contents of a box are not
//! trusted: whatever cannot be read is set aside, and the box goes on without it.

mod archive;
mod boxes;
mod damage;
mod failure;
mod handover;
mod limits;
mod listing;
mod lock;
mod mailbox_dir;
mod message;
mod name;
mod salvage;
mod step;
mod timestamp;
mod visit;

pub use boxes::{Cleared, Mailboxes, ReadMessages, Spooled};
pub use damage::{Damage, DamageKind};
pub use failure::MailboxError;
pub use handover::Confirmed;
pub use limits::*;
pub use listing::{Listed, Listing};
pub use lock::LockTimeout;
pub use message::{Message, MessageContent, MessageDraft, MessageId};
pub use name::BoxName;
pub use step::WriteStep;
