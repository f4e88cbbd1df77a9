//! The browser driver: one Firefox over WebDriver BiDi, its containers and its tabs.
//!
//! One thread reads from Firefox; callers write, and each waits for its own answer with its own timeout. What acts on a
//! tab is done one after another, what only reads is not held up, and no tab waits for another. Firefox outlives its
//! client: who comes next attaches to it and finds all tabs and containers. Knows nothing of agents and pools.

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

pub use activity::{ConsoleLine, Outcome, Request};
pub use browser::{Browser, TabInfo};
pub use error::{BrowserError, Result};
pub use firefox::process::Process;
pub use firefox::program::find_firefox;
pub use ids::{Container, TabId};
pub use keys::Modifier;
pub use notice::{Dialog, Download, Downloaded, Notice};
pub use options::{Display, Options};
pub use tab::act::{Acted, Button, Click, Typing};
pub use tab::evaluate::{Evaluated, Realm};
pub use tab::navigate::{Navigated, Until};
pub use tab::read::{Content, Element, ElementBox};
pub use tab::screenshot::{Area, Format, Screenshot, ScreenshotOptions};
pub use tab::scroll::{Scroll, Scrolled};
pub use tab::wait::Condition;
pub use tab::{Tab, Target, Viewport};
