//! Permissions without doors, on a clock that moves only when told to: every fault ends in a no that says why.

mod support;

use std::sync::mpsc::{Receiver, Sender, channel};

use comity_app::{Caller, Failure, OperationCall, Rendered, Responder};
use comity_core::agents::{AgentAsk, Ending};
use comity_core::{AgentId, Ask, Millis, Principal};
use serde_json::{Value, json};

use support::{App, Place};

type Said = Result<Rendered, Failure>;

struct Send(Sender<Said>);

impl Responder for Send {
    fn respond(self: Box<Self>, output: Said, _: Vec<String>) {
        let _ = self.0.send(output);
    }
}

/// A leader, a worker below it, and another one.
struct Scene {
    place: Place,
    app: App,
    lead: Principal,
    ann: Principal,
    bob: Principal,
}

impl Scene {
    fn new() -> Scene {
        let place = Place::new();
        let app = place.open();
        let join = |by: Principal, name: &str, role: &str| {
            let joined = app.ask(by, "agent_join", json!({ "name": name, "role": role })).expect("joined");
            app.app.identify_remote(joined["token"].as_str().expect("a token")).expect("known").who
        };
        let lead = join(Principal::Human, "lead", "lead");
        let (ann, bob) = (join(lead, "ann", "developer"), join(lead, "bob", "developer"));
        Scene { place, app, lead, ann, bob }
    }

    /// Asks, and goes on; the answer comes to the receiver.
    fn ask(&self, command: &str) -> Receiver<Said> {
        self.ask_with_key(command, None)
    }

    fn ask_with_key(&self, command: &str, key: Option<&str>) -> Receiver<Said> {
        self.ask_for(json!({ "command": command }), key)
    }

    fn ask_for(&self, input: Value, key: Option<&str>) -> Receiver<Said> {
        let (sender, said) = channel();
        let input = json!({ "tool": "Bash", "input": input }).into();
        let call = OperationCall { op: "ask_permission", input, key, text: true, again: false };
        let caller = Caller::new(self.ann, Some(self.place.repo()));
        self.app.app.call(&caller, call, Box::new(Send(sender)));
        self.app.app.engine().run_pending();
        said
    }

    fn answer(&self, by: Principal, op: &str, input: Value) -> Result<Value, String> {
        self.app.ask(by, op, input)
    }

    fn agent(&self) -> AgentId {
        self.ann.agent().expect("an agent")
    }
}

/// The refusal that came, in words; nothing else than a refusal will do.
fn denied(said: &Receiver<Said>) -> String {
    match said.try_recv().expect("an answer") {
        Ok(rendered) => panic!("it was allowed: {}", rendered.json),
        Err(Failure::Refused(no)) => no.to_string(),
        Err(Failure::Fault(problem)) => problem,
    }
}

fn allowed(said: &Receiver<Said>) -> Value {
    let rendered = said.try_recv().expect("an answer").expect("allowed");
    let output: Value = serde_json::from_str(&rendered.json).expect("JSON");
    assert_eq!(output["allowed"], true, "{output}");
    output
}

const MINUTES: Millis = Millis::minutes(5);

#[test]
fn an_allow_wakes_who_asked() {
    let scene = Scene::new();
    let said = scene.ask("make install");
    assert!(said.try_recv().is_err(), "it waits");
    scene.answer(scene.lead, "permission_allow", json!({ "id": 1 })).expect("answered");
    assert_eq!(allowed(&said)["why"], "lead allowed it");
    assert_eq!(allowed(&scene.ask("git status"))["why"], "it was proven to change nothing", "at once");
}

/// What is proven holds for the call as a whole: where it runs, by which shell, with which environment.
#[test]
fn a_proof_is_for_the_call_as_it_is() {
    let scene = Scene::new();
    let is_allowed = |input: Value| scene.ask_for(input, None).try_recv().is_ok();
    assert!(is_allowed(json!({ "command": "git log", "description": "look" })));
    for input in [
        json!({ "command": "git log", "cmd": "make install" }),
        json!({ "command": "git log", "env": { "GIT_PAGER": "x" } }),
        json!({ "command": "git log", "shell": "./sh" }),
        json!({ "command": "git log", "unheard_of": true }),
    ] {
        assert!(!is_allowed(input.clone()), "{input}");
    }
    // A repository within the work tree has settings of its own.
    let nested = scene.place.repo().join("nested");
    let git = |words: &[&str]| {
        let status = std::process::Command::new("git").args(words).current_dir(scene.place.repo()).status();
        assert!(status.expect("git runs").success(), "{words:?}");
    };
    git(&["init", "-q", "--template=", "nested"]);
    assert!(is_allowed(json!({ "command": "git diff", "workdir": "nested" })));
    git(&["-C", "nested", "config", "core.fsmonitor", "./run"]);
    assert!(!is_allowed(json!({ "command": "git diff --stat", "workdir": "nested" })));
    assert!(!is_allowed(json!({ "command": "git diff --stat", "workdir": nested })));
    assert!(is_allowed(json!({ "command": "ls", "workdir": "nested" })), "no git runs");
    assert!(is_allowed(json!({ "command": "git diff --stat" })), "another repository");
    git(&["config", "diff.external", "./run"]);
    assert!(!is_allowed(json!({ "command": "git diff --raw" })));
}

