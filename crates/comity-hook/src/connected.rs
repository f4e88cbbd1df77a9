//! Whether the user's own settings of an agent program call us: then those of a repository need not, because a call
//! is judged once.

use std::fs;

use comity_wire::Home;
use serde_json::Value;

/// What `comity init` has recorded, if it is still true: the file names our hook, and is the one that the program
/// reads.
pub(crate) fn by_user(client: &str) -> bool {
    let Ok(home) = Home::from_env() else { return false };
    let noted = fs::read(home.path().join("init.json")).unwrap_or_default();
    let noted: Value = serde_json::from_slice(&noted).unwrap_or_default();
    let hooks = &noted["connected"][client];
    let is_set = |variable: &str| {
        std::env::var(variable).ok().filter(|value| !value.is_empty()).as_deref() == hooks["value"].as_str()
    };
    hooks["variable"].as_str().is_none_or(is_set)
        && hooks["file"]
            .as_str()
            .and_then(|file| fs::read_to_string(file).ok())
            .is_some_and(|text| text.contains("comity-hook"))
}
