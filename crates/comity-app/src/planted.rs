//! Panics on purpose, for tests of what a panic leaves behind. A release build has none of it.
//!
//! `COMITY_PANIC` names a file. If that has the name of a place in it, the next one that comes by panics; the file goes,
//! unless it says `always`.

/// Panics here if a test wants it.
#[cfg(debug_assertions)]
pub fn panic_at(place: &str) {
    use std::path::PathBuf;
    use std::sync::OnceLock;

    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let Some(file) = FILE.get_or_init(|| std::env::var_os("COMITY_PANIC").map(PathBuf::from)) else { return };
    let Ok(wanted) = std::fs::read_to_string(file) else { return };
    match wanted.split_once(' ').unwrap_or((&wanted, "")) {
        (at, "always") if at == place => {}
        (at, "") if at == place => drop(std::fs::remove_file(file)),
        _ => return,
    }
    panic!("planted at {place}");
}

/// Panics here if a test wants it.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn panic_at(_: &str) {}
