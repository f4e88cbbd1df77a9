//! A running browser: which of its tabs is which slot's, and whose cookies are in which container.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use comity_browser::adopt::{self, Observed, WantedTab};
use comity_browser::{Browser, BrowserError, Container, Tab, TabId, Until};
use comity_core::limits::REASON_BYTES_MAX;
use comity_core::pools::{Loss, PoolAsk, Slot, SlotId, TabLocation};
use comity_core::redact::redact_url;
use comity_core::{Ask, Principal, Refusal, World};

use super::cell::{Cell, CellContent};
use super::{TABS, failure, lock};
use crate::application::Application;
use crate::catalog::next_call;
use crate::engine::Failed;
use crate::operation::Failure;
use crate::operations::tabs::ListTabs;

/// How long the browser may take for what nobody waits for.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait for a page that is opened again.
const RELOAD: Duration = Duration::from_secs(10);
/// Bytes of an address in the log.
const URL_BYTES_MAX: usize = 2_048;
/// Bytes of an address that are searched for secrets.
const URL_BYTES_READ: usize = 16 * URL_BYTES_MAX;
/// What a new tab shows.
const EMPTY: &str = "about:blank";

pub(super) struct RunningBrowser {
    pub(super) browser: Browser,
    /// One for each slot; one caller opens its tab, so that none is opened twice.
    cells: Mutex<HashMap<SlotId, Arc<Cell<Tab>>>>,
    /// Whoever opens a tab in a container has a clone meanwhile, so that it is not removed as empty.
    jars: Mutex<HashMap<CookieJar, Arc<Cell<Container>>>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum CookieJar {
    /// Cookies of one agent, or of the person.
    Of(Principal),
    /// Shared on purpose.
    Named(Box<str>),
    /// Of a container that went to somebody else with a tab, or that an earlier server left with tabs of several
    /// owners: nothing more is opened in it.
    Left(Box<str>),
}

impl CookieJar {
    pub(super) fn of(owner: Principal, context: Option<&str>) -> CookieJar {
        context.map_or(CookieJar::Of(owner), |name| CookieJar::Named(name.into()))
    }
}

/// The slots that should have tabs.
pub(super) fn wanted(world: &World) -> Vec<Slot> {
    world.pools.get(TABS).map(|pool| pool.slots().cloned().collect()).unwrap_or_default()
}

impl RunningBrowser {
    pub(super) fn of(browser: Browser) -> RunningBrowser {
        RunningBrowser { browser, cells: Mutex::default(), jars: Mutex::default() }
    }

    /// The tab of a slot; opened if necessary.
    pub(super) fn tab(
        &self,
        app: &Application,
        id: SlotId,
        context: Option<&str>,
        timeout: Duration,
    ) -> Result<Tab, Failure> {
        let begun = Instant::now();
        let cell = lock(&self.cells).entry(id).or_default().clone();
        let opening = match cell.find(timeout, |tab| !tab.is_closed()) {
            CellContent::There(tab) => return Ok(tab),
            CellContent::Missing(opening) => opening,
            CellContent::Busy => return Err(failure(busy("opening the tab", timeout))),
            CellContent::Over => return Err(gone(id)),
        };
        let slot = {
            let world = app.engine().world();
            world.pools.slot(id).map(|(_, slot)| slot.clone())
        };
        let slot = slot.ok_or_else(|| gone(id))?;
        let tab = self.open(app, &slot, context, timeout.saturating_sub(begun.elapsed()))?;
        let kept = opening.made(tab.clone());
        if kept.as_ref().is_none_or(|kept| kept.id() != tab.id()) {
            // Its slot was freed in the meantime, or has a tab from elsewhere.
            let _ = tab.close(PATIENCE);
        }
        kept.ok_or_else(|| gone(id))
    }

