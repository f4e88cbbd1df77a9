//! Timeouts are kept, and the policy is enforced wherever a request comes from.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail as the test does")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::time::{Duration, Instant};

use comity_browser::policy::Policy;
use comity_browser::{BrowserError, Condition, ElementTarget, Realm, RequestOutcome, Tab, Until};
use support::server::{Answer, Server};
use support::{LONG, Stage};

/// A wait that ends by its timeout.
const SHORT: Duration = Duration::from_millis(700);

/// Expects that a call ends by its own timeout, not by another one.
fn ends_in_time<T: std::fmt::Debug>(what: &str, call: impl FnOnce() -> Result<T, BrowserError>) {
    let begun = Instant::now();
    let error = call().expect_err(what);
    assert!(matches!(error, BrowserError::Timeout { .. }), "{what}: {error}");
    // clock: a timeout is what is tested
    assert!((SHORT..LONG).contains(&begun.elapsed()), "{what}");
}

#[test]
fn timeouts_and_waits() {
    if support::lacks_firefox("timeouts_and_waits") {
        return;
    }
    let stage = Stage::new();
    let server = Server::start(|path| match path {
        "/never" => Answer::Never,
        "/locked" => Answer::Locked,
        "/moves" => Answer::Page(
            "<title>One</title>one<script>setTimeout(() => location = '/two', 50)</script>".into(),
        ),
        "/two" => Answer::Page(
            "<title>Two</title>two<script>setTimeout(() => { history.pushState(0, '', '/three');
             document.body.insertAdjacentHTML('beforeend', '<p id=late>late</p>') }, 50)</script>"
                .into(),
        ),
        "/slow" => Answer::Page("<title>Slow</title>slow<img src=/never>".into()),
        _ => Answer::Page("<title>Quick</title><p id=here>here</p>".into()),
    });
    let tab = stage.browser().open(&stage.browser().create_container(LONG).unwrap(), LONG).unwrap();
    let other = stage.browser().open(tab.container(), LONG).unwrap();
    tab.navigate(&server.url("/"), Until::Complete, LONG).unwrap();
    other.navigate(&server.url("/"), Until::Complete, LONG).unwrap();
    let css = |selector: &str| ElementTarget::Css(selector.into());
    ends_in_time("a condition that never holds", || tab.wait_for(&Condition::Selector("#no".into()), SHORT));
    ends_in_time("a text that never comes", || tab.wait_for(&Condition::Text("no".into()), SHORT));
    ends_in_time("an address that never comes", || tab.wait_for(&Condition::Url("/no".into()), SHORT));
    ends_in_time("an element that stays", || tab.wait_for(&Condition::Gone("#here".into()), SHORT));
    ends_in_time("a promise that is never kept", || {
        tab.evaluate("new Promise(() => {})", Realm::Sandbox, 9, SHORT)
    });
    ends_in_time("a page that never comes", || tab.navigate(&server.url("/never"), Until::Complete, SHORT));
    // A page that is busy for ever holds up its own tab only.
    std::thread::scope(|threads| {
        let busy = threads
            .spawn(|| ends_in_time("a busy page", || tab.evaluate("for (;;);", Realm::Page, 9, SHORT)));
        assert!(other.content(Some(&css("#here")), 9, LONG).is_ok());
        assert!(!busy.is_finished(), "another tab was held up");
        busy.join().unwrap();
    });
    tab.close(LONG).unwrap();
    waits_over_pages(&other, &server);
    failures(&other, &server);
}

fn waits_over_pages(tab: &Tab, server: &Server) {
    tab.navigate(&server.url("/moves"), Until::Begun, LONG).unwrap();
    tab.wait_for(&Condition::Selector("#late".into()), LONG).unwrap();
    tab.wait_for(&Condition::Url("/three".into()), LONG).unwrap();
    tab.wait_for(&Condition::Load, LONG).unwrap();
    tab.wait_for(&Condition::NetworkIdle, LONG).unwrap();
    tab.navigate(&server.url("/slow"), Until::Interactive, LONG).unwrap();
    tab.wait_for(&Condition::Interactive, LONG).unwrap();
    ends_in_time("a picture that never comes", || tab.wait_for(&Condition::Load, SHORT));
    ends_in_time("a network that is never idle", || tab.wait_for(&Condition::NetworkIdle, SHORT));
    let gone = std::thread::scope(|threads| {
        let waiting = threads.spawn(|| tab.evaluate("new Promise(() => {})", Realm::Sandbox, 9, LONG));
        tab.navigate(&server.url("/"), Until::Complete, LONG).unwrap();
        waiting.join().unwrap()
    });
    // Whichever came first: the script waits in a page that is replaced, or was too late for it.
    assert!(matches!(gone, Err(BrowserError::PageGone | BrowserError::Timeout { .. })), "{gone:?}");
}

