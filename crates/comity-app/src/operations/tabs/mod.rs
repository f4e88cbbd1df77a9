//! Tabs of the shared browser: open, read, act, close, ask for space.
//!
//! Every command names its tab, which belongs to its owner alone; those it is shared with may look.

mod admit;
mod capture;
mod click;
mod close;
mod console;
mod dialog;
mod downloads;
mod element;
mod evaluate;
mod grant;
mod hand_over;
mod list;
mod navigate;
mod network;
mod open;
mod press;
mod read;
mod request;
mod requests;
mod scroll;
mod share;
mod state;
mod type_into;
mod unshare;
mod wait_for;

use std::fmt;
use std::time::{Duration, Instant};

use comity_browser::{Acted, BrowserError, ElementTarget, Tab};
use comity_core::calls;
use comity_core::pools::{SlotId, TabUse as Use, check_owner, check_use};
use comity_core::{Principal, Refusal, World};

use crate::browser::{failure, in_a_line, in_words, quote};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Failure, JsonSchema, Serialize};

use crate::catalog::{CatalogEntry, DELETE, GET, Group, POST};
pub use admit::AdmitToContext;
pub use capture::CaptureTab;
pub use click::ClickTab;
pub use close::CloseTab;
pub use console::TabConsole;
pub use dialog::AnswerDialog;
pub use downloads::TabDownloads;
pub use element::TabElement;
pub use evaluate::EvaluateInTab;
pub use grant::GrantTabSpace;
pub use hand_over::HandOverTab;
pub use list::ListTabs;
pub use navigate::NavigateTab;
pub use network::TabNetwork;
pub use open::OpenTab;
pub use press::PressKey;
pub use read::ReadTab;
pub use request::RequestTabSpace;
pub use requests::TabRequests;
pub use scroll::ScrollTab;
pub use share::ShareTab;
pub use state::TabState;
pub use type_into::TypeIntoTab;
pub use unshare::UnshareTab;
pub use wait_for::WaitForTab;

