//! Made-up stories: each thing that can be wrong is found, and nothing is found in a true one.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Evidence, Findings, RepoCommit, judge};
use crate::told::{HeldSpan, Told};

fn entry(action: &str, details: Value) -> Value {
    json!({ "action": action, "details": details })
}

fn acquired(fence: u64, holder: &str, pattern: &str) -> Value {
    let reason = format!("ask {fence}");
    entry(
        "lock_acquired",
        json!({ "fence": fence, "holder": holder, "pattern": pattern, "mode": "exclusive", "reason": reason }),
    )
}

fn released(fence: u64) -> Value {
    entry("lock_released", json!({ "fence": fence }))
}

fn claimed(task: &str, by: &str) -> Value {
    entry("task_claimed", json!({ "task": task, "by": by, "attempt": 1 }))
}

fn taken(pool: &str, slot: u64) -> Value {
    entry("slot_taken", json!({ "pool": pool, "slot": slot, "owner": "ann" }))
}

fn sent(id: u64, text: &str) -> Value {
    json!({ "action": "message_sent", "event": "mail:sent", "actor": "ann", "details": { "id": id, "text": text } })
}

/// From and until so many seconds after the same moment.
fn held(from: u64, until: u64) -> HeldSpan {
    thread_local!(static BEGUN: Instant = Instant::now());
    let at = |seconds| BEGUN.with(|begun| *begun + Duration::from_secs(seconds));
    HeldSpan { from: at(from), until: at(until) }
}

fn locked(agent: &str, fence: u64, path: &str, held: HeldSpan) -> Told {
    let (agent, reason, path) = (agent.into(), format!("ask {fence}"), path.into());
    Told::Locked { agent, reason, fence, path, is_shared: false, held }
}

fn letter(text: &str) -> Told {
    Told::Sent { from: "ann".into(), to: "bob".into(), text: text.into(), id: "m1".into() }
}

fn arrived(text: &str, is_again: bool) -> Told {
    Told::Arrived { from: "ann".into(), to: "bob".into(), text: text.into(), is_again }
}

fn commit(id: &str) -> RepoCommit {
    RepoCommit {
        id: id.into(),
        parents: vec!["c0".into()],
        subject: format!("soak {id}"),
        is_on_branch: true,
    }
}

/// Lost, twice, unrecorded, denied.
fn count(told: &[Told], mut log: Vec<Value>, commits: &[RepoCommit]) -> [usize; 4] {
    log.iter_mut().enumerate().for_each(|(at, entry)| entry["seq"] = (at + 1).into());
    let contents = vec![Some("text".into())];
    let Findings { lost, twice, unrecorded, denied } = judge(&Evidence {
        told: told.to_vec(),
        log,
        commits: commits.to_vec(),
        contents,
        ..Evidence::default()
    });
    [lost, twice, unrecorded, denied].map(|all| all.len())
}

#[test]
fn locks() {
    let log = || vec![acquired(1, "ann", "src/a.rs"), released(1), acquired(2, "bob", "src/*.rs")];
    let true_story = [
        locked("ann", 1, "src/a.rs", held(0, 1)),
        Told::Unlocked { fence: 1 },
        locked("bob", 2, "src/*.rs", held(2, 3)),
    ];
    assert_eq!(count(&true_story, log(), &[]), [0; 4]);
    let check = |what: &str, told: &[Told], log: Vec<Value>, expected: [usize; 2]| {
        assert_eq!(count(told, log, &[])[..2], expected, "{what}");
    };
    check("not in the log", &[locked("ann", 9, "src/a.rs", held(0, 1))], log(), [1, 0]);
    check("somebody else's", &[locked("bob", 1, "src/a.rs", held(0, 1))], log(), [1, 0]);
    check("not given back", &[Told::Unlocked { fence: 2 }], log(), [1, 0]);
    check("not extended", &[Told::Extended { fence: 2 }], log(), [1, 0]);
    check("not handed over", &[Told::HandedOver { fence: 2, to: "ann".into() }], log(), [1, 0]);
    let both = [locked("ann", 1, "src/a.rs", held(0, 3)), locked("bob", 2, "src/*.rs", held(2, 4))];
    check("told to both", &both, log(), [0, 1]);
    let at_once = vec![acquired(1, "ann", "src/a.rs"), acquired(2, "bob", "src/[a-b].rs")];
    check("both in the log", &[], at_once, [0, 1]);
    let handed = entry("lock_handed_over", json!({ "fence": 1, "new_fence": 2, "to": "bob" }));
    let after = vec![acquired(1, "ann", "src/a.rs"), handed, acquired(3, "ann", "src/a.rs")];
    check("what was handed over is held", &[Told::HandedOver { fence: 1, to: "bob".into() }], after, [0, 1]);
    check(
        "a fence that did not grow",
        &[],
        vec![acquired(2, "ann", "x"), released(2), acquired(1, "bob", "x")],
        [0, 1],
    );
    let mut again = vec![acquired(1, "ann", "x"), released(1), acquired(2, "ann", "x")];
    again[2]["details"]["reason"] = "ask 1".into();
    check("one ask, two locks", &[], again, [0, 1]);
}

