//! What stands in line is judged again when its turn comes: the tab may be somebody else's by then.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::support::wire::{No, Wire};
use crate::{Asker, page, place};

/// A site whose only page comes when it is let through; until then whoever loads it holds up the tab.
struct Gate {
    url: String,
    asked: mpsc::Receiver<()>,
    open: mpsc::Sender<()>,
}

impl Gate {
    fn start() -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let (asks, asked) = mpsc::channel();
        let (open, opened) = mpsc::channel();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let first = lines.next().unwrap_or_default();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                if first.starts_with("GET / ") && (asks.send(()).is_err() || opened.recv().is_err()) {
                    return;
                }
                let page =
                    "<title>gate</title><input id=q><button id=b onclick=\"q.value = 'clicked'\">b</button>";
                let _gone = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                    page.len()
                );
            }
        });
        Gate { url, asked, open }
    }
}

/// Asks on a connection of its own.
fn ask(who: &Asker<'_>, op: &str, input: Value) -> Result<Value, Value> {
    match Wire::connect(who.place).asking_as(&who.agent).ask(op, input) {
        Ok(output) => Ok(output),
        Err(No::Refused(error)) => Err(error),
        Err(No::Broken(error)) => panic!("{op}: {error}"),
    }
}

/// Lets what was just asked come to where it waits: the server takes connections in the order of their asking.
fn let_them_wait(who: &Asker<'_>) {
    for _ in 0..30 {
        who.get("tab_list", json!({}));
    }
}

#[test]
fn what_stands_in_line_is_not_done_in_a_tab_that_became_somebody_elses() {
    if crate::support::lacks_firefox("what_stands_in_line_is_not_done_in_a_tab_that_became_somebody_elses") {
        return;
    }
    let (place, gate) = (place(4), Gate::start());
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let tab = ann.opens(&page("mine", "white"));
    std::thread::scope(|scope| {
        let go = scope.spawn(|| ask(&ann, "tab_navigate", json!({ "tabId": tab, "url": gate.url })));
        gate.asked.recv().expect("the page is asked for");
        let acts = [
            ("tab_type", json!({ "tabId": tab, "text": "from ann", "selector": "#q" })),
            ("tab_click", json!({ "tabId": tab, "selector": "#b" })),
            ("tab_press", json!({ "tabId": tab, "key": "a" })),
            ("tab_scroll", json!({ "tabId": tab, "end": "bottom" })),
            ("tab_navigate", json!({ "tabId": tab, "url": page("another", "white") })),
            ("tab_wait", json!({ "tabId": tab, "selector": "#b" })),
        ];
        let ann = &ann;
        let waiting = acts.map(|(op, input)| (op, scope.spawn(move || ask(ann, op, input))));
        let_them_wait(&bob);
        ann.get("tab_handover", json!({ "tabId": tab, "to": "bob" }));
        gate.open.send(()).expect("the page comes");
        let went = go.join().expect("no panic").expect_err("it is told to nobody who may not look");
        assert_eq!(went["code"], "ownership", "{went}");
        assert!(went["message"].as_str().is_some_and(|text| text.contains("begun before")), "{went}");
        for (op, asked) in waiting {
            let no = asked.join().expect("no panic").expect_err(op);
            assert_eq!(no["code"], "ownership", "{op}: {no}");
        }
    });
    let found = bob.get(
        "tab_evaluate",
        json!({ "tabId": tab, "script": "document.title + document.querySelector('#q').value" }),
    );
    assert_eq!(found["value"], "gate", "nothing was done there");
}

#[test]
fn what_stands_in_line_is_not_done_once_its_asker_only_plans() {
    if crate::support::lacks_firefox("what_stands_in_line_is_not_done_once_its_asker_only_plans") {
        return;
    }
    let (place, gate) = (place(4), Gate::start());
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let tab = ann.opens(&page("mine", "white"));
    std::thread::scope(|scope| {
        let go = scope.spawn(|| ask(&ann, "tab_navigate", json!({ "tabId": tab, "url": gate.url })));
        gate.asked.recv().expect("the page is asked for");
        let click = scope.spawn(|| ask(&ann, "tab_click", json!({ "tabId": tab, "selector": "#b" })));
        let_them_wait(&bob);
        place.json(&["mode", "ann", "plan"]);
        gate.open.send(()).expect("the page comes");
        go.join().expect("no panic").expect("whoever plans may load pages");
        let no = click.join().expect("no panic").expect_err("it plans");
        assert_eq!(no["code"], "not_allowed", "{no}");
        assert!(no["message"].as_str().is_some_and(|text| text.contains("plan mode")), "{no}");
    });
    place.json(&["mode", "ann", "full"]);
    let found =
        ann.get("tab_evaluate", json!({ "tabId": tab, "script": "document.querySelector('#q').value" }));
    assert_eq!(found["value"], "", "nothing was done there");
}

#[test]
fn a_wait_is_not_answered_to_who_may_not_look_any_more() {
    if crate::support::lacks_firefox("a_wait_is_not_answered_to_who_may_not_look_any_more") {
        return;
    }
    let place = place(4);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let tab = ann.opens(&page("mine", "white"));
    ann.get("tab_share", json!({ "tabId": tab, "with": "bob" }));
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| ask(&bob, "tab_wait", json!({ "tabId": tab, "text": "secret" })));
        let_them_wait(&ann);
        ann.get("tab_unshare", json!({ "tabId": tab, "with": "bob" }));
        ann.get("tab_evaluate", json!({ "tabId": tab, "script": "document.body.append('secret')" }));
        let no = wait.join().expect("no panic").expect_err("it is not his to see");
        assert_eq!(no["code"], "ownership", "{no}");
    });
    // The value of a script, too, is told to nobody who may not look by then.
    std::thread::scope(|scope| {
        let script = "new Promise(done => { window.tell = () => done('secret') })";
        let input = json!({ "tabId": tab, "script": script, "inPage": true });
        let value = scope.spawn(|| ask(&ann, "tab_evaluate", input));
        let_them_wait(&bob);
        ann.get("tab_handover", json!({ "tabId": tab, "to": "bob" }));
        crate::support::eventually("the script runs", || {
            bob.ask("tab_evaluate", json!({ "tabId": tab, "script": "tell()", "inPage": true })).is_ok()
        });
        let no = value.join().expect("no panic").expect_err("it is not hers any more");
        assert!(no["code"] == "ownership" && !no.to_string().contains("secret"), "{no}");
    });
}
