//! How many bytes something takes as JSON, without producing it.

use std::io;

use comity_core::agents::AgentEvent;
use comity_core::locks::LockEvent;
use comity_core::reads::ReadEvent;
use comity_core::{Event, Record};
use serde::Serialize;

/// What a record of the frequent kinds takes at most, roughly.
const SMALL: usize = 1_024;

/// The size of a value as JSON.
pub fn of(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    // What cannot be serialized takes no room.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// The size of a record, roughly: the kinds that come with every command are not measured.
pub(crate) fn of_record(record: &Record) -> usize {
    match &record.event {
        Event::Lock(LockEvent::Acquired { .. })
        | Event::Lock(LockEvent::Renewed { .. })
        | Event::Lock(LockEvent::Released { .. })
        | Event::Agent(AgentEvent::Seen { .. })
        | Event::Read(ReadEvent::FileKnown { .. }) => SMALL,
        event => SMALL + of(event),
    }
}

/// How much is read at a time.
#[derive(Clone, Copy, Debug)]
pub struct PageSize {
    pub records: usize,
    /// Bytes at most, unless the first record alone has more.
    pub bytes: usize,
}

impl PageSize {
    pub fn room(self) -> PageBudget {
        PageBudget { left: self, is_empty: true }
    }
}

/// What is left of a page while it is filled.
#[derive(Clone, Copy, Debug)]
pub struct PageBudget {
    left: PageSize,
    is_empty: bool,
}

impl PageBudget {
    /// Takes one more, if there is room for it. The first one always fits.
    pub fn takes(&mut self, bytes: usize) -> bool {
        if self.left.records == 0 || (bytes > self.left.bytes && !self.is_empty) {
            return false;
        }
        self.left.records -= 1;
        self.left.bytes = self.left.bytes.saturating_sub(bytes);
        self.is_empty = false;
        true
    }
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
