//! What an MCP answer has besides its text.

use comity_app::catalog::CatalogEntry;
use comity_mcp::{ImageData, WORDS};
use serde::Deserialize;
use serde_json::{Value, json};

/// Refusals with numbers that an agent can use: they are also returned as data.
const WITH_NUMBERS: [&str; 3] = ["pool_full", "ownership", "mutex_busy"];

/// The picture in an output, which is not text.
pub(crate) fn image(entry: &CatalogEntry, output: &str) -> Option<ImageData> {
    #[derive(Deserialize)]
    struct ImageOutput {
        image: Option<ImageData>,
    }
    if !entry.has_image {
        return None;
    }
    serde_json::from_str::<ImageOutput>(output).ok()?.image
}

/// An answer as data, if others know the names of its fields. It includes the text, because some clients show models
/// nothing else.
pub(crate) fn structured_output(entry: &CatalogEntry, output: &str, text: &str) -> Option<Value> {
    if !entry.is_structured {
        return None;
    }
    let mut output: Value = serde_json::from_str(output).ok()?;
    output.as_object_mut()?.insert(WORDS.into(), text.into());
    Some(output)
}

/// The schema of an answer as data.
pub(super) fn output_schema(entry: &CatalogEntry) -> Option<Value> {
    if !entry.is_structured {
        return None;
    }
    let mut schema = (entry.output)();
    schema["properties"][WORDS] = json!({ "type": "string" });
    Some(schema)
}

/// A refusal as data, if it says more than its text. Some clients show models nothing else, so it is complete.
pub(crate) fn structured(error: &str, notices: &[String]) -> Option<Value> {
    let error: Value = serde_json::from_str(error).ok()?;
    let has_numbers = WITH_NUMBERS.iter().any(|code| error["code"] == *code);
    has_numbers.then(|| match notices.is_empty() {
        true => json!({ "error": error }),
        false => json!({ "error": error, "notices": notices }),
    })
}
