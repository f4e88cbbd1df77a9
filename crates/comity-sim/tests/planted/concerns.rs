//! Records that do not say whom they concern, of every kind that is about what somebody else has.

use std::collections::BTreeSet;

use comity_core::{Record, World};
use comity_sim::{LIFE_STEPS, Simulation};

use super::{LIVES_MAX, faulty, found};

#[test]
fn a_record_about_what_is_somebodys_that_does_not_say_so() {
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    for seed in 1..=LIVES_MAX {
        let mut life = Simulation::new(seed);
        life.run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
        let implied = life.log().iter().filter(|record| !record.concerns.is_empty());
        kinds.extend(implied.map(|record| record.event.kind().action));
    }
    assert!(kinds.contains("lock_expired") || kinds.contains("lock_lapsed"), "{kinds:?}");
    let is_unseen = |kind: &&str| {
        let kind = *kind;
        let fault = move |_: &World, records: &mut Vec<Record>| {
            let of_it = records.iter_mut().filter(|record| record.event.kind().action == kind);
            of_it.for_each(|record| record.concerns.clear());
        };
        found(faulty(fault)).is_none_or(|failure| !failure.problem.contains("concern"))
    };
    let unseen: Vec<&str> = kinds.into_iter().filter(is_unseen).collect();
    assert_eq!(unseen, [""; 0], "nobody finds that these leave somebody out");
}
