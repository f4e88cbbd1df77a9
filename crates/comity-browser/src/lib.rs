//! The browser driver: one Firefox over WebDriver BiDi, its containers and its tabs.
//!
//! One thread reads from Firefox; callers write, and each waits for its own answer with its own timeout. Acts on a
//! tab run one after another, reads are not held up, and no tab waits for another. Firefox outlives its client: the
//! next one attaches to it and finds all tabs and containers. Knows nothing of agents and pools.

mod activity;
pub mod adopt;
mod browser;
mod connection;
mod deadline;
mod error;
mod events;
mod firefox;
mod ids;
mod keys;
mod launch;
mod lease;
mod notice;
mod options;
pub mod page;
mod picture;
pub mod policy;
mod remote_value;
mod shared;
mod socket;
mod tab;
mod tab_state;
mod turn;

pub use activity::{ConsoleLine, NetworkRequest, RequestOutcome};
pub use browser::{Browser, TabInfo};
pub use error::{BrowserError, Result};
pub use firefox::process::FirefoxProcess;
pub use firefox::program::{NAMES as FIREFOX_NAMES, find_firefox};
pub use ids::{Container, TabId};
pub use keys::Modifier;
pub use notice::{BrowserEvent, Dialog, Download, Downloaded};
pub use options::{BrowserOptions, Display};
pub use tab::act::{Acted, Button, Click, Typing};
pub use tab::evaluate::{Evaluated, Realm};
pub use tab::navigate::{Navigated, Until};
pub use tab::read::{Element, ElementBox, ReadText};
pub use tab::screenshot::{Area, Format, Screenshot, ScreenshotOptions};
pub use tab::scroll::{Scroll, Scrolled};
pub use tab::wait::Condition;
pub use tab::{ElementTarget, Tab, Viewport};
