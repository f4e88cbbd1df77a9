//! What takes a person who is present, of acts that are no ask of the rules, and what nobody may do.

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use comity_app::catalog::{CATALOG, CatalogEntry};
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

/// What an operation is asked with: as little as it takes, and all that it knows, by its own description.
fn inputs(entry: &CatalogEntry) -> Vec<Value> {
    let schema = (entry.input)();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    let filled = |is_asked: &dyn Fn(&str) -> bool| -> Value {
        let asked = fields.iter().filter(|(name, _)| is_asked(name));
        asked.map(|(name, field)| (name.clone(), value_of(name, field, &schema))).collect()
    };
    // Nobody waits here, and the log has not got that long.
    let is_waited = |name: &str| matches!(name, "wait" | "watch" | "follow");
    vec![filled(&|name| required.contains(&name)), filled(&|name| !is_waited(name))]
}

fn value_of(name: &str, field: &Value, schema: &Value) -> Value {
    if let Some(of) = field["$ref"].as_str().and_then(|at| schema.pointer(at.trim_start_matches('#'))) {
        return value_of(name, of, schema);
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(first) = field[several].as_array().and_then(|all| all.first()) {
            return value_of(name, first, schema);
        }
    }
    if let Some(first) = field.get("const").or_else(|| field["enum"].as_array().and_then(|all| all.first())) {
        return first.clone();
    }
    let kind = field["type"].as_str().or_else(|| field["type"][0].as_str()).unwrap_or_default();
    match (kind, name) {
        ("array", _) => json!([value_of(name, &field["items"], schema)]),
        ("integer" | "number", _) => json!(1),
        ("boolean", _) => json!(true),
        ("object", _) => json!({}),
        (_, "agent" | "of" | "subject" | "to" | "whom") => json!("ann"),
        (_, "at" | "since" | "until" | "before" | "after") => json!("1m"),
        (_, _) => json!("src/a.rs"),
    }
}

/// What only looks changes nothing, whoever looks: an operation that is described as that by mistake is nobody's, too.
#[test]
fn what_only_looks_changes_nothing() {
    let place = Place::new();
    let (app, log) = place.open_in_memory();
    let ann = app.join("ann");
    app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).expect("locked");
    app.ask(ann, "mail_send", json!({ "to": "human", "message": "hello" })).expect("sent");
    let [absent, present] = people(&place);
    let nobody = Caller::new(Principal::Nobody, Some(place.repo()));
    let mut answered = BTreeSet::new();
    for entry in CATALOG.iter().filter(|entry| entry.effect == Effect::Reads) {
        for input in inputs(entry) {
            for (who, caller) in [("nobody", &nobody), ("absent", &absent), ("present", &present)] {
                let before = (log.records().len(), app.facts());
                let call =
                    OperationCall { op: entry.name, input: input.clone().into(), ..OperationCall::default() };
                let answer = app.app.call_and_wait(caller, call).0;
                assert_eq!((log.records().len(), app.facts()), before, "{} {input} by {who}", entry.name);
                if answer.is_ok() {
                    answered.insert((entry.name, who));
                }
            }
        }
    }
    for who in ["nobody", "absent", "present"] {
        let count = answered.iter().filter(|(_, by)| *by == who).count();
        assert!(count > 20, "{who} was answered {count} of them: {answered:?}");
    }
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
        ("tokens", json!({})),
    ] {
        assert_eq!(refused(&app.app, &absent, op, &input).as_deref(), Some("not_present"), "{op}");
        let code = refused(&app.app, &present, op, &input);
        assert_ne!(code.as_deref(), Some("not_present"), "{op}");
    }
    let (nobody, agent) =
        (Caller::new(Principal::Nobody, Some(place.repo())), Caller::new(ann, Some(place.repo())));
    for (caller, expected) in [(&nobody, "unproven"), (&agent, "not_allowed")] {
        let code = refused(&app.app, caller, "tokens", &json!({}));
        assert_eq!(code.as_deref(), Some(expected), "tokens");
    }
}
