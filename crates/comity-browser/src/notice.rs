//! What happens in the browser without being asked for.

use std::path::PathBuf;

use crate::ids::{Container, TabId};

/// Something that happened in the browser; told on the thread that reads from it, so whoever is told must be quick and
/// must not call the browser from there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BrowserEvent {
    /// A tab opened that nobody asked for: by a page, or by the person at the window.
    TabOpened {
        tab: TabId,
        container: Container,
        /// Its address when it opened.
        url: String,
        /// The tab whose page opened it.
        opener: Option<TabId>,
    },
    /// A tab is gone: closed by us, by the person or by its page.
    TabClosed { tab: TabId },
    /// An empty page took the place of one, and nobody sent the tab there: its process crashed, or it left by itself.
    PageLost { tab: TabId, url: String },
    /// A page shows a dialog.
    DialogOpened { tab: TabId, dialog: Dialog },
    /// A page has downloaded something, or tried to.
    Download(Download),
    /// Firefox has ended, or the connection to it has.
    Died,
}

/// A dialog that a page shows, and that waits for an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    pub message: String,
    /// What is in the field of a prompt.
    pub default: Option<String>,
}

/// Something that a page has downloaded, or tried to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Download {
    /// The tab, if it is still there.
    pub tab: Option<TabId>,
    /// Whose cookies it was asked for with.
    pub container: Container,
    /// What the page calls it.
    pub name: String,
    pub outcome: Downloaded,
}

/// What became of a download.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Downloaded {
    /// It is in this file of the profile; whoever is told takes it from there.
    Saved { path: PathBuf, bytes: u64 },
    /// It is not there.
    Refused { why: String },
}
