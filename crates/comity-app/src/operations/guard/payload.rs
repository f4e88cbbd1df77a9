//! An agent program's message to its hook, kept unparsed until somebody reads it.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// JSON that is not taken apart yet: it may hold a whole file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Payload(#[schemars(with = "serde_json::Value")] Box<RawValue>);

impl Payload {
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl FromStr for Payload {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Payload, serde_json::Error> {
        RawValue::from_string(text.to_owned()).map(Payload)
    }
}
