//! The input of a tool, as JSON.

use std::io::Read;

use comity_core::limits::PERMISSION_INPUT_BYTES_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The exact input of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Input(Value);

impl Input {
    /// The input.
    pub fn value(&self) -> &Value {
        &self.0
    }
}

/// What somebody typed: JSON, or `-` for what is on standard input.
pub(super) fn given(text: &str) -> Result<Input, String> {
    let read;
    let text = match text {
        "-" => {
            let mut whole = String::new();
            let most = PERMISSION_INPUT_BYTES_MAX as u64 + 1;
            std::io::stdin().take(most).read_to_string(&mut whole).map_err(|error| error.to_string())?;
            read = whole;
            read.as_str()
        }
        typed => typed,
    };
    if text.len() > PERMISSION_INPUT_BYTES_MAX {
        return Err(format!("the input is longer than {PERMISSION_INPUT_BYTES_MAX} bytes"));
    }
    let hint = "write it like {\"command\": \"cargo test\"}";
    serde_json::from_str(text).map(Input).map_err(|error| format!("{error}; {hint}"))
}
