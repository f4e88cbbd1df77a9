//! A visit to a box: it is locked, read, changed, and replaced as a whole.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::Write;

use rustix::fs::OFlags;

use crate::boxes::Mailboxes;
use crate::damage::{Damage, DamageKind};
use crate::failure::MailboxError;
use crate::limits::{FILE_BYTES_MAX, READ_KEPT_BYTES_MAX, READ_KEPT_MAX};
use crate::lock::BoxLock;
use crate::mailbox_dir::{FileEntry, MailboxDir, read_bounded};
use crate::message::Message;
use crate::name::Files;
use crate::salvage;
use crate::step::WriteStep;

/// A box that nobody else can change.
pub(crate) struct Visit<'a> {
    pub(crate) place: MailboxDir,
    pub(crate) files: Files,
    pub(crate) messages: Vec<Message>,
    pub(crate) damage: Vec<Damage>,
    /// Whether the messages differ from those in the file.
    pub(crate) is_changed: bool,
    boxes: &'a Mailboxes,
    lock: BoxLock,
    steps: Cell<usize>,
}

impl<'a> Visit<'a> {
    /// Locks a box and reads it. A damaged one is repaired at once.
    pub(crate) fn begin(
        boxes: &'a Mailboxes,
        place: MailboxDir,
        files: Files,
    ) -> Result<Visit<'a>, MailboxError> {
        let lock = BoxLock::take(&place, &files.lock(), boxes.patience)?;
        let (messages, damage, steps) = (vec![], vec![], Cell::default());
        let mut visit = Visit { place, files, messages, damage, is_changed: false, boxes, lock, steps };
        visit.did(WriteStep::Locked);
        visit.load()?;
        Ok(visit)
    }

    /// Reports a step to those who wait, and those who watch.
    pub(crate) fn did(&self, step: WriteStep) {
        self.steps.set(self.steps.get() + 1);
        self.lock.moves_on(self.steps.get());
        self.boxes.did(step);
    }

    fn load(&mut self) -> Result<(), MailboxError> {
        let name = self.files.mail.clone();
        let file = match self.place.find(&name, OFlags::RDONLY)? {
            FileEntry::Nothing => {
                self.did(WriteStep::Loaded);
                return Ok(());
            }
            FileEntry::Other => {
                let set_aside = self.place.move_aside(&name)?;
                self.did(WriteStep::SetAside);
                self.damage.push(Damage { set_aside, problem: DamageKind::NoFile, salvaged: 0 });
                return self.store();
            }
            FileEntry::File(file) => file,
        };
        let (bytes, is_cut) = read_bounded(&file, FILE_BYTES_MAX).map_err(self.place.failed(&name))?;
        let contents = salvage::read(&bytes);
        self.messages = contents.messages;
        self.is_changed = salvage::settle_ids(&mut self.messages).map_err(self.place.failed(&name))?;
        self.did(WriteStep::Loaded);
        let Some(problem) = is_cut.then_some(DamageKind::TooLarge).or(contents.problem) else {
            return Ok(());
        };
        let set_aside = self.place.link_aside(&name)?;
        self.did(WriteStep::SetAside);
        self.damage.push(Damage { set_aside, problem, salvaged: self.messages.len() });
        self.store()
    }

    /// Replaces the file atomically.
    pub(crate) fn store(&mut self) -> Result<(), MailboxError> {
        self.store_within(usize::MAX)
    }

    /// Replaces the file, unless it becomes too large.
    pub(crate) fn store_within(&mut self, bytes_max: usize) -> Result<(), MailboxError> {
        let bytes = encode(&self.messages);
        if bytes.len() > bytes_max {
            return Err(self.full());
        }
        let temporary = self.files.temporary();
        if let Err(failure) = self.replace(&temporary, &bytes) {
            // The next visit removes it at the latest.
            drop(self.place.remove(&temporary));
            return Err(failure);
        }
        self.is_changed = false;
        Ok(())
    }

    fn replace(&self, temporary: &str, bytes: &[u8]) -> Result<(), MailboxError> {
        let mut file = self.place.remake(temporary)?;
        self.did(WriteStep::TemporaryMade);
        file.write_all(bytes).map_err(self.place.failed(temporary))?;
        self.did(WriteStep::TemporaryWritten);
        file.sync_data().map_err(self.place.failed(temporary))?;
        self.did(WriteStep::TemporarySynced);
        self.place.rename(temporary, &self.files.mail)?;
        self.did(WriteStep::Replaced);
        self.place.sync()?;
        self.did(WriteStep::Stored);
        Ok(())
    }

    /// Replaces the file if anything was changed.
    pub(crate) fn store_changes(&mut self) -> Result<(), MailboxError> {
        if self.is_changed { self.store() } else { Ok(()) }
    }

    pub(crate) fn unread(&self) -> usize {
        self.messages.iter().filter(|message| !message.read).count()
    }

    pub(crate) fn full(&self) -> MailboxError {
        MailboxError::Full { unread: self.unread() }
    }

    /// Moves messages to the archive. Until the box is stored they are in both.
    pub(crate) fn archive(&mut self, is_done: impl Fn(&Message) -> bool) -> Result<usize, MailboxError> {
        let (done, rest): (Vec<_>, Vec<_>) = self.messages.drain(..).partition(|message| is_done(message));
        self.messages = rest;
        if done.is_empty() {
            return Ok(0);
        }
        let damage = crate::archive::append(self, &done)?;
        self.damage.extend(damage);
        self.is_changed = true;
        Ok(done.len())
    }

    /// Moves all but the latest of the read messages to the archive.
    pub(crate) fn stay_small(&mut self) -> Result<(), MailboxError> {
        let (mut kept, mut bytes) = (0, 0);
        let mut first_kept = self.messages.len();
        for (place, message) in self.messages.iter().enumerate().rev().filter(|(_, message)| message.read) {
            kept += 1;
            bytes += message.encoded().len();
            if kept > READ_KEPT_MAX || bytes > READ_KEPT_BYTES_MAX {
                break;
            }
            first_kept = place;
        }
        let old: BTreeSet<_> =
            self.messages[..first_kept].iter().filter(|message| message.read).map(|m| m.id.clone()).collect();
        self.archive(|message| old.contains(&message.id)).map(drop)
    }
}

/// One line per message, so that the rest of a torn file can be told apart.
fn encode(messages: &[Message]) -> Vec<u8> {
    if messages.is_empty() {
        return b"[]\n".to_vec();
    }
    let lines: Vec<String> = messages.iter().map(Message::encoded).collect();
    format!("[\n{}\n]\n", lines.join(",\n")).into_bytes()
}
