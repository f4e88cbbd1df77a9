//! Hands spooled mail over to the server, exactly once.
//!
//! `drain` marks messages as taken before it hands them out, so that nobody reads them here any more, and hands them
//! out again until they are confirmed. The server stores each with its id as the key that identifies a copy, and then
//! confirms. Whoever dies at any moment: what was not confirmed comes again, and what was stored is recognized.

use std::collections::BTreeSet;

use crate::boxes::{Mailboxes, ReadMessages};
use crate::damage::Damage;
use crate::failure::MailboxError;
use crate::message::MessageId;
use crate::name::BoxName;

/// Delivered mail was moved to the archive.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Confirmed {
    pub archived: usize,
    /// What had to be set aside.
    pub damage: Vec<Damage>,
}

impl Mailboxes {
    /// Hands out every message that its owner has not read here, and that is not yet `seen`. Seen and read ones move
    /// to the archive. The box is locked while `seen` is called.
    pub fn drain(
        &self,
        name: &BoxName,
        seen: impl Fn(&MessageId) -> bool,
    ) -> Result<ReadMessages, MailboxError> {
        let Some(mut visit) = self.visit(name)? else { return Ok(ReadMessages::default()) };
        visit.archive(|message| message.read || seen(&message.id))?;
        for message in visit.messages.iter_mut().filter(|message| !message.taken) {
            message.taken = true;
            visit.is_changed = true;
        }
        visit.store_changes()?;
        Ok(ReadMessages {
            messages: std::mem::take(&mut visit.messages),
            damage: std::mem::take(&mut visit.damage),
        })
    }

    /// Moves messages that are now stored elsewhere to the archive. Unknown ids are no error.
    pub fn confirm(&self, name: &BoxName, stored: &BTreeSet<MessageId>) -> Result<Confirmed, MailboxError> {
        let Some(mut visit) = self.visit(name)? else { return Ok(Confirmed::default()) };
        let archived = visit.archive(|message| stored.contains(&message.id))?;
        visit.store_changes()?;
        Ok(Confirmed { archived, damage: std::mem::take(&mut visit.damage) })
    }
}
