//! Takes a picture of a page.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use comity_browser::{Area, Format, ScreenshotOptions};
use comity_core::Refusal;
use comity_core::pools::SlotId;

use super::{TabCommand, Use, target};
use crate::browser::make_screenshots_dir;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Of 100.
const QUALITY: u8 = 60;
/// The longest edge: larger pictures cost models more and show them no more.
const EDGE: u32 = 1_568;
/// Files kept per owner.
const FILES_MAX: usize = 200;

/// Take a picture of a page without bringing its tab to the front: of what is in view, the whole page, or one element.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaptureTab {
    /// Number of the tab
    pub tab_id: u64,
    /// Only this element: a reference such as e12, or a CSS selector
    pub selector: Option<String>,
    /// The whole page
    #[serde(default)]
    pub full_page: bool,
    /// png or jpeg (jpeg)
    pub format: Option<Kind>,
    /// Quality of a jpeg, 1 to 100 (60)
    pub quality: Option<u8>,
    /// The longest edge in pixels (1568)
    pub max_edge: Option<u32>,
    /// Save it to a file, and return the path instead of the picture
    #[serde(default)]
    pub save: bool,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for CaptureTab {
    type Output = Picture;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Picture>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        let area = match (self.selector.as_deref(), self.full_page) {
            (None, false) => Area::Viewport,
            (None, true) => Area::Page,
            (Some(element), false) => Area::Element(target(element)),
            (Some(_), true) => {
                let hint = "leave one of them out";
                return Err(Refusal::bad_input("it is a picture of the page or of an element", hint).into());
            }
        };
        let quality = self.quality.unwrap_or(QUALITY);
        if !(1..=100).contains(&quality) {
            return Err(Refusal::bad_input("the quality is from 1 to 100", "leave it out for 60").into());
        }
        let (format, ending) = match self.format.unwrap_or(Kind::Jpeg) {
            Kind::Png => (Format::Png, "png"),
            Kind::Jpeg => (Format::Jpeg { quality: f64::from(quality) / 100.0 }, "jpg"),
        };
        let options = ScreenshotOptions { area, format, edge_max: Some(self.max_edge.unwrap_or(EDGE)) };
        command.may(&app.engine().world(), Use::Looks, "capture")?;
        let begun = Instant::now();
        let _alone = app.browser().capture(SlotId(self.tab_id))?;
        // Waiting for another picture counts, too.
        let done = command.run(Use::Looks, "capture", |tab, timeout| {
            tab.screenshot(&options, timeout.saturating_sub(begun.elapsed()))
        })?;
        let picture = done.value;
        let path = match self.save {
            true => {
                let dir = make_screenshots_dir(app.home(), caller.who).map_err(Failure::fault)?;
                Some(kept(&dir, self.tab_id, ending, &picture.bytes()).map_err(Failure::fault)?)
            }
            false => None,
        };
        let image = (!self.save).then(|| Image { data: picture.base64, mime_type: picture.mime.into() });
        let (width, height) = (picture.width, picture.height);
        let url = crate::browser::in_a_line(&picture.url);
        Ok(Plan::Answer(Picture { tab_id: self.tab_id, url, width, height, path, image }))
    }
}

/// How a picture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Every pixel as it is.
    Png,
    /// Smaller, and with losses.
    Jpeg,
}

/// A picture of a page.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    pub tab_id: u64,
    pub url: String,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The file that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

/// A picture, as MCP takes it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Its bytes, in Base64.
    pub data: String,
    /// image/png or image/jpeg.
    pub mime_type: String,
}

/// Keeps a picture as a file; if there are too many, the oldest are removed.
fn kept(dir: &Path, tab: u64, ending: &str, bytes: &[u8]) -> std::io::Result<String> {
    let number = |path: &PathBuf| path.file_stem()?.to_str()?.split('-').next()?.parse::<u64>().ok();
    let mut files: Vec<(u64, PathBuf)> = std::fs::read_dir(dir)?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            Some((number(&path)?, path))
        })
        .collect();
    files.sort_unstable();
    let next = files.last().map_or(1, |(last, _)| last + 1);
    for (_, old) in files.iter().take((files.len() + 1).saturating_sub(FILES_MAX)) {
        match std::fs::remove_file(old) {
            // Another capture at the same time has removed it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    let path = dir.join(format!("{next:06}-tab{tab}.{ending}"));
    std::fs::write(&path, bytes)?;
    Ok(path.to_string_lossy().into_owned())
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Picture { tab_id, width, height, .. } = self;
        let url = crate::browser::quote(&self.url);
        write!(f, "tab {tab_id}, {width} x {height}, at {url}")?;
        self.path.as_deref().map_or(Ok(()), |path| write!(f, "\n{path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_numbered_and_the_oldest_go() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut last = String::new();
        for _ in 0..FILES_MAX + 3 {
            last = kept(dir.path(), 7, "jpg", b"x").expect("kept");
        }
        assert!(last.ends_with("000203-tab7.jpg"), "{last}");
        assert_eq!(std::fs::read_dir(dir.path()).expect("there").count(), FILES_MAX);
    }

    #[test]
    fn pictures_of_several_tabs_are_kept_at_once() {
        let dir = tempfile::tempdir().expect("a directory");
        (0..FILES_MAX).for_each(|_| drop(kept(dir.path(), 1, "jpg", b"x").expect("kept")));
        std::thread::scope(|scope| {
            for tab in 0..8 {
                let dir = dir.path();
                scope.spawn(move || (0..50).for_each(|_| drop(kept(dir, tab, "jpg", b"x").expect("kept"))));
            }
        });
    }
}
