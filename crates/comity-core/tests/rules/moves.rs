//! Branches that move: announced before, recorded after, by whoever finds out; each once.

use comity_core::branch_moves::{Move, MoveAsk, MoveCause};
use comity_core::commits::{Commit, CommitEvent, CommittedFile};
use comity_core::limits::OPEN_MOVES_MAX;
use comity_core::locks::LockEvent;
use comity_core::{Ask, Event, Key, Principal};

use crate::script::{Stage, project};

fn commit(id: &str, key: Option<&str>) -> Move {
    let file = CommittedFile { path: "a.rs".into(), blob: Some("1234".into()) };
    let commit = Commit {
        id: id.into(),
        branch: Some("main".into()),
        subject: "Change a".into(),
        files: vec![file],
        files_total: 1,
    };
    Move {
        project: project(),
        worktree: Some("/repo".into()),
        branch: Some("refs/heads/main".into()),
        old: Some("0000".into()),
        new: id.into(),
        act: MoveCause::Commit { commit, message: "hash".into(), frees: vec![] },
        key: key.and_then(Key::new),
    }
}

/// A commit with the key k1 that frees the first so many of all locks.
fn freeing(stage: &Stage, count: usize) -> Move {
    let mut intended = commit("c1", Some("k1"));
    if let MoveCause::Commit { frees, .. } = &mut intended.act {
        frees.extend(stage.world.locks.iter().take(count).map(|lock| lock.fence));
    }
    intended
}

fn merge(id: &str, target: &str) -> Move {
    let act = MoveCause::Merge { source: "comity/ann".into(), target: target.into(), files_total: 2 };
    Move { worktree: None, branch: Some(format!("refs/heads/{target}").into()), act, ..commit(id, None) }
}

/// Announces a move; gives its number.
fn intend(stage: &mut Stage, name: &str, intended: &Move) -> u64 {
    let who = stage.who(name);
    assert!(
        stage.ask(name, who, &Ask::Move(MoveAsk::Intend(Box::new(intended.clone()))), None),
        "{:?}",
        stage.said
    );
    stage.world.moves.open().last().expect("a move").number
}

fn settle(stage: &mut Stage, name: &str, number: u64, has_moved: bool) -> bool {
    let who = if name == "comity" { Principal::System } else { stage.who(name) };
    stage.ask(name, who, &Ask::Move(MoveAsk::Settle { number, has_moved }), None)
}

fn last(stage: &Stage) -> &str {
    stage.said.last().map(String::as_str).unwrap_or_default()
}

#[test]
fn what_came_of_a_move_is_recorded_once() {
    let mut stage = Stage::default();
    let number = intend(&mut stage, "ann", &commit("c1", None));
    assert_eq!(last(&stage), "a branch is to move to c1");
    assert!(settle(&mut stage, "ann", number, true));
    assert_eq!(last(&stage), "1 files were committed");
    let head = stage.world.head;
    for (name, has_moved) in [("ann", true), ("comity", true), ("comity", false)] {
        assert!(settle(&mut stage, name, number, has_moved));
    }
    assert_eq!(stage.world.head, head, "it is over");
    assert_eq!(stage.world.moves.open().count(), 0);
}

#[test]
fn one_that_did_not_come_about_records_no_commit() {
    let mut stage = Stage::default();
    let number = intend(&mut stage, "ann", &commit("c1", Some("k1")));
    assert!(settle(&mut stage, "comity", number, false));
    assert_eq!(last(&stage), "ann did not move it to c1");
    assert_eq!(stage.world.moves.open().count(), 0);
    let (ann, key) = (stage.who("ann"), Key::new("k1").expect("a key"));
    assert_eq!(stage.world.answers.get(ann, &key), None, "the call can be made again");
    assert_eq!(stage.world.moves.last_of(ann, project()), None);
}