fn failures(tab: &Tab, server: &Server) {
    let failed = |url: &str| tab.navigate(url, Until::Complete, LONG).unwrap_err().to_string();
    assert!(failed("http://nowhere.invalid/").contains("no such host"));
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = failed(&format!("http://{closed}/"));
    assert!(refused.contains("refused"), "{refused}");
    for url in ["file:///etc/hostname", "about:config", "data:text/html,x", "view-source:http://localhost/"] {
        assert!(failed(url).contains("not among the schemes"), "{url}");
    }
    tab.navigate(&server.url("/"), Until::Complete, LONG).unwrap();
    // Nobody is there to type a password; the page says that it wants one, and nothing hangs.
    tab.navigate(&server.url("/locked"), Until::Complete, LONG).unwrap();
    assert_eq!(tab.content(None, 99, LONG).unwrap().text.trim(), "no entry");
    let thrown = tab.evaluate("null.x", Realm::Sandbox, 9, LONG).unwrap_err().to_string();
    assert!(thrown.contains("null"), "{thrown}");
    let cut = tab.evaluate("'x'.repeat(100)", Realm::Sandbox, 10, LONG).unwrap();
    assert!(cut.is_cut && cut.value.as_str().unwrap().len() < 20);
    tab.evaluate("console.warn('careful', 1)", Realm::Page, 9, LONG).unwrap();
    let lines = tab.console();
    assert!(lines.iter().any(|line| line.level == "warn" && line.text.contains("careful")), "{lines:?}");
}

#[test]
fn the_policy_is_enforced_in_the_browser() {
    if support::lacks_firefox("the_policy_is_enforced_in_the_browser") {
        return;
    }
    let stage = Stage::new();
    let browser = stage.browser();
    let port = std::sync::Arc::new(std::sync::OnceLock::new());
    let known = port.clone();
    let server = Server::start(move |path| {
        // The same server under a name that the policy does not allow.
        let forbidden = format!("http://localhost:{}", known.get().unwrap());
        match path {
            "/redirect" => Answer::Redirect(format!("{forbidden}/reached")),
            "/page" => Answer::Page(format!(
                "<!doctype html><title>Page</title><img src='{forbidden}/picture'><iframe src='{forbidden}/frame'></iframe>
                 <script>fetch('{forbidden}/fetched', {{mode: 'no-cors'}}).catch(() => document.title = 'Failed');
                 new WebSocket('{forbidden}/socket'.replace('http', 'ws'))</script>
                 <a id=link href='{forbidden}/clicked'>Leave</a> <a id=stay href=/stay>Stay</a>"
            )),
            _ => Answer::Page("<title>Reached</title>reached".into()),
        }
    });
    port.set(server.port).unwrap();
    let tab = browser.open(&browser.create_container(LONG).unwrap(), LONG).unwrap();
    let none: [&str; 0] = [];
    browser.set_policy(Policy::new(&none, &["localhost"]).unwrap(), LONG).unwrap();
    let blocked = |error: BrowserError| match error {
        BrowserError::Blocked { url, rule } => (url, rule),
        other => panic!("{other}"),
    };
    let (_, rule) = blocked(tab.navigate("http://LOCALHOST./x", Until::Complete, LONG).unwrap_err());
    assert_eq!(rule, "localhost is denied by localhost");
    let (url, _) = blocked(tab.navigate(&server.url("/redirect"), Until::Complete, LONG).unwrap_err());
    assert_eq!(url, format!("http://localhost:{}/reached", server.port));
    tab.clear_activity();
    tab.navigate(&server.url("/page"), Until::Complete, LONG).unwrap();
    tab.wait_for(&Condition::NetworkIdle, LONG).unwrap();
    tab.click(&ElementTarget::Css("#link".into()), comity_browser::Click::default(), LONG).unwrap();
    let clicked = format!("http://localhost:{}/clicked", server.port);
    let is_told = |path: &str| {
        let requests = tab.network();
        let told = requests.iter().find(|request| request.url.ends_with(path));
        told.is_some_and(|request| matches!(request.outcome, RequestOutcome::Blocked { .. }))
    };
    tab.wait_for(&Condition::NetworkIdle, LONG).unwrap();
    for path in ["/picture", "/frame", "/fetched", "/socket", "/clicked"] {
        assert!(is_told(path), "{path}: {:?}", tab.network());
    }
    assert!(tab.url().ends_with("/page"), "{} {clicked}", tab.url());
    tab.click(&ElementTarget::Css("#stay".into()), comity_browser::Click::default(), LONG).unwrap();
    tab.wait_for(&Condition::Text("reached".into()), LONG).unwrap();
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.starts_with("127.0.0.1:")), "{asked:?}");
    // Without limits nothing is held up any more.
    browser.set_policy(Policy::default(), LONG).unwrap();
    tab.navigate(&server.url("/redirect"), Until::Complete, LONG).unwrap();
    assert!(tab.url().starts_with("http://localhost:"), "{}", tab.url());
}
