//! The results of requests on the wire, in both eras.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::resource::{Prompt, Resource};
use crate::server::ServerInfo;
use crate::tool::ToolOutcome;
use crate::version::Version;

/// How long a client may keep the tool list and the discovery result; an upgrade is noticed after this.
const CACHE_TTL_MS: u32 = 5 * 60 * 1000;

/// The members that 2026-07-28 adds to every result; empty before it.
#[derive(Clone, Copy)]
pub(crate) struct Stamp<'a>(Option<&'a ServerInfo>);

impl<'a> Stamp<'a> {
    pub(crate) fn of(version: Version, info: &'a ServerInfo) -> Self {
        Stamp(version.is_stateless().then_some(info))
    }

    fn result_type(self) -> Option<&'static str> {
        self.0.map(|_| "complete")
    }

    fn cache_scope(self) -> Option<&'static str> {
        self.0.map(|_| "private")
    }

    fn ttl_ms(self) -> Option<u32> {
        self.0.map(|_| CACHE_TTL_MS)
    }

    fn meta(self) -> Option<ResultMeta<'a>> {
        self.0.map(|info| ResultMeta { server_info: info.into() })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Initialized<'a> {
    protocol_version: Version,
    capabilities: Capabilities,
    server_info: Implementation<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

impl<'a> Initialized<'a> {
    pub(crate) fn new(version: Version, info: &'a ServerInfo, capabilities: Capabilities) -> Self {
        Initialized {
            protocol_version: version,
            capabilities,
            server_info: info.into(),
            instructions: info.instructions.as_deref(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Discovered<'a> {
    result_type: &'static str,
    supported_versions: [Version; Version::SPOKEN.len()],
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    ttl_ms: u32,
    cache_scope: &'static str,
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

impl<'a> Discovered<'a> {
    pub(crate) fn new(info: &'a ServerInfo, capabilities: Capabilities) -> Self {
        Discovered {
            result_type: "complete",
            supported_versions: Version::SPOKEN,
            capabilities,
            instructions: info.instructions.as_deref(),
            ttl_ms: CACHE_TTL_MS,
            cache_scope: "private",
            meta: ResultMeta { server_info: info.into() },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolList<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    tools: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta<'a>>,
}

impl<'a> ToolList<'a> {
    pub(crate) fn new(tools: &'a RawValue, stamp: Stamp<'a>) -> Self {
        ToolList {
            result_type: stamp.result_type(),
            tools,
            ttl_ms: stamp.ttl_ms(),
            cache_scope: stamp.cache_scope(),
            meta: stamp.meta(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallFinished<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a Value>,
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta<'a>>,
}

impl<'a> CallFinished<'a> {
    pub(crate) fn new(outcome: &'a ToolOutcome, stamp: Stamp<'a>) -> Self {
        let text = Content::Text { text: &outcome.text };
        let image = outcome.image.as_ref();
        let image = image.map(|image| Content::Image { data: &image.data, mime_type: &image.mime_type });
        CallFinished {
            result_type: stamp.result_type(),
            content: std::iter::once(text).chain(image).collect(),
            structured_content: outcome.structured.as_ref(),
            is_error: outcome.is_error,
            meta: stamp.meta(),
        }
    }
}

/// The answer to `ping`; a bare object, since some clients refuse more.
#[derive(Serialize)]
pub(crate) struct Pong {}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Content<'a> {
    Text { text: &'a str },
    Image { data: &'a str, mime_type: &'a str },
}

#[derive(Serialize)]
pub(crate) struct Capabilities {
    tools: Offered,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<Offered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Offered>,
}

/// Something is offered, and its list never changes.
#[derive(Serialize)]
struct Offered {}

impl Capabilities {
    pub(crate) fn new(resources: bool, prompts: bool) -> Self {
        Capabilities {
            tools: Offered {},
            resources: resources.then_some(Offered {}),
            prompts: prompts.then_some(Offered {}),
        }
    }
}

/// A cacheable result, with what 2026-07-28 adds to it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cacheable<'a> {
    #[serde(flatten)]
    body: ResultBody<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta<'a>>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum ResultBody<'a> {
    Resources { resources: &'a [Resource] },
    Templates { resource_templates: [(); 0] },
    Contents { contents: [ResourceContent<'a>; 1] },
    Prompts { prompts: &'a [Prompt] },
    Prompt { description: &'a str, messages: [PromptMessage<'a>; 1] },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceContent<'a> {
    uri: &'a str,
    mime_type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct PromptMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

impl<'a> Cacheable<'a> {
    fn new(body: ResultBody<'a>, stamp: Stamp<'a>) -> Self {
        Cacheable {
            body,
            result_type: stamp.result_type(),
            ttl_ms: stamp.ttl_ms(),
            cache_scope: stamp.cache_scope(),
            meta: stamp.meta(),
        }
    }

    pub(crate) fn resources(resources: &'a [Resource], stamp: Stamp<'a>) -> Self {
        Cacheable::new(ResultBody::Resources { resources }, stamp)
    }

    /// There are none; some clients ask all the same.
    pub(crate) fn templates(stamp: Stamp<'a>) -> Self {
        Cacheable::new(ResultBody::Templates { resource_templates: [] }, stamp)
    }

    pub(crate) fn contents(uri: &'a str, text: &'a str, stamp: Stamp<'a>) -> Self {
        let contents = [ResourceContent { uri, mime_type: "text/plain", text }];
        // It is out of date at once.
        let ttl_ms = stamp.ttl_ms().map(|_| 0);
        Cacheable { ttl_ms, ..Cacheable::new(ResultBody::Contents { contents }, stamp) }
    }

    pub(crate) fn prompts(prompts: &'a [Prompt], stamp: Stamp<'a>) -> Self {
        Cacheable::new(ResultBody::Prompts { prompts }, stamp)
    }

    pub(crate) fn prompt(prompt: &'a Prompt, stamp: Stamp<'a>) -> Self {
        let content = Content::Text { text: &prompt.text };
        let messages = [PromptMessage { role: "user", content }];
        Cacheable::new(ResultBody::Prompt { description: &prompt.description, messages }, stamp)
    }
}

#[derive(Serialize)]
struct ResultMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: Implementation<'a>,
}

#[derive(Serialize)]
struct Implementation<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    version: &'a str,
}

impl<'a> From<&'a ServerInfo> for Implementation<'a> {
    fn from(info: &'a ServerInfo) -> Self {
        Implementation { name: &info.name, title: info.title.as_deref(), version: &info.version }
    }
}
