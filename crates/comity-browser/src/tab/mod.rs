//! One tab and what can be done with it.

pub(crate) mod act;
mod dialog;
pub(crate) mod evaluate;
pub(crate) mod navigate;
pub(crate) mod read;
pub(crate) mod screenshot;
pub(crate) mod scroll;
pub(crate) mod wait;

use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::activity::{ConsoleLine, NetworkRequest};
use crate::connection::CallScope;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::ids::{Container, TabId};
use crate::page::memory::PageMemory;
use crate::page::{number_of, script};
use crate::shared::SharedBrowser;
use crate::tab_state::TabRecord;

/// How often a read is retried while one page replaces another.
const REPLACED_MAX: usize = 5;
const VIEWPORT_EDGE_MAX: u32 = 10_000;

/// Clones are the same tab.
#[derive(Clone, Debug)]
pub struct Tab {
    pub(crate) shared: Arc<SharedBrowser>,
    pub(crate) state: Arc<TabRecord>,
    permit: Permit,
}

/// Whether the owner of this handle may still act; without a rule it may.
#[derive(Clone, Default)]
struct Permit(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Permit(by rule)" } else { "Permit(always)" })
    }
}

/// An element of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElementTarget {
    /// By a reference from a page state, like `e12`, in whatever frame it is.
    Ref(String),
    /// By a CSS selector, in the tab's own document; the first match, also in open shadow trees.
    Css(String),
}

/// The size of the area that a page is shown in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Viewport {
    pub width: u32,
    pub height: u32,
    /// Screen pixels per CSS pixel; the window's own if `None`.
    pub pixel_ratio: Option<f64>,
}

impl fmt::Display for ElementTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementTarget::Ref(text) | ElementTarget::Css(text) => f.write_str(text),
        }
    }
}

impl Tab {
    pub(crate) fn new(shared: Arc<SharedBrowser>, state: Arc<TabRecord>) -> Tab {
        Tab { shared, state, permit: Permit::default() }
    }

    /// The same tab, for a caller whose right to act may end while an act waits for its turn: it is checked when the
    /// turn has come, and before each step.
    pub fn while_permitted(&self, permit: impl Fn() -> bool + Send + Sync + 'static) -> Tab {
        Tab { permit: Permit(Some(Arc::new(permit))), ..self.clone() }
    }

    pub fn id(&self) -> &TabId {
        &self.state.id
    }

    pub fn container(&self) -> &Container {
        &self.state.container
    }

    /// The address that it was last seen at.
    pub fn url(&self) -> String {
        self.state.live().url.clone()
    }

    /// The page's title when it was last asked for.
    pub fn title(&self) -> String {
        self.state.live().title.clone()
    }

    pub fn is_closed(&self) -> bool {
        self.state.live().is_closed
    }

    /// Closes it, whatever its page would like to ask first.
    pub fn close(&self, timeout: Duration) -> Result<()> {
        let params = json!({ "context": self.state.id.0, "promptUnload": false });
        let _done: Value =
            self.call("browsingContext.close", params, CallScope::default(), &Deadline::after(timeout))?;
        Ok(())
    }

    /// Other tabs whose pages can reach this one's, or the other way round: one has opened the other.
    pub fn related(&self, timeout: Duration) -> Result<Vec<TabId>> {
        #[derive(Deserialize)]
        struct Related {
            contexts: Vec<String>,
        }
        let params = json!({ "context": self.state.id.0 });
        let related: Related =
            self.call("comity.getRelated", params, CallScope::default(), &Deadline::after(timeout))?;
        Ok(related.contexts.into_iter().map(TabId).collect())
    }

    /// Oldest first.
    pub fn console(&self) -> Vec<ConsoleLine> {
        self.state.live().console.iter().cloned().collect()
    }

    /// Oldest first.
    pub fn network(&self) -> Vec<NetworkRequest> {
        self.state.live().network.iter().cloned().collect()
    }

    /// Forgets what was logged and loaded so far.
    pub fn clear_activity(&self) {
        self.state.change(|live| {
            live.console.clear();
            live.network.clear();
        });
    }

    /// Shows its pages in another size; other tabs keep theirs. `None` means the window's own size.
    pub fn set_viewport(&self, viewport: Option<Viewport>, timeout: Duration) -> Result<()> {
        let params = match viewport {
            None => json!({ "context": self.state.id.0, "viewport": null, "devicePixelRatio": null }),
            Some(Viewport { width, height, pixel_ratio }) => {
                let is_sane =
                    (1..=VIEWPORT_EDGE_MAX).contains(&width) && (1..=VIEWPORT_EDGE_MAX).contains(&height);
                if !is_sane {
                    let why = format!("a viewport has edges from 1 to {VIEWPORT_EDGE_MAX} pixels");
                    return Err(BrowserError::invalid(why));
                }
                json!({
                    "context": self.state.id.0,
                    "viewport": { "width": width, "height": height },
                    "devicePixelRatio": pixel_ratio,
                })
            }
        };
        let deadline = Deadline::after(timeout);
        let _acting = self.begin_to_act(&deadline)?;
        let _done: Value = self.call("browsingContext.setViewport", params, self.about_page(), &deadline)?;
        Ok(())
    }

