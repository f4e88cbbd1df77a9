//! Tasks through the application: who waits is answered in the batch that has work for it, and a restart keeps all.

mod support;

use std::sync::mpsc;

use comity_app::wording::Wording;
use comity_app::{Caller, Failure, OperationCall, Rendered, Responder};
use comity_core::{Millis, Principal};
use serde_json::{Value, json};
use support::{App, Place};

struct Sent(mpsc::Sender<Value>);

impl Responder for Sent {
    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, _: Vec<String>) {
        let said = match output {
            Ok(rendered) => serde_json::from_str(&rendered.json).expect("JSON"),
            Err(failure) => failure.to_text(comity_app::Wording::Commands).into(),
        };
        let _ = self.0.send(said);
    }
}

/// Waits for work, in the background of the test.
fn wait_for_work(app: &App, place: &Place, who: Principal, wait: &str) -> mpsc::Receiver<Value> {
    let (sender, answer) = mpsc::channel();
    let input = json!({ "wait": wait }).into();
    let call = OperationCall { op: "task_claim", input, ..OperationCall::default() };
    app.app.call(&Caller::new(who, Some(place.repo())), call, Box::new(Sent(sender)));
    app.app.engine().run_pending();
    answer
}

fn add(app: &App, who: Principal, task: Value) -> Value {
    app.ask(who, "task_add", task).expect("added")
}

#[test]
fn who_waits_gets_what_becomes_ready_with_a_prompt_and_evidence_of_what_came_before() {
    let place = Place::new();
    let app = place.open();
    let (ann, bob) = (app.join("ann"), app.join("bob"));
    add(&app, ann, json!({ "id": "a", "title": "First" }));
    add(
        &app,
        ann,
        json!({
            "id": "b", "title": "Second", "description": "In full.", "depends_on": ["a"], "files": ["src/b.rs"],
        }),
    );
    app.ask(ann, "task_start", json!({ "id": "a" })).expect("started");
    let answer = wait_for_work(&app, &place, bob, "30s");
    assert!(answer.try_recv().is_err(), "nothing is ready");
    app.ask(ann, "task_done", json!({ "id": "a", "evidence": "commit 12" })).expect("done");
    let given = answer.try_recv().expect("answered with the completion");
    assert_eq!((&given["id"], &given["attempt"]), (&json!("b"), &json!(1)));
    let prompt = Wording::Commands.spell(given["prompt"].as_str().expect("a prompt"));
    for said in
        ["Your task is b: Second", "In full.", "a (First): commit 12", "src/b.rs", "comity task done b"]
    {
        assert!(prompt.contains(said), "{said} is not in: {prompt}");
    }
    app.ask(bob, "task_start", json!({ "id": "b", "attempt": 1 })).expect("started");
    let locks = app.ask(ann, "locks", json!({})).expect("locks");
    assert_eq!(
        (&locks["locks"][0]["path"], &locks["locks"][0]["reason"]),
        (&json!("src/b.rs"), &json!("task b: Second"))
    );
    assert_eq!(app.ask(ann, "task_done", json!({ "id": "b", "evidence": "x" })), Err("stale_attempt".into()));
}

#[test]
fn a_wait_in_vain_says_so_and_nothing_is_given_later() {
    let place = Place::new();
    let app = place.open();
    let (ann, bob) = (app.join("ann"), app.join("bob"));
    let answer = wait_for_work(&app, &place, bob, "30s");
    app.pass(Millis::seconds(29));
    assert!(answer.try_recv().is_err());
    app.pass(Millis::seconds(1));
    assert_eq!(answer.try_recv().expect("answered")["id"], Value::Null);
    add(&app, ann, json!({ "id": "a", "title": "First" }));
    let list = app.ask(ann, "task_list", json!({})).expect("a list");
    assert_eq!(list["tasks"][0]["owner"], Value::Null, "bob waits no more");
    assert_eq!(list["wanted"][0], json!({ "role": "developer", "tasks": 1, "may_start": true }));
    assert_eq!(app.ask(Principal::Human, "task_claim", json!({ "wait": "5s" })), Err("bad_input".into()));
}

