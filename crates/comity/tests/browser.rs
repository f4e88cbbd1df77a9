//! The shared browser, end to end: a real Firefox, several agents, and everything that can go wrong between them.

#[path = "browser/crowd.rs"]
mod crowd;
#[path = "browser/downloads.rs"]
mod downloads;
#[path = "browser/handover.rs"]
mod handover;
#[path = "browser/hostile.rs"]
mod hostile;
#[path = "browser/kills.rs"]
mod kills;
#[path = "browser/owners.rs"]
mod owners;
#[path = "browser/pages.rs"]
mod pages;
#[path = "browser/planning.rs"]
mod planning;
#[path = "browser/queue.rs"]
mod queue;
#[path = "browser/rights.rs"]
mod rights;
#[path = "browser/secrets.rs"]
mod secrets;
#[path = "browser/strangers.rs"]
mod strangers;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[path = "browser/trouble.rs"]
mod trouble;
#[path = "browser/words.rs"]
mod words;

use serde_json::{Value, json};
use support::wire::{No, Wire};
use support::{Agent, Place};

/// A place with so many tabs, where pages can be written into addresses.
fn place(tabs: usize) -> Place {
    let place = Place::with(&[("COMITY_DISCONNECT_GRACE", "100ms")]);
    place.set(&format!("[browser]\ntabs = {tabs}\nschemes = [\"data\", \"about:blank\", \"http\"]\n"));
    place
}

/// A page of one colour, with its name on it.
fn page(name: &str, colour: &str) -> String {
    format!(
        "data:text/html,<title>{name}</title><body style=\"background:{colour}\"><h1>{name}</h1><input id=q>"
    )
}

/// An agent that asks the server over its socket.
struct Asker<'a> {
    place: &'a Place,
    agent: Agent,
}

impl<'a> Asker<'a> {
    fn joins(place: &'a Place, name: &str) -> Asker<'a> {
        Asker { place, agent: place.join(&[name]) }
    }

    fn ask(&self, op: &str, input: Value) -> Result<Value, Value> {
        match Wire::connect(self.place).asking_as(&self.agent).ask(op, input) {
            Ok(output) => Ok(output),
            Err(No::Refused(error)) => Err(error),
            Err(No::Broken(error)) => panic!("{op}: {error}"),
        }
    }

    #[track_caller]
    fn get(&self, op: &str, input: Value) -> Value {
        self.ask(op, input.clone()).unwrap_or_else(|error| panic!("{op} {input}: {error}"))
    }

    /// Opens a tab; gives its number.
    fn opens(&self, url: &str) -> u64 {
        self.get("tab_open", json!({ "url": url }))["tabId"].as_u64().expect("a tab")
    }

    fn title(&self, tab: u64) -> String {
        self.get("tab_evaluate", json!({ "tabId": tab, "script": "document.title" }))["value"]
            .as_str()
            .expect("a title")
            .to_owned()
    }
}

/// The tabs that there are: numbers and owners.
fn tabs(place: &Place) -> Vec<(u64, String)> {
    let list = place.json(&["tab", "list"]);
    let tab = |tab: &Value| Some((tab["tabId"].as_u64()?, tab["owner"].as_str()?.to_owned()));
    list["tabs"].as_array().expect("tabs").iter().filter_map(tab).collect()
}

/// The process of Firefox, as its driver has written it down.
fn firefox(place: &Place) -> Option<u32> {
    let text = std::fs::read_to_string(place.home.join("firefox/comity-firefox.json")).ok()?;
    let recorded: Value = serde_json::from_str(&text).ok()?;
    u32::try_from(recorded["pid"].as_u64()?).ok()
}

/// How many tabs of agents Firefox really has: asked once the server is dead, over a connection of our own.
fn really_open(place: &Place) -> usize {
    let options = comity_browser::BrowserOptions::new(place.home.join("firefox"));
    let browser = comity_browser::Browser::attach_or_start(options, |_| {}).expect("a browser");
    assert!(browser.is_attached(), "the one that was left");
    let tabs = browser.tabs(support::PATIENCE).expect("tabs");
    tabs.iter().filter(|tab| tab.container != comity_browser::Container::common()).count()
}
