//! Many processes that write to one box at the same time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use comity_mailbox::{MessageDraft, MessageId};

use crate::post::{Post, texts};
use crate::worker::{Job, MESSAGES, start};

const PROCESSES: usize = 50;

#[test]
fn fifty_processes_lose_nothing_and_none_fails() {
    let post = Post::new();
    let mut crowd: Vec<_> = (0..PROCESSES).map(|_| start(post.dir.path(), Job::Crowd, None)).collect();
    for process in &mut crowd {
        drop(process.stdin.take());
    }
    for process in crowd {
        let output = process.wait_with_output().expect("an end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mail = post.boxes.read(&post.name).expect("read");
    assert_eq!(mail.damage, []);
    let mut by_sender = BTreeMap::<String, Vec<String>>::new();
    for message in &mail.messages {
        by_sender.entry(message.from.clone()).or_default().push(message.text.clone());
    }
    assert_eq!(by_sender.len(), PROCESSES);
    let in_order: Vec<String> = (0..MESSAGES).map(|number| number.to_string()).collect();
    assert!(by_sender.values().all(|texts| *texts == in_order), "each sender's order is kept: {by_sender:?}");
}

#[test]
fn an_agent_that_reads_and_a_server_that_takes_over_share_every_message() {
    const WRITERS: usize = 4;
    const EACH: usize = 20;
    let post = Post::new();
    let is_done = AtomicBool::new(false);
    let (read, stored) = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let post = &post;
                threads.spawn(move || {
                    for number in 0..EACH {
                        post.spool(&format!("{writer} {number}"));
                    }
                })
            })
            .collect();
        let reader = threads.spawn(|| {
            let mut read = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                read.extend(texts(&post.boxes.read(&post.name).expect("read").messages));
            }
            read
        });
        let server = threads.spawn(|| {
            let mut stored = BTreeMap::<MessageId, String>::new();
            loop {
                let is_last = is_done.load(Ordering::Relaxed);
                let mail = post.boxes.drain(&post.name, |id| stored.contains_key(id)).expect("drained");
                for message in mail.messages {
                    assert_eq!(stored.insert(message.id, message.text), None, "handed out twice");
                }
                let ids = stored.keys().cloned().collect();
                post.boxes.confirm(&post.name, &ids).expect("confirmed");
                if is_last {
                    return stored.into_values().collect::<Vec<_>>();
                }
            }
        });
        writers.into_iter().for_each(|writer| writer.join().expect("a writer"));
        is_done.store(true, Ordering::Relaxed);
        (reader.join().expect("a reader"), server.join().expect("a server"))
    });
    let mut had: Vec<String> = read.into_iter().chain(stored).collect();
    had.sort();
    let mut sent: Vec<String> =
        (0..WRITERS).flat_map(|writer| (0..EACH).map(move |number| format!("{writer} {number}"))).collect();
    sent.sort();
    assert_eq!(had, sent, "each message reaches one of them, once");
}

#[test]
fn the_same_message_sent_by_many_is_stored_once() {
    let post = Post::new();
    let repeats: usize = std::thread::scope(|threads| {
        let senders: Vec<_> = (0..8)
            .map(|_| {
                threads.spawn(|| {
                    let id = MessageId::new("one and the same").expect("an id");
                    let draft = MessageDraft { from: "bob", text: "hello", summary: None, id: Some(&id) };
                    usize::from(post.boxes.spool(&post.name, &draft).expect("spooled").is_repeat)
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().expect("a sender")).sum()
    });
    assert_eq!((repeats, post.entries().len()), (7, 1));
}
