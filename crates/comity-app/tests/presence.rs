//! What takes a person who is present, of acts that are no ask of the rules, and what nobody may do.

mod support;

use std::sync::Arc;

use comity_app::catalog::CATALOG;
use comity_app::operation::Effect;
use comity_app::{Application, Caller, Failure, OperationCall};
use comity_core::people::{Origin, Proof};
use comity_core::pools::{PoolAsk, PoolKind, TABS, Take};
use comity_core::worktrees::{WorktreeAsk, WorktreeInfo};
use comity_core::{Ask, Principal};
use serde_json::{Value, json};
use support::Place;

/// The code of what an operation refuses; none if it does not.
fn refused(app: &Application, caller: &Caller, op: &str, input: &Value) -> Option<String> {
    let call = OperationCall { op, input: input.clone().into(), ..OperationCall::default() };
    match app.call_and_wait(caller, call).0 {
        Err(Failure::Refused(refusal)) => Some(refusal.code().into()),
        Err(Failure::Fault(_)) | Ok(_) => None,
    }
}

#[test]
fn nobody_changes_anything() {
    let place = Place::new();
    let (app, _log) = place.open_in_memory();
    let nobody = Caller::new(Principal::Nobody, Some(place.repo()));
    let mut looks = 0;
    for entry in CATALOG {
        match entry.effect {
            Effect::Reads => looks += 1,
            Effect::Changes | Effect::Acts | Effect::Removes => {
                let code = refused(&app.app, &nobody, entry.name, &json!({}));
                assert_eq!(code.as_deref(), Some("unproven"), "{}", entry.name);
            }
        }
    }
    assert!(looks > 10 && looks < CATALOG.len(), "{looks} only look");
}

/// A person of whom only the lineage is known, and one at a terminal.
fn people(place: &Place) -> [Caller; 2] {
    [Proof::Lineage { lacks: "it has no terminal".into() }, Proof::Terminal].map(|proof| {
        let origin = Origin { proof, process: None, terminal: None, lineage: "sh".into(), window: None };
        Caller { origin: Some(Arc::new(origin)), ..Caller::human(place.repo()) }
    })
}

#[test]
fn what_is_anothers_takes_a_present_person() {
    let place = Place::new();
    let (app, _log) = place.open_in_memory();
    let ann = app.join("ann");
    let engine = app.app.engine();
    let configure = PoolAsk::Configure { pool: TABS.into(), kind: PoolKind::Tabs, capacity: 1 };
    engine.ask(Principal::System, Ask::Pool(configure)).expect("a pool");
    let take = Take {
        pool: TABS.into(),
        label: None,
        wait: None,
        evict_oldest: false,
        ttl: None,
        process: None,
        by_page: false,
    };
    engine.ask(ann, Ask::Pool(PoolAsk::Take(Box::new(take)))).expect("a tab");
    let tab = engine.world().pools.get(TABS).expect("a pool").slots().next().expect("a slot").id.0;
    app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).expect("the project is known");
    let project = *engine.world().projects.keys().next().expect("a project");
    let tree = WorktreeInfo {
        slug: "hers".into(),
        path: "/nowhere".into(),
        branch: "hers".into(),
        base: "0".into(),
    };
    engine.ask(ann, Ask::Worktree(WorktreeAsk::Add { project, tree: Box::new(tree) })).expect("a worktree");
    let [absent, present] = people(&place);
    for (op, input) in [
        ("worktree_remove", json!({ "slug": "hers" })),
        ("worktree_merge", json!({ "slug": "hers" })),
        ("tab_read", json!({ "tabId": tab })),
        ("login", json!({})),
    ] {
        assert_eq!(refused(&app.app, &absent, op, &input).as_deref(), Some("not_present"), "{op}");
        let code = refused(&app.app, &present, op, &input);
        assert_ne!(code.as_deref(), Some("not_present"), "{op}");
    }
}
