//! Resources and prompts: what a client shows to its user, besides the tools for its model.

use serde::Serialize;

/// Something to read, which a tool without arguments answers.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    pub uri: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    mime_type: &'static str,
    #[serde(skip)]
    pub(crate) tool: &'static str,
}

impl Resource {
    /// A resource of plain text.
    pub fn new(
        uri: &'static str,
        name: &'static str,
        description: &'static str,
        tool: &'static str,
    ) -> Resource {
        Resource { uri, name, description, mime_type: "text/plain", tool }
    }
}

/// Text that a user can send to the model by name.
#[derive(Debug, Clone, Serialize)]
pub struct Prompt {
    pub name: String,
    pub description: String,
    #[serde(skip)]
    pub text: String,
}
