//! Unrequested events in the browser.

use std::path::PathBuf;

use crate::ids::{Container, TabId};

/// Something that happened in the browser. Reported on the reading thread, so the listener must be quick and must not
/// call the browser from there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BrowserEvent {
    /// A tab opened that nobody asked for: by a page, or by the person at the window.
    TabOpened {
        tab: TabId,
        container: Container,
        url: String,
        /// The tab whose page opened it.
        opener: Option<TabId>,
    },
    /// A tab was closed by us, by the person or by its page.
    TabClosed {
        tab: TabId,
    },
    /// An empty page replaced another, and nobody sent the tab there: its process crashed, or it left by itself.
    PageLost {
        tab: TabId,
        url: String,
    },
    DialogOpened {
        tab: TabId,
        dialog: Dialog,
    },
    /// A page has downloaded something, or tried to.
    Download(Download),
    /// Firefox has ended, or the connection to it.
    Died,
}

/// A page's dialog that waits for an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    pub message: String,
    /// The default text of a prompt.
    pub default: Option<String>,
}

/// Something that a page has downloaded, or tried to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Download {
    /// The tab, if it still exists.
    pub tab: Option<TabId>,
    /// Whose cookies it was requested with.
    pub container: Container,
    /// The page's name for it.
    pub name: String,
    pub outcome: Downloaded,
}

/// What became of a download.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Downloaded {
    /// It is in this file of the profile; the listener takes it from there.
    Saved {
        path: PathBuf,
        bytes: u64,
    },
    Refused {
        why: String,
    },
}
