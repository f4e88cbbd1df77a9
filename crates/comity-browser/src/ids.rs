//! Ids of tabs and containers.

use std::fmt;

/// Valid until Firefox or the session ends.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TabId(pub String);

/// A container: tabs with cookies and storage of their own. Its id lives as long as Firefox does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Container(pub String);

impl Container {
    /// The container of tabs for which none was requested.
    pub fn common() -> Container {
        Container("default".into())
    }
}

impl fmt::Display for TabId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
