//! Tabs with a clock that is moved: tabs that nobody uses are taken back for who waits.

mod support;

use std::time::{Duration, Instant};

use comity_core::limits::{RECLAIM_AFTER, RECLAIM_IDLE};
use comity_core::pools::{PoolAsk, PoolKind, TABS};
use comity_core::{Ask, Principal};
use serde_json::{Value, json};
use support::{App, Place};

/// How long what was begun may take to show.
const PATIENCE: Duration = Duration::from_secs(60);

/// An application with a browser; its Firefox ends with it.
struct Browsing {
    app: App,
    browser: Option<std::thread::JoinHandle<()>>,
}

impl Browsing {
    fn start(place: &Place, capacity: usize) -> Browsing {
        let app = place.open();
        let configure = PoolAsk::Configure { pool: TABS.into(), kind: PoolKind::Tabs, capacity };
        app.app.engine().ask(Principal::System, Ask::Pool(configure)).expect("a pool");
        let browser = comity_app::browser::run(&app.app).expect("a thread");
        Browsing { app, browser: Some(browser) }
    }

    fn opens(&self, who: Principal) -> u64 {
        let opened = self.app.ask(who, "tab_open", json!({ "url": "about:blank" })).expect("a tab");
        opened["tabId"].as_u64().expect("its number")
    }

    fn waiting(&self) -> usize {
        self.app.app.engine().world().pools.get(TABS).map_or(0, |pool| pool.in_line().count())
    }

    fn tabs_of(&self, who: Principal) -> Vec<u64> {
        let world = self.app.app.engine().world();
        let pool = world.pools.get(TABS).expect("a pool");
        pool.slots().filter(|slot| slot.owner == who).map(|slot| slot.id.0).collect()
    }
}

impl Drop for Browsing {
    fn drop(&mut self) {
        self.app.app.engine().stop();
        if let Some(browser) = self.browser.take() {
            let _ = browser.join();
        }
    }
}

#[track_caller]
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never happened: {what}");
        std::thread::yield_now();
    }
}

fn lacks_firefox() -> bool {
    let found = comity_browser::Browser::program(&comity_browser::BrowserOptions::new(""));
    let is_lacking = found.is_err() && std::env::var_os("CI").is_none();
    if is_lacking {
        comity_skip::skip("tabs", "there is no Firefox; on Debian: apt-get install firefox-esr");
    }
    is_lacking
}

#[test]
fn an_idle_tab_is_taken_back_for_who_has_none_and_waits_for_long() {
    if lacks_firefox() {
        return;
    }
    let place = Place::new();
    let browsing = Browsing::start(&place, 3);
    let app = &browsing.app;
    let [ann, bob, cid, dan] = ["ann", "bob", "cid", "dan"].map(|name| app.join(name));
    let tabs: Vec<u64> = (0..3).map(|_| browsing.opens(ann)).collect();
    let asking = app.clone();
    let waiting = std::thread::spawn(move || asking.ask(bob, "tab_open", json!({ "wait": "30m" })));
    eventually("bob waits", || browsing.waiting() == 1);
    // Only one of hers is in use all the time.
    for _ in 0..RECLAIM_IDLE.0 / RECLAIM_AFTER.0 - 1 {
        app.pass(RECLAIM_AFTER);
        app.ask(ann, "tab_read", json!({ "tabId": tabs[0] })).expect("hers");
    }
    // Whoever joins the queue makes it look, and nothing is idle for long enough yet.
    app.ask(cid, "tab_request", json!({})).expect("a place");
    app.ask(ann, "tab_read", json!({ "tabId": tabs[0] })).expect("hers");
    assert_eq!(browsing.tabs_of(ann), tabs, "nothing was taken too early");
    app.pass(RECLAIM_AFTER);
    app.ask(dan, "tab_request", json!({})).expect("a place");
    eventually("bob is served", || browsing.tabs_of(bob).len() == 1);
    let opened: Value = waiting.join().expect("no panic").expect("a tab in the end");
    assert_eq!(browsing.tabs_of(bob), [opened["tabId"].as_u64().expect("a number")]);
    // Cid has waited for a minute, too. Dan has not, and what is in use is not taken from anybody.
    eventually("both idle ones are taken back", || browsing.tabs_of(ann) == tabs[..1]);
}
