//! What a box does and does not do, rule by rule.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Mutex, mpsc};

use comity_mailbox::{
    BoxName, Cleared, Confirmed, MailboxError, Message, MessageContent, MessageDraft, MessageId,
    READ_KEPT_MAX, ReadMessages, SUMMARY_BYTES_MAX, TEXT_BYTES_MAX, UNREAD_MAX, WriteStep,
};
use serde_json::json;

use crate::post::{Post, id};

fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).expect("a directory").next().is_none()
}

fn message(value: serde_json::Value) -> Message {
    serde_json::from_value(value).expect("a message")
}

#[test]
fn a_missing_box_is_empty_and_nothing_is_made() {
    let post = Post::new();
    assert_eq!(post.boxes.read(&post.name).expect("read"), ReadMessages::default());
    assert_eq!(post.boxes.clear(&post.name).expect("cleared"), Cleared::default());
    assert_eq!(post.boxes.drain(&post.name, |_| false).expect("drained"), ReadMessages::default());
    assert_eq!(post.boxes.confirm(&post.name, &[id("x")].into()).expect("confirmed"), Confirmed::default());
    assert_eq!(post.boxes.boxes().expect("a list").boxes, []);
    assert!(is_empty(post.dir.path()));
    // Nor beside the box of another agent.
    post.spool("hello");
    let bob = BoxName::new("core", "bob").expect("a name");
    assert_eq!(post.boxes.read(&bob).expect("read"), ReadMessages::default());
    assert_eq!(post.boxes.clear(&bob).expect("cleared"), Cleared::default());
    assert_eq!(post.names("bob"), Vec::<String>::new());
}

#[test]
fn creating_what_exists_is_fine() {
    let post = Post::new();
    for content in ["", "[]", "[]\n", " [ ] "] {
        post.put(content.as_bytes());
        let spooled = post.spool("hello");
        assert!(!spooled.is_repeat && spooled.damage.is_empty(), "{content:?}");
        assert_eq!(post.read(), ["hello"], "{content:?}");
    }
}

#[test]
fn what_is_read_is_marked_and_not_read_again() {
    let post = Post::new();
    post.spool("one");
    post.spool("two");
    assert_eq!(post.read(), ["one", "two"]);
    post.spool("three");
    assert_eq!(post.read(), ["three"]);
    assert_eq!(post.read(), Vec::<String>::new());
    assert!(post.entries().iter().all(|entry| entry.read));
}

#[test]
fn only_the_owner_can_look() {
    let post = Post::new();
    post.spool("hello");
    post.boxes.clear(&post.name).expect("cleared");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o7777;
    for dir in ["teams", "teams/core", "teams/core/inboxes"] {
        assert_eq!(mode(&post.dir.path().join(dir)), 0o700, "{dir}");
    }
    for file in ["", ".lock", ".archive"] {
        assert_eq!(mode(&post.file(file)), 0o600, "{file}");
    }
}

#[test]
fn fields_of_others_stay_and_a_missing_id_is_given_once() {
    let post = Post::new();
    let deep = json!({"a": [1, -2, 0.5, null, {"b": "\u{1F4EC}"}]});
    let theirs =
        json!([{"from": "zoe", "text": "hi", "timestamp": "t", "read": false, "color": "red", "x": deep}]);
    post.put(theirs.to_string().as_bytes());
    let drained = post.boxes.drain(&post.name, |_| false).expect("drained").messages;
    let again = post.boxes.drain(&post.name, |_| false).expect("drained").messages;
    assert_eq!(drained, again, "the id is the same each time");
    assert_eq!(drained[0].more.get("color"), Some(&json!("red")));
    assert_eq!(drained[0].more.get("x"), Some(&deep));
    post.spool("hello");
    let stored: Vec<Message> =
        serde_json::from_slice(&fs::read(post.file("")).expect("a box")).expect("messages");
    assert_eq!(stored[0], drained[0]);
}

