//! A witness of the log's head, outside of the database: it shows that a log was truncated, replaced or set back.
//!
//! `log.witness` says how far the log went and which hash the chain has there. It is written in place after every
//! batch and synced now and then, so it may be behind the log, but is never ahead of what the log surely has. What is
//! only in the kernel's memory (a live batch) counts only in the same boot and mount.
//!
//! It also keeps a ceiling that no fence was ever given above: setting a log back does not set fences back.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::chain::Hash;
use super::witness_names::{self, path};
use super::{Durability, ceiling};
use crate::held_dir::HeldDir;

/// A statement is written to one of these: never where the last synced one is, nor where one is being synced.
const SLOTS: u64 = 3;
const SLOT_BYTES: u64 = 4096;
const MAGIC: [u8; 8] = *b"cmtywit1";
const SENTENCE_BYTES: usize = 176;

/// Fences that are reserved at a time.
const FENCES_AHEAD: u64 = 1 << 20;
/// How far fences leap when nobody knows how many were given: as many as a clock could take in 397 days.
const FENCES_LEAP: u64 = 1 << 45;

/// How far if a file cannot be told from its copy for certain: there is room for two million of these.
const FENCES_HOP: u64 = 1 << 32;

/// A position in the log: the number of a record, and the chain's hash there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LogHead {
    /// 0 before the first record.
    pub seq: u64,
    /// The hash of it and everything before it.
    pub hash: Hash,
}

/// An opaque identity to compare.
type Mark = [u8; 16];

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct WitnessRecord {
    /// How far the log is surely on the disk.
    durable: LogHead,
    /// How far it goes while the kernel's memory survives.
    live: LogHead,
    /// The boot and mount for which that holds.
    run: Mark,
    /// The file that it was written to: a copy is another one.
    file: Mark,
    /// No fence above this one was ever given.
    fences_up_to: u64,
    pub wall_ms: i64,
    number: u64,
    slot: u64,
}

#[derive(Debug)]
pub(super) struct Witness {
    home: HeldDir,
    file: File,
    run: Mark,
    state: Mutex<WitnessState>,
    syncing: Mutex<()>,
}

#[derive(Debug)]
struct WitnessState {
    said: WitnessRecord,
    /// The slot with the last synced statement.
    synced: u64,
    is_dirty: bool,
}

impl WitnessRecord {
    /// The statement of a state directory's witness, if there is one.
    pub(super) fn read(home: &Path) -> Result<Option<WitnessRecord>, String> {
        let Some((path, bytes)) = witness_names::read(home)? else { return Ok(None) };
        let slots = bytes.chunks(SLOT_BYTES as usize).enumerate();
        let sentences = slots.filter_map(|(slot, bytes)| WitnessRecord::decode(bytes, slot as u64));
        match sentences.max_by_key(|said| said.number) {
            Some(said) => Ok(Some(WitnessRecord {
                fences_up_to: said.fences_up_to.max(ceiling::highest(home)),
                ..said
            })),
            None => Err(format!("{} is not what was written", path.display())),
        }
    }

    /// How far the log has to go.
    pub(super) fn head(&self, home: &Path) -> LogHead {
        if self.run == run(home) { self.live } else { self.durable }
    }

    /// The first statement of a new witness for a log that goes to `head`, with fences up to `fence` as far as the
    /// log knows.
    ///
    /// Without a witness of its own the log may be an older one that was restored: nobody knows how many fences were
    /// given since, so they leap.
    pub(super) fn of(found: Option<WitnessRecord>, home: &Path, head: LogHead, fence: u64) -> WitnessRecord {
        let known = found.map_or(ceiling::highest(home), |found| found.fences_up_to).max(fence);
        let is_own = found.is_some_and(|found| found.is_own(home));
        let fences_up_to = match is_own || (found.is_none() && head.seq == 0) {
            true => known,
            false if has_birth(home) => known.saturating_add(FENCES_LEAP),
            // Its number may change with every mount: there is not enough room for that many leaps.
            false => known.saturating_add(FENCES_HOP),
        };
        WitnessRecord { live: head, fences_up_to, ..WitnessRecord::default() }
    }

    /// Whether it was written to the file that it is in.
    pub(super) fn is_own(&self, home: &Path) -> bool {
        fs::metadata(path(home)).is_ok_and(|found| self.file == mark_of_file(&found))
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SENTENCE_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(self.number.to_le_bytes());
        for head in [self.durable, self.live] {
            bytes.extend(head.seq.to_le_bytes());
            bytes.extend(head.hash);
        }
        bytes.extend(self.fences_up_to.to_le_bytes());
        bytes.extend(self.wall_ms.to_le_bytes());
        bytes.extend(self.run);
        bytes.extend(self.file);
        let check = blake3::hash(&bytes);
        bytes.extend(check.as_bytes());
        bytes
    }

    fn decode(bytes: &[u8], slot: u64) -> Option<WitnessRecord> {
        let (said, check) = bytes.get(..SENTENCE_BYTES)?.split_last_chunk::<32>()?;
        if blake3::hash(said) != *check {
            return None;
        }
        let mut rest = said.strip_prefix(&MAGIC)?;
        let number = number(&mut rest)?;
        let mut head = || Some(LogHead { seq: self::number(&mut rest)?, hash: piece(&mut rest)? });
        let (durable, live) = (head()?, head()?);
        let (fences_up_to, wall_ms) = (self::number(&mut rest)?, self::number(&mut rest)? as i64);
        let (run, file) = (piece(&mut rest)?, piece(&mut rest)?);
        Some(WitnessRecord { durable, live, run, file, fences_up_to, wall_ms, number, slot })
    }
}