pub(crate) const GROUPS: &[Group] = &[("tab", "Tabs of the shared browser")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<OpenTab>(        calls::TAB_OPEN,       "tab open <url>",                 POST,   "/api/tabs")                   .changes().for_browsing().tool("firefox_create_window").waits().structured().examples(&["tab open http://localhost:3000"]),
    CatalogEntry::of::<CloseTab>(       "tab_close",      "tab close <tabId>",              DELETE, "/api/tabs/{tabId}")           .removes().for_browsing().tool("firefox_close_tab").also(&["tab rm"]),
    CatalogEntry::of::<ListTabs>(       "tab_list",       "tab list",                       GET,    "/api/tabs")                   .for_browsing().long().tool("firefox_get_tabs").structured().also(&["tab ls"]),
    CatalogEntry::of::<NavigateTab>(    "tab_navigate",   "tab navigate <tabId> <url>",     POST,   "/api/tabs/{tabId}/navigate")  .acts().for_browsing().long().tool("firefox_navigate"),
    CatalogEntry::of::<ReadTab>(        "tab_read",       "tab read <tabId>",               GET,    "/api/tabs/{tabId}/content")   .for_browsing().long().tool("firefox_get_content"),
    CatalogEntry::of::<TabState>(       "tab_state",      "tab state <tabId>",              GET,    "/api/tabs/{tabId}/state")     .for_browsing().long().tool("firefox_get_page_state"),
    CatalogEntry::of::<TabElement>(     "tab_element",    "tab element <tabId> <selector>", GET,    "/api/tabs/{tabId}/element")   .for_browsing().long().tool("firefox_get_element"),
    CatalogEntry::of::<ClickTab>(       "tab_click",      "tab click <tabId> <selector>",   POST,   "/api/tabs/{tabId}/click")     .acts().for_browsing().long().tool("firefox_click"),
    CatalogEntry::of::<TypeIntoTab>(    "tab_type",       "tab type <tabId> <text>",        POST,   "/api/tabs/{tabId}/type")      .acts().for_browsing().long().tool("firefox_type"),
    CatalogEntry::of::<PressKey>(       "tab_press",      "tab press <tabId> <key>",        POST,   "/api/tabs/{tabId}/press")     .acts().for_browsing().long().tool("firefox_press_key"),
    CatalogEntry::of::<ScrollTab>(      "tab_scroll",     "tab scroll <tabId>",             POST,   "/api/tabs/{tabId}/scroll")    .acts().for_browsing().long().tool("firefox_scroll"),
    CatalogEntry::of::<WaitForTab>(     "tab_wait",       "tab wait <tabId>",               POST,   "/api/tabs/{tabId}/wait")      .for_browsing().long().tool("firefox_wait_for"),
    CatalogEntry::of::<CaptureTab>(     "tab_screenshot", "tab screenshot <tabId>",         GET,    "/api/tabs/{tabId}/screenshot").for_browsing().long().tool("firefox_screenshot").image(),
    CatalogEntry::of::<EvaluateInTab>(  "tab_evaluate",   "tab evaluate <tabId> <script>",  POST,   "/api/tabs/{tabId}/evaluate")  .acts().for_browsing().long().tool("firefox_evaluate"),
    CatalogEntry::of::<TabConsole>(     "tab_console",    "tab console <tabId>",            GET,    "/api/tabs/{tabId}/console")   .for_browsing().long().tool("firefox_get_console"),
    CatalogEntry::of::<TabNetwork>(     "tab_network",    "tab network <tabId>",            GET,    "/api/tabs/{tabId}/network")   .for_browsing().long().tool("firefox_get_network"),
    CatalogEntry::of::<TabDownloads>(   "tab_downloads",  "tab downloads <number>",         GET,    "/api/downloads")              .for_browsing().long().tool("firefox_get_downloads"),
    CatalogEntry::of::<AnswerDialog>(   "tab_dialog",     "tab dialog <tabId>",             POST,   "/api/tabs/{tabId}/dialog")    .acts().for_browsing().long().tool("firefox_dialog"),
    CatalogEntry::of::<RequestTabSpace>(calls::TAB_REQUEST,    "tab request",                    POST,   "/api/tabs/requests")          .changes().for_browsing().tool("firefox_request_tab_space").structured(),
    CatalogEntry::of::<GrantTabSpace>(  "tab_grant",      "tab grant",                      POST,   "/api/tabs/grant")             .removes().for_browsing().tool("firefox_grant_tab_space").structured(),
    CatalogEntry::of::<TabRequests>(    "tab_requests",   "tab requests",                   GET,    "/api/tabs/requests")          .for_browsing().tool("firefox_get_slot_requests").structured(),
    CatalogEntry::of::<HandOverTab>(    "tab_handover",   "tab handover <tabId>",           POST,   "/api/tabs/{tabId}/handover")  .changes().long().tool("firefox_hand_over_tab"),
    CatalogEntry::of::<ShareTab>(       "tab_share",      "tab share <tabId>",              POST,   "/api/tabs/{tabId}/share")     .changes().tool("firefox_share_tab"),
    CatalogEntry::of::<AdmitToContext>( calls::TAB_ADMIT, "tab admit <context>",            POST,   "/api/contexts/admit")         .changes().tool("firefox_share_context"),
    CatalogEntry::of::<UnshareTab>(     "tab_unshare",    "tab unshare <tabId>",            POST,   "/api/tabs/{tabId}/unshare")   .changes().tool("firefox_unshare_tab"),
];

/// The default.
const TIMEOUT_MS: u64 = 150_000;
const TIMEOUT_MS_RANGE: std::ops::RangeInclusive<u64> = 5_000..=300_000;

struct TabCommand<'a> {
    app: &'a Application,
    caller: &'a Caller,
    tab: u64,
    timeout: Option<u64>,
}

