//! The input of a call. It is parsed once: into the operation, or first into a value if its key needs one.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The input of a call.
pub(crate) enum CallInput<'a> {
    Text(Cow<'a, str>),
    Parsed(Value),
}

impl CallInput<'_> {
    /// CallInput whose canonical form is wanted. The operation says what is wrong with what is no JSON.
    pub(crate) fn parse(text: &str) -> CallInput<'_> {
        serde_json::from_str(text).map_or_else(|_| CallInput::Text(text.into()), CallInput::Parsed)
    }

    /// For another thread.
    pub(crate) fn into_owned(self) -> CallInput<'static> {
        match self {
            CallInput::Text(text) => CallInput::Text(text.into_owned().into()),
            CallInput::Parsed(value) => CallInput::Parsed(value),
        }
    }

    /// The same text for the same input, whatever the order of its fields.
    pub(crate) fn canonical(&self) -> Cow<'_, str> {
        match self {
            CallInput::Text(text) => Cow::Borrowed(text),
            CallInput::Parsed(value) => value.to_string().into(),
        }
    }

    /// The operation that is meant; nothing is like `{}`.
    pub(crate) fn read<O: DeserializeOwned>(self) -> Result<O, serde_json::Error> {
        match self {
            CallInput::Text(text) if text.is_empty() => serde_json::from_str("{}"),
            CallInput::Text(text) => serde_json::from_str(&text),
            CallInput::Parsed(value) => serde_json::from_value(value),
        }
    }
}
