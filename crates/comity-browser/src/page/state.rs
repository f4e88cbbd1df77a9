//! The state of a page: an outline over all its frames, within a budget.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::diff::{Changes, diff};
use super::memory::Frame;
use super::outline::{OutlineNode, ScriptOutline, fit, number, reference};
use super::script::{self, target_json};
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::tab::{ElementTarget, Tab};

const FRAME_DEPTH_MAX: usize = 6;
/// How long one frame may take: a busy one must not hide the rest of the page.
const FRAME: Duration = Duration::from_secs(2);
/// For any caller.
const NODES_MAX: usize = 5000;
/// For any caller.
const BYTES_MAX: usize = 512 * 1024;

/// How much of a page is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateOptions {
    /// Only what can be acted on.
    pub interactive_only: bool,
    /// Only this element and what it contains.
    pub scope: Option<ElementTarget>,
    /// How deep the outline goes.
    pub depth: usize,
    pub nodes_max: usize,
    pub bytes_max: usize,
    /// Only what comes after this reference: the next page of an outline.
    pub after: Option<String>,
    /// Only what has changed since this revision.
    pub since: Option<u64>,
}

impl Default for StateOptions {
    fn default() -> StateOptions {
        StateOptions {
            interactive_only: false,
            scope: None,
            depth: 100,
            nodes_max: 400,
            bytes_max: 11_000,
            after: None,
            since: None,
        }
    }
}

/// A page's contents, in reading order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageState {
    pub url: String,
    pub title: String,
    /// The number of this state; later changes can be requested with it.
    pub revision: u64,
    /// The whole outline, even if only changes were requested.
    pub nodes: Vec<OutlineNode>,
    /// The reference to continue after, if there is more.
    pub more_after: Option<String>,
    /// What has changed, if that was requested and the earlier state is remembered.
    pub changes: Option<Changes>,
}

impl fmt::Display for PageState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?} {} (revision {})", self.title, self.url, self.revision)?;
        match &self.changes {
            Some(changes) => write!(f, "{changes}")?,
            None => self.nodes.iter().try_for_each(|node| writeln!(f, "{node}"))?,
        }
        match &self.more_after {
            Some(reference) => writeln!(f, "… more after {reference}"),
            None => Ok(()),
        }
    }
}

/// An outline that is being assembled from the frames of a page.
struct Collecting<'a> {
    options: &'a StateOptions,
    deadline: Deadline,
    nodes: Vec<OutlineNode>,
    bytes: usize,
    is_cut: bool,
    /// Title and address of the first document.
    page: Option<(String, String)>,
}

/// A document whose outline is added.
#[derive(Clone, Copy)]
struct OutlinedDocument<'a> {
    context: &'a str,
    /// How deep its parts are in the outline.
    depth: usize,
    /// How many frames it is in.
    frames_above: usize,
}

impl Tab {
    /// Reads the page: its contents in words, with references for commands.
    pub fn page_state(&self, options: &StateOptions, timeout: Duration) -> Result<PageState> {
        let deadline = Deadline::after(timeout);
        let options = &StateOptions {
            nodes_max: options.nodes_max.clamp(1, NODES_MAX),
            bytes_max: options.bytes_max.clamp(1, BYTES_MAX),
            ..options.clone()
        };
        // Outlines of one tab are made one after another: their numbers must not mix.
        let _making = self.state.outlining.wait(&deadline)?;
        self.while_pages_come(&deadline, |tab| tab.outline(options, &deadline))
    }

    fn outline(&self, options: &StateOptions, deadline: &Deadline) -> Result<PageState> {
        let mut collecting = Collecting {
            options,
            deadline: *deadline,
            nodes: Vec::new(),
            bytes: 0,
            is_cut: false,
            page: None,
        };
        let (top, scope) = match &options.scope {
            Some(target) => {
                let (context, json) = self.locate(target)?;
                (context, Some(json))
            }
            None => (self.state.id.0.clone(), None),
        };
        match &options.after {
            None => {
                let place = OutlinedDocument { context: &top, depth: 0, frames_above: 0 };
                self.collect(&mut collecting, place, scope, None)?;
            }
            Some(after) => self.go_on(&mut collecting, &top, scope, after)?,
        }
        let Collecting { mut nodes, is_cut, page, .. } = collecting;
        let is_cut = fit(&mut nodes, options.nodes_max, options.bytes_max) || is_cut;
        let question = format!("{:?}", StateOptions { since: None, ..options.clone() });
        let mut memory = self.memory();
        let revision = memory.remember(&question, &nodes);
        let before = options.since.and_then(|since| memory.outline(since, &question));
        let changes = before.map(|before| diff(before, &nodes));
        drop(memory);
        let more_after = if is_cut { nodes.last().map(|node| node.reference.clone()) } else { None };
        let (title, url) = page.unwrap_or_default();
        Ok(PageState { url, title, revision, nodes, more_after, changes })
    }

