//! The server takes over what was spooled while it was away.

use std::collections::BTreeSet;
use std::fs;

use comity_mailbox::{ARCHIVE_BYTES_MAX, ARCHIVES_MAX, BoxName, MessageDraft, TEXT_BYTES_MAX};

use crate::post::{Post, id, spool, texts};

#[test]
fn what_is_taken_comes_again_until_it_is_confirmed_and_is_read_by_nobody_else() {
    let post = Post::new();
    post.spool("read before");
    post.read();
    post.spool("one");
    post.spool("two");
    let drain = |seen: &[&str]| {
        let seen: BTreeSet<_> = seen.iter().map(|text| id(text)).collect();
        texts(&post.boxes.drain(&post.name, |id| seen.contains(id)).expect("drained").messages)
    };
    assert_eq!(drain(&[]), ["one", "two"], "what was read here is not delivered a second time");
    assert_eq!(post.read(), Vec::<String>::new());
    post.spool("three");
    assert_eq!(drain(&["one"]), ["two", "three"]);
    let confirmed = post.boxes.confirm(&post.name, &[id("two"), id("one"), id("nothing")].into());
    assert_eq!(confirmed.expect("confirmed").archived, 1);
    assert_eq!(drain(&["one", "two"]), ["three"]);
    let archived: Vec<String> = post.archived().into_iter().map(|entry| entry.text).collect();
    assert_eq!(archived, ["read before", "one", "two"]);
    assert_eq!(post.entries().len(), 1);
}

#[test]
fn the_boxes_are_listed() {
    let post = Post::new();
    for (team, agent) in [("core", "bob"), ("core", "ann"), ("web", "ann")] {
        spool(&post.boxes, &BoxName::new(team, agent).expect("a name"), "hello");
    }
    fs::create_dir_all(post.dir.path().join("teams/no boxes")).expect("a directory");
    fs::create_dir_all(post.dir.path().join("teams/.hidden/inboxes/x.json")).expect("a directory");
    fs::write(post.inboxes().join("notes.txt"), "x").expect("a file");
    let listing = post.boxes.boxes().expect("a list");
    let names: Vec<String> = listing.boxes.iter().map(|listed| listed.name.to_string()).collect();
    assert_eq!(names, ["core/ann", "core/bob", "web/ann"]);
    assert!(listing.boxes.iter().all(|listed| listed.set_aside.is_empty()) && !listing.is_cut);
}

#[test]
fn archives_are_numbered_when_they_are_full_and_only_so_many_are_kept() {
    let post = Post::new();
    post.spool("first");
    for number in 1..=ARCHIVES_MAX + 1 {
        fs::write(post.file(&format!(".archive-{number:06}")), "").expect("a file");
    }
    let text = "x".repeat(TEXT_BYTES_MAX);
    for _ in 0..=ARCHIVE_BYTES_MAX / TEXT_BYTES_MAX {
        let draft = MessageDraft { from: "bob", text: &text, summary: None, id: None };
        post.boxes.spool(&post.name, &draft).expect("spooled");
        post.boxes.clear(&post.name).expect("cleared");
    }
    let full = post.names("ann.json.archive-");
    assert_eq!((full.len(), &full[ARCHIVES_MAX - 1][..]), (ARCHIVES_MAX, "ann.json.archive-000258"));
    let size = |suffix: &str| fs::metadata(post.file(suffix)).expect("there").len();
    assert!(
        size(".archive-000258") <= ARCHIVE_BYTES_MAX as u64 && size(".archive") < size(".archive-000258")
    );
}
