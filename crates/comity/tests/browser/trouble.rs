//! Firefox that hangs, ends or is not there, and who waits for it meanwhile.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::support::kill;
use crate::{Asker, firefox, place, tabs};

/// What a call may take beyond its own time.
const SLACK: Duration = Duration::from_secs(5);

/// A process that does nothing until this goes.
struct Frozen(u32);

impl Frozen {
    fn freeze(pid: u32) -> Frozen {
        kill(pid, Signal::STOP);
        Frozen(pid)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        kill(self.0, Signal::CONT);
    }
}

#[test]
fn a_firefox_that_hangs_holds_up_nobody_longer_than_it_wants() {
    let place = place(4);
    let (ann, bob, cid) =
        (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"), Asker::joins(&place, "cid"));
    ann.opens("about:blank");
    let mut log = place.follow_on();
    let frozen = Frozen::freeze(firefox(&place).expect("a browser"));
    std::thread::scope(|scope| {
        let patient = scope.spawn(|| bob.ask("tab_open", json!({ "timeout": 25_000 })));
        let taken = log.until_action("slot_taken");
        let tab = taken["details"]["slot"].clone();
        // Another call for the same tab, and one for a tab that wakes whoever looks after them all.
        for input in [
            ("tab_read", json!({ "tabId": tab, "timeout": 5_000 })),
            ("tab_open", json!({ "timeout": 5_000 })),
        ] {
            let begun = Instant::now();
            let who = if input.0 == "tab_read" { &bob } else { &cid };
            let no = who.ask(input.0, input.1).expect_err("nothing answers");
            assert_eq!(no["code"], "timeout", "{no}");
            assert!(
                begun.elapsed() < Duration::from_secs(5) + SLACK,
                "{} took {:?}",
                input.0,
                begun.elapsed()
            );
        }
        // What has nothing to do with the browser goes on.
        let begun = Instant::now();
        cid.get("lock", json!({ "paths": ["src/a.rs"] }));
        assert!(begun.elapsed() < SLACK, "a lock took {:?}", begun.elapsed());
        assert!(!patient.is_finished(), "the first one still waits");
        drop(frozen);
        patient.join().expect("no panic").expect("it is opened in the end");
    });
    assert_eq!(tabs(&place).len(), 2, "what could not be opened is nobody's");
}
