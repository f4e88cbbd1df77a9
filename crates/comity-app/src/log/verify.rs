//! Proves that the whole log is intact, including sealed parts.

use comity_core::World;
use comity_core::snapshot::Snapshot;
use comity_core::world::Timeouts;

use super::chain::{Chain, Hash, Stored};
use super::reader::LogReader;
use super::witness::LogHead;

/// The log is intact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VerifiedLog {
    /// How many records were checked.
    pub records: u64,
    /// The first one that is kept.
    pub first: u64,
    pub hash: Hash,
}

/// How far a log was checked, record by record.
#[derive(Debug, Default)]
pub(super) struct Checked {
    chain: Option<Chain>,
    next: Option<u64>,
    records: u64,
    first: u64,
}

impl Checked {
    /// Begins after a sealed world whose records are not kept.
    pub(super) fn begin_at(&mut self, chain: Chain) {
        if self.next.is_none() {
            self.chain = Some(chain);
        }
    }

    pub(super) fn add(&mut self, stored: &Stored<'_>, hash: Hash) -> Result<(), String> {
        let seq = stored.seq;
        if self.next.is_some_and(|next| next != seq) {
            return Err(format!("record {} is missing", self.next.unwrap_or_default()));
        }
        if self.next.is_none() {
            self.first = seq;
        }
        // Nothing is known before the oldest kept record: the chain begins with its own hash.
        match (&mut self.chain, seq) {
            (None, 2..) => self.chain = Some(Chain(hash)),
            (chain, _) => chain.get_or_insert_default().follow(stored, hash)?,
        }
        self.next = Some(seq + 1);
        self.records += 1;
        Ok(())
    }

    pub(super) fn head(&self) -> LogHead {
        let seq = self.next.map_or(0, |next| next - 1);
        LogHead { seq, hash: self.chain.unwrap_or_default().0 }
    }

    pub(super) fn verified(&self) -> VerifiedLog {
        VerifiedLog { records: self.records, first: self.first, hash: self.head().hash }
    }
}

/// Folds sealed records again: they have to make the worlds that were sealed.
pub(super) struct Refold {
    /// `None` until the starting point is known.
    world: Option<World>,
    is_exact: bool,
}

impl Refold {
    /// Worlds of an older form lack later facts: they are not compared before they are rebuilt.
    pub(super) fn new(is_of_older_form: bool) -> Refold {
        Refold { world: None, is_exact: !is_of_older_form }
    }

    pub(super) fn begin_at(&mut self, world: World) {
        if self.is_exact {
            self.world.get_or_insert(world);
        }
    }

    pub(super) fn add(&mut self, stored: &Stored<'_>) -> Result<(), String> {
        if let Some(world) = &mut self.world {
            world.apply(&stored.record()?);
        }
        Ok(())
    }

    /// Compares with what was sealed here, and continues from that.
    pub(super) fn compare(&mut self, sealed: World) -> Result<(), String> {
        let is_same = self.world.as_ref().is_none_or(|world| is_same(world, &sealed));
        let seq = sealed.head;
        self.world = self.is_exact.then_some(sealed);
        if is_same { Ok(()) } else { Err(changed(seq)) }
    }
}

pub(super) fn is_same(one: &World, other: &World) -> bool {
    Snapshot::of(one) == Snapshot::of(other)
}

/// The error about a world that its records do not make.
pub(super) fn changed(seq: u64) -> String {
    format!("the world after record {seq} is not what was written")
}

/// Checks every record and every sealed world; `wanted` is what the witness has seen.
pub(super) fn verify(reader: &LogReader, wanted: LogHead, head: u64) -> Result<VerifiedLog, String> {
    let mut checked = Checked::default();
    let segments = reader.segments();
    let add = |checked: &mut Checked, stored: &Stored<'_>, hash: Hash| {
        checked.add(stored, hash)?;
        match stored.seq == wanted.seq && hash != wanted.hash {
            true => Err(format!("record {} is not the one that was written", wanted.seq)),
            false => Ok(()),
        }
    };
    let mut refold = Refold::new(segments.is_of_older_form());
    for (first, last) in segments.ranges()? {
        if first == 1 {
            refold.begin_at(World::new(Timeouts::default()));
        } else if checked.head().seq == 0 && segments.worlds()?.contains(&(first - 1)) {
            let (world, chain) = segments.world(first - 1, Timeouts::default())?;
            checked.begin_at(chain);
            refold.begin_at(world);
        }
        segments.visit(first, last, |stored, hash| {
            add(&mut checked, stored, hash)?;
            refold.add(stored)
        })?;
        // A segment counts once its world exists.
        if last <= segments.sealed_up_to() {
            let (world, chain) = segments.world(last, Timeouts::default())?;
            if chain.0 != checked.head().hash {
                return Err(changed(last));
            }
            refold.compare(world)?;
        }
    }
    reader.visit_hot(checked.head().seq, usize::MAX, |stored, hash| add(&mut checked, stored, hash))?;
    let wanted = wanted.seq.max(head);
    match checked.head().seq < wanted {
        true => Err(format!("it ends with record {}, but record {wanted} was written", checked.head().seq)),
        false => Ok(checked.verified()),
    }
}
