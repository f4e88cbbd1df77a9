//! The ceiling of all fences that were given, as the name of a file: whoever copies an older state over this one leaves
//! the newer name beside it, and the highest counts.

use std::fs::{self, File};
use std::io;
use std::path::Path;

const NAME: &str = "log.fences-";

/// The highest ceiling that a state directory has.
pub(super) fn highest(home: &Path) -> u64 {
    all(home).into_iter().max().unwrap_or(0)
}

/// Raises it for good; lower ones go.
pub(super) fn raise(home: &Path, ceiling: u64) -> io::Result<()> {
    File::create(home.join(format!("{NAME}{ceiling}")))?;
    File::open(home)?.sync_all()?;
    for lower in all(home).into_iter().filter(|other| *other < ceiling) {
        // One that stays says nothing wrong.
        let _ = fs::remove_file(home.join(format!("{NAME}{lower}")));
    }
    Ok(())
}

fn all(home: &Path) -> Vec<u64> {
    let names = fs::read_dir(home).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.strip_prefix(NAME)?.parse().ok()).collect()
}
