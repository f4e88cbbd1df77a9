//! The server's own log: one JSON object per line on standard error.

use std::io::Write;
use std::time::Instant;

use comity_app::{Failure, Rendered};
use comity_core::Principal;

/// Writes one line. Values are escaped, so nothing that an agent wrote can pass for a line of its own.
pub(crate) fn note(level: &str, event: &str, fields: &[(&str, &str)]) {
    let mut line = serde_json::Map::new();
    let at = comity_app::ledger::date(comity_app::clock::wall_ms());
    for (key, value) in [("at", at.as_str()), ("level", level), ("event", event)].iter().chain(fields) {
        line.insert((*key).into(), comity_core::redact::redact(value).into());
    }
    let _ = writeln!(std::io::stderr(), "{}", serde_json::Value::Object(line));
}

/// One call, from its request to its answer.
pub(crate) struct Trace {
    op: String,
    who: Principal,
    connection: u64,
    started: Instant,
}

impl Trace {
    /// Begins a trace, if `COMITY_TRACE` asks for that.
    pub(crate) fn begin(op: &str, who: Principal, connection: u64) -> Option<Trace> {
        static WANTED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        let wanted =
            *WANTED.get_or_init(|| std::env::var_os("COMITY_TRACE").is_some_and(|value| !value.is_empty()));
        wanted.then(|| Trace { op: op.to_owned(), who, connection, started: Instant::now() })
    }

    pub(crate) fn end(self, output: &Result<Rendered, Failure>) {
        let result = match output {
            Ok(_) => "ok",
            Err(Failure::Refused(refusal)) => refusal.code(),
            Err(Failure::Fault(_)) => "fault",
        };
        let fields = [
            ("op", self.op.as_str()),
            ("who", &self.who.to_string()),
            ("connection", &self.connection.to_string()),
            ("result", result),
            ("micros", &self.started.elapsed().as_micros().to_string()),
        ];
        note("debug", "call", &fields);
    }
}
