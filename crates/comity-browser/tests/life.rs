//! Firefox outlives its client, and a client learns at once of Firefox's end.

#![expect(clippy::unwrap_used, reason = "helpers of a test fail as the test does")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use comity_browser::adopt::{Observed, WantedTab, adopt};
use comity_browser::{
    Browser, BrowserError, BrowserEvent, BrowserOptions, Condition, Container, ElementTarget, FirefoxProcess,
    Realm, TabId, Typing, Until,
};
use support::server::{Answer, Server};
use support::{LONG, Stage, kill, start};

/// What tells the client of the test below which profile to use, and which page to open.
const PROFILE: &str = "COMITY_TEST_PROFILE";
const PAGE: &str = "COMITY_TEST_PAGE";

fn page(path: &str) -> Answer {
    let words = path.replace("%20", " ");
    Answer::Page(format!("<title>Page</title><input id=field><p>{words}</p>"))
}

#[test]
fn the_end_of_firefox_is_told_at_once() {
    if support::lacks_firefox("the_end_of_firefox_is_told_at_once") {
        return;
    }
    let mut stage = Stage::new();
    let tab = stage.browser().open(&Container::common(), LONG).unwrap();
    let process = stage.browser().process();
    std::thread::scope(|threads| {
        // Somebody waits for something that will never be.
        let waiting = threads.spawn(|| tab.wait_for(&Condition::Text("never".into()), LONG));
        kill(&process);
        stage.notice(|notice| *notice == BrowserEvent::Died);
        let error = waiting.join().unwrap().unwrap_err();
        assert!(matches!(error, BrowserError::Died | BrowserError::NoSuchTab { .. }), "{error}");
    });
    assert!(!stage.browser().is_alive());
    assert_eq!(stage.browser().tabs(LONG).unwrap_err(), BrowserError::Died);
    stage.again();
    assert!(!stage.browser().is_attached() && stage.browser().process() != process);
    stage.browser().open(&Container::common(), LONG).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_page_that_crashes_takes_nothing_with_it() {
    if support::lacks_firefox("a_page_that_crashes_takes_nothing_with_it") {
        return;
    }
    let stage = Stage::new();
    let server = Server::start(page);
    let tab = stage.browser().open(&Container::common(), LONG).unwrap();
    tab.navigate(&server.url("/"), Until::Complete, LONG).unwrap();
    std::thread::scope(|threads| {
        let waiting =
            threads.spawn(|| tab.wait_for(&Condition::Text("crashed and loaded again".into()), LONG));
        let stopped = threads
            .spawn(|| tab.evaluate("document.title = 'waits'; new Promise(() => {})", Realm::Page, 99, LONG));
        while tab.evaluate("document.title", Realm::Page, 99, LONG).unwrap().value != "waits" {}
        content_processes(stage.browser().process().pid).iter().for_each(kill);
        assert_eq!(stopped.join().unwrap().unwrap_err(), BrowserError::PageGone);
        let lost = BrowserEvent::PageLost { tab: tab.id().clone(), url: server.url("/") };
        assert_eq!(stage.notice(|notice| matches!(notice, BrowserEvent::PageLost { .. })), lost);
        assert_eq!(tab.url(), "about:blank");
        // The empty page is one that can be used.
        tab.wait_for(&Condition::Gone("p".into()), LONG).unwrap();
        tab.navigate(&server.url("/crashed and loaded again"), Until::Complete, LONG).unwrap();
        waiting.join().unwrap().unwrap();
    });
    // Whoever is sent there is not lost.
    tab.navigate("about:blank", Until::Complete, LONG).unwrap();
    tab.back(LONG).unwrap();
    tab.navigate(&server.url("/"), Until::Complete, LONG).unwrap();
    tab.evaluate("alert(1)", Realm::Page, 99, LONG).unwrap_err();
    let next = stage.notice(|notice| !matches!(notice, BrowserEvent::TabOpened { .. }));
    assert!(matches!(next, BrowserEvent::DialogOpened { .. }), "{next:?}");
}

/// The processes in which a Firefox runs pages: children of its own, or of the fork server that newer ones have.
#[cfg(target_os = "linux")]
fn content_processes(firefox: u32) -> Vec<FirefoxProcess> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let pids: Vec<u32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    let is_below = |pid: &u32| {
        std::iter::successors(parent_of(*pid), |parent| parent_of(*parent)).any(|parent| parent == firefox)
    };
    let is_content = |pid: &u32| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).trim_end_matches('\0').ends_with("tab") && is_below(pid)
    };
    let found: Vec<FirefoxProcess> =
        pids.into_iter().filter(is_content).filter_map(FirefoxProcess::identify).collect();
    assert!(!found.is_empty(), "pages have processes of their own");
    found
}

