//! A Firefox and a web server for one test, both gone when the test ends, however it ends.

pub(crate) mod server;

use comity_skip::skip;
use std::sync::mpsc;
use std::time::Duration;

use comity_browser::{Browser, BrowserEvent, BrowserOptions, FirefoxProcess};

/// How long anything may take on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A Firefox with a profile of its own.
pub(crate) struct Stage {
    browser: Option<Browser>,
    pub(crate) notices: mpsc::Receiver<BrowserEvent>,
    pub(crate) profile: tempfile::TempDir,
    processes: Vec<FirefoxProcess>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage::with_settings("")
    }

    /// With these settings besides those of the driver.
    pub(crate) fn with_settings(settings: &str) -> Stage {
        let profile = tempfile::tempdir().unwrap();
        std::fs::write(profile.path().join("prefs.js"), settings).unwrap();
        let (browser, notices) = start(profile.path());
        Stage { processes: vec![browser.process()], browser: Some(browser), notices, profile }
    }

    pub(crate) fn browser(&self) -> &Browser {
        self.browser.as_ref().unwrap()
    }

    /// Lets go of the browser and gets hold of one again.
    pub(crate) fn again(&mut self) {
        drop(self.browser.take());
        let (browser, notices) = start(self.profile.path());
        self.processes.push(browser.process());
        self.browser = Some(browser);
        self.notices = notices;
    }

    /// Waits for a notice that fits.
    pub(crate) fn notice(&self, fits: impl Fn(&BrowserEvent) -> bool) -> BrowserEvent {
        loop {
            let notice = self.notices.recv_timeout(LONG).expect("the notice comes");
            if fits(&notice) {
                return notice;
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(browser) = self.browser.take() {
            browser.close();
        }
        for process in &self.processes {
            kill(process);
        }
    }
}

/// Ends exactly this process.
pub(crate) fn kill(process: &FirefoxProcess) {
    let pid = i32::try_from(process.pid).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid.filter(|_| process.is_alive()) {
        let _already_gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

pub(crate) fn start(profile: &std::path::Path) -> (Browser, mpsc::Receiver<BrowserEvent>) {
    let (tell, notices) = mpsc::channel();
    let told = move |notice| {
        let _nobody_listens = tell.send(notice);
    };
    let browser = Browser::attach_or_start(BrowserOptions::new(profile), told);
    (browser.unwrap_or_else(|error| panic!("{error}")), notices)
}

/// Whether a test has to be left out because there is no Firefox. Where the landing check runs there has to be one.
pub(crate) fn lacks_firefox(test: &str) -> bool {
    let has =
        |dir: std::path::PathBuf| ["firefox-esr", "firefox"].iter().any(|name| dir.join(name).is_file());
    let on_path = std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(has));
    let is_there = on_path || std::env::var_os("CI").is_some();
    if !is_there {
        skip(test, "there is no Firefox; on Debian: apt-get install firefox-esr");
    }
    !is_there
}