#[test]
fn every_fault_is_a_no() {
    type Fault = fn(&Scene);
    let table: [(&str, Fault, &str); 8] = [
        ("timeout", |scene| scene.app.pass(MINUTES), "nobody answered request 1 in time"),
        (
            "crash",
            |scene| {
                let (agent, ending) = (scene.agent(), Ending::Failed);
                let ask = Ask::Agent(AgentAsk::End { agent, ending, cause: "crashed".into() });
                scene.app.app.engine().ask(Principal::System, ask).expect("ended");
            },
            "ann has ended (crashed)",
        ),
        (
            "disconnect",
            |scene| {
                let ask = Ask::Agent(AgentAsk::Disconnect { agent: scene.agent() });
                scene.app.app.engine().ask(Principal::System, ask).expect("told");
                scene.app.pass(Millis::seconds(5));
            },
            "ann has ended (its connection closed)",
        ),
        (
            "garbage",
            |scene| {
                let garbage = json!({ "id": 1, "hash": "zz" });
                assert_eq!(scene.answer(scene.lead, "permission_allow", garbage), Err("bad_input".into()));
                let other = json!({ "id": 1, "hash": "0".repeat(64) });
                assert_eq!(scene.answer(scene.lead, "permission_allow", other), Err("bad_input".into()));
                assert_eq!(
                    scene.answer(scene.lead, "permission_allow", json!({ "id": 9 })),
                    Err("not_found".into())
                );
                scene.app.pass(MINUTES);
            },
            "nobody answered",
        ),
        (
            "late",
            |scene| {
                scene.app.pass(MINUTES);
                let late = scene.answer(scene.lead, "permission_allow", json!({ "id": 1 }));
                assert_eq!(late, Err("not_allowed".into()));
            },
            "nobody answered",
        ),
        (
            "duplicate",
            |scene| {
                scene
                    .answer(scene.lead, "permission_deny", json!({ "id": 1, "reason": "no" }))
                    .expect("denied");
                let second = scene.answer(scene.lead, "permission_allow", json!({ "id": 1 }));
                assert_eq!(second, Err("not_allowed".into()));
            },
            "lead denied request 1: no",
        ),
        (
            "by a sibling, by itself",
            |scene| {
                for by in [scene.bob, scene.ann] {
                    let no = scene.answer(by, "permission_allow", json!({ "id": 1 }));
                    assert_eq!(no, Err("not_allowed".into()));
                }
                scene.app.pass(MINUTES);
            },
            "nobody answered",
        ),
        (
            "a rule",
            |scene| {
                let rule = json!({ "effect": "deny", "tool": "Bash", "pattern": "make" });
                scene.answer(Principal::Human, "permission_rule_add", rule).expect("a rule");
            },
            "a rule of the human says no: deny Bash make",
        ),
    ];
    for (name, fault, why) in table {
        let scene = Scene::new();
        let said = scene.ask("make install");
        fault(&scene);
        let no = denied(&said);
        assert!(no.contains(why), "{name}: {no}");
    }
}

#[test]
fn a_changed_input_is_another_question() {
    let scene = Scene::new();
    let said = scene.ask_with_key("make install", Some("k"));
    scene.answer(scene.lead, "permission_allow", json!({ "id": 1 })).expect("answered");
    allowed(&said);
    allowed(&scene.ask_with_key("make install", Some("k")));
    // The key of an answer that was given is worth nothing for another call.
    let said = scene.ask_with_key("make uninstall", Some("k")).try_recv().expect("an answer");
    let failure = said.expect_err("a key is for one call");
    assert!(
        failure.to_text(comity_app::Wording::Commands).contains("was used for another call"),
        "{}",
        failure.to_text(comity_app::Wording::Commands)
    );
    let (other, again) = (scene.ask("make uninstall"), scene.ask("make install"));
    scene.app.pass(MINUTES);
    assert!(denied(&other).contains("nobody answered request 2"));
    assert!(denied(&again).contains("nobody answered request 3"), "it was for once");
}

#[test]
fn secrets_are_not_stored_and_no_rule_is_made_of_them() {
    let scene = Scene::new();
    let said = scene.ask("deploy --token=sk-abcDEF0123456789xyz");
    let listed = scene.answer(scene.lead, "permissions", json!({})).expect("a list").to_string();
    assert!(!listed.contains("sk-abc") && listed.contains("[redacted]"), "{listed}");
    let always = scene.answer(scene.lead, "permission_allow", json!({ "id": 1, "always": true }));
    assert_eq!(always, Err("bad_input".into()), "the rule would be about any secret");
    assert!(said.try_recv().is_err());
    assert_eq!(scene.answer(scene.bob, "permissions", json!({})).expect("a list")["requests"], json!([]));
}

#[test]
fn requests_rules_and_modes_survive_a_restart() {
    let scene = Scene::new();
    scene.ask("make install");
    scene.answer(scene.lead, "permission_allow", json!({ "id": 1 })).expect("answered");
    scene.ask("make check");
    let rule = json!({ "effect": "allow", "tool": "Write", "pattern": "src/" });
    scene.answer(scene.lead, "permission_rule_add", rule).expect("a rule");
    scene.answer(Principal::Human, "mode", json!({ "agent": "bob", "mode": "plan" })).expect("a mode");
    let before = scene.app.facts();
    let Scene { place, app, .. } = scene;
    drop(app);
    let again = place.open();
    let without_start = |facts: &str| {
        let mut facts: Value = serde_json::from_str(facts).expect("JSON");
        facts["permissions"].take()
    };
    assert_eq!(without_start(&again.facts()), without_start(&before));
}

#[test]
fn what_was_asked_by_a_message_is_the_same_question() {
    let scene = Scene::new();
    let input = json!({ "command": "make install" });
    let asked = comity_app::operations::permissions::asked_by_message;
    let request = asked(&scene.app.app, scene.agent(), &scene.place.repo(), "Bash", &input).expect("asked");
    let request = request.expect("a request").0;
    scene.answer(scene.lead, "permission_allow", json!({ "id": request })).expect("answered");
    assert_eq!(allowed(&scene.ask("make install"))["request"], request, "the call finds the answer");
}
