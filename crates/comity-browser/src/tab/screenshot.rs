//! Screenshots. The tab stays in the background, and several can be taken at once.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::read::unreadable;
use super::{ElementTarget, Tab};
use crate::connection::CallScope;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::page::script;
use crate::picture::{decoded, size_of};

/// What is in the picture.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Area {
    /// What a person would see.
    #[default]
    Viewport,
    Page,
    Element(ElementTarget),
}

/// How it is stored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Format {
    Png,
    /// From 0 (worst) to 1 (best).
    Jpeg {
        quality: f64,
    },
}

/// What picture is wanted.
#[derive(Clone, PartialEq, Debug)]
pub struct ScreenshotOptions {
    pub area: Area,
    pub format: Format,
    /// The longest edge; a larger picture is scaled down.
    pub edge_max: Option<u32>,
}

impl Default for ScreenshotOptions {
    fn default() -> ScreenshotOptions {
        ScreenshotOptions { area: Area::Viewport, format: Format::Png, edge_max: None }
    }
}

/// A picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Screenshot {
    /// The file, in Base64.
    pub base64: String,
    /// `image/png` or `image/jpeg`.
    pub mime: &'static str,
    pub width: u32,
    pub height: u32,
    /// The page's address when the picture was requested.
    pub url: String,
}

impl Screenshot {
    pub fn bytes(&self) -> Vec<u8> {
        decoded(&self.base64).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Captured {
    data: String,
}

#[derive(Deserialize)]
struct ScaledPicture {
    data: String,
    width: u32,
    height: u32,
}

impl Tab {
    /// Takes a picture.
    pub fn screenshot(&self, options: &ScreenshotOptions, timeout: Duration) -> Result<Screenshot> {
        let deadline = Deadline::after(timeout);
        self.while_pages_come(&deadline, |tab| tab.capture(options, &deadline))
    }

    fn capture(&self, options: &ScreenshotOptions, deadline: &Deadline) -> Result<Screenshot> {
        let (mime, quality) = match options.format {
            Format::Png => ("image/png", None),
            Format::Jpeg { quality } if (0.0..=1.0).contains(&quality) => ("image/jpeg", Some(quality)),
            Format::Jpeg { .. } => return Err(BrowserError::invalid("the quality is from 0 to 1")),
        };
        let mut format = json!({ "type": mime });
        if let Some(quality) = quality {
            format["quality"] = json!(quality);
        }
        let mut params = json!({ "context": self.state.id.0, "origin": "viewport", "format": format });
        match &options.area {
            Area::Viewport => {}
            Area::Page => params["origin"] = json!("document"),
            Area::Element(target) => {
                let (context, answer) = self.read("handle", Some(target), json!({}), deadline)?;
                let id = answer.extras.first().and_then(|node| node["sharedId"].as_str());
                params["context"] = json!(context);
                params["clip"] = json!({ "type": "element", "element": { "sharedId": id } });
            }
        }
        let url = self.url();
        let about = CallScope { context: Some(self.state.id.0.clone()), ..CallScope::default() };
        let captured: Result<Captured> =
            self.call("browsingContext.captureScreenshot", params, about, deadline);
        let Captured { data } = captured.map_err(script::page_gone)?;
        let (width, height) = decoded(&data)
            .and_then(|bytes| size_of(&bytes))
            .ok_or_else(|| BrowserError::invalid("Firefox gave no picture"))?;
        let taken = Screenshot { base64: data, mime, width, height, url };
        match options.edge_max.filter(|most| width.max(height) > *most) {
            None => Ok(taken),
            Some(most) => self.shrink(taken, most.max(1), quality, deadline),
        }
    }

    fn shrink(
        &self,
        taken: Screenshot,
        edge_max: u32,
        quality: Option<f64>,
        deadline: &Deadline,
    ) -> Result<Screenshot> {
        let args =
            json!({ "data": taken.base64, "type": taken.mime, "quality": quality, "edgeMax": edge_max });
        let (_, answer) = self.read("shrink", None, args, deadline)?;
        let shrunk: ScaledPicture = serde_json::from_value(answer.value).map_err(unreadable)?;
        Ok(Screenshot { base64: shrunk.data, width: shrunk.width, height: shrunk.height, ..taken })
    }
}