#[test]
fn two_messages_with_one_id_stay_two_and_a_copy_is_one() {
    let post = Post::new();
    let entry = |text: &str| json!({"id": "same", "from": "zoe", "text": text});
    post.put(json!([entry("a"), entry("b"), entry("a")]).to_string().as_bytes());
    let drained = post.boxes.drain(&post.name, |_| false).expect("drained").messages;
    assert_eq!(drained.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_ne!(drained[0].id, drained[1].id);
}

#[test]
fn the_same_id_with_other_words_is_refused() {
    let post = Post::new();
    let draft = |text| MessageDraft { from: "bob", text, summary: None, id: None };
    let first = MessageId::new("first").expect("an id");
    let with_id = |text| MessageDraft { id: Some(&first), ..draft(text) };
    assert!(!post.boxes.spool(&post.name, &with_id("a")).expect("spooled").is_repeat);
    assert!(post.boxes.spool(&post.name, &with_id("a")).expect("spooled").is_repeat);
    let not = post.boxes.spool(&post.name, &with_id("b")).expect_err("taken");
    assert!(matches!(&not, MailboxError::IdTaken(taken) if *taken == first), "{not}");
    let ids = [draft("a"), draft("a")].map(|draft| post.boxes.spool(&post.name, &draft).expect("spooled").id);
    assert_ne!(ids[0], ids[1]);
    assert_eq!(post.entries().len(), 3);
}

#[test]
fn an_id_that_is_used_again_hides_nothing_in_the_archive() {
    let post = Post::new();
    let first = MessageId::new("first").expect("an id");
    for text in ["a", "b", "b"] {
        let draft = MessageDraft { from: "bob", text, summary: None, id: Some(&first) };
        post.boxes.spool(&post.name, &draft).expect("spooled");
        post.boxes.clear(&post.name).expect("cleared");
    }
    assert_eq!(post.archived().into_iter().map(|entry| entry.text).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn typed_messages_say_so_in_a_field_and_all_else_is_text() {
    let spelled_out = r#"{"type":"shutdown_request","kind":"shutdown_request","requestId":"r1"}"#;
    let is_text = |kind: serde_json::Value, text: &str| {
        let mut value = json!({"from": "bob", "text": text});
        value["kind"] = kind;
        message(value).content() == MessageContent::Text(text)
    };
    assert_eq!(
        message(json!({"from": "bob", "text": spelled_out})).content(),
        MessageContent::Text(spelled_out)
    );
    for (kind, text) in [
        (json!(null), spelled_out),
        (json!(""), spelled_out),
        (json!(["shutdown_request"]), spelled_out),
        (json!({"shutdown_request": spelled_out}), spelled_out),
        (json!("shutdown_request"), "please shut down"),
        (json!("shutdown_request"), "[1]"),
        (json!("shutdown_request"), r#"{"requestId":"r1""#),
        (json!("shutdown_request"), &"[".repeat(TEXT_BYTES_MAX)),
    ] {
        assert!(is_text(kind.clone(), text), "{kind} {text:.40}");
    }
    let typed = message(json!({"from": "bob", "kind": "shutdown_request", "text": r#"{"requestId":"r1"}"#}));
    let MessageContent::Control { kind, body } = typed.content() else { panic!("typed") };
    assert_eq!((kind, &body["requestId"]), ("shutdown_request", &json!("r1")));
    // What is spooled is text, whatever it spells.
    let post = Post::new();
    post.spool(spelled_out);
    let mail = post.boxes.read(&post.name).expect("read");
    assert_eq!(mail.messages[0].content(), MessageContent::Text(spelled_out));
}

#[test]
fn a_lock_that_is_kept_is_an_error_and_never_a_hang() {
    let post = Post::new();
    post.spool("one");
    let (locked, has_locked) = mpsc::channel();
    let (go_on, waits) = mpsc::channel::<()>();
    let waits = Mutex::new(waits);
    let holder = post.boxes.clone().watched(move |step| {
        if step == WriteStep::Locked {
            locked.send(()).expect("a listener");
            waits.lock().expect("one holder").recv().expect("a sign");
        }
    });
    std::thread::scope(|threads| {
        let name = &post.name;
        threads.spawn(move || holder.read(name).expect("read"));
        has_locked.recv().expect("locked");
        let draft = MessageDraft { from: "bob", text: "two", summary: None, id: None };
        let busy = post.boxes.spool(&post.name, &draft).expect_err("busy");
        let own = std::process::id();
        assert!(matches!(busy, MailboxError::Busy { holder: Some(pid), tries: 10 } if pid == own), "{busy}");
        assert!(busy.to_string().starts_with(&format!("process {own} keeps the mailbox locked (10 tries)")));
        assert!(matches!(post.boxes.read(&post.name), Err(MailboxError::Busy { .. })));
        go_on.send(()).expect("a holder");
    });
    post.spool("two");
    assert_eq!(post.read(), ["two"]);
}

#[test]
fn bad_names_are_refused_and_odd_ones_stay_inside() {
    let long = "x".repeat(65);
    for bad in ["", ".", "..", "../x", "a/b", "/", "\0", "a\nb", "a\u{7f}", ".hidden", "a\\b", &long] {
        assert!(matches!(BoxName::new(bad, "ann"), Err(MailboxError::BadName { .. })), "{bad:?}");
        assert!(matches!(BoxName::new("core", bad), Err(MailboxError::BadName { .. })), "{bad:?}");
    }
    let post = Post::new();
    let odd =
        ["a", "a.json", "a.json.lock", "a.json.tmp", "a.json.archive", "a b", "a..b", "ä", "~", "-", "*"];
    for agent in odd {
        crate::post::spool(&post.boxes, &BoxName::new("core", agent).expect("a name"), agent);
    }
    for agent in odd {
        let name = BoxName::new("core", agent).expect("a name");
        assert_eq!(crate::post::texts(&post.boxes.read(&name).expect("read").messages), [agent]);
    }
    assert_eq!(post.boxes.boxes().expect("a list").boxes.len(), odd.len());
}

#[test]
fn symlinks_inside_of_the_root_are_refused() {
    for place in ["teams", "teams/core", "teams/core/inboxes"] {
        let (post, outside) = (Post::new(), tempfile::tempdir().expect("a directory"));
        let link = post.dir.path().join(place);
        fs::create_dir_all(link.parent().expect("a parent")).expect("directories");
        symlink(outside.path(), &link).expect("a link");
        let draft = MessageDraft { from: "bob", text: "x", summary: None, id: None };
        let not = post.boxes.spool(&post.name, &draft).expect_err("refused");
        assert!(matches!(&not, MailboxError::BadPlace(path) if *path == link), "{not}");
        assert!(matches!(post.boxes.read(&post.name), Err(MailboxError::BadPlace(_))));
        if place != "teams" {
            // One such team hides none of the others.
            crate::post::spool(&post.boxes, &BoxName::new("other", "ann").expect("a name"), "x");
            let listing = post.boxes.boxes().expect("a list");
            assert_eq!((listing.boxes.len(), listing.refused), (1, vec![link]));
        }
        assert!(is_empty(outside.path()));
    }
}

#[test]
fn limits_are_errors_to_the_writer() {
    let post = Post::new();
    let (text, summary) = ("x".repeat(TEXT_BYTES_MAX + 1), "x".repeat(SUMMARY_BYTES_MAX + 1));
    let spool = |text: &str, summary| {
        post.boxes.spool(&post.name, &MessageDraft { from: "bob", text, summary: Some(summary), id: None })
    };
    assert!(matches!(spool(&text, ""), Err(MailboxError::TooLong { what: "text", .. })));
    assert!(matches!(spool("", &summary), Err(MailboxError::TooLong { what: "summary", .. })));
    assert!(is_empty(post.dir.path()));
    // The largest one takes six bytes a character, and is read again.
    let largest = "\u{1}".repeat(TEXT_BYTES_MAX);
    spool(&largest, &summary[1..]).expect("spooled");
    let mail = post.boxes.read(&post.name).expect("read");
    assert_eq!((mail.messages[0].text == largest, mail.damage.len()), (true, 0));

    let post = Post::new();
    let spool =
        |text| post.boxes.spool(&post.name, &MessageDraft { from: "bob", text, summary: None, id: None });
    let full: Vec<_> =
        (0..UNREAD_MAX).map(|number| json!({"from": "zoe", "text": number.to_string()})).collect();
    post.put(json!(full).to_string().as_bytes());
    let not = spool("one more").expect_err("full");
    assert!(matches!(not, MailboxError::Full { unread: UNREAD_MAX }), "{not}");
    assert_eq!(post.read().len(), UNREAD_MAX, "nothing was dropped");
    assert_eq!(post.entries().len(), READ_KEPT_MAX, "the box stays small");
    assert_eq!(post.archived().len(), UNREAD_MAX - READ_KEPT_MAX);
    spool("one more").expect("there is room");
    assert_eq!(post.read(), ["one more"]);
}
