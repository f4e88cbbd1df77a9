//! The state directory: private, local, and with one server at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comity_wire::Home;

/// Whoever holds this is the directory's server; the kernel releases it when the process ends.
#[derive(Debug)]
pub(crate) struct StateDirLock {
    file: File,
}

impl StateDirLock {
    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        self.file.metadata().map(|found| (found.dev(), found.ino()))
    }
}

/// Why a server cannot use the directory.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// Another server has it.
    Taken,
    /// Something is wrong with it.
    Bad(String),
}

/// How long a server that no longer listens may take to end.
const LETS_GO_WITHIN: Duration = Duration::from_millis(500);

/// The file that a server locks.
pub(super) const SERVER_LOCK: &str = "server.lock";

/// Creates the directory if need be, checks that it is this user's alone, and locks it.
pub(crate) fn take(home: &Home) -> Result<StateDirLock, Unusable> {
    prepare(home).map_err(Unusable::Bad)?;
    let path = home.path().join(SERVER_LOCK);
    let bad = |error: io::Error| Unusable::Bad(format!("{}: {error}", path.display()));
    let file = private_file(&path).map_err(bad)?;
    let until = Instant::now() + LETS_GO_WITHIN;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(StateDirLock { file }),
            // A killed server stops listening before the kernel releases its locks.
            Err(TryLockError::WouldBlock) if Instant::now() < until && !listens(home) => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => return Err(Unusable::Taken),
            Err(TryLockError::Error(error)) => return Err(bad(error)),
        }
    }
}

fn listens(home: &Home) -> bool {
    UnixStream::connect(home.socket()).is_ok()
}

/// The process that has the directory, as far as the kernel tells.
pub(crate) fn holder(home: &Home) -> Option<u32> {
    let inode = fs::metadata(home.path().join(SERVER_LOCK)).ok()?.ino();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
    let mut words = locks.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    words.find_map(|words| {
        let is_it = words.get(5)?.rsplit(':').next()?.parse() == Ok(inode);
        words.get(4)?.parse().ok().filter(|_| is_it)
    })
}

/// The message of a server that finds another one.
pub(crate) fn taken(home: &Home) -> String {
    format!("a server runs for {} already; ask it with: comity status", home.path().display())
}

/// Creates the directory if need be and checks that it is this user's alone.
pub(crate) fn prepare(home: &Home) -> Result<(), String> {
    if comity_hook::is_read_only(home.path()) {
        return Err(format!(
            "no server can start here: {} is read-only, for a confined command or because its disk is; in a terminal of \
             your own, on a disk that can be written to: comity up",
            home.path().display()
        ));
    }
    private_dir(home.path())?;
    if let Some(parent) = home.socket().parent() {
        private_dir(parent)?;
    }
    refuse_network(home.path())?;
    refuse_pipes(home.path())
}

/// Files that a server opens at its start.
pub(crate) const FILES: [&str; 14] = [
    "comity.toml",
    "environment.json",
    "first-token",
    "http.port",
    "init.json",
    "log.db",
    "log.db-shm",
    "log.db-wal",
    "log.witness",
    super::PANICKED,
    "secret",
    "server.lock",
    "server.log",
    "start.lock",
];

/// Refuses pipes in place of files: opening one would block for ever.
fn refuse_pipes(home: &Path) -> Result<(), String> {
    let is_pipe = |path: &PathBuf| fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    match FILES.iter().map(|name| home.join(name)).find(is_pipe) {
        Some(path) => Err(format!("{} is a pipe or a device, not a file; move it away", path.display())),
        None => Ok(()),
    }
}

fn private_dir(path: &Path) -> Result<(), String> {
    let describe = |error: io::Error| format!("{}: {error}", path.display());
    match fs::DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(describe(error)),
    }
    let found = fs::symlink_metadata(path).map_err(describe)?;
    if found.is_symlink() {
        let real = fs::canonicalize(path).map_err(describe)?;
        return Err(format!(
            "{} is a link, which somebody could turn elsewhere; set COMITY_HOME to {}",
            path.display(),
            real.display()
        ));
    }
    if !found.is_dir() {
        return Err(format!("{} is not a directory; remove it, or set COMITY_HOME", path.display()));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(format!(
            "{} belongs to somebody else; set COMITY_HOME to a directory you own",
            path.display()
        ));
    }
    if found.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(describe)?;
    }
    Ok(())
}

/// File locks and the write-ahead log need a local file system.
#[cfg(target_os = "linux")]
fn refuse_network(path: &Path) -> Result<(), String> {
    const NETWORK: [i64; 5] = [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997];
    let kind = rustix::fs::statfs(path).map_err(|error| format!("{}: {error}", path.display()))?.f_type;
    match NETWORK.contains(&(kind as i64)) {
        true => Err(format!(
            "{} is on a network file system; set COMITY_HOME to a local directory",
            path.display()
        )),
        false => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_network(_: &Path) -> Result<(), String> {
    Ok(())
}

/// Makes a token for an unused state directory, and lays its hash down for the first server.
pub(crate) fn lay_down_first_token(home: &Home) -> Result<String, String> {
    use comity_app::tokens::Token;

    prepare(home)?;
    let path = home.first_token();
    let token = Token::for_human().map_err(|error| error.to_string())?;
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        writeln!(file, "{}", token.hash())?;
        file.sync_all()
    };
    write().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => "a first token was made already; use that one".into(),
        _ => format!("{}: {error}", path.display()),
    })?;
    Ok(token.reveal().to_owned())
}

/// Opens a file that only this user can read.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Reads a 256-bit secret from the directory; created if missing.
pub(crate) fn secret(home: &Home, name: &str) -> Result<[u8; 32], String> {
    let path = home.path().join(name);
    let describe = |problem: String| format!("{}: {problem}", path.display());
    let mut file = private_file(&path).map_err(|error| describe(error.to_string()))?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| describe(error.to_string()))?;
    if let Ok(known) = text.trim().parse::<comity_core::TokenHash>() {
        return Ok(known.0);
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| describe(error.to_string()))?;
    let write = || -> io::Result<()> {
        let fresh = path.with_extension("new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        writeln!(file, "{}", comity_core::TokenHash(bytes))?;
        file.sync_all()?;
        fs::rename(&fresh, &path)
    };
    write().map_err(|error| describe(error.to_string()))?;
    Ok(bytes)
}