    /// Continues after a reference: with its own frame first, then with those around it.
    fn go_on(
        &self,
        collecting: &mut Collecting<'_>,
        top: &str,
        scope: Option<Value>,
        after: &str,
    ) -> Result<()> {
        let stale = || BrowserError::StaleRef { reference: after.to_owned() };
        let mut number = number(after).ok_or_else(stale)?;
        let mut context = self.memory().context_of(number).map(str::to_owned).ok_or_else(stale)?;
        // If the last part was a frame, its contents come next.
        let inside = self.memory().frame_of(&context, number);
        if let Some((inside, frame)) = inside.filter(|(inside, _)| self.shared.tab_of(inside).is_some()) {
            self.collect(
                collecting,
                OutlinedDocument { context: &inside, depth: frame.depth, frames_above: 1 },
                None,
                None,
            )?;
        }
        for _ in 0..=FRAME_DEPTH_MAX {
            let is_top = context == top;
            let within = if is_top { scope.clone() } else { None };
            let frame = self.memory().frame(&context).filter(|_| !is_top);
            let depth = frame.as_ref().map_or(0, |frame| frame.depth);
            self.collect(
                collecting,
                OutlinedDocument { context: &context, depth, frames_above: 0 },
                within,
                Some(number),
            )?;
            match frame {
                Some(frame) if !collecting.is_cut => (context, number) = (frame.parent, frame.element),
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Adds the outline of one document, with those of its frames in place.
    fn collect(
        &self,
        collecting: &mut Collecting<'_>,
        place: OutlinedDocument<'_>,
        scope: Option<Value>,
        after: Option<u64>,
    ) -> Result<()> {
        let OutlinedDocument { context, depth, frames_above } = place;
        let options = collecting.options;
        let mut args = json!({
            "firstRef": self.memory().next(),
            "depth": depth,
            "depthMax": options.depth,
            "interactiveOnly": options.interactive_only,
            "nodesMax": options.nodes_max.saturating_sub(collecting.nodes.len()).max(1),
            "bytesMax": options.bytes_max.saturating_sub(collecting.bytes).max(1),
        });
        if let Some(scope) = scope {
            // The name under which refusals find it.
            args["target"] = scope.clone();
            args["scope"] = scope;
        }
        if let Some(after) = after {
            args["after"] = json!(after);
            args["target"] = target_json(&ElementTarget::Ref(reference(after)), Some(after));
        }
        let about = self.about_reading(context);
        let limit = if frames_above > 0 { collecting.deadline.at_most(FRAME) } else { collecting.deadline };
        let answer = script::call(&self.shared, context, "outline", &args, &about, &limit)?;
        let told: ScriptOutline = serde_json::from_value(answer.value)
            .map_err(|error| BrowserError::invalid(format!("the outline can't be read: {error}")))?;
        self.memory().given(context, told.first_new, told.next);
        collecting.page.get_or_insert((told.title, told.url));
        collecting.is_cut |= told.is_full;
        for told in told.nodes {
            let (frame, element) = (told.frame, told.number);
            let mut node = told.into_node();
            collecting.bytes += node.to_string().len() + 1;
            let inner = node.depth + 1;
            let frame = frame.and_then(|index| answer.extras.get(index)?.pointer("/value/context")?.as_str());
            let Some(frame) = frame else {
                collecting.nodes.push(node);
                continue;
            };
            let index = collecting.nodes.len();
            self.memory().frame_found(frame, Frame { parent: context.to_owned(), element, depth: inner });
            let is_room =
                collecting.nodes.len() + 1 < options.nodes_max && collecting.bytes < options.bytes_max;
            collecting.nodes.push(node.clone());
            if !is_room {
                collecting.is_cut = true;
                continue;
            }
            if frames_above >= FRAME_DEPTH_MAX || inner > options.depth {
                continue;
            }
            let place = OutlinedDocument { context: frame, depth: inner, frames_above: frames_above + 1 };
            if let Err(error) = self.collect(collecting, place, None, None) {
                if error == BrowserError::Died {
                    return Err(error);
                }
                node.state = "unreadable".into();
                collecting.nodes[index] = node;
            }
        }
        Ok(())
    }
}