/// The result of a command.
struct TabResult<T> {
    value: T,
    /// Where the tab is afterwards.
    url: String,
}

/// What came of an act in a tab.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabActed {
    pub tab_id: u64,
    pub done: String,
    pub url: String,
    /// The dialog that the page shows now, and that has to be answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<String>,
    /// What happened besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What happened to a tab.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabMoved {
    pub tab_id: u64,
    pub done: &'static str,
    pub whom: String,
    /// Your other tabs that have the same cookies as the one that you gave away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares_cookies_with: Vec<u64>,
}

impl fmt::Display for TabMoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tab {} is {} {}", self.tab_id, self.done, self.whom)?;
        if self.shares_cookies_with.is_empty() {
            return Ok(());
        }
        let tabs: Vec<SlotId> = self.shares_cookies_with.iter().copied().map(SlotId).collect();
        write!(
            f,
            "\nyour {} {} the same cookies: what you log into there is {}'s, too, until you close it; new tabs of yours have \
             cookies of their own",
            in_words(&tabs),
            if tabs.len() == 1 { "has" } else { "have" },
            self.whom
        )
    }
}

impl TabCommand<'_> {
    /// Runs a command, if the caller may.
    fn run<T>(
        &self,
        how: Use,
        verb: &'static str,
        act: impl FnOnce(&Tab, Duration) -> Result<T, BrowserError>,
    ) -> Result<TabResult<T>, Failure> {
        let (begun, timeout) = (Instant::now(), timeout(self.timeout)?);
        let slot = SlotId(self.tab);
        self.may_now(how, verb)?;
        let service = self.app.browser();
        service.touch(self.app, slot);
        let tab = service.tab(self.app, slot, timeout)?;
        // Starting Firefox, and waiting for one's turn, take long enough for the tab to change owners.
        self.may_now(how, verb)?;
        let (app, caller) = (self.app.clone(), self.caller.clone());
        let permitted = tab.while_permitted(move || {
            let command = TabCommand { app: &app, caller: &caller, tab: slot.0, timeout: None };
            command.may_now(how, verb).is_ok()
        });
        let result = act(&permitted, timeout.saturating_sub(begun.elapsed()));
        service.settled(self.app, slot, &tab);
        if matches!(result, Err(BrowserError::Revoked)) {
            self.may_now(how, verb)?;
        }
        self.may_be_told(how, verb)?;
        let value = result.map_err(|error| self.with_remarks(failure(error)))?;
        Ok(TabResult { value, url: in_a_line(&tab.url()) })
    }

    /// The result is told only to a caller that may still look at the tab afterwards.
    fn may_be_told(&self, how: Use, verb: &str) -> Result<(), Failure> {
        let Err(refusal) = self.may_now(Use::Looks, verb) else { return Ok(()) };
        Err(match how {
            Use::Looks => refusal.into(),
            Use::Steers | Use::Acts => {
                let problem = format!("{refusal}; what you asked for was begun before that");
                Refusal::Driver { code: refusal.code(), problem, hint: refusal.hint() }.into()
            }
        })
    }

    /// Pending remarks for the owner, once: for commands that show them.
    fn remarks(&self) -> Vec<String> {
        let slot = SlotId(self.tab);
        let is_owner = check_owner(&self.app.engine().world(), self.caller.who, slot, "read").is_ok();
        if is_owner { self.app.browser().take_remarks(slot) } else { Vec::new() }
    }

    /// Adds the remarks, which may explain the failure.
    fn with_remarks(&self, failure: Failure) -> Failure {
        match failure {
            // A dialog announces itself.
            Failure::Refused(Refusal::Driver { code, problem, hint }) if code != "dialog" => {
                let problem = [vec![problem], self.remarks()].concat().join("; ");
                Failure::Refused(Refusal::Driver { code, problem, hint })
            }
            other => other,
        }
    }

    /// Runs an act, and reports the result.
    fn act(
        &self,
        how: Use,
        verb: &'static str,
        done: String,
        act: impl FnOnce(&Tab, Duration) -> Result<Acted, BrowserError>,
    ) -> Result<TabActed, Failure> {
        let TabResult { value, url } = self.run(how, verb, act)?;
        let remarks = self.remarks();
        let dialog = value.dialog.map(|dialog| format!("{}: {}", dialog.kind, in_a_line(&dialog.message)));
        Ok(TabActed { tab_id: self.tab, done, url, dialog, remarks })
    }

    fn may_now(&self, how: Use, verb: &str) -> Result<(), Refusal> {
        self.may(&self.app.engine().world(), how, verb)
    }

    fn may(&self, world: &World, how: Use, verb: &str) -> Result<(), Refusal> {
        let (who, slot) = (self.caller.who, SlotId(self.tab));
        if world.pools.slot(slot).is_none_or(|(pool, _)| pool.name.as_ref() != crate::browser::TABS) {
            let hint = format!("see your tabs with: {}", next_call::<ListTabs>([]));
            return Err(Refusal::NotFound { problem: format!("there is no tab {slot}"), hint });
        }
        if world.pools.slot(slot).is_some_and(|(_, slot)| slot.owner != who) {
            self.caller.check_presence("use another's tab")?;
        }
        check_use(world, who, slot, how, verb).map(drop)
    }
}

