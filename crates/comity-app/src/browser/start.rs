//! Starting the browser, or taking over the one that an earlier server left.

use std::collections::HashSet;
use std::sync::Arc;

use comity_browser::policy::{Loopback, Policy};
use comity_browser::{Browser, BrowserError, BrowserOptions, Display, FIREFOX_NAMES};
use comity_core::pools::{Slot, TabLocation};

use super::running::{CookieJar, RunningBrowser, wanted};
use super::{BrowserPhase, BrowserService, lock};
use crate::application::Application;
use crate::config::BrowserConfig;
use crate::planted_panic::panic_at;

/// The largest setting.
const TABS_LIMIT: usize = 100;
/// The profile's directory, below the state directory.
const PROFILE: &str = "firefox";

impl BrowserService {
    /// Starts the browser on a thread of its own, and tells those who wait.
    pub(super) fn start(&self, app: &Application) -> Result<(), BrowserError> {
        if app.engine().feed().is_stopped() {
            // Nobody would end it.
            return Err(BrowserError::NotStarted { why: "the server stops".into() });
        }
        let app = app.clone();
        let thread = std::thread::Builder::new().name("browser-start".into());
        let started = thread.spawn(move || {
            panic_at("browser-start");
            let begun = begin(&app);
            let service = app.browser();
            *lock(&service.phase) = match begun {
                Ok(running) => BrowserPhase::On(Arc::new(running)),
                Err(error) => BrowserPhase::Failed(error),
            };
            service.moved.notify_all();
        });
        started
            .map(drop)
            .map_err(|error| BrowserError::NotStarted { why: format!("no thread for it: {error}") })
    }
}

fn begin(app: &Application) -> Result<RunningBrowser, BrowserError> {
    let listening = app.clone();
    let options = options(app, &app.config().browser)?;
    let browser = Browser::attach_or_start(options, move |notice| {
        panic_at("firefox reader");
        listening.browser().happened(notice);
    })?;
    let running = RunningBrowser::of(browser);
    if running.browser.is_attached() {
        take_over(app, &running)?;
    }
    Ok(running)
}

/// Finds the world's tabs in a browser that ran before, and closes those that are nobody's.
fn take_over(app: &Application, running: &RunningBrowser) -> Result<(), BrowserError> {
    let wanted = wanted(&app.engine().world());
    running.adopt(app, &wanted)?;
    let used: HashSet<&str> = wanted.iter().filter_map(|slot| Some(&*slot.at.as_ref()?.container)).collect();
    for container in running.browser.containers(super::running::PATIENCE)? {
        let is_common = container == comity_browser::Container::common();
        if !is_common && !used.contains(container.0.as_str()) {
            running.browser.remove_container(&container, super::running::PATIENCE)?;
        }
    }
    for slot in &wanted {
        if let Some(at) = &slot.at {
            running.remember_jar(jar(slot, at, &wanted), &at.container);
        }
    }
    Ok(())
}

/// Whose cookies are in a slot's container. A handed over tab is in the container of whoever opened it: if that
/// cannot be told, nobody gets the container, so that nobody's new tabs have somebody else's cookies.
fn jar(slot: &Slot, at: &TabLocation, wanted: &[Slot]) -> CookieJar {
    let is_own = wanted.iter().all(|other| {
        let there = other.at.as_ref().filter(|there| there.context.is_none());
        there.is_none_or(|there| (other.owner == slot.owner) == (there.container == at.container))
    });
    match (&at.context, is_own) {
        (Some(name), _) => CookieJar::Named(name.clone()),
        (None, true) => CookieJar::Of(slot.owner),
        (None, false) => CookieJar::Left(at.container.clone()),
    }
}

fn options(app: &Application, config: &BrowserConfig) -> Result<BrowserOptions, BrowserError> {
    let policy = policy(config)?;
    Ok(BrowserOptions {
        path: config.path.clone().or_else(|| FIREFOX_NAMES.into_iter().find_map(comity_git::find_program)),
        display: if config.visible { Display::Visible } else { Display::Headless },
        policy,
        download_bytes_max: (config.downloads != Some(false)).then_some(super::downloads::FILE_BYTES_MAX),
        ..BrowserOptions::new(app.home().join(PROFILE))
    })
}

/// Reports errors in the browser's settings.
pub(crate) fn check(config: &BrowserConfig) -> Result<(), String> {
    if let Some(tabs) = config.tabs.filter(|tabs| !(1..=TABS_LIMIT).contains(tabs)) {
        return Err(format!("settings: browser.tabs is {tabs}; give a number from 1 to {TABS_LIMIT}"));
    }
    policy(config).map(drop).map_err(|error| format!("settings: browser: {error}"))
}

pub(super) fn policy(config: &BrowserConfig) -> Result<Policy, BrowserError> {
    let mut policy = Policy::new(&config.allow, &config.deny)?;
    if !config.schemes.is_empty() {
        policy = policy.with_schemes(&config.schemes);
    }
    if config.loopback == Some(false) {
        policy = policy.with_loopback(Loopback::ByRule);
    }
    Ok(policy)
}

/// Whether an earlier server may have left a browser.
pub(super) fn was_left(app: &Application) -> bool {
    app.home().join(PROFILE).is_dir()
}

/// Ends a browser that an earlier server left and nobody needs.
pub(super) fn end_left(app: &Application) {
    Browser::end_left(&app.home().join(PROFILE));
}
