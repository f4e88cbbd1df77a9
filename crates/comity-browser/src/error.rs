//! What can go wrong with the browser, in sentences that a person or a model can act on.

use std::fmt;
use std::time::Duration;

/// Why the browser did not do what it was asked to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BrowserError {
    NoBrowser {
        looked_for: String,
    },
    /// Firefox could not be started or attached to.
    NotStarted {
        why: String,
    },
    /// Firefox has ended, or the connection to it.
    Died,
    /// It took longer than the caller wanted to wait.
    Timeout {
        what: String,
        after: Duration,
    },
    /// The tab is closed, or never existed.
    NoSuchTab {
        tab: String,
    },
    /// The reference belongs to an earlier document, or to a removed element.
    StaleRef {
        reference: String,
    },
    /// Nothing on the page matches.
    NotFound {
        selector: String,
    },
    /// The policy does not allow this address.
    Blocked {
        url: String,
        rule: String,
    },
    /// A dialog of the page is open.
    Dialog {
        /// `alert`, `confirm`, `prompt` or `beforeunload`.
        kind: String,
        message: String,
    },
    /// A person could not click the element, either.
    NotClickable {
        why: String,
    },
    /// The page could not be loaded.
    NotLoaded {
        url: String,
        why: String,
    },
    /// The document went away in the middle of the command.
    PageGone,
    /// The right to act ended before the turn came.
    Revoked,
    Script {
        message: String,
    },
    Invalid {
        why: String,
    },
    Refused {
        command: String,
        code: String,
        message: String,
    },
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, BrowserError>;

impl BrowserError {
    pub(crate) fn invalid(why: impl Into<String>) -> BrowserError {
        BrowserError::Invalid { why: why.into() }
    }

    pub(crate) fn not_started(why: impl Into<String>) -> BrowserError {
        BrowserError::NotStarted { why: why.into() }
    }
}

impl fmt::Display for BrowserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BrowserError::NoBrowser { looked_for } => write!(
                f,
                "there is no Firefox ({looked_for}); install it (Debian: apt-get install firefox-esr; Ubuntu, \
                 Fedora, macOS: the package firefox), or give the path of the program"
            ),
            BrowserError::NotStarted { why } => write!(f, "Firefox can't be used: {why}"),
            BrowserError::Died => write!(f, "Firefox has ended"),
            BrowserError::Timeout { what, after } => {
                write!(f, "{what} took longer than {} ms", after.as_millis())
            }
            BrowserError::NoSuchTab { tab } => write!(f, "there is no tab {tab}; it may have been closed"),
            BrowserError::StaleRef { reference } => write!(
                f,
                "stale reference {reference}: its element is gone or the page was replaced; read the page state again"
            ),
            BrowserError::NotFound { selector } => write!(f, "nothing on the page matches {selector}"),
            BrowserError::Blocked { url, rule } => write!(f, "{url} is not allowed: {rule}"),
            BrowserError::Dialog { kind, message } => {
                write!(f, "the page shows a dialog ({kind}: {message:?}); answer it first")
            }
            BrowserError::NotClickable { why } => write!(f, "the element can't be used: {why}"),
            BrowserError::NotLoaded { url, why } => write!(f, "{url} could not be loaded: {why}"),
            BrowserError::PageGone => write!(f, "the page was replaced meanwhile; try again on the new one"),
            BrowserError::Revoked => {
                write!(
                    f,
                    "the right to use this tab ended before it was this command's turn; nothing was done"
                )
            }
            BrowserError::Script { message } => write!(f, "the script failed: {message}"),
            BrowserError::Invalid { why } => write!(f, "{why}"),
            BrowserError::Refused { command, code, message } => {
                write!(f, "Firefox refused {command}: {code}: {message}")
            }
        }
    }
}

impl std::error::Error for BrowserError {}
