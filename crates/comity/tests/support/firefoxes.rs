//! The versions of Firefox that tests run with: the one on the PATH, and the one before it.

use std::path::PathBuf;

use super::skip;

/// Names the program of the version before; what does not depend on a version runs with the current one alone.
const BEFORE: &str = "COMITY_FIREFOX_BEFORE";

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Firefox {
    Current,
    Before(PathBuf),
}

impl Firefox {
    pub(crate) fn program(&self) -> PathBuf {
        match self {
            Firefox::Current => comity_browser::find_firefox(None).expect("a Firefox"),
            Firefox::Before(path) => path.clone(),
        }
    }
}

/// Each version that is here; says which is not.
pub(crate) fn all(test: &str) -> Vec<Firefox> {
    let before = std::env::var_os(BEFORE).map(PathBuf::from).filter(|path| path.is_file());
    if before.is_none() {
        skip(&format!("{test} with an earlier Firefox"), &format!("{BEFORE} names none"));
    }
    std::iter::once(Firefox::Current).chain(before.map(Firefox::Before)).collect()
}