fn timeout(asked: Option<u64>) -> Result<Duration, Failure> {
    let ms = asked.unwrap_or(TIMEOUT_MS);
    if TIMEOUT_MS_RANGE.contains(&ms) {
        return Ok(Duration::from_millis(ms));
    }
    let (from, to) = (TIMEOUT_MS_RANGE.start(), TIMEOUT_MS_RANGE.end());
    Err(Refusal::bad_input(format!("a timeout has {from} to {to} ms"), "leave it out for 150000").into())
}

/// An element, by a reference of the page state or by a selector.
fn target(text: &str) -> ElementTarget {
    let is_reference = text
        .strip_prefix('e')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_reference { ElementTarget::Ref(text.to_owned()) } else { ElementTarget::Css(text.to_owned()) }
}

/// Whom a tab is given to or shared with.
fn somebody(world: &World, name: &str) -> Result<Principal, Refusal> {
    match name {
        "human" => Ok(Principal::Human),
        name => Ok(Principal::Agent(world.agents.find(name)?.id)),
    }
}

/// A reason as it is stored.
fn stored(text: Option<String>) -> Option<Box<str>> {
    text.filter(|text| !text.trim().is_empty()).map(|text| comity_core::redact::redact(text.trim()).into())
}

fn write_remarks(f: &mut fmt::Formatter<'_>, remarks: &[String]) -> fmt::Result {
    remarks.iter().try_for_each(|remark| write!(f, "\n{remark}"))
}

impl fmt::Display for TabActed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in tab {}, which is at {}", self.done, self.tab_id, quote(&self.url))?;
        if let Some(dialog) = &self.dialog {
            let dialog = quote(dialog);
            write!(
                f,
                "\nthe page shows a dialog ({dialog}): answer it with: {}",
                next_call::<AnswerDialog>([("tabId", self.tab_id.into())])
            )?;
        }
        write_remarks(f, &self.remarks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_bounds() {
        assert_eq!(timeout(None).expect("the default"), Duration::from_millis(150_000));
        assert_eq!(timeout(Some(5_000)).expect("the least"), Duration::from_secs(5));
        assert!(timeout(Some(4_999)).is_err() && timeout(Some(300_001)).is_err());
    }

    #[test]
    fn references_are_told_from_selectors() {
        assert_eq!(target("e12"), ElementTarget::Ref("e12".into()));
        for css in ["e", "em", "e1 > b", "#e12", ".e1"] {
            assert_eq!(target(css), ElementTarget::Css(css.into()));
        }
    }
}
