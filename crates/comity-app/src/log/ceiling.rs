//! The ceiling of all fences that were given, as the name of a file: whoever copies an older state over this one
//! leaves the newer name next to it, and the highest counts.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use crate::held_dir::HeldDir;

const NAME: &str = "log.fences-";

/// The highest ceiling in a state directory.
pub(super) fn highest(home: &Path) -> u64 {
    let names = fs::read_dir(home).into_iter().flatten().flatten().map(|entry| entry.file_name());
    ceilings(names).max().unwrap_or(0)
}

/// Raises it durably, and removes lower ones.
pub(super) fn raise(home: &HeldDir, ceiling: u64) -> io::Result<()> {
    home.create(&format!("{NAME}{ceiling}"))?;
    home.sync()?;
    let lower = ceilings(home.names()?).filter(|other| *other < ceiling);
    for lower in lower {
        // One that stays does no harm.
        let _ = home.remove(&format!("{NAME}{lower}"));
    }
    Ok(())
}

fn ceilings(names: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = u64> {
    names.into_iter().filter_map(|name| name.to_str()?.strip_prefix(NAME)?.parse().ok())
}
