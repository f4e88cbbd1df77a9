//! The test program as a process of its own: it does one job to a box, and may die at a step of it.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use comity_mailbox::{Mailboxes, MessageDraft, MessageId};
use rustix::process::{Signal, getpid, kill_process};

use crate::post::{ann, id, spool};

const JOB: &str = "MAILBOX_TEST_JOB";
const ROOT: &str = "MAILBOX_TEST_ROOT";
const DIE_AT: &str = "MAILBOX_TEST_DIE_AT";
/// Messages of one process of the crowd.
pub(crate) const MESSAGES: usize = 4;

/// What a process can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Job {
    Spool,
    Read,
    Clear,
    Drain,
    Confirm,
    TakeOver,
    Crowd,
}

const JOBS: [Job; 7] =
    [Job::Spool, Job::Read, Job::Clear, Job::Drain, Job::Confirm, Job::TakeOver, Job::Crowd];

/// Starts a process with a job. It begins when its standard input ends, and dies after so many steps.
pub(crate) fn start(root: &Path, job: Job, die_at: Option<usize>) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("our program"));
    command.args(["--exact", "worker::worker", "--ignored", "--nocapture"]);
    command.env(JOB, format!("{job:?}")).env(ROOT, root);
    if let Some(step) = die_at {
        command.env(DIE_AT, step.to_string());
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a process")
}

#[test]
#[ignore = "the process that other tests start"]
fn worker() {
    let Ok(job) = std::env::var(JOB) else { return };
    let job = *JOBS.iter().find(|known| format!("{known:?}") == job).expect("a job");
    let root = std::env::var(ROOT).expect("a root");
    let die_at = std::env::var(DIE_AT).ok().map(|step| step.parse().expect("a number"));
    std::io::stdin().read_to_end(&mut Vec::new()).expect("a start");
    work(Path::new(&root), job, move |step| {
        if die_at == Some(step) {
            kill_process(getpid(), Signal::KILL).expect("killed");
            loop {
                std::thread::park();
            }
        }
    });
}

/// Does a job; `at` gets the number of each step. Answers with how many there were.
pub(crate) fn work(root: &Path, job: Job, at: impl Fn(usize) + Send + Sync + 'static) -> usize {
    let steps = Arc::new(AtomicUsize::new(0));
    let at: Arc<dyn Fn() + Send + Sync> = {
        let steps = steps.clone();
        Arc::new(move || at(steps.fetch_add(1, Ordering::Relaxed)))
    };
    let step = at.clone();
    let boxes = Mailboxes::under(root).watched(move |_| step());
    let name = ann();
    match job {
        Job::Spool => drop(spool(&boxes, &name, "new")),
        Job::Read => drop(boxes.read(&name).expect("read")),
        Job::Clear => drop(boxes.clear(&name).expect("cleared")),
        Job::Drain => drop(boxes.drain(&name, |known| *known == id("two")).expect("drained")),
        Job::Confirm => drop(boxes.confirm(&name, &[id("one"), id("two")].into()).expect("confirmed")),
        Job::TakeOver => take_over(&boxes, root, &*at),
        Job::Crowd => crowd(&boxes),
    }
    steps.load(Ordering::Relaxed)
}

/// What a server does: it takes what was spooled, stores what it does not know, and confirms.
fn take_over(boxes: &Mailboxes, root: &Path, step: &dyn Fn()) {
    let store = root.join("stored");
    let known = stored(root);
    let mail = boxes.drain(&ann(), |id| known.iter().any(|known| known == id.as_str())).expect("drained");
    step();
    let mut file = OpenOptions::new().append(true).create(true).open(store).expect("a store");
    for message in &mail.messages {
        writeln!(file, "{}", message.id).expect("stored");
        step();
    }
    let ids: BTreeSet<MessageId> = stored(root).iter().map(|id| MessageId::new(id).expect("an id")).collect();
    boxes.confirm(&ann(), &ids).expect("confirmed");
    step();
}

/// The ids that a server has stored, in its order.
pub(crate) fn stored(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("stored")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn crowd(boxes: &Mailboxes) {
    let from = format!("writer-{}", std::process::id());
    for number in 0..MESSAGES {
        let draft = MessageDraft { from: &from, text: &number.to_string(), summary: None, id: None };
        boxes.spool(&ann(), &draft).expect("nobody fails");
    }
}
