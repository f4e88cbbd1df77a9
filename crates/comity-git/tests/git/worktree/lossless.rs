//! Generated combinations of work in a worktree: whatever is asked, no byte is lost.

use proptest::prelude::*;

use super::states::STATES;
use super::yard::Yard;

const ANN: &str = "trees/worktrees/ann";

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_byte_is_lost(
        states in prop::collection::vec(0..STATES.len(), 0..4),
        is_pooled in any::<bool>(),
        is_merged in any::<bool>(),
    ) {
        let yard = Yard::new();
        let setup = comity_git::worktree::Setup::default();
        let slug = comity_git::worktree::Slug::parse("ann").expect("a slug");
        let new = comity_git::worktree::NewWorktree { slug: &slug, branch: None, base: "trunk", setup: &setup, reserved: None };
        if is_pooled {
            yard.driver.fill("trunk", 1).expect("filled");
        }
        yard.driver.claim_or_create(&new).expect("made");
        if is_merged {
            super::states::commit(&yard, ANN, "merged");
            yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
        }
        let names: Vec<&str> = states.iter().map(|state| STATES[*state].name).collect();
        for state in &states {
            (STATES[*state].make)(&yard, ANN);
        }
        let git_dir = yard.git_dir(ANN);
        let all = |yard: &Yard| (yard.snapshot(ANN), yard.snapshot(&git_dir), yard.sandbox.git("main", &["for-each-ref"]));
        let before = all(&yard);
        let main = yard.snapshot("main/src");
        match yard.prove(ANN) {
            Err(kept) => prop_assert!(!states.is_empty(), "{kept:?}"),
            Ok(proof) => {
                prop_assert!(states.is_empty(), "{names:?}");
                let trashed = yard.driver.remove(proof).expect("removed");
                let files = yard.snapshot(&format!("trees/trash/{}/files", trashed.id));
                prop_assert_eq!(&files, &before.0, "{:?}", &names);
                yard.driver.restore(&trashed.id).expect("restored");
            }
        }
        prop_assert_eq!(all(&yard), before, "{:?}", &names);
        prop_assert_eq!(yard.snapshot("main/src"), main, "{:?}", &names);
        prop_assert_eq!(yard.driver.trashed().expect("a list"), vec![]);
    }
}
