//! What an MCP answer has besides its text.

use comity_mcp::Image;
use serde::Deserialize;
use serde_json::{Value, json};

/// The operation whose output has a picture in it.
const PICTURES: &str = "tab_screenshot";
/// Refusals whose numbers an agent can use: they come as data, too.
const WITH_NUMBERS: [&str; 3] = ["pool_full", "ownership", "mutex_busy"];

/// The picture in an output, which is no text.
pub(crate) fn image(op: &str, output: &str) -> Option<Image> {
    #[derive(Deserialize)]
    struct Output {
        image: Option<Image>,
    }
    if op != PICTURES {
        return None;
    }
    serde_json::from_str::<Output>(output).ok()?.image
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
