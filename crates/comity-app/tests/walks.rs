//! The walks in ARCHITECTURE.md name the files that a call really passes through: the calls of functions that lead to where
//! it is planned, decided and written. What only a door knows is not here.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};

use comity_app::{Caller, Failure, OperationCall, Rendered, Responder};
use comity_core::Principal;
use serde_json::{Value, json};
use support::{App, Place};

const PAGE: &str = include_str!("../../../ARCHITECTURE.md");
/// Says whose ask it is, and is off the stack when that feature decides.
const FEATURES: &str = "crates/comity-core/src/features.rs";
/// Bytes of a text in the call. Whoever copies it takes memory of this size, or of a little more with what is around it.
const MARK: usize = 1_009;

static IS_WATCHED: AtomicBool = AtomicBool::new(false);
static STACKS: Mutex<Vec<Backtrace>> = Mutex::new(Vec::new());

thread_local! {
    static IS_NOTING: Cell<bool> = const { Cell::new(false) };
}

/// Notes who copies the text of the call.
struct Watched;

#[expect(unsafe_code, reason = "an allocator that hands all to that of the system")]
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

fn note(size: usize) {
    if !IS_WATCHED.load(Ordering::Relaxed) || !(MARK..4 * MARK).contains(&size) {
        return;
    }
    let _ = IS_NOTING.try_with(|is_noting| {
        if !is_noting.replace(true) {
            let stack = Backtrace::force_capture();
            STACKS.lock().expect("the stacks").push(stack);
            is_noting.set(false);
        }
    });
}

struct Sender(mpsc::Sender<bool>);

impl Responder for Sender {
    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, _: Vec<String>) {
        let _ = self.0.send(output.is_ok());
    }
}

/// The files of ours through which a call got to these, each counted once.
fn walked(app: &App, place: &Place, who: Principal, op: &str, input: Value, to: &[&str]) -> BTreeSet<String> {
    let (sender, answer) = mpsc::channel();
    let call = OperationCall { op, input: input.into(), ..OperationCall::default() };
    let caller = Caller::new(who, Some(place.repo()));
    IS_WATCHED.store(true, Ordering::Relaxed);
    // As the loop of the server does.
    app.app.call(&caller, call, Box::new(Sender(sender)));
    app.app.engine().run_pending_without_waiting();
    let done = answer.recv().expect("an answer");
    IS_WATCHED.store(false, Ordering::Relaxed);
    assert!(done, "it is done");
    let stacks = std::mem::take(&mut *STACKS.lock().expect("the stacks"));
    let stacks: Vec<Vec<String>> = stacks.iter().map(files).collect();
    let mut walked = BTreeSet::from([FEATURES.to_owned()]);
    for goal in to {
        let ways = stacks
            .iter()
            .filter_map(|files| files.iter().position(|file| file == goal).map(|at| &files[at..]));
        let shortest = ways.min_by_key(|way| way.iter().collect::<BTreeSet<_>>().len());
        walked.extend(
            shortest.unwrap_or_else(|| panic!("it did not come to {goal}: {stacks:#?}")).iter().cloned(),
        );
    }
    walked
}

/// The files of ours on a stack, the innermost first. Those of this crate are told from its directory on.
fn files(stack: &Backtrace) -> Vec<String> {
    let text = stack.to_string();
    let at = text.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    let file = |place: &str| {
        let place = place.split(':').next().unwrap_or(place);
        let other = place.find("crates/").map(|from| place[from..].to_owned());
        other.or_else(|| Some(format!("crates/comity-app/{}", place.strip_prefix("./")?)))
    };
    at.filter_map(file).filter(|file| file.contains("/src/")).collect()
}

/// What the page lists, without the doors.
fn listed(walk: &str) -> BTreeSet<String> {
    let rest = PAGE.split(&format!("### `{walk}`: ")).nth(1).expect("the walk");
    let list = rest.split("\n\n").nth(1).expect("its list");
    let files = list.split('`').filter(|span| span.ends_with(".rs") && !span.starts_with("crates/comity/"));
    files.map(str::to_owned).collect()
}

#[test]
fn lock_and_mail_send_pass_through_the_files_that_the_page_lists() {
    let place = Place::new();
    let app = place.open();
    app.app.engine().run_timer().expect("a thread");
    let ann = app.join("ann");
    app.join("bob");
    let text = "x".repeat(MARK);
    let lock = [
        "crates/comity-app/src/operations/locks/lock.rs",
        "crates/comity-core/src/locks/acquire.rs",
        "crates/comity-app/src/log/sqlite.rs",
    ];
    let walk = walked(&app, &place, ann, "lock", json!({ "paths": ["src/a.rs"], "reason": text }), &lock);
    assert_eq!(walk, listed("lock"));
    let send = [
        "crates/comity-app/src/operations/mail/send.rs",
        "crates/comity-core/src/mail/send.rs",
        "crates/comity-app/src/log/sqlite.rs",
    ];
    let walk = walked(&app, &place, ann, "mail_send", json!({ "to": ["bob"], "message": text }), &send);
    assert_eq!(walk, listed("mail send"));
}
