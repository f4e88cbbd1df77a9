//! A rule holds for where a name leads, not for how it is spelled: subdomains of what is denied, and names of this machine.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail as the test does")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use comity_browser::policy::{Loopback, Policy};
use comity_browser::{BrowserError, Condition, Realm, Until};
use support::server::{Answer, Server};
use support::{LONG, Stage};

const NONE: [&str; 0] = [];
/// Names that lead to this machine, as those of anybody's domain can.
const SETTINGS: &str = "user_pref(\"network.dns.localDomains\", \"inside.test,allowed.test\");\n";

#[test]
fn names_that_lead_here_need_a_rule_when_this_machine_does() {
    if support::lacks_firefox("names_that_lead_here_need_a_rule_when_this_machine_does") {
        return;
    }
    let stage = Stage::with_settings(SETTINGS);
    let server = Server::start(|_| Answer::Page("<title>Inside</title>inside".into()));
    let browser = stage.browser();
    let tab = browser.open(&browser.create_container(LONG).unwrap(), LONG).unwrap();
    let at = |host: &str, path: &str| format!("http://{host}:{}{path}", server.port);
    tab.navigate(&at("inside.test", "/free"), Until::Complete, LONG).unwrap();
    browser
        .set_policy(Policy::new(&["allowed.test"], &NONE).unwrap().with_loopback(Loopback::ByRule), LONG)
        .unwrap();
    tab.navigate(&at("allowed.test", "/allowed"), Until::Complete, LONG).unwrap();
    browser.set_policy(Policy::default().with_loopback(Loopback::ByRule), LONG).unwrap();
    let error = tab.navigate(&at("inside.test", "/closed"), Until::Complete, LONG).unwrap_err();
    assert!(matches!(error, BrowserError::NotLoaded { .. } | BrowserError::Blocked { .. }), "{error}");
    for here in ["0.0.0.0", "[::]", "127.0.0.1", "localhost"] {
        let error = tab.navigate(&at(here, "/closed"), Until::Complete, LONG).unwrap_err();
        assert!(matches!(error, BrowserError::Blocked { .. }), "{here}: {error}");
    }
    assert!(!server.asked().iter().any(|asked| asked.contains("/closed")), "{:?}", server.asked());
    browser.set_policy(Policy::default(), LONG).unwrap();
    tab.navigate(&at("inside.test", "/again"), Until::Complete, LONG).unwrap();
}

#[test]
fn what_is_denied_has_no_way_around_by_a_subdomain() {
    let test = "what_is_denied_has_no_way_around_by_a_subdomain";
    if support::lacks_firefox(test) {
        return;
    }
    let stage = Stage::new();
    let server = Server::start(|_| Answer::Page("<title>Page</title><p>page</p>".into()));
    let browser = stage.browser();
    let tab = browser.open(&browser.create_container(LONG).unwrap(), LONG).unwrap();
    browser.set_policy(Policy::new(&["*.localhost"], &["bad.localhost"]).unwrap(), LONG).unwrap();
    let at = |host: &str| format!("http://{host}:{}/", server.port);
    for host in ["bad.localhost", "x.bad.localhost", "y.x.bad.localhost"] {
        let error = tab.navigate(&at(host), Until::Complete, LONG).unwrap_err();
        assert!(matches!(error, BrowserError::Blocked { .. }), "{host}: {error}");
    }
    tab.navigate(&at("notbad.localhost"), Until::Complete, LONG).unwrap();
    // A worker asks inside Firefox, where the same rules are held once more.
    let fetched = format!(
        "new Promise(done => {{ const code = `onmessage = () => fetch('http://x.bad.localhost:{}/worker', \
         {{ mode: 'no-cors' }}).then(() => postMessage('came'), () => postMessage('failed'))`;
         const worker = new Worker(URL.createObjectURL(new Blob([code])));
         worker.onmessage = event => done(event.data); worker.postMessage(0) }})",
        server.port
    );
    assert_eq!(tab.evaluate(&fetched, Realm::Page, 99, LONG).unwrap().value, "failed");
    assert!(!server.asked().iter().any(|asked| asked.contains(".bad.")), "{:?}", server.asked());
    // The address is judged as it will be loaded: one without slashes is not relative to the current page.
    tab.navigate(&format!("http:other.localhost:{}/", server.port), Until::Complete, LONG).unwrap();
    tab.wait_for(&Condition::Text("page".into()), LONG).unwrap();
    assert_eq!(tab.url(), at("other.localhost"));
}
