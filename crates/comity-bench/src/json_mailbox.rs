//! The classic mailbox of one JSON file and a lock directory, to measure against.
//!
//! As it is widely used: it waits for no disk, gives up under contention, and the lock of a dead writer stays
//! for ten seconds.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

/// Tries to make the lock directory.
const TRIES: u32 = 10;
const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_millis(100);
/// After which time a lock directory is taken for a dead one's.
const STALE_AFTER: Duration = Duration::from_secs(10);

/// One box: a JSON array in a file.
#[derive(Clone, Debug)]
pub(crate) struct JsonMailbox {
    file: PathBuf,
}

/// The lock directory, until it is dropped.
struct LockDir(PathBuf);

impl JsonMailbox {
    /// The box in this file.
    pub(crate) fn at(file: impl Into<PathBuf>) -> JsonMailbox {
        JsonMailbox { file: file.into() }
    }

    /// Adds a message; `WouldBlock` if the lock was not to be had.
    pub(crate) fn send(&self, from: &str, text: &str) -> io::Result<()> {
        self.change(|messages| {
            messages.push(json!({
                "from": from, "text": text, "timestamp": now_ms(), "read": false,
            }));
        })
    }

    /// Takes the texts of the messages that were not read, and marks them.
    pub(crate) fn receive(&self) -> io::Result<Vec<String>> {
        let mut texts = Vec::new();
        self.change(|messages| {
            for message in messages.iter_mut().filter(|message| message["read"] == false) {
                message["read"] = true.into();
                texts.extend(message["text"].as_str().map(ToOwned::to_owned));
            }
        })?;
        Ok(texts)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Value>)) -> io::Result<()> {
        self.file.parent().map_or(Ok(()), fs::create_dir_all)?;
        match fs::File::create_new(&self.file) {
            Ok(mut file) => io::Write::write_all(&mut file, b"[]")?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let _lock = LockDir::take(beside(&self.file, "lock"))?;
        let mut messages: Vec<Value> = serde_json::from_slice(&fs::read(&self.file)?)?;
        change(&mut messages);
        let temporary = beside(&self.file, "tmp");
        fs::write(&temporary, serde_json::to_vec_pretty(&messages)?)?;
        fs::rename(&temporary, &self.file)
    }
}

impl LockDir {
    fn take(path: PathBuf) -> io::Result<LockDir> {
        let mut pause = PAUSE_MIN;
        for _ in 0..TRIES {
            match fs::create_dir(&path) {
                Ok(()) => return Ok(LockDir(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            if is_stale(&path) {
                drop(fs::remove_dir(&path));
                continue;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
        Err(io::Error::new(ErrorKind::WouldBlock, "the mailbox is locked"))
    }
}

impl Drop for LockDir {
    fn drop(&mut self) {
        // Somebody may have taken it for a dead one's.
        drop(fs::remove_dir(&self.0));
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn is_stale(lock: &Path) -> bool {
    let made = fs::metadata(lock).and_then(|lock| lock.modified());
    made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age >= STALE_AFTER))
}

fn beside(file: &Path, kind: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(kind);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sends_receives_and_gives_up() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("inboxes/ann.json");
        let mailbox = JsonMailbox::at(&file);
        mailbox.send("bob", "one").expect("sent");
        mailbox.send("bob", "two").expect("sent");
        assert_eq!(mailbox.receive().expect("received"), ["one", "two"]);
        assert!(mailbox.receive().expect("received").is_empty());
        assert!(!file.with_extension("json.lock").exists(), "the lock is gone");
        fs::create_dir(file.with_extension("json.lock")).expect("somebody's lock");
        let not = mailbox.send("bob", "three").expect_err("locked");
        assert_eq!(not.kind(), ErrorKind::WouldBlock);
        fs::remove_dir(file.with_extension("json.lock")).expect("free");
        mailbox.send("bob", "three").expect("sent");
        assert_eq!(mailbox.receive().expect("received"), ["three"]);
    }
}
