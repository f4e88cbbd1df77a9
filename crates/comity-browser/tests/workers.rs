//! The policy binds workers, which belong to no page: what they ask for does not leave the browser either.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail as the test does")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use comity_browser::policy::Policy;
use comity_browser::{Condition, Realm, Until};
use support::server::{Answer, Server};
use support::{LONG, Stage};

/// Each worker fetches what it is told, and says how that went.
const PAGE: &str = "<!doctype html><title>Workers</title><pre id=said></pre><script>
const say = text => said.textContent += text + '\\n';
const shared = new SharedWorker('/shared.js');
shared.port.onmessage = event => say('shared ' + event.data);
const plain = new Worker('/plain.js');
plain.onmessage = event => say('plain ' + event.data);
navigator.serviceWorker.onmessage = event => say('service ' + event.data);
navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(() => say('ready'));
window.ask = async (host, round) => {
  const to = name => host + '/' + name + round;
  shared.port.postMessage(to('shared'));
  plain.postMessage(to('plain'));
  (await navigator.serviceWorker.ready).active.postMessage(to('service'));
};
</script>";
const FETCH: &str = "const go = (url, to) => fetch(url, { mode: 'no-cors' })
  .then(() => to.postMessage(url + ' came'), () => to.postMessage(url + ' failed'));";

#[test]
fn workers_obey_the_policy() {
    if support::lacks_firefox("workers_obey_the_policy") {
        return;
    }
    let stage = Stage::new();
    let server = Server::start(|path| match path {
        "/shared.js" => Answer::Script(format!(
            "{FETCH} onconnect = event => {{ const port = event.ports[0]; port.onmessage = event => go(event.data, port) }}"
        )),
        "/plain.js" => Answer::Script(format!("{FETCH} onmessage = event => go(event.data, self)")),
        "/service.js" => Answer::Script(format!(
            "{FETCH} onmessage = event => event.waitUntil(go(event.data, event.source))"
        )),
        _ => Answer::Page(PAGE.into()),
    });
    let browser = stage.browser();
    let tab = browser.open(&browser.create_container(LONG).unwrap(), LONG).unwrap();
    tab.navigate(&server.url("/"), Until::Complete, LONG).unwrap();
    tab.wait_for(&Condition::Text("ready".into()), LONG).unwrap();
    let other = format!("http://localhost:{}", server.port);
    let asked = |round: &str, outcome: &str| {
        tab.evaluate(&format!("ask({other:?}, {round:?})"), Realm::Page, 99, LONG).unwrap();
        for kind in ["shared", "plain", "service"] {
            let said = format!("{kind} {other}/{kind}{round} {outcome}");
            tab.wait_for(&Condition::Text(said), LONG).unwrap();
        }
        let reached =
            |kind: &str| server.asked().contains(&format!("localhost:{} /{kind}{round}", server.port));
        ["shared", "plain", "service"].map(reached)
    };
    assert_eq!(asked("-free", "came"), [true; 3]);
    let none: [&str; 0] = [];
    browser.set_policy(Policy::new(&none, &["localhost"]).unwrap(), LONG).unwrap();
    assert_eq!(asked("-denied", "failed"), [false; 3]);
    let here =
        Policy::new(&["example.com"], &none).unwrap().with_loopback(comity_browser::policy::Loopback::ByRule);
    browser.set_policy(here, LONG).unwrap();
    assert_eq!(asked("-unlisted", "failed"), [false; 3]);
    browser.set_policy(Policy::default(), LONG).unwrap();
    assert_eq!(asked("-again", "came"), [true; 3]);
}
