//! Writing to a box, reading it, clearing it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Map;

use crate::damage::Damage;
use crate::failure::MailboxError;
use crate::limits::{BOX_BYTES_MAX, UNREAD_MAX};
use crate::lock::LockTimeout;
use crate::mailbox_dir::MailboxDir;
use crate::message::{Message, MessageDraft, MessageId};
use crate::name::{BoxName, Files};
use crate::step::WriteStep;
use crate::timestamp;
use crate::visit::Visit;

/// All boxes below a root directory.
#[derive(Clone)]
pub struct Mailboxes {
    pub(crate) root: PathBuf,
    pub(crate) patience: LockTimeout,
    watch: Option<Arc<dyn Fn(WriteStep) + Send + Sync>>,
}

/// A message is in a box, and on the disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spooled {
    pub id: MessageId,
    /// Whether it was already there: it was sent twice, and is stored once.
    pub is_repeat: bool,
    /// What had to be set aside.
    pub damage: Vec<Damage>,
}

/// In the order in which they were written.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReadMessages {
    pub messages: Vec<Message>,
    /// What had to be set aside.
    pub damage: Vec<Damage>,
}

/// A box was emptied.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cleared {
    /// How many messages moved to the archive.
    pub archived: usize,
    /// What had to be set aside.
    pub damage: Vec<Damage>,
}

impl Mailboxes {
    /// The boxes below this directory, which is created with the first message.
    pub fn under(root: impl Into<PathBuf>) -> Mailboxes {
        Mailboxes { root: root.into(), patience: LockTimeout::default(), watch: None }
    }

    /// With another lock timeout.
    pub fn with_patience(self, patience: LockTimeout) -> Mailboxes {
        Mailboxes { patience, ..self }
    }

    /// Reports every step.
    pub fn watched(self, watch: impl Fn(WriteStep) + Send + Sync + 'static) -> Mailboxes {
        Mailboxes { watch: Some(Arc::new(watch)), ..self }
    }

    /// Writes a message to a box. When this returns, the message is on the disk.
    pub fn spool(&self, to: &BoxName, draft: &MessageDraft<'_>) -> Result<Spooled, MailboxError> {
        draft.check()?;
        let place = MailboxDir::make(&self.root, to.team())?;
        let files = Files::of(to);
        place.create(&files.mail, b"[]\n")?;
        self.did(WriteStep::Created);
        let id = match draft.id {
            Some(id) => id.clone(),
            None => MessageId::fresh().map_err(MailboxError::disk(&place.path(&files.mail)))?,
        };
        let message = written(draft, id);
        let mut visit = Visit::begin(self, place, files)?;
        let is_repeat = match visit.messages.iter().find(|there| there.id == message.id) {
            Some(there) if there.is_copy_of(&message) => true,
            Some(_) => return Err(MailboxError::IdTaken(message.id)),
            None => false,
        };
        let id = message.id.clone();
        if !is_repeat {
            if visit.unread() >= UNREAD_MAX {
                return Err(visit.full());
            }
            visit.messages.push(message);
            visit.stay_small()?;
            visit.store_within(BOX_BYTES_MAX)?;
        }
        Ok(Spooled { id, is_repeat, damage: visit.damage })
    }

    /// Reads what is new in a box, and marks it as read. A missing box is empty.
    pub fn read(&self, name: &BoxName) -> Result<ReadMessages, MailboxError> {
        let Some(mut visit) = self.visit(name)? else { return Ok(ReadMessages::default()) };
        let mut messages = Vec::new();
        for message in visit.messages.iter_mut().filter(|message| !message.read && !message.taken) {
            messages.push(message.clone());
            message.read = true;
        }
        visit.is_changed |= !messages.is_empty();
        if visit.is_changed {
            visit.stay_small()?;
        }
        visit.store_changes()?;
        Ok(ReadMessages { messages, damage: visit.damage })
    }

    /// Moves everything in a box to its archive. A missing box stays missing.
    pub fn clear(&self, name: &BoxName) -> Result<Cleared, MailboxError> {
        let Some(mut visit) = self.visit(name)? else { return Ok(Cleared::default()) };
        let archived = visit.archive(|_| true)?;
        visit.store_changes()?;
        Ok(Cleared { archived, damage: visit.damage })
    }

    /// Locks and reads a box, if it exists.
    pub(crate) fn visit(&self, name: &BoxName) -> Result<Option<Visit<'_>>, MailboxError> {
        let Some(place) = MailboxDir::open(&self.root, name.team())? else { return Ok(None) };
        let files = Files::of(name);
        if place.look(&files.mail)?.is_none() {
            return Ok(None);
        }
        Visit::begin(self, place, files).map(Some)
    }

    pub(crate) fn did(&self, step: WriteStep) {
        if let Some(watch) = &self.watch {
            watch(step);
        }
    }
}

impl fmt::Debug for Mailboxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailboxes").field("root", &self.root).field("patience", &self.patience).finish()
    }
}

fn written(draft: &MessageDraft<'_>, id: MessageId) -> Message {
    Message {
        id,
        from: draft.from.to_owned(),
        text: draft.text.to_owned(),
        summary: draft.summary.map(ToOwned::to_owned),
        timestamp: timestamp::now(),
        read: false,
        taken: false,
        more: Map::new(),
    }
}