    /// Opens the tab of a slot. If it was open before, it goes back to its address, and its owner is told.
    fn open(
        &self,
        app: &Application,
        slot: &Slot,
        context: Option<&str>,
        timeout: Duration,
    ) -> Result<Tab, Failure> {
        let begun = Instant::now();
        self.close_unwanted(app, timeout.min(PATIENCE));
        let before = slot.at.as_deref();
        let context = context.or(before.and_then(|at| at.context.as_deref()));
        let jar = self.jar(CookieJar::of(slot.owner, context));
        let left = timeout.saturating_sub(begun.elapsed());
        let container = self.container(&jar, left).map_err(failure)?;
        let tab = self.browser.open(&container, timeout.saturating_sub(begun.elapsed())).map_err(failure)?;
        if let Some(before) = before {
            let url = app.browser().whole_url(slot.id).unwrap_or_else(|| before.url.to_string());
            // Its next user should find the page, not the way to it; if it cannot be loaded, that shows when it is
            // read.
            let left = timeout.saturating_sub(begun.elapsed()).min(RELOAD);
            let _ = tab.navigate(&url, Until::Interactive, left);
        }
        let at = whereabouts(&tab, context, before.map_or(EMPTY, |before| &before.url));
        let note = PoolAsk::Note { slot: slot.id, at: Box::new(at), reopened: before.is_some() };
        for ask in [PoolAsk::MarkOpened { slot: slot.id }, note] {
            if let Err(failed) = app.engine().ask(Principal::System, Ask::Pool(ask)) {
                // Its slot was freed in the meantime.
                let _ = tab.close(PATIENCE);
                return Err(match failed {
                    Failed::Refused(_) => gone(slot.id),
                    Failed::Fault(problem) => Failure::Fault(problem),
                });
            }
        }
        Ok(tab)
    }

    /// Records where a tab is now, if it has moved.
    pub(super) fn moved(&self, app: &Application, id: SlotId, tab: &Tab) {
        let url = tab.url();
        app.browser().note(app, id, |note| note.url = Some(url.clone()));
        let known = {
            let world = app.engine().world();
            world.pools.slot(id).and_then(|(_, slot)| slot.at.clone())
        };
        let Some(known) = known else { return };
        let at = whereabouts(tab, known.context.as_deref(), &url);
        if *known != at {
            app.tell_engine(Ask::Pool(PoolAsk::Note { slot: id, at: Box::new(at), reopened: false }));
        }
    }

    pub(super) fn jars(&self) -> &Mutex<HashMap<CookieJar, Arc<Cell<Container>>>> {
        &self.jars
    }

    /// The tab of a slot, if it is open.
    pub(super) fn tab_of(&self, slot: SlotId) -> Option<Tab> {
        lock(&self.cells).get(&slot)?.get()
    }

    fn jar(&self, jar: CookieJar) -> Arc<Cell<Container>> {
        lock(&self.jars).entry(jar).or_default().clone()
    }

    /// The container for somebody's cookies.
    fn container(&self, jar: &Cell<Container>, timeout: Duration) -> Result<Container, BrowserError> {
        let making = match jar.find(timeout, |_| true) {
            CellContent::There(container) => return Ok(container),
            CellContent::Missing(making) => making,
            CellContent::Busy | CellContent::Over => return Err(busy("making a container", timeout)),
        };
        let container = self.browser.create_container(timeout)?;
        Ok(making.made(container.clone()).unwrap_or(container))
    }

    pub(super) fn remember_jar(&self, jar: CookieJar, container: &str) {
        self.jar(jar).put(Container(container.to_owned()));
    }

    /// Closes the tabs of slots that are free.
    pub(super) fn close_unwanted(&self, app: &Application, patience: Duration) {
        let wanted: HashSet<SlotId> = {
            let world = app.engine().world();
            world.pools.get(TABS).into_iter().flat_map(|pool| pool.slots().map(|slot| slot.id)).collect()
        };
        let unwanted: Vec<_> = {
            let mut cells = lock(&self.cells);
            let ids: Vec<SlotId> = cells.keys().filter(|id| !wanted.contains(id)).copied().collect();
            ids.into_iter().filter_map(|id| cells.remove(&id)).collect()
        };
        let begun = Instant::now();
        // Whoever is opening one finds that it is not wanted, and closes it.
        for tab in unwanted.iter().filter_map(|cell| cell.end()) {
            // Already closed, or the browser is going.
            let _ = tab.close(patience.saturating_sub(begun.elapsed()));
        }
    }

    /// Removes the containers of agents that have ended, and shared ones that nobody uses any more.
    pub(super) fn remove_empty(&self, app: &Application) {
        let ended: Vec<Container> = {
            let mut jars = lock(&self.jars);
            let world = app.engine().world();
            let in_use: HashSet<String> = wanted(&world)
                .iter()
                .filter_map(|slot| Some(slot.at.as_ref()?.container.to_string()))
                .collect();
            let has_ended = |jar: &CookieJar| match jar {
                CookieJar::Of(Principal::Agent(agent)) => world.agents.living(*agent).is_err(),
                CookieJar::Of(_) => false,
                CookieJar::Named(_) | CookieJar::Left(_) => true,
            };
            let is_used = |cell: &Arc<Cell<Container>>| {
                Arc::strong_count(cell) > 1
                    || cell.get().is_some_and(|container| in_use.contains(&container.0))
            };
            let gone = jars.extract_if(|jar, cell| has_ended(jar) && !is_used(cell));
            gone.filter_map(|(_, cell)| cell.get()).collect()
        };
        for container in ended {
            // It goes with the browser at the latest.
            let _ = self.browser.remove_container(&container, PATIENCE);
        }
    }

