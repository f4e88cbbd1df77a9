//! Decisions: nobody confirms their own, who leads does, and they survive being folded again.

use comity_core::Ask;
use comity_core::decisions::{DecisionAsk, DecisionId, DecisionState};
use comity_core::snapshot::Snapshot;
use comity_core::world::Timeouts;

use crate::script::Stage;

fn decide(stage: &mut Stage, by: &str, title: &str, needs_confirmation: bool) -> bool {
    let who = stage.who(by);
    let ask = DecisionAsk::Decide { title: title.into(), rationale: None, needs_confirmation };
    stage.ask(by, who, &Ask::Decision(ask), None)
}

fn settle(stage: &mut Stage, by: &str, id: u64, confirm: bool) -> bool {
    let who = stage.who(by);
    let ask = DecisionAsk::Settle { id: DecisionId(id), confirm, reason: None };
    stage.ask(by, who, &Ask::Decision(ask), None)
}

#[test]
fn who_confirms_what() {
    let mut stage = Stage::default();
    stage.play("lead joins as lead in red");
    stage.play("ann joins under lead in red");
    stage.play("bob joins under lead in red");
    assert!(decide(&mut stage, "ann", "use tabs", true));
    assert!(!settle(&mut stage, "ann", 1, true), "her own");
    assert!(!settle(&mut stage, "bob", 1, true), "a peer");
    assert!(!settle(&mut stage, "lead", 9, true), "no such decision");
    stage.world = Snapshot::of(&stage.world).restore(Timeouts::default());
    assert!(settle(&mut stage, "lead", 1, true));
    assert!(!settle(&mut stage, "human", 1, false), "it is settled");
    assert!(decide(&mut stage, "lead", "ship it", true));
    assert!(settle(&mut stage, "human", 2, false));
    assert!(decide(&mut stage, "ann", "name it so", false));
    assert!(!settle(&mut stage, "lead", 3, true), "it waits for nobody");
    assert!(!decide(&mut stage, "ann", "  ", false));
    let standing: Vec<bool> =
        stage.world.decisions.iter().map(|decision| decision.standing == DecisionState::Made).collect();
    assert_eq!(standing, [false, false, true]);
    stage.said.clear();
    stage.play("ann reads");
    assert_eq!(stage.said[0], "notice: your decision d1 (\"use tabs\") was confirmed by lead");
}
