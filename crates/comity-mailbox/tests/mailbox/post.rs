//! A root directory with boxes in it, and a look at its files.

use std::fs;
use std::path::PathBuf;

use comity_mailbox::{BoxName, Mailboxes, MessageDraft, MessageId, Spooled};
use serde_json::Value;

/// A temporary root, and the box that most tests are about.
pub(crate) struct Post {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) boxes: Mailboxes,
    pub(crate) name: BoxName,
}

/// What is in a box, without the times.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) read: bool,
    pub(crate) taken: bool,
}

impl Post {
    pub(crate) fn new() -> Post {
        let dir = tempfile::tempdir().expect("a directory");
        let boxes = Mailboxes::under(dir.path());
        Post { dir, boxes, name: ann() }
    }

    pub(crate) fn inboxes(&self) -> PathBuf {
        self.dir.path().join("teams/core/inboxes")
    }

    pub(crate) fn file(&self, suffix: &str) -> PathBuf {
        self.inboxes().join(format!("ann.json{suffix}"))
    }

    /// Puts these bytes where the box is.
    pub(crate) fn put(&self, bytes: &[u8]) {
        fs::create_dir_all(self.inboxes()).expect("a directory");
        fs::write(self.file(""), bytes).expect("a file");
    }

    /// Writes a message whose id is made of its text.
    pub(crate) fn spool(&self, text: &str) -> Spooled {
        spool(&self.boxes, &self.name, text)
    }

    pub(crate) fn read(&self) -> Vec<String> {
        texts(&self.boxes.read(&self.name).expect("read").messages)
    }

    /// What is in the file.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let bytes = fs::read(self.file("")).expect("a box");
        serde_json::from_slice::<Vec<Value>>(&bytes).expect("an array").iter().map(entry).collect()
    }

    /// What is in all archives, the oldest first.
    pub(crate) fn archived(&self) -> Vec<Entry> {
        let mut files = self.names("ann.json.archive-");
        files.push("ann.json.archive".into());
        let texts = files.iter().filter_map(|name| fs::read_to_string(self.inboxes().join(name)).ok());
        let lines: Vec<String> =
            texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
        lines.iter().filter_map(|line| serde_json::from_str(line).ok()).map(|value| entry(&value)).collect()
    }

    /// The names of files that begin like this.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        let Ok(list) = fs::read_dir(self.inboxes()) else { return vec![] };
        let names = list.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
        let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
        names.sort();
        names
    }
}

pub(crate) fn ann() -> BoxName {
    BoxName::new("core", "ann").expect("a name")
}

pub(crate) fn id(text: &str) -> MessageId {
    MessageId::new(&format!("id-{text}")).expect("an id")
}

pub(crate) fn spool(boxes: &Mailboxes, name: &BoxName, text: &str) -> Spooled {
    let draft = MessageDraft { from: "bob", text, summary: None, id: Some(&id(text)) };
    boxes.spool(name, &draft).expect("spooled")
}

pub(crate) fn texts(messages: &[comity_mailbox::Message]) -> Vec<String> {
    messages.iter().map(|message| message.text.clone()).collect()
}

fn entry(value: &Value) -> Entry {
    let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
    Entry { id: text("id"), text: text("text"), read: value["read"] == true, taken: value["taken"] == true }
}