/// The process that a process was started by, or that has inherited it.
#[cfg(target_os = "linux")]
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split(' ').nth(2)?.parse().ok()
}

/// The client that is killed: no test by itself.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn client_that_is_killed() {
    let (Ok(profile), Ok(page)) = (std::env::var(PROFILE), std::env::var(PAGE)) else { return };
    let (browser, _notices) = start(std::path::Path::new(&profile));
    let container = browser.create_container(LONG).unwrap();
    let tab = browser.open(&container, LONG).unwrap();
    tab.navigate(&page, Until::Complete, LONG).unwrap();
    tab.type_text(Some(&ElementTarget::Css("#field".into())), "kept", Typing::default(), LONG).unwrap();
    println!("ready {} {}", browser.process().pid, container);
    // Until it is killed.
    std::io::stdin().lines().for_each(drop);
}

/// The Firefox that is written down in a profile; it ends with the test, whoever started it.
struct Leftover(tempfile::TempDir);

impl Drop for Leftover {
    fn drop(&mut self) {
        let record = std::fs::read(self.0.path().join("comity-firefox.json")).unwrap_or_default();
        if let Ok(process) = serde_json::from_slice(&record) {
            kill(&process);
        }
    }
}

/// Ends with the test.
struct Client(Child);

impl Drop for Client {
    fn drop(&mut self) {
        let _already_gone = self.0.kill();
        let _ended = self.0.wait();
    }
}

#[test]
fn a_client_that_dies_leaves_a_firefox_for_the_next() {
    if support::lacks_firefox("a_client_that_dies_leaves_a_firefox_for_the_next") {
        return;
    }
    let server = Server::start(page);
    let leftover = Leftover(tempfile::tempdir().unwrap());
    let profile = &leftover.0;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "client_that_is_killed", "--ignored", "--nocapture"])
        .env(PROFILE, profile.path())
        .env(PAGE, server.url("/kept"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut client = Client(command.spawn().unwrap());
    let lines = BufReader::new(client.0.stdout.take().unwrap()).lines();
    let ready = lines.map_while(Result::ok).find_map(|line| Some(line.split_once("ready ")?.1.to_owned()));
    let ready = ready.expect("the client gets ready");
    let [pid, container] = ready.split(' ').collect::<Vec<_>>()[..] else { panic!("{ready}") };
    client.0.kill().unwrap();
    client.0.wait().unwrap();
    let (browser, _notices) = start(profile.path());
    assert!(browser.is_attached(), "the same Firefox");
    assert_eq!(browser.process().pid.to_string(), pid);
    assert!(browser.containers(LONG).unwrap().contains(&Container(container.into())));
    let observed: Vec<Observed<TabId>> = browser
        .tabs(LONG)
        .unwrap()
        .into_iter()
        .map(|info| Observed { context: info.id, container: info.container.0, url: info.url })
        .collect();
    let wanted = [WantedTab { handle: 7, container: container.into(), url: server.url("/kept") }];
    let adoption = adopt(&wanted, &observed);
    assert_eq!((adoption.missing.len(), adoption.matched.len()), (0, 1));
    let found = browser.tab(&adoption.matched[0].1).unwrap();
    let field = found.element(&ElementTarget::Css("#field".into()), LONG).unwrap();
    assert_eq!(field.value, "kept");
    found.navigate(&server.url("/again"), Until::Complete, LONG).unwrap();
    // Nothing is in the way of a third one either.
    let process = browser.process();
    drop(browser);
    let (browser, _notices) = start(profile.path());
    assert_eq!((browser.is_attached(), browser.process()), (true, process));
    browser.close();
    assert!(!process.is_alive());
}

#[test]
fn a_missing_program_is_told() {
    let profile = tempfile::tempdir().unwrap();
    let options =
        BrowserOptions { path: Some(profile.path().join("firefox")), ..BrowserOptions::new(profile.path()) };
    let told = Browser::attach_or_start(options, |_| {}).unwrap_err().to_string();
    assert!(told.contains("install it"), "{told}");
}
