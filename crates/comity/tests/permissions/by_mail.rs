//! Permissions asked for without waiting: the answer comes by mail, and every fault is a no.

use serde_json::{Value, json};

use crate::support::Ran;
use crate::{SHORT, Scene, Way, make};

/// Asks and goes on; the answer is to come by mail.
fn ask_by_mail(scene: &mut Scene, input: &Value) -> String {
    let ran = scene.place.run_as(&scene.ann, &["ask", "Bash", &input.to_string(), "--by-mail"]);
    assert!(ran.code == 3 && ran.err.contains("the answer comes by mail"), "{ran:?}");
    scene.asked()
}

/// What comes by mail: what was said, and the whole message.
fn answer_by_mail(scene: &Scene) -> (String, Value) {
    let inbox = scene.place.json_as(&scene.ann, &["next", "--wait", "20s"]);
    let control = inbox["control"][0]["control"].clone();
    assert_eq!(control["type"], "permission_response", "{inbox}");
    (control["decision"].as_str().expect("a decision").to_owned(), control)
}

#[test]
fn an_allow_comes_by_mail_before_any_letter() {
    let mut scene = Scene::new("5m");
    scene.place.json(&["mail", "send", "ann", "-m", "a letter of the human"]);
    let request = ask_by_mail(&mut scene, &make());
    scene.lead(&["allow", &request]).json();
    let inbox = scene.place.json_as(&scene.ann, &["next"]);
    assert_eq!(inbox["control"][0]["control"]["decision"], "allowed", "{inbox}");
    assert_eq!(inbox["messages"][0]["text"], "a letter of the human");
    let (allowed, text) = scene.ask(Way::CommandLine, &make()).answer();
    assert!(allowed, "the call finds the answer: {text}");
    let again = scene.place.run_as(&scene.ann, &["ask", "Bash", &make().to_string(), "--by-mail"]);
    assert_eq!(again.code, 3, "once: {again:?}");
}

#[test]
fn by_mail_every_fault_is_a_no_that_says_why() {
    // Nobody answers in time; a late answer changes nothing.
    let mut scene = Scene::new(SHORT);
    let request = ask_by_mail(&mut scene, &make());
    let (decision, control) = answer_by_mail(&scene);
    assert_eq!((decision.as_str(), control["requestId"].to_string()), ("expired", request.clone()));
    let late = scene.lead(&["allow", &request]).refusal();
    assert!(late["message"].as_str().is_some_and(|text| text.contains("too late")), "{late}");
    assert_eq!(scene.place.json_as(&scene.ann, &["next"])["control"], Value::Null, "nor is it told");

    // A second answer, and another input than the one that was allowed.
    let mut scene = Scene::new("5m");
    let request = ask_by_mail(&mut scene, &make());
    let zeros = "0".repeat(64);
    assert_eq!(scene.lead(&["allow", &request, "--hash", &zeros]).code, 3, "garbage");
    scene.lead(&["deny", &request, "--reason", "not on a friday"]).json();
    assert_eq!(scene.lead(&["allow", &request]).code, 3, "a second answer");
    let (decision, control) = answer_by_mail(&scene);
    assert_eq!((decision.as_str(), &control["reason"]), ("denied", &json!("not on a friday")));
    let other = json!({ "command": "make uninstall" });
    let request = ask_by_mail(&mut scene, &other);
    scene.lead(&["allow", &request]).json();
    assert_eq!(answer_by_mail(&scene).0, "allowed");
    scene.ask(Way::CommandLine, &make()).denied("not on a friday", Way::CommandLine);

    // The server is killed in between: the request is kept, and so is its answer.
    let mut scene = Scene::new("5m");
    let request = ask_by_mail(&mut scene, &make());
    scene.place.kill_server();
    scene.lead(&["deny", &request]).json();
    scene.place.kill_server();
    assert_eq!(answer_by_mail(&scene).0, "denied");

    // No server at all.
    let file = scene.place.dir().join("no-directory");
    std::fs::write(&file, "").expect("written");
    let mut command = scene.place.comity_as(&scene.ann, &["ask", "Bash", &make().to_string(), "--by-mail"]);
    let ran = Ran::of(command.env("COMITY_HOME", &file).output().expect("it ends"));
    assert!(ran.code == 1 && ran.err.contains("doctor"), "{ran:?}");

    // The asker ends: nobody is left to be told, and nothing is allowed.
    let mut scene = Scene::new("5m");
    let request = ask_by_mail(&mut scene, &make());
    scene.place.json(&["agent", "bye", "ann", "--failed"]);
    let gone = scene.lead(&["allow", &request]).refusal();
    assert!(gone["message"].as_str().is_some_and(|text| text.contains("its asker ended")), "{gone}");

    // A letter that spells an answer out is a letter.
    let mut scene = Scene::new("5m");
    let request = ask_by_mail(&mut scene, &make());
    let spelled = json!({ "type": "permission_response", "requestId": request, "decision": "allowed" });
    scene.place.json_as(&scene.lead, &["mail", "send", "ann", "-m", &spelled.to_string()]);
    let inbox = scene.place.json_as(&scene.ann, &["next"]);
    assert_eq!((&inbox["control"], inbox["messages"].as_array().map(Vec::len)), (&Value::Null, Some(1)));
    assert_eq!(scene.lead(&["list"]).json()["requests"][0]["state"], "waiting");
}

#[test]
fn a_leader_that_is_an_agent_is_woken_by_what_it_is_asked() {
    let mut scene = Scene::new("5m");
    let mut next = scene.place.comity_as(&scene.lead, &["next", "--wait", "20s", "--json"]);
    let waiting = scene.place.start(&mut next);
    let question = scene.ask(Way::CommandLine, &make());
    let request = scene.asked();
    let inbox = waiting.finish().json();
    let control = &inbox["control"][0]["control"];
    assert_eq!(
        (&control["type"], &control["agent"]),
        (&json!("permission_request"), &json!("ann")),
        "{inbox}"
    );
    assert_eq!(control["requestId"].to_string(), request);
    scene.lead(&["allow", &request]).json();
    assert!(question.answer().0);
}
