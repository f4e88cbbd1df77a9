//! Random acts and crashes against a model that is a plain list.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use comity_mailbox::{Mailboxes, Message, MessageDraft, MessageId};
use proptest::prelude::*;

use crate::post::{Entry, Post, id};

#[derive(Clone, Debug)]
enum Act {
    Spool(u8),
    Read,
    Clear,
    Drain,
    /// The server stores what it was handed last.
    Store,
    Confirm,
    /// Somebody writes garbage at the end of the file.
    Damage,
}

/// What the world should look like.
#[derive(Clone, Default, Debug)]
struct Model {
    in_box: Vec<Entry>,
    archived: BTreeSet<String>,
    handed_out: Vec<String>,
    stored: BTreeSet<String>,
}

impl Model {
    /// Does it, and says what comes out.
    fn act(&mut self, act: &Act) -> Vec<String> {
        match act {
            Act::Spool(number) => {
                let (id, text) = (id(&number.to_string()).to_string(), number.to_string());
                if self.in_box.iter().all(|entry| entry.id != id) {
                    self.in_box.push(Entry { id, text, read: false, taken: false });
                }
                vec![]
            }
            Act::Read => {
                let new = self.in_box.iter_mut().filter(|entry| !entry.read && !entry.taken);
                new.map(|entry| {
                    entry.read = true;
                    entry.text.clone()
                })
                .collect()
            }
            Act::Clear => {
                self.archive(|_, _| true);
                vec![]
            }
            Act::Drain => {
                self.archive(|entry, stored| entry.read || stored.contains(&entry.id));
                self.in_box.iter_mut().for_each(|entry| entry.taken = true);
                self.handed_out = self.in_box.iter().map(|entry| entry.id.clone()).collect();
                self.in_box.iter().map(|entry| entry.text.clone()).collect()
            }
            Act::Store => {
                self.stored.extend(self.handed_out.drain(..));
                vec![]
            }
            Act::Confirm => {
                self.archive(|entry, stored| stored.contains(&entry.id));
                vec![]
            }
            Act::Damage => vec![],
        }
    }

    fn archive(&mut self, is_done: impl Fn(&Entry, &BTreeSet<String>) -> bool) {
        let (done, rest): (Vec<_>, Vec<_>) =
            self.in_box.drain(..).partition(|entry| is_done(entry, &self.stored));
        self.archived.extend(done.into_iter().map(|entry| entry.id));
        self.in_box = rest;
    }
}

/// Does it to the real box. The server's memory is the model's.
fn act(boxes: &Mailboxes, post: &Post, act: &Act, model: &Model) -> Vec<String> {
    let texts = |messages: Vec<Message>| messages.into_iter().map(|message| message.text).collect();
    match act {
        Act::Spool(number) => {
            let text = number.to_string();
            let draft = MessageDraft { from: "bob", text: &text, summary: None, id: Some(&id(&text)) };
            boxes.spool(&post.name, &draft).expect("spooled");
            vec![]
        }
        Act::Read => texts(boxes.read(&post.name).expect("read").messages),
        Act::Clear => {
            boxes.clear(&post.name).expect("cleared");
            vec![]
        }
        Act::Drain => {
            texts(boxes.drain(&post.name, |id| model.stored.contains(id.as_str())).expect("drained").messages)
        }
        Act::Store => vec![],
        Act::Confirm => {
            let ids = model.stored.iter().map(|id| MessageId::new(id).expect("an id")).collect();
            boxes.confirm(&post.name, &ids).expect("confirmed");
            vec![]
        }
        Act::Damage => {
            if let Ok(mut file) = OpenOptions::new().append(true).open(post.file("")) {
                file.write_all(b"\n{\"id\":\"torn").expect("garbage");
            }
            vec![]
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<(Act, Option<usize>)>> {
    let act = prop_oneof![
        6 => (0_u8..40).prop_map(Act::Spool),
        2 => Just(Act::Read),
        1 => Just(Act::Clear),
        3 => Just(Act::Drain),
        2 => Just(Act::Store),
        2 => Just(Act::Confirm),
        1 => Just(Act::Damage),
    ];
    let crash = prop_oneof![3 => Just(None), 1 => (0_usize..16).prop_map(Some)];
    prop::collection::vec((act, crash), 1..40)
}

/// The box and the ids in the archive, once they can be read.
fn seen(post: &Post) -> (Vec<Entry>, BTreeSet<String>) {
    // Mends what is damaged, and changes nothing else.
    post.boxes.confirm(&post.name, &[].into()).expect("confirmed");
    let archived = post.archived().into_iter().map(|entry| entry.id).collect();
    (if post.file("").exists() { post.entries() } else { vec![] }, archived)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_box_is_a_list_whoever_crashes(acts in acts()) {
        let post = Post::new();
        let (mut model, mut is_spooled) = (Model::default(), false);
        for (done, (next, crash)) in acts.iter().enumerate() {
            let mut after = model.clone();
            let expected = after.act(next);
            let left = Arc::new(AtomicUsize::new(crash.unwrap_or(usize::MAX)));
            let boxes = post.boxes.clone().watched(move |_| {
                let is_last = left.fetch_sub(1, Ordering::Relaxed) == 0;
                // Unlike a panic, it says nothing: this happens a thousand times.
                if is_last { std::panic::resume_unwind(Box::new("crash")) }
            });
            match catch_unwind(AssertUnwindSafe(|| act(&boxes, &post, next, &model))) {
                Ok(came_out) => {
                    prop_assert_eq!(came_out, expected, "{:?}", &acts[..=done]);
                    model = after;
                }
                Err(_) => {
                    // All of it or nothing, but nobody was told; only the archive may be ahead of the box.
                    let (in_box, archived) = seen(&post);
                    let is_done = in_box == after.in_box;
                    prop_assert!(is_done || in_box == model.in_box, "{in_box:?} {:?}", &acts[..=done]);
                    prop_assert!(archived.is_subset(&after.archived), "{:?}", &acts[..=done]);
                    let handed_out = model.handed_out.clone();
                    let was_archived = archived.clone();
                    if is_done { model = Model { handed_out, ..after } }
                    model.archived = was_archived;
                }
            }
            let (in_box, archived) = seen(&post);
            prop_assert_eq!(&in_box, &model.in_box, "{:?}", &acts[..=done]);
            prop_assert_eq!(&archived, &model.archived, "{:?}", &acts[..=done]);
            is_spooled |= matches!(next, Act::Spool(_));
            prop_assert!(is_spooled || !post.dir.path().join("teams").exists(), "{:?}", &acts[..=done]);
        }
    }
}