    /// The current addresses and titles of tabs.
    pub(super) fn shown(&self, timeout: Duration) -> HashMap<SlotId, (String, String)> {
        let Ok(tabs) = self.browser.tabs(timeout) else { return HashMap::new() };
        let slots = self.slots();
        let shown = tabs.into_iter().filter_map(|tab| Some((*slots.get(&tab.id)?, (tab.url, tab.title))));
        shown.collect()
    }

    fn slots(&self) -> HashMap<TabId, SlotId> {
        let cells = lock(&self.cells);
        cells.iter().filter_map(|(slot, cell)| Some((cell.get()?.id().clone(), *slot))).collect()
    }

    pub(super) fn slot_of(&self, id: &TabId) -> Option<SlotId> {
        self.slots().get(id).copied()
    }

    /// Makes an existing tab the one of this slot.
    pub(super) fn put(&self, slot: SlotId, tab: Tab) {
        let cell = lock(&self.cells).entry(slot).or_default().clone();
        if let Some(surplus) = cell.put(tab) {
            let _ = surplus.close(PATIENCE);
        }
    }

    /// Matches tabs to slots after a new session, when all ids have changed.
    pub(super) fn adopt(&self, app: &Application, slots: &[Slot]) -> Result<(), BrowserError> {
        let wanted: Vec<WantedTab<SlotId>> = slots
            .iter()
            .filter_map(|slot| {
                let at = slot.at.as_ref()?;
                Some(WantedTab {
                    handle: slot.id,
                    container: at.container.to_string(),
                    url: at.url.to_string(),
                })
            })
            .collect();
        let tabs = self.browser.tabs(PATIENCE)?;
        let common = Container::common();
        let observed: Vec<Observed<TabId>> = tabs
            .iter()
            .filter(|tab| tab.container != common)
            .map(|tab| Observed {
                context: tab.id.clone(),
                container: tab.container.0.clone(),
                url: stored_url(&tab.url),
            })
            .collect();
        let found = adopt::adopt(&wanted, &observed);
        for (slot, tab) in found.matched {
            self.put(slot, self.browser.tab(&tab)?);
        }
        for tab in found.unknown {
            let _ = self.browser.tab(&tab)?.close(PATIENCE);
        }
        for slot in found.missing {
            // Somebody closed it while no server ran.
            app.tell_engine(Ask::Pool(PoolAsk::Lose { slot, loss: Loss::ClosedByUser }));
        }
        Ok(())
    }
}

fn busy(what: &str, after: Duration) -> BrowserError {
    BrowserError::Timeout { what: what.to_owned(), after }
}

fn gone(id: SlotId) -> Failure {
    let (problem, hint) =
        (format!("there is no tab {id}"), format!("see your tabs with: {}", next_call::<ListTabs>([])));
    Refusal::NotFound { problem, hint }.into()
}

fn whereabouts(tab: &Tab, context: Option<&str>, url: &str) -> TabLocation {
    let container = tab.container().0.as_str().into();
    TabLocation { container, context: context.map(Into::into), url: stored_url(url).into() }
}

/// An address as it is stored in the log.
pub(super) fn stored_url(url: &str) -> String {
    stored(url, URL_BYTES_MAX)
}

/// The label of a slot: an address as it is stored in the log.
pub(crate) fn label(url: &str) -> Box<str> {
    stored(url, REASON_BYTES_MAX).into()
}

fn stored(url: &str, bytes_max: usize) -> String {
    // A page can make its address as long as it likes; only the beginning is kept.
    let mut url = redact_url(&url[..url.floor_char_boundary(URL_BYTES_READ)]);
    url.truncate(url.floor_char_boundary(bytes_max));
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_down_without_secrets_and_with_an_end() {
        assert_eq!(stored_url("https://a:b@example.com/?code=c"), "https://example.com/?code=[redacted]");
        let long = format!("https://example.com/{}", "ä".repeat(URL_BYTES_MAX));
        assert!(stored_url(&long).len() <= URL_BYTES_MAX && label(&long).len() <= REASON_BYTES_MAX);
    }
}
