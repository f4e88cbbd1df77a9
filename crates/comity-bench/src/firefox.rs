//! Servers with a Firefox each. It outlives a server that is killed, so it is ended after it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_browser::{Browser, BrowserOptions, Container, Tab};
use serde_json::json;
use serde_json::value::RawValue;

use super::bench_env::BenchEnv;
use super::server::{BenchAgent, BenchServer, input};

/// How long Firefox may take to start or to answer, on a machine that is busy.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(120);

/// The profile's directory, below the state directory of a server.
const PROFILE: &str = "firefox";

/// A server whose agents have tabs.
pub(super) struct Browsing {
    // Before its Firefox, which it would start again.
    server: BenchServer,
    firefox: Firefox,
}

/// An agent with a tab, and a connection of its own.
pub(super) struct Surfer {
    agent: BenchAgent,
    pub(super) tab: u64,
}

/// A Firefox whose server is gone: nothing is between it and who holds this.
pub(super) struct Bare {
    // Before its Firefox, which it is connected to.
    _browser: Browser,
    _firefox: Firefox,
    pub(super) tab: Tab,
}

/// The Firefox of a profile, whoever started it; it ends with the value.
struct Firefox {
    profile: PathBuf,
}

impl Browsing {
    /// Starts a server; its Firefox starts with the first tab.
    pub(super) fn start(stage: &BenchEnv, name: &str) -> Result<Browsing, String> {
        let server = BenchServer::start(stage, name)?;
        let firefox = Firefox { profile: server.home().path().join(PROFILE) };
        Ok(Browsing { server, firefox })
    }

    /// Lets an agent join and open a page.
    pub(super) fn open(&self, name: &str, url: &str) -> Result<Surfer, String> {
        let mut agent = self.server.join(name)?;
        agent.be_patient(ANSWER_MAX)?;
        let opened = agent.ask("tab_open", &input(&json!({ "url": url }))?)?;
        let opened: serde_json::Value =
            serde_json::from_str(opened.get()).map_err(|error| error.to_string())?;
        match (opened["tabId"].as_u64(), opened["problem"].as_str()) {
            (Some(tab), None) => Ok(Surfer { agent, tab }),
            (_, problem) => Err(format!("no tab was opened: {}", problem.unwrap_or_default())),
        }
    }

    /// The process of its Firefox.
    pub(super) fn process(&self) -> Result<u32, String> {
        let record = self.firefox.profile.join("comity-firefox.json");
        let text = std::fs::read_to_string(record).map_err(|error| error.to_string())?;
        let record: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let pid = record["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        pid.ok_or_else(|| "Firefox is not written down in its profile".to_owned())
    }

    /// Kills the server and takes over its Firefox, with the tab of the only agent.
    pub(super) fn bare(self) -> Result<Bare, String> {
        let Browsing { server, firefox } = self;
        drop(server);
        let describe = |error: comity_browser::BrowserError| error.to_string();
        let browser =
            Browser::attach_or_start(BrowserOptions::new(&firefox.profile), |_| {}).map_err(describe)?;
        let tabs = browser.tabs(ANSWER_MAX).map_err(describe)?;
        let of_agent = tabs.iter().find(|tab| tab.container != Container::common());
        let of_agent = of_agent.ok_or("the Firefox of a killed server has lost its tab")?;
        let tab = browser.tab(&of_agent.id).map_err(describe)?;
        Ok(Bare { _browser: browser, _firefox: firefox, tab })
    }
}

impl Surfer {
    /// Asks, and expects no refusal.
    pub(super) fn ask(&mut self, op: &str, input: &RawValue) -> Result<&RawValue, String> {
        self.agent.ask(op, input)
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        Browser::end_left(&self.profile);
    }
}

/// Ends each Firefox of the servers whose state directories are in this one.
pub(super) fn end_all(dir: &Path) {
    let homes = std::fs::read_dir(dir).into_iter().flatten().flatten();
    homes.for_each(|home| Browser::end_left(&home.path().join(PROFILE)));
}
