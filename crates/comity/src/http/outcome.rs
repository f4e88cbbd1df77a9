//! What an MCP answer has besides its text.

use comity_app::catalog::CatalogEntry;
use comity_mcp::ImageData;
use serde::Deserialize;
use serde_json::{Value, json};

/// Refusals whose numbers an agent can use: they come as data, too.
const WITH_NUMBERS: [&str; 3] = ["pool_full", "ownership", "mutex_busy"];

/// The picture in an output, which is no text.
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

/// A refusal as data, where it has more to say than its words. Some clients show models nothing else, so it is complete.
pub(crate) fn structured(error: &str, notices: &[String]) -> Option<Value> {
    let error: Value = serde_json::from_str(error).ok()?;
    let has_numbers = WITH_NUMBERS.iter().any(|code| error["code"] == *code);
    has_numbers.then(|| match notices.is_empty() {
        true => json!({ "error": error }),
        false => json!({ "error": error, "notices": notices }),
    })
}
