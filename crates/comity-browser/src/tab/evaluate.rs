//! Callers' scripts.

use std::time::Duration;

use serde_json::{Value, json};

use super::Tab;
use crate::activity::cut;
use crate::connection::CallScope;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::page::script;
use crate::remote_value::to_json;

/// Depth of nested objects that Firefox reports.
const DEPTH_MAX: usize = 12;
/// The sandbox that callers' scripts share; ours is another.
const SANDBOX: &str = "comity-evaluate";

/// Where a script runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Realm {
    /// In a sandbox: it sees the document, and neither sees the other's variables.
    #[default]
    Sandbox,
    /// Among the page's own scripts.
    Page,
}

/// The result of a script.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluated {
    /// Truncated text if it is too long.
    pub value: Value,
    pub is_cut: bool,
}

impl Tab {
    /// Runs a script, waits if it gives a promise, and returns the value of its last expression.
    pub fn evaluate(
        &self,
        source: &str,
        realm: Realm,
        bytes_max: usize,
        timeout: Duration,
    ) -> Result<Evaluated> {
        let deadline = Deadline::after(timeout);
        self.refuse_dialog()?;
        let target = match realm {
            Realm::Sandbox => json!({ "context": self.state.id.0, "sandbox": SANDBOX }),
            Realm::Page => json!({ "context": self.state.id.0 }),
        };
        let params = json!({
            "expression": source,
            "target": target,
            "awaitPromise": true,
            "serializationOptions": { "maxObjectDepth": DEPTH_MAX, "maxDomDepth": 0 },
        });
        let about = self.about_document(&self.state.id.0);
        let value = to_json(&script::run(&self.shared, "script.evaluate", params, &about, &deadline)?);
        let text = value.to_string();
        match text.len() > bytes_max {
            true => Ok(Evaluated { value: Value::String(cut(&text, bytes_max)), is_cut: true }),
            false => Ok(Evaluated { value, is_cut: false }),
        }
    }

    /// The bare call of the protocol: what our own commands are measured against.
    pub fn raw_evaluate(&self, source: &str, timeout: Duration) -> Result<Value> {
        let params = json!({
            "expression": source,
            "target": { "context": self.state.id.0, "sandbox": SANDBOX },
            "awaitPromise": false,
        });
        self.call("script.evaluate", params, CallScope::default(), &Deadline::after(timeout))
    }
}