fn piece<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    piece(bytes).map(u64::from_le_bytes)
}

impl Witness {
    /// Continues with the witness that was found, or creates one with this statement.
    pub(super) fn open(
        home: &Path,
        found: Option<WitnessRecord>,
        else_says: WitnessRecord,
    ) -> Result<Witness, String> {
        if found.is_some() {
            witness_names::restore_first(home);
        }
        match found.filter(|found| found.is_own(home)) {
            Some(found) => {
                let file = OpenOptions::new().write(true).open(path(home));
                let file = file.map_err(|error| format!("{}: {error}", path(home).display()))?;
                Witness::at(file, found, home).map_err(|error| format!("{}: {error}", home.display()))
            }
            None => Witness::create(home, else_says),
        }
    }

    /// Replaces whatever is there with a new witness.
    pub(super) fn create(home: &Path, mut said: WitnessRecord) -> Result<Witness, String> {
        let (path, fresh) = (path(home), home.join("log.witness.unfinished"));
        let mut create = || -> io::Result<Witness> {
            let options = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
            let mut file = options.open(&fresh)?;
            // All of it is allocated before it counts: a write in place needs no room.
            file.write_all(&vec![0; (SLOTS * SLOT_BYTES) as usize])?;
            (said.file, said.run) = (mark_of_file(&file.metadata()?), run(home));
            file.write_all_at(&said.encode(), 0)?;
            file.sync_all()?;
            fs::rename(&fresh, &path)?;
            File::open(home)?.sync_all()?;
            Witness::at(file, said, home)
        };
        create().map_err(|error| format!("{}: {error}", path.display()))
    }

    fn at(file: File, said: WitnessRecord, home: &Path) -> io::Result<Witness> {
        let state = WitnessState { synced: said.slot, is_dirty: false, said };
        let (run, home) = (run(home), HeldDir::open(home)?);
        Ok(Witness { home, file, run, state: Mutex::new(state), syncing: Mutex::default() })
    }

    /// Gives it its second name, which may be taken by an earlier one.
    pub(super) fn name_again(&self, home: &Path) {
        witness_names::name_again(home, &self.file);
    }

    /// The ceiling of all fences that were given so far.
    pub(super) fn fences_up_to(&self) -> u64 {
        self.state().said.fences_up_to
    }

    /// Notes a batch that is in the log.
    pub(super) fn record(&self, head: LogHead, durability: Durability, wall_ms: i64) {
        let mut state = self.state();
        (state.said.live, state.said.run, state.said.wall_ms) = (head, self.run, wall_ms);
        if durability == Durability::Durable {
            state.said.durable = head;
        }
        // A witness that is behind does no harm; the next batch tries again.
        let _ = self.write(&mut state);
    }

    /// Makes sure that no later server gives a fence up to this one, before this one does.
    pub(super) fn reserve_fences(&self, up_to: u64) -> io::Result<()> {
        let before = {
            let mut state = self.state();
            if up_to <= state.said.fences_up_to {
                return Ok(());
            }
            let before = std::mem::replace(&mut state.said.fences_up_to, up_to.saturating_add(FENCES_AHEAD));
            self.write(&mut state).inspect_err(|_| state.said.fences_up_to = before)?;
            before
        };
        let raised = self.sync().and_then(|()| ceiling::raise(&self.home, self.fences_up_to()));
        raised.inspect_err(|_| self.state().said.fences_up_to = before)
    }

    /// Makes the last statement durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        let _one_at_a_time = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        let frozen = {
            let mut state = self.state();
            if !state.is_dirty {
                return Ok(());
            }
            let frozen = state.said.slot;
            state.said.slot = (0..SLOTS).find(|slot| ![state.synced, frozen].contains(slot)).unwrap_or(0);
            state.is_dirty = false;
            frozen
        };
        self.file.sync_data().inspect_err(|_| self.state().is_dirty = true)?;
        self.state().synced = frozen;
        Ok(())
    }

    fn write(&self, state: &mut WitnessState) -> io::Result<()> {
        if state.said.slot == state.synced {
            state.said.slot = (state.synced + 1) % SLOTS;
        }
        state.said.number += 1;
        state.is_dirty = true;
        self.file.write_all_at(&state.said.encode(), state.said.slot * SLOT_BYTES)
    }

    fn state(&self) -> MutexGuard<'_, WitnessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn mark(of: &str) -> Mark {
    let mut mark = Mark::default();
    mark.copy_from_slice(&blake3::hash(of.as_bytes()).as_bytes()[..16]);
    mark
}

/// A copy was made at another time; if that is not known, it has another inode.
fn mark_of_file(file: &fs::Metadata) -> Mark {
    match file.created() {
        Ok(birth) => mark(&format!("{birth:?}")),
        Err(_) => mark(&file.ino().to_string()),
    }
}

/// Whether the file system records files' creation times.
fn has_birth(home: &Path) -> bool {
    fs::metadata(home).is_ok_and(|found| found.created().is_ok())
}

/// What is only in memory is lost with the boot, or with the mount: a disk can be unplugged.
fn run(home: &Path) -> Mark {
    mark(&format!("{:?} {}", crate::processes::boot(), mount(home)))
}

/// A number that is unique among mounts within a boot, if the kernel has one (6.8).
#[cfg(target_os = "linux")]
fn mount(home: &Path) -> u64 {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    const MOUNT_ID_UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);
    let wanted = StatxFlags::MNT_ID | MOUNT_ID_UNIQUE;
    statx(CWD, home, AtFlags::empty(), wanted).map_or(0, |found| found.stx_mnt_id)
}

#[cfg(not(target_os = "linux"))]
fn mount(_: &Path) -> u64 {
    0
}

#[cfg(test)]
mod tests;
