//! Crashes on purpose, for tests of what a bug leaves behind; not in release builds.
//!
//! `COMITY_PANIC` names a file. A line of it names a place: whoever comes by next panics there, and the line is
//! removed, unless it says `always`. It may say how to end instead: `abort`, or a signal, `segv` or `kill`.

/// Panics here if a test wants it.
#[cfg(debug_assertions)]
pub fn panic_at(place: &str) {
    use std::path::PathBuf;
    use std::sync::OnceLock;

    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let Some(file) = FILE.get_or_init(|| std::env::var_os("COMITY_PANIC").map(PathBuf::from)) else { return };
    let Ok(wanted) = std::fs::read_to_string(file) else { return };
    let is_here =
        |line: &&str| line.strip_prefix(place).is_some_and(|how| how.is_empty() || how.starts_with(": "));
    let Some(line) = wanted.lines().find(is_here) else { return };
    let mut how = line[place.len()..].trim_start_matches(':').split_whitespace();
    if !how.clone().any(|word| word == "always") {
        let rest: Vec<&str> = wanted.lines().filter(|other| *other != line).collect();
        let _ = match rest.is_empty() {
            true => std::fs::remove_file(file),
            false => std::fs::write(file, rest.join("\n")),
        };
    }
    match how.find(|word| *word != "always") {
        Some("abort") => std::process::abort(),
        Some("segv") => end_by(rustix::process::Signal::SEGV),
        Some("kill") => end_by(rustix::process::Signal::KILL),
        _ => panic!("planted at {place}"),
    }
}

#[cfg(debug_assertions)]
fn end_by(signal: rustix::process::Signal) -> ! {
    loop {
        // A panic may be caught, by code that looks for exhausted stacks.
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
}

/// Panics here if a test wants it.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn panic_at(_: &str) {}
