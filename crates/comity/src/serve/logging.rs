//! The server's own log: one JSON object on each line of standard error.

use std::io::Write;

/// Writes one line. Values are escaped, so nothing that an agent wrote can pass for a line of its own.
pub(crate) fn note(level: &str, event: &str, fields: &[(&str, &str)]) {
    let mut line = serde_json::Map::new();
    let at = comity_app::ledger::date(comity_app::clock::wall_ms());
    for (key, value) in [("at", at.as_str()), ("level", level), ("event", event)].iter().chain(fields) {
        line.insert((*key).into(), comity_core::redact::redact(value).into());
    }
    let _ = writeln!(std::io::stderr(), "{}", serde_json::Value::Object(line));
}
