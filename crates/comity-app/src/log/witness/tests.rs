//! The witness, cut short and copied over.

use super::*;

fn head(seq: u64) -> LogHead {
    LogHead { seq, hash: [seq as u8; 32] }
}

#[test]
fn what_was_never_synced_counts_in_the_same_run_only() {
    let home = tempfile::tempdir().expect("a directory");
    let mut witness = Witness::create(home.path(), WitnessRecord::default()).expect("a witness");
    witness.record(head(3), Durability::Durable, 0);
    witness.record(head(5), Durability::Live, 0);
    let record = || WitnessRecord::read(home.path()).expect("readable").expect("there");
    assert_eq!(record().head(home.path()), head(5));
    // As if the machine had been started again since.
    witness.run = Mark::default();
    witness.record(head(6), Durability::Live, 0);
    assert_eq!(record().head(home.path()), head(3));
}

#[test]
fn a_sentence_that_was_cut_short_leaves_the_one_that_was_synced() {
    let home = tempfile::tempdir().expect("a directory");
    let witness = Witness::create(home.path(), WitnessRecord::default()).expect("a witness");
    for synced in 1..20 {
        witness.record(head(synced * 10), Durability::Durable, 0);
        witness.sync().expect("synced");
        witness.record(head(synced * 10 + 1), Durability::Durable, 0);
        let written = witness.state().said.slot;
        witness.file.write_all_at(b"torn", written * SLOT_BYTES + 20).expect("written");
        let said = WitnessRecord::read(home.path()).expect("readable").expect("there");
        assert_eq!(said.durable, head(synced * 10));
    }
}

#[test]
fn fences_are_reserved_before_they_are_given() {
    let home = tempfile::tempdir().expect("a directory");
    let says = |found| WitnessRecord::of(found, home.path(), head(9), 70);
    let witness = Witness::create(home.path(), WitnessRecord::default()).expect("a witness");
    witness.reserve_fences(1_000).expect("reserved");
    let found = WitnessRecord::read(home.path()).expect("readable");
    let again = Witness::open(home.path(), found, says(found)).expect("a witness");
    assert_eq!(again.fences_up_to(), 1_000 + FENCES_AHEAD);
    let copied = fs::read(path(home.path())).expect("read");
    fs::remove_file(path(home.path())).expect("removed");
    let leapt = 1_000 + FENCES_AHEAD + FENCES_LEAP;
    assert_eq!(says(None).fences_up_to, leapt, "nobody knows");
    fs::write(path(home.path()), copied).expect("written");
    let found = WitnessRecord::read(home.path()).expect("readable");
    assert_eq!(says(found).fences_up_to, leapt, "a copy knows what was");
    let other = tempfile::tempdir().expect("a directory");
    assert_eq!(WitnessRecord::of(None, other.path(), LogHead::default(), 0).fences_up_to, 0, "all is new");
}

#[test]
fn fences_grow_though_an_older_state_is_copied_over_this_one() {
    let home = tempfile::tempdir().expect("a directory");
    let witness = Witness::create(home.path(), WitnessRecord::default()).expect("a witness");
    witness.reserve_fences(1_000).expect("reserved");
    let old = fs::read(path(home.path())).expect("read");
    witness.reserve_fences(9_000_000).expect("reserved");
    // As `cp -a old/. home/` does it: the file is the same, with its number and its birth.
    fs::write(path(home.path()), &old).expect("written");
    let found = WitnessRecord::read(home.path()).expect("readable");
    let says = WitnessRecord::of(found, home.path(), head(9), 70);
    let again = Witness::open(home.path(), found, says).expect("a witness");
    assert!(again.fences_up_to() >= 9_000_000, "{} may have been given", again.fences_up_to());
    let known = fs::read_dir(home.path()).expect("read").count();
    assert_eq!(known, 2, "one ceiling is kept, beside the witness");
}