#[test]
fn tasks_and_leases() {
    let claim = |agent: &str, held| Told::Claimed { agent: agent.into(), task: "t".into(), attempt: 1, held };
    let check = |what: &str, told: &[Told], log: Vec<Value>, expected: [usize; 2]| {
        assert_eq!(count(told, log, &[])[..2], expected, "{what}");
    };
    check("a true story", &[claim("ann", held(0, 1))], vec![claimed("t", "ann")], [0, 0]);
    check("claimed by another", &[claim("ann", held(0, 1))], vec![claimed("t", "bob")], [1, 0]);
    check("two claims", &[], vec![claimed("t", "ann"), claimed("t", "bob")], [0, 1]);
    let back = entry("delegation_cancelled", json!({ "task": "t", "from": "ann" }));
    check("one after the other", &[], vec![claimed("t", "ann"), back, claimed("t", "bob")], [0, 0]);
    let both = [claim("ann", held(0, 2)), claim("bob", held(1, 3))];
    check("told to both", &both, vec![claimed("t", "ann"), claimed("t", "bob")], [0, 2]);
    check("not done", &[Told::Completed { task: "t".into(), attempt: 1 }], vec![claimed("t", "ann")], [1, 0]);
    check("not declared", &[Told::Declared { task: "t".into() }], vec![], [1, 0]);
    check("one build", &[], vec![taken("build", 1)], [0, 0]);
    check("two builds", &[], vec![taken("build", 1), taken("build", 2)], [0, 1]);
    check("two of two", &[], vec![taken("gpu", 1), taken("gpu", 2)], [0, 0]);
    check("not freed", &[Told::Freed { id: 1 }], vec![taken("build", 1)], [1, 0]);
    let lease = |id, held| Told::Leased { agent: "ann".into(), pool: "build".into(), id, held };
    let freed = entry("slot_freed", json!({ "pool": "build", "slot": 1 }));
    let log = vec![taken("build", 1), freed, taken("build", 2)];
    check("told to both", &[lease(1, held(0, 2)), lease(2, held(1, 3))], log, [0, 1]);
}

#[test]
fn letters_and_the_followed_log() {
    let check = |what: &str, told: &[Told], log: Vec<Value>, expected: [usize; 2]| {
        assert_eq!(count(told, log, &[])[..2], expected, "{what}");
    };
    check("arrived", &[letter("hi"), arrived("hi", false)], vec![sent(1, "hi")], [0, 0]);
    check("again, and says so", &[arrived("hi", false), arrived("hi", true)], vec![sent(1, "hi")], [0, 0]);
    check("again, and does not", &[arrived("hi", false), arrived("hi", false)], vec![sent(1, "hi")], [0, 1]);
    check("stored twice", &[], vec![sent(1, "hi"), sent(2, "hi")], [0, 1]);
    check("not stored", &[letter("hi"), arrived("hi", false)], vec![], [1, 0]);
    check("not arrived", &[letter("hi")], vec![sent(1, "hi")], [1, 0]);
    let followed = |seq, action: &str| Told::Followed { seq, action: action.into() };
    check("followed", &[followed(1, "lock_released")], vec![released(1)], [0, 0]);
    check("followed, and now another", &[followed(1, "lock_acquired")], vec![released(1)], [1, 0]);
    check("followed, and now gone", &[followed(2, "lock_released")], vec![released(1)], [1, 0]);
    let gap = Evidence { log: vec![json!({ "seq": 2 })], ..Evidence::default() };
    assert_eq!(judge(&gap).lost.len(), 1, "a gap");
}

