//! A tool's input, as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The exact input of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Input(Value);

impl Input {
    pub fn value(&self) -> &Value {
        &self.0
    }
}
