//! What `comity doctor` says about the state directory: whether its disk accepts writes, and whether a server can
//! work with its files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use comity_wire::Home;

use super::doctor::{Finding, bad, good};
use crate::serve::state_dir::FILES;

/// Bytes that a server needs to start.
const ROOM_BYTES: usize = 256 * 1024;
/// How a database begins.
const DATABASE: &[u8] = b"SQLite format 3\0";
/// Prefix of further names: how large fences may be.
const FENCES: &str = "log.fences-";
/// Directories that it searches.
const DIRECTORIES: [&str; 1] = ["ledger"];

/// Whether something can be written there.
pub(super) fn disk(home: &Home) -> Finding {
    const WHAT: &str = "disk";
    let dir = home.path();
    if !dir.is_dir() {
        return good(WHAT, "not looked at");
    }
    let probe = dir.join(format!(".doctor-{}", std::process::id()));
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&probe)?;
        file.write_all(&vec![0; ROOM_BYTES])?;
        file.sync_all()
    };
    let written = write();
    let _not_made = fs::remove_file(&probe);
    let shown = dir.display();
    match written {
        Ok(()) => good(WHAT, "enough free space"),
        Err(error) if matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => bad(
            WHAT,
            format!("{shown} is on a disk that is full: {error}"),
            "free some space there; a running server then recovers by itself",
        ),
        Err(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => bad(
            WHAT,
            format!("{shown} is on a disk that is read-only here: {error}"),
            "make it writable, or set COMITY_HOME; if an agent runs this, run it in a terminal of your own",
        ),
        Err(error) => bad(
            WHAT,
            format!("can't write to {shown}: {error}"),
            "make it writable for you, or set COMITY_HOME to a directory of your own",
        ),
    }
}

/// Whether the files are of the right kind, and this user's.
pub(super) fn look(home: &Home) -> Finding {
    const WHAT: &str = "state files";
    if !home.path().is_dir() {
        return good(WHAT, "none yet");
    }
    // What an agent's command sees of them is not what they are.
    if comity_hook::is_read_only(home.path()) {
        return good(WHAT, "not looked at: they are read-only here");
    }
    let looked = entries(home.path()).and_then(|mut all| {
        let ledger = home.path().join("ledger");
        if ledger.is_dir() {
            all.extend(entries(&ledger)?);
        }
        Ok(all)
    });
    let all = match looked {
        Ok(all) => all,
        Err((path, error)) => return bad(WHAT, format!("can't look at {}: {error}", path.display()), ""),
    };
    match all.iter().find_map(|path| problem(home, path)) {
        Some((found, next)) => bad(WHAT, found, next),
        None => good(WHAT, "in order"),
    }
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let read = || fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>();
    let mut all = read().map_err(|error| (dir.to_owned(), error))?;
    all.sort();
    Ok(all)
}

/// What is wrong with a file, and what to do.
fn problem(home: &Home, path: &Path) -> Option<(String, String)> {
    let shown = path.display();
    let away = || format!("look at it, and move it away: mv '{shown}' '{shown}.old'");
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => return Some((format!("can't look at {shown}: {error}"), away())),
    };
    let own = rustix::process::geteuid().as_raw();
    if found.uid() != own {
        let next = format!("make it yours: sudo chown {own} '{shown}'; or move it away");
        return Some((format!("{shown} belongs to user {}", found.uid()), next));
    }
    let name = path.strip_prefix(home.path()).ok()?.to_str()?;
    if DIRECTORIES.contains(&name) && !found.is_dir() {
        return Some((format!("{shown} is not a directory"), away()));
    }
    let is_segment = name.starts_with("ledger/");
    if !FILES.contains(&name) && !name.starts_with(FENCES) && !is_segment {
        return None;
    }
    if !found.is_file() {
        let kind = if found.is_dir() { "a directory" } else { "something else" };
        return Some((format!("{shown} is {kind}, not a file"), away()));
    }
    if let Err(error) = OpenOptions::new().read(true).write(!is_segment).open(path) {
        return Some((format!("can't open {shown}: {error}"), format!("make it yours: chmod 600 '{shown}'")));
    }
    (name == "log.db" && !is_database(path)).then(|| {
        let next = "move it away, and put a copy of the log from a backup in its place";
        (format!("{shown} isn't a database"), next.to_owned())
    })
}

/// Whether a file begins like a database; an empty one becomes one.
fn is_database(path: &Path) -> bool {
    let mut first = Vec::new();
    let read = File::open(path).and_then(|file| file.take(DATABASE.len() as u64).read_to_end(&mut first));
    read.is_ok() && (first.is_empty() || first == DATABASE)
}
