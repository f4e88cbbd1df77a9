//! A process that is killed at any step: it blocks nobody, and what it did is done as a whole or not at all.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use comity_mailbox::{ARCHIVE_BYTES_MAX, LockTimeout};

use crate::post::{Entry, Post};
use crate::worker::{Job, start, stored, work};

/// How a box is before the job is begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Before {
    Missing,
    Mail,
    /// Some of it was read, some was taken.
    Mixed,
    Damaged,
    /// The archive is nearly full.
    FullArchive,
    /// The archive ends with half a line.
    TornArchive,
}

fn prepare(before: Before) -> Post {
    let post = Post::new();
    match before {
        Before::Missing => return post,
        Before::Mail => {}
        Before::Mixed => {
            post.spool("zero");
            post.read();
        }
        Before::Damaged => {
            post.put(b"[\n{\"id\":\"id-torn\",\"from\":\"bob\",\"text\":\"torn\"},\n{\"id\":\"id-lo");
            return post;
        }
        Before::FullArchive => {
            fs::create_dir_all(post.inboxes()).expect("a directory");
            let line = format!("{{\"id\":\"old\",\"text\":\"{}\"}}\n", "x".repeat(ARCHIVE_BYTES_MAX - 64));
            fs::write(post.file(".archive"), line).expect("an archive");
        }
        Before::TornArchive => {
            fs::create_dir_all(post.inboxes()).expect("a directory");
            fs::write(post.file(".archive"), "{\"id\":\"old\"}\n{\"id\":\"id-one\",\"te")
                .expect("an archive");
        }
    }
    for text in ["one", "two", "three"] {
        post.spool(text);
    }
    post
}

/// The box, what is in the archive, and what was set aside.
type Outcome = (Vec<Entry>, Vec<(String, usize)>, usize);

fn outcome(post: &Post) -> Outcome {
    let mut archived: Vec<_> =
        post.archived().into_iter().map(|entry| (entry.id, entry.text.len())).collect();
    archived.sort();
    (post.entries(), archived, post.names("ann.json.damaged-").len())
}

/// Nobody waits for the dead: one try is enough.
fn check_is_free(post: &Post) {
    let one_try = LockTimeout { tries: 1, pause_min: Duration::ZERO, pause_max: Duration::ZERO };
    let boxes = post.boxes.clone().with_patience(one_try);
    boxes.confirm(&post.name, &[].into()).expect("the box is free");
}

fn check(job: Job, before: Before) {
    let whole = prepare(before);
    let unchanged = (before != Before::Missing).then(|| whole.archived().len());
    let steps = work(whole.dir.path(), job, |_| {});
    let expected = outcome(&whole);
    assert!(steps > 2, "{job:?} {before:?} has steps to die at");
    for step in 0..steps {
        let post = prepare(before);
        let had: Vec<String> = post.names("ann.json").is_empty().then(Vec::new).unwrap_or_else(|| ids(&post));
        let mut process = start(post.dir.path(), job, Some(step));
        drop(process.stdin.take());
        let output = process.wait_with_output().expect("an end");
        assert_eq!(output.status.signal(), Some(9), "{job:?} {before:?} {step}: {output:?}");
        check_is_free(&post);
        let left = ids(&post);
        assert!(had.iter().all(|id| left.contains(id)), "{job:?} {before:?} {step}: {had:?} became {left:?}");
        assert!(post.archived().len() >= unchanged.unwrap_or_default());
        work(post.dir.path(), job, |_| {});
        assert_eq!(outcome(&post), expected, "{job:?} {before:?}, killed at step {step}, and done again");
        assert_eq!(post.names("ann.json.tmp"), Vec::<String>::new());
    }
}

/// The ids of all mail, wherever it is; of a damaged box those that can be read.
fn ids(post: &Post) -> Vec<String> {
    let bytes = fs::read(post.file("")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let known = ["id-zero", "id-one", "id-two", "id-three", "id-torn"];
    let archived: Vec<String> = post.archived().into_iter().map(|entry| entry.id).collect();
    let is_there = |id: &str| text.contains(&format!("\"{id}\"")) || archived.iter().any(|there| there == id);
    known.iter().filter(|id| is_there(id)).map(ToString::to_string).collect()
}

#[test]
fn a_writer_killed_at_any_step() {
    for before in [Before::Missing, Before::Mail, Before::Mixed, Before::Damaged] {
        check(Job::Spool, before);
    }
}

#[test]
fn a_reader_killed_at_any_step() {
    for before in [Before::Mail, Before::Mixed, Before::Damaged] {
        check(Job::Read, before);
    }
}

#[test]
fn one_who_clears_killed_at_any_step() {
    for before in [Before::Mail, Before::FullArchive, Before::TornArchive] {
        check(Job::Clear, before);
    }
}

#[test]
fn a_server_killed_at_any_step_of_draining_or_confirming() {
    for before in [Before::Mixed, Before::FullArchive, Before::Damaged] {
        check(Job::Drain, before);
    }
    for before in [Before::Mail, Before::TornArchive] {
        check(Job::Confirm, before);
    }
}

#[test]
fn spooled_mail_is_taken_over_exactly_once_wherever_the_server_dies() {
    for before in [Before::Mixed, Before::FullArchive] {
        let steps = work(prepare(before).dir.path(), Job::TakeOver, |_| {});
        assert!(steps > 10);
        for step in 0..steps {
            let post = prepare(before);
            let mut process = start(post.dir.path(), Job::TakeOver, Some(step));
            drop(process.stdin.take());
            let output = process.wait_with_output().expect("an end");
            assert_eq!(output.status.signal(), Some(9), "{before:?} {step}: {output:?}");
            post.spool("later");
            work(post.dir.path(), Job::TakeOver, |_| {});
            work(post.dir.path(), Job::TakeOver, |_| {});
            let exactly = ["id-one", "id-two", "id-three", "id-later"];
            assert_eq!(stored(post.dir.path()), exactly, "{before:?}, killed at step {step}");
            assert_eq!(post.entries(), [], "delivered mail is out of the box");
            let archived: Vec<String> = post.archived().into_iter().map(|entry| entry.id).collect();
            for id in exactly {
                assert_eq!(
                    archived.iter().filter(|there| **there == id).count(),
                    1,
                    "{id} {archived:?} {step}"
                );
            }
        }
    }
}
