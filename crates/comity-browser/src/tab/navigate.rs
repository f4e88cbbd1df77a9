//! Going to addresses, back, forward, and reloading.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Tab;
use super::wait::Condition;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::events::EMPTY;
use crate::policy::LoadKind;
use crate::tab_state::TabRecord;

/// How long to wait for a navigation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Until {
    Begun,
    /// Until the document can be read.
    Interactive,
    #[default]
    Complete,
}

impl Until {
    fn code(self) -> &'static str {
        match self {
            Until::Begun => "none",
            Until::Interactive => "interactive",
            Until::Complete => "complete",
        }
    }
}

/// Where a navigation led to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Navigated {
    /// After all redirections.
    pub url: String,
}

#[derive(Deserialize)]
struct NavigationReply {
    url: String,
}

/// How long a page may take to begin to change after it was told to go back or forward.
const TRAVERSE: Duration = Duration::from_secs(5);

/// While this lives the tab goes where we send it, and that may be an empty page.
struct NavigationSent<'a>(&'a TabRecord);

impl NavigationSent<'_> {
    fn begin(state: &TabRecord) -> NavigationSent<'_> {
        state.change(|live| live.is_sent = true);
        NavigationSent(state)
    }
}

impl Drop for NavigationSent<'_> {
    fn drop(&mut self) {
        self.0.change(|live| live.is_sent = false);
    }
}

impl Tab {
    /// Navigates to an address.
    pub fn navigate(&self, url: &str, until: Until, timeout: Duration) -> Result<Navigated> {
        self.shared.policy().check(url, LoadKind::Page)?;
        let params = json!({ "context": self.state.id.0, "url": absolute(url), "wait": until.code() });
        self.go("browsingContext.navigate", params, url, timeout)
    }

    /// Loads the page again.
    pub fn reload(&self, until: Until, timeout: Duration) -> Result<Navigated> {
        let params = json!({ "context": self.state.id.0, "wait": until.code() });
        self.go("browsingContext.reload", params, &self.url(), timeout)
    }

    /// Goes back.
    pub fn back(&self, timeout: Duration) -> Result<Navigated> {
        self.traverse(-1, timeout)
    }

    /// Goes forward.
    pub fn forward(&self, timeout: Duration) -> Result<Navigated> {
        self.traverse(1, timeout)
    }

    fn go(&self, method: &str, params: Value, url: &str, timeout: Duration) -> Result<Navigated> {
        let deadline = Deadline::after(timeout);
        let _acting = self.begin_to_act(&deadline)?;
        self.state.change(|live| live.blocked = None);
        let _sent = (url == EMPTY).then(|| NavigationSent::begin(&self.state));
        let went: Result<NavigationReply> = self.call(method, params, self.about_page(), &deadline);
        match went {
            Ok(went) => Ok(Navigated { url: went.url }),
            Err(BrowserError::Refused { code, message, .. }) if code == "unknown error" => {
                Err(self.why_not_loaded(url, &message))
            }
            Err(BrowserError::Timeout { after, .. }) => {
                Err(BrowserError::Timeout { what: format!("loading {url}"), after })
            }
            Err(other) => Err(other),
        }
    }

    fn traverse(&self, delta: i32, timeout: Duration) -> Result<Navigated> {
        let deadline = Deadline::after(timeout);
        let _acting = self.begin_to_act(&deadline)?;
        let _sent = NavigationSent::begin(&self.state);
        let arrivals = self.state.live().arrivals;
        let params = json!({ "context": self.state.id.0, "delta": delta });
        let went: Result<Value> =
            self.call("browsingContext.traverseHistory", params, self.about_page(), &deadline);
        match went {
            Ok(_) => {}
            Err(BrowserError::Refused { code, .. }) if code == "no such history entry" => {
                let side = if delta < 0 { "earlier" } else { "later" };
                return Err(BrowserError::invalid(format!("there is no {side} page in this tab")));
            }
            Err(other) => return Err(other),
        }
        // Firefox agrees before the page changes.
        let limit = deadline.at_most(TRAVERSE);
        let mut live = self.state.live();
        while live.arrivals == arrivals && !live.is_closed && !limit.left().is_zero() {
            live = self.state.wait(live, &limit);
        }
        let url = live.url.clone();
        drop(live);
        self.wait_for(&Condition::Interactive, deadline.left())?;
        Ok(Navigated { url })
    }

    /// Firefox's name for a failure, in words.
    fn why_not_loaded(&self, url: &str, message: &str) -> BrowserError {
        if let Some((url, rule)) = self.state.live().blocked.clone() {
            return BrowserError::Blocked { url, rule };
        }
        let code = message.trim_start_matches("Error: ").trim();
        BrowserError::NotLoaded { url: url.to_owned(), why: format!("{} ({code})", in_words(code)) }
    }
}

/// Adds the slashes to an address: `http:name` is a host for the policy, but for Firefox a path on the current page.
fn absolute(url: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = url.split_once(':') else { return url.into() };
    let is_web = ["http", "https"].iter().any(|known| scheme.trim().eq_ignore_ascii_case(known));
    match is_web && !rest.starts_with("//") {
        true => format!("{scheme}://{}", rest.trim_start_matches(['/', '\\'])).into(),
        false => url.into(),
    }
}

fn in_words(code: &str) -> &'static str {
    const WORDS: &[(&str, &str)] = &[
        ("UNKNOWN_HOST", "there is no such host"),
        ("dnsNotFound", "there is no such host"),
        ("UNKNOWN_PROXY", "there is no such proxy"),
        ("CONNECTION_REFUSED", "the connection was refused; nothing listens there"),
        ("connectionFailure", "the connection was refused; nothing listens there"),
        ("NET_RESET", "the server closed the connection"),
        ("NET_EMPTY", "the server closed the connection"),
        ("NET_INTERRUPT", "the connection was interrupted"),
        ("NET_TIMEOUT", "the server did not answer"),
        ("netTimeout", "the server did not answer"),
        ("deniedPortAccess", "this port is not for web pages"),
        ("OFFLINE", "the browser is offline"),
        ("REDIRECT_LOOP", "it redirects in a circle"),
        ("MALFORMED_URI", "this isn't an address"),
        ("SEC_ERROR", "its certificate is not trusted"),
        ("SSL_ERROR", "its encryption failed"),
        ("ABORT", "the navigation was stopped"),
    ];
    WORDS.iter().find(|(part, _)| code.contains(part)).map_or("Firefox could not load it", |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_in_words() {
        for (code, expected) in [
            ("NS_ERROR_UNKNOWN_HOST", "no such host"),
            ("NS_ERROR_CONNECTION_REFUSED", "refused"),
            ("NS_BINDING_ABORTED", "stopped"),
            ("NS_ERROR_ABORT", "stopped"),
            ("deniedPortAccess", "not for web pages"),
            ("SEC_ERROR_UNKNOWN_ISSUER", "not trusted"),
            ("something else", "could not load"),
        ] {
            assert!(in_words(code).contains(expected), "{code}: {}", in_words(code));
        }
    }
}
