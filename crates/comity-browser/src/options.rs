//! How the browser is run.

use std::path::PathBuf;
use std::time::Duration;

use crate::policy::Policy;

/// How long Firefox may take from its start until it can be used.
const START: Duration = Duration::from_secs(60);

/// Whether people see the window.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Display {
    #[default]
    Headless,
    Visible,
}

/// How the browser is run.
#[derive(Clone, Debug)]
pub struct BrowserOptions {
    /// The program; by default `firefox-esr` or `firefox` on the PATH.
    pub path: Option<PathBuf>,
    /// The private directory of the profile, created if missing.
    pub profile: PathBuf,
    pub display: Display,
    pub policy: Policy,
    /// Bytes of one download; `None` allows no downloads.
    pub download_bytes_max: Option<u64>,
    /// How long Firefox may take until it can be used.
    pub start_timeout: Duration,
}

impl BrowserOptions {
    /// Headless, with this profile and the default policy.
    pub fn new(profile: impl Into<PathBuf>) -> BrowserOptions {
        BrowserOptions {
            path: None,
            profile: profile.into(),
            display: Display::default(),
            policy: Policy::default(),
            download_bytes_max: None,
            start_timeout: START,
        }
    }
}
