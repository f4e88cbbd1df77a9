//! The classic mailbox works as such mailboxes do, so that it is a fair thing to measure against.

use std::fs;
use std::io::ErrorKind;

use comity_mailbox::baseline::BaselineBox;

#[test]
fn it_sends_receives_and_gives_up() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("inboxes/ann.json");
    let mailbox = BaselineBox::at(&file);
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
