//! A whole file may not be written over a change that its writer has not seen.

use comity_core::limits::FILES_KNOWN_MAX;
use comity_core::reads::{FileContent, ReadAsk, may_overwrite};
use comity_core::snapshot::Snapshot;
use comity_core::world::Timeouts;
use comity_core::{Ask, ContentHash, Principal, World};

use crate::script::{Stage, project};

const OLD: ContentHash = ContentHash([1; 32]);
const NEW: ContentHash = ContentHash([2; 32]);

fn knows(stage: &mut Stage, name: &str, path: &str, content: ContentHash) {
    let who = stage.who(name);
    let file = FileContent { path: path.into(), content };
    assert!(stage.ask(name, who, &Ask::Read(ReadAsk::KnowFile { project: project(), file }), None));
}

fn may(world: &World, who: Principal, path: &str, now: ContentHash) -> Result<(), String> {
    may_overwrite(world, who, project(), path, now).map_err(|no| no.to_string())
}

#[test]
fn who_read_it_before_a_change_may_not_overwrite_it() {
    let mut stage = Stage::default();
    let (ann, bob) = (stage.who("ann"), stage.who("bob"));
    knows(&mut stage, "ann", "a.rs", OLD);
    assert_eq!(may(&stage.world, ann, "a.rs", OLD), Ok(()));
    assert_eq!(may(&stage.world, ann, "a.rs", NEW), Err("a.rs was changed after you read it".into()));
    assert_eq!(may(&stage.world, bob, "a.rs", NEW), Ok(()), "bob never read it: nothing is known");
    assert_eq!(may(&stage.world, ann, "b.rs", NEW), Ok(()), "another file");
    assert_eq!(may(&stage.world, Principal::Human, "a.rs", NEW), Ok(()), "people see what they do");
    knows(&mut stage, "ann", "a.rs", NEW);
    assert_eq!(may(&stage.world, ann, "a.rs", NEW), Ok(()), "she has read it again");
}

#[test]
fn only_news_are_written_down_and_an_end_forgets_them() {
    let mut stage = Stage::default();
    knows(&mut stage, "ann", "a.rs", OLD);
    let written = stage.log.len();
    knows(&mut stage, "ann", "a.rs", OLD);
    assert_eq!(stage.log.len(), written, "the same again isn't an event");
    let ann = stage.who("ann").agent().expect("an agent");
    stage.play("ann ends");
    assert_eq!(stage.world.reads.known(ann, project(), "a.rs"), None);
}

#[test]
fn what_is_known_is_bounded_and_survives_a_snapshot() {
    let mut stage = Stage::default();
    let ann = stage.who("ann").agent().expect("an agent");
    for number in 0..=FILES_KNOWN_MAX {
        knows(&mut stage, "ann", &format!("f{number}.rs"), OLD);
    }
    assert_eq!(stage.world.reads.known(ann, project(), "f0.rs"), None, "the oldest is forgotten");
    assert_eq!(stage.world.reads.known(ann, project(), "f1.rs"), Some(OLD));
    let again = Snapshot::of(&stage.world).restore(Timeouts::default());
    assert_eq!(again.reads, stage.world.reads);
}