    pub(crate) fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        about: CallScope,
        deadline: &Deadline,
    ) -> Result<T> {
        let told = self.shared.connection.call(method, params, about, deadline);
        told.map_err(|error| match error {
            BrowserError::Refused { code, .. } if code == "no such frame" && self.is_closed() => {
                self.no_such_tab()
            }
            other => other,
        })
    }

    /// A call that a dialog of the page, or the closing of the tab, ends.
    pub(crate) fn about_page(&self) -> CallScope {
        CallScope {
            context: Some(self.state.id.0.clone()),
            until_dialog_in: Some(self.state.id.0.clone()),
            until_navigated: false,
            until_crashed: false,
        }
    }

    /// A call that also becomes pointless once the document is another.
    pub(crate) fn about_document(&self, context: &str) -> CallScope {
        let context = Some(context.to_owned());
        CallScope { context, until_navigated: true, until_crashed: true, ..self.about_page() }
    }

    /// A call that only reads, which a dialog does not prevent.
    pub(crate) fn about_reading(&self, context: &str) -> CallScope {
        CallScope { until_dialog_in: None, ..self.about_document(context) }
    }

    /// Reads with the library; retried if the page was being replaced.
    pub(crate) fn read(
        &self,
        command: &str,
        target: Option<&ElementTarget>,
        args: Value,
        deadline: &Deadline,
    ) -> Result<(String, script::ScriptAnswer)> {
        self.while_pages_come(deadline, |tab| {
            let (context, args) = tab.aimed(target, args.clone())?;
            let about = tab.about_reading(&context);
            let answer = script::call(&tab.shared, &context, command, &args, &about, deadline)?;
            Ok((context, answer))
        })
    }

    /// Adds the target to the arguments of a library command, and finds the context that it is in.
    pub(crate) fn aimed(&self, target: Option<&ElementTarget>, mut args: Value) -> Result<(String, Value)> {
        let Some(target) = target else { return Ok((self.state.id.0.clone(), args)) };
        let (context, json) = self.locate(target)?;
        args["target"] = json;
        Ok((context, args))
    }

    /// The context that an element is in, and the library's form of it.
    pub(crate) fn locate(&self, target: &ElementTarget) -> Result<(String, Value)> {
        match target {
            ElementTarget::Css(_) => Ok((self.state.id.0.clone(), script::target_json(target, None))),
            ElementTarget::Ref(reference) => {
                let number = number_of(reference).ok_or_else(|| {
                    BrowserError::invalid(format!("{reference:?} isn't a reference; they are like e12"))
                })?;
                let context = self.memory().context_of(number).map(str::to_owned);
                // A removed frame has taken its elements along.
                let context = context.filter(|context| self.shared.tab_of(context).is_some());
                let context =
                    context.ok_or_else(|| BrowserError::StaleRef { reference: reference.clone() })?;
                Ok((context, script::target_json(target, Some(number))))
            }
        }
    }

    /// Retries while one page replaces another.
    pub(crate) fn while_pages_come<T>(
        &self,
        deadline: &Deadline,
        mut attempt: impl FnMut(&Tab) -> Result<T>,
    ) -> Result<T> {
        for _ in 0..REPLACED_MAX {
            if self.is_closed() {
                return Err(self.no_such_tab());
            }
            let moves = self.state.live().moves;
            match attempt(self) {
                Err(BrowserError::PageGone) if !deadline.left().is_zero() => {
                    self.wait_for_move(moves, deadline)
                }
                other => return other,
            }
        }
        Err(BrowserError::PageGone)
    }

    /// Waits a moment for the next document, unless it has already come.
    pub(crate) fn wait_for_move(&self, since: u64, deadline: &Deadline) {
        /// Firefox's events about a document's end may come before or after those about the next.
        const MOMENT: Duration = Duration::from_millis(100);
        let moment = deadline.at_most(MOMENT);
        let mut live = self.state.live();
        while live.moves == since && !live.is_closed && !moment.left().is_zero() {
            live = self.state.wait(live, &moment);
        }
    }

    /// Waits for the turn to act; refused while a dialog is open, and if the right to act went meanwhile.
    pub(crate) fn begin_to_act(&self, deadline: &Deadline) -> Result<crate::turn::TabTurn<'_>> {
        let acting = self.state.turn.wait(deadline)?;
        self.check_permit()?;
        self.refuse_dialog()?;
        Ok(acting)
    }

    pub(crate) fn check_permit(&self) -> Result<()> {
        match &self.permit.0 {
            Some(is_permitted) if !is_permitted() => Err(BrowserError::Revoked),
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn refuse_dialog(&self) -> Result<()> {
        let live = self.state.live();
        if live.is_closed {
            drop(live);
            return Err(self.no_such_tab());
        }
        match &live.dialog {
            None => Ok(()),
            Some(dialog) => {
                Err(BrowserError::Dialog { kind: dialog.kind.clone(), message: dialog.message.clone() })
            }
        }
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, PageMemory> {
        self.state.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the page for its title and remembers it.
    pub(crate) fn refresh_title(&self, deadline: &Deadline) {
        let params = json!({
            "expression": "document.title.slice(0, 500)",
            "target": { "context": self.state.id.0, "sandbox": "comity-title" },
            "awaitPromise": false,
        });
        let about = self.about_reading(&self.state.id.0);
        if let Ok(told) = script::run(&self.shared, "script.evaluate", params, &about, deadline)
            && let Some(title) = told["value"].as_str()
        {
            self.state.change(|live| live.title = title.to_owned());
        }
    }

    fn no_such_tab(&self) -> BrowserError {
        match self.shared.connection.has_ended() {
            true => BrowserError::Died,
            false => BrowserError::NoSuchTab { tab: self.state.id.to_string() },
        }
    }
}
