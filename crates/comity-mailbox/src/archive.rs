//! Where delivered mail goes: an append-only file of lines, and a new one when it is full.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::Deserialize;

use crate::damage::{Damage, DamageKind};
use crate::failure::MailboxError;
use crate::limits::{ARCHIVE_BYTES_MAX, ARCHIVES_MAX, FILE_BYTES_MAX};
use crate::mailbox_dir::{FileEntry, MailboxDir, read_bounded};
use crate::message::{Message, MessageId};
use crate::step::WriteStep;
use crate::visit::Visit;

/// Bytes of an archive that are read: one that was not quite full, and a whole box that was appended to it.
const READ_BYTES_MAX: usize = ARCHIVE_BYTES_MAX + FILE_BYTES_MAX;

#[derive(Deserialize)]
struct ArchiveLine {
    id: MessageId,
    text: String,
}

/// Appends messages, and waits until they are on the disk. What was appended before a crash is not appended again.
pub(crate) fn append(visit: &Visit<'_>, messages: &[Message]) -> Result<Vec<Damage>, MailboxError> {
    let (place, name) = (&visit.place, visit.files.archive());
    let mut damage = Vec::new();
    let mut file = open(place, &name, &mut damage)?;
    let (there, is_cut) = read_bounded(&file, READ_BYTES_MAX).map_err(place.failed(&name))?;
    let known = lines_of(&there, messages);
    let is_new = |message: &&Message| known.get(&message.id).is_none_or(|text| *text != message.text);
    let new: Vec<_> = messages.iter().filter(is_new).collect();
    if new.is_empty() {
        return Ok(damage);
    }
    let mut lines: String = new.into_iter().map(|message| message.encoded() + "\n").collect();
    let mut length = there.len();
    if is_cut || (length > 0 && length + lines.len() > ARCHIVE_BYTES_MAX) {
        rotate(place, &name, &visit.files.full_archive())?;
        visit.did(WriteStep::ArchiveRotated);
        file = open(place, &name, &mut damage)?;
        length = 0;
    } else if there.last().is_some_and(|last| *last != b'\n') {
        // Half a line, left by a crash: the message is still in the box, and gets a line of its own.
        lines.insert(0, '\n');
    }
    if let Err(error) = write(visit, &mut file, lines.as_bytes()) {
        drop(file.set_len(length as u64));
        return Err(place.failed(&name)(error));
    }
    if length == 0 {
        place.sync()?;
    }
    visit.did(WriteStep::Archived);
    Ok(damage)
}

fn write(visit: &Visit<'_>, file: &mut File, lines: &[u8]) -> std::io::Result<()> {
    file.write_all(lines)?;
    visit.did(WriteStep::ArchiveWritten);
    file.sync_data()
}

fn open(place: &MailboxDir, name: &str, damage: &mut Vec<Damage>) -> Result<File, MailboxError> {
    let access = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
    if let FileEntry::File(file) = place.find(name, access)? {
        return Ok(file);
    }
    damage.push(Damage { set_aside: place.move_aside(name)?, problem: DamageKind::NoFile, salvaged: 0 });
    match place.find(name, access)? {
        FileEntry::File(file) => Ok(file),
        FileEntry::Nothing | FileEntry::Other => Err(place.failed(name)(Errno::NOENT)),
    }
}

/// Which of these messages the archive has already.
fn lines_of(archive: &[u8], messages: &[Message]) -> BTreeMap<MessageId, String> {
    let wanted: BTreeSet<&MessageId> = messages.iter().map(|message| &message.id).collect();
    let lines = archive.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice::<ArchiveLine>(line).ok());
    lines.filter(|line| wanted.contains(&line.id)).map(|line| (line.id, line.text)).collect()
}

/// Renames the full archive to the next number; the oldest are removed.
fn rotate(place: &MailboxDir, name: &str, prefix: &str) -> Result<(), MailboxError> {
    let number = |name: &String| name.strip_prefix(prefix)?.parse::<u64>().ok();
    let mut full: Vec<(u64, String)> =
        place.names()?.into_iter().filter_map(|name| Some((number(&name)?, name))).collect();
    full.sort();
    let next = full.last().map_or(1, |(last, _)| last.saturating_add(1));
    let too_many = (full.len() + 1).saturating_sub(ARCHIVES_MAX);
    for (_, oldest) in full.iter().take(too_many) {
        place.remove(oldest)?;
    }
    place.rename(name, &format!("{prefix}{next:06}"))
}