#[test]
fn what_the_server_finds_is_its_makers_with_key_and_locks() {
    let mut stage = Stage::default();
    stage.play("ann locks a.rs");
    stage.play("ann locks b.rs");
    let ann = stage.who("ann");
    let intended = freeing(&stage, 1);
    let number = intend(&mut stage, "ann", &intended);
    stage.play("restart");
    assert!(settle(&mut stage, "comity", number, true));
    let key = Key::new("k1").expect("a key");
    let answer = stage.world.answers.get(ann, &key).expect("a repeat is answered");
    assert!(
        matches!(
            answer,
            [
                Event::Commit(CommitEvent::Made { recovered: true, .. }),
                Event::Lock(LockEvent::Released { .. })
            ]
        ),
        "{answer:?}"
    );
    let left: Vec<String> =
        stage.world.locks.live_of(ann).map(|lock| lock.wanted.pattern.readable()).collect();
    assert_eq!(left, ["b.rs"], "only what the commit frees");
    let known = stage.world.moves.last_of(ann, project()).expect("her last commit");
    assert!(known.is_untold && &*known.id == "c1");
}

#[test]
fn a_lock_that_is_not_the_makers_any_more_stays() {
    let mut stage = Stage::default();
    stage.play("ann locks a.rs");
    let intended = freeing(&stage, 1);
    let number = intend(&mut stage, "ann", &intended);
    stage.play("ann unlocks a.rs");
    stage.play("bob locks a.rs");
    assert!(settle(&mut stage, "comity", number, true));
    assert_eq!(stage.world.locks.len(), 1, "bob's");
}

#[test]
fn a_lock_that_has_lapsed_is_left_to_who_looks_at_its_files() {
    let mut stage = Stage::default();
    stage.play("ann locks a.rs");
    let intended = freeing(&stage, 1);
    let number = intend(&mut stage, "ann", &intended);
    stage.play("ann ends");
    assert_eq!(stage.world.locks.lapsed().count(), 1);
    assert!(settle(&mut stage, "comity", number, true));
    assert_eq!(stage.world.locks.lapsed().count(), 1);
}

#[test]
fn only_the_maker_and_comity_say_what_came_of_it() {
    let mut stage = Stage::default();
    let number = intend(&mut stage, "ann", &commit("c1", None));
    for name in ["bob", "human"] {
        assert!(!settle(&mut stage, name, number, true));
        assert!(last(&stage).contains("refused (not_allowed)"), "{}", last(&stage));
    }
    stage.play("ann ends");
    assert!(settle(&mut stage, "comity", number, true), "the dead have committed, too");
    let ann = stage.who("ann");
    assert_eq!(stage.world.moves.last_of(ann, project()), None, "who will not ask again is forgotten");
}

#[test]
fn one_commit_into_two_branches_is_two_merges() {
    let mut stage = Stage::default();
    let main = intend(&mut stage, "ann", &merge("c1", "main"));
    let next = intend(&mut stage, "ann", &merge("c1", "next"));
    assert!(settle(&mut stage, "comity", next, true));
    assert_eq!(last(&stage), "comity/ann is in next");
    let open: Vec<u64> = stage.world.moves.open().map(|open| open.number).collect();
    assert_eq!(open, [main]);
}

#[test]
fn a_commit_is_untold_only_after_a_server_has_ended() {
    let mut stage = Stage::default();
    let number = intend(&mut stage, "ann", &commit("c1", None));
    assert!(settle(&mut stage, "ann", number, true));
    let ann = stage.who("ann");
    let is_untold = |stage: &Stage| stage.world.moves.last_of(ann, project()).expect("a commit").is_untold;
    assert!(!is_untold(&stage), "she was answered");
    stage.play("restart");
    assert!(is_untold(&stage), "perhaps she was not");
    let number = intend(&mut stage, "ann", &commit("c2", None));
    assert!(settle(&mut stage, "ann", number, true));
    assert!(!is_untold(&stage));
}

#[test]
fn so_many_are_open_at_most() {
    let mut stage = Stage::default();
    for number in 0..OPEN_MOVES_MAX {
        intend(&mut stage, "ann", &commit(&format!("c{number}"), None));
    }
    let ann = stage.who("ann");
    assert!(!stage.ask("ann", ann, &Ask::Move(MoveAsk::Intend(Box::new(commit("more", None)))), None));
    assert!(last(&stage).contains("limit_reached"), "{}", last(&stage));
}