#[test]
fn commits() {
    let recorded = || vec![entry("file_commit", json!({ "commit": { "id": "c1" } }))];
    let made = |text: &str| Told::Committed { commit: "c1".into(), path: "a".into(), text: text.into() };
    assert_eq!(count(&[made("text")], recorded(), &[commit("c1")]), [0; 4]);
    assert_eq!(count(&[made("text")], recorded(), &[]), [1, 0, 0, 0], "not in git");
    assert_eq!(
        count(&[made("other")], recorded(), &[commit("c1")]),
        [1, 0, 0, 0],
        "with something else in it"
    );
    assert_eq!(count(&[], vec![], &[commit("c1")]), [0, 0, 1, 0], "in no log");
    let nothing = Told::NothingToCommit { subject: "soak c1".into() };
    assert_eq!(
        count(std::slice::from_ref(&nothing), recorded(), &[commit("c1")]),
        [0, 0, 0, 1],
        "its own commit"
    );
    assert_eq!(count(&[nothing], vec![], &[]), [1, 0, 0, 0], "its work is gone");
    assert_eq!(count(&[Told::Merged { commit: "c2".into() }], vec![], &[]), [1, 0, 0, 0], "a merge");
    let finished = |theirs: &str| Told::MergeFinished { commit: "c1".into(), theirs: theirs.into() };
    let both = RepoCommit { parents: vec!["c0".into(), "b1".into()], ..commit("c1") };
    assert_eq!(count(&[finished("b1")], recorded(), std::slice::from_ref(&both)), [0; 4]);
    assert_eq!(count(&[finished("b2")], recorded(), &[both]), [1, 0, 0, 0], "another merge");
    assert_eq!(count(&[finished("b1")], recorded(), &[commit("c1")]), [1, 0, 0, 0], "no merge");
}

#[test]
fn worktrees() {
    let tree = || json!({ "tree": { "slug": "t" } });
    let added = || entry("worktree_added", tree());
    let removed = || entry("worktree_removed", json!({ "slug": "t" }));
    let (told_added, told_removed) =
        (Told::TreeAdded { slug: "t".into() }, Told::TreeRemoved { slug: "t".into() });
    let told = [told_added, told_removed.clone(), Told::TreeRestored { slug: "t".into() }, told_removed];
    let check = |what: &str, told: &[Told], log: Vec<Value>, expected: [usize; 2]| {
        assert_eq!(count(told, log, &[])[..2], expected, "{what}");
    };
    check("a true story", &told, vec![added(), removed(), added(), removed()], [0, 0]);
    check("not there", &told[..1], vec![], [1, 0]);
    check("not gone", &told[..2], vec![added()], [1, 0]);
    check("not back", &told[..3], vec![added(), removed()], [1, 0]);
    check("not gone again", &told, vec![added(), removed(), added()], [1, 0]);
    check("back twice", &told[..3], vec![added(), removed(), added(), added()], [0, 1]);
    check("gone, and nobody said so", &told[..1], vec![added(), removed()], [0, 1]);
}

#[test]
fn work_of_the_dead() {
    let handed = || entry("lock_handed_over", json!({ "fence": 1, "new_fence": 2, "to": "human" }));
    let log = || vec![acquired(1, "ann", "x"), handed()];
    let adopted = |fence| [Told::Adopted { fence, to: "human".into() }];
    assert_eq!(count(&adopted(1), log(), &[]), [0; 4]);
    assert_eq!(count(&adopted(2), log(), &[])[..2], [1, 0], "not adopted");
    assert_eq!(count(&adopted(1), vec![acquired(1, "ann", "x"), handed(), handed()], &[])[..2], [0, 1]);
    let aside = || {
        entry(
            "lock_released",
            json!({ "fence": 2, "cause": { "put_aside": { "of": "ann", "into": ["kept"] } } }),
        )
    };
    let rescued =
        Told::Rescued { name: "kept".into(), commit: "c1".into(), path: "x".into(), text: "text".into() };
    let check = |what: &str, told: &[Told], rest: Vec<Value>, kept: &[(&str, &str)], expected: [usize; 2]| {
        let mut log = [log(), rest].concat();
        log.iter_mut().enumerate().for_each(|(at, entry)| entry["seq"] = (at + 1).into());
        let rescues = kept.iter().map(|(name, commit)| ((*name).to_owned(), (*commit).to_owned())).collect();
        let contents = vec![Some("text".into())];
        let commits = vec![RepoCommit { is_on_branch: false, ..commit("c1") }];
        let Findings { lost, twice, .. } =
            judge(&Evidence { told: told.to_vec(), log, commits, contents, rescues });
        assert_eq!([lost.len(), twice.len()], expected, "{what}: {lost:?} {twice:?}");
    };
    let told = std::slice::from_ref(&rescued);
    check("a true story", told, vec![aside()], &[("kept", "c1")], [0, 0]);
    check("no ref", told, vec![aside()], &[], [1, 0]);
    check("a ref of something else", told, vec![aside()], &[("kept", "c2")], [1, 0]);
    check("not recorded", told, vec![], &[("kept", "c1")], [1, 0]);
    check("kept twice", told, vec![aside()], &[("kept", "c1"), ("kept-2", "c3")], [0, 1]);
    check("put aside twice", told, vec![aside(), aside()], &[("kept", "c1")], [0, 1]);
}