#[test]
fn a_restart_keeps_tasks_claims_and_the_limit() {
    let place = Place::new();
    let before = {
        let app = place.open();
        let ann = app.join("ann");
        add(&app, ann, json!({ "id": "a", "title": "First", "files": ["src/a.rs"], "review": true }));
        add(&app, ann, json!({ "id": "b", "title": "Second", "depends_on": ["a"] }));
        app.ask(ann, "task_start", json!({ "id": "a" })).expect("started");
        app.ask(Principal::Human, "agent_limit", json!({ "max": 3 })).expect("limited");
        app.ask(ann, "task_list", json!({})).expect("a list")
    };
    let app = place.open();
    let after = app.ask(Principal::Human, "task_list", json!({})).expect("a list");
    assert_eq!(after, before);
    assert_eq!(app.ask(Principal::Human, "agent_limit", json!({})).expect("a limit")["max"], 3);
    app.join("bob");
    app.join("cat");
    assert_eq!(
        app.ask(Principal::Human, "agent_join", json!({ "name": "dan" })),
        Err("limit_reached".into())
    );
    assert!(
        app.ask(Principal::Human, "agent_attach", json!({ "name": "claude" })).is_ok(),
        "a person started it"
    );
}

#[test]
fn one_tool_does_it_all() {
    let place = Place::new();
    let app = place.open();
    let ann = app.join("ann");
    add(&app, ann, json!({ "id": "a", "title": "First" }));
    add(&app, ann, json!({ "id": "b", "title": "Second" }));
    let update = |input: Value| app.ask(ann, "task_update", input);
    let status =
        |input: Value| update(input).map(|changed| changed["status"].as_str().unwrap_or("").to_owned());
    assert_eq!(status(json!({ "id": "b", "depends_on": ["a"] })), Ok("pending".into()));
    assert_eq!(status(json!({ "id": "a", "depends_on": ["b"] })), Err("cycle".into()));
    assert_eq!(status(json!({ "id": "a", "owner": "me" })), Ok("ready".into()));
    assert_eq!(status(json!({ "id": "a", "status": "in_progress" })), Ok("running".into()));
    assert_eq!(status(json!({ "id": "a", "status": "completed" })), Err("bad_input".into()), "no evidence");
    let done = update(json!({ "id": "a", "status": "completed", "evidence": "tests pass" })).expect("done");
    assert_eq!((&done["status"], &done["ready"]), (&json!("done"), &json!(["b"])));
    assert_eq!(status(json!({ "id": "a", "status": "ready" })), Ok("ready".into()), "reopened");
    assert_eq!(status(json!({ "id": "b", "status": "skipped" })), Ok("skipped".into()));
    assert_eq!(status(json!({ "id": "a" })), Err("bad_input".into()));
    assert_eq!(status(json!({ "id": "a", "status": "done", "owner": "me" })), Err("bad_input".into()));
}

#[test]
fn the_graph_is_drawn() {
    let place = Place::new();
    let app = place.open();
    let tasks = json!({ "tasks": [
        { "id": "d", "title": "Fourth", "depends_on": ["b", "c"] },
        { "id": "a", "title": "First" },
        { "id": "b", "title": "Second", "depends_on": ["a"] },
        { "id": "c", "title": "Third", "depends_on": ["a"] },
    ] });
    app.ask(Principal::Human, "task_declare", tasks).expect("declared");
    let drawn = app.ask(Principal::Human, "task_graph", json!({})).expect("a graph");
    let lines: Vec<&str> =
        drawn["drawing"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    let expected = [
        "a [ready] First",
        "├─ b [pending] Second",
        "│  └─ d [pending] Fourth",
        "└─ c [pending] Third",
        "   └─ d [pending] Fourth",
    ];
    assert_eq!(lines, expected);
}
