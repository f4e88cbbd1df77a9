//! Tabs that open without being asked for: a page's popup becomes its owner's, if there is room; others are closed.

use comity_browser::{Container, TabId};
use comity_core::pools::{PoolAsk, PoolEvent, SlotId, Take};
use comity_core::{Ask, Event, Principal};

use super::running::{PATIENCE, RunningBrowser, label, stored_url};
use super::{BrowserService, TABS, quote};
use crate::application::Application;

impl BrowserService {
    pub(super) fn popped_up(
        &self,
        app: &Application,
        tab: &TabId,
        container: &Container,
        url: &str,
        opener: Option<&TabId>,
    ) {
        let Some(running) = self.if_running() else { return };
        let Ok(opened) = running.browser.tab(tab) else { return };
        // What people open in the window is their own.
        if *container == Container::common() && opener.is_none() {
            return;
        }
        let Some(from) = opener.and_then(|opener| running.slot_of(opener)) else {
            drop(opened.close(PATIENCE));
            return;
        };
        let shown = quote(url);
        match take(app, from, url) {
            Ok(slot) => {
                running.put(slot, opened.clone());
                app.tell_engine(Ask::Pool(PoolAsk::MarkOpened { slot }));
                self.settle(app, &running, slot, from, &opened);
                self.remark(
                    app,
                    from,
                    format!("the page opened a new tab, which is yours: tab {slot} ({shown})"),
                );
            }
            Err(why) => {
                drop(opened.close(PATIENCE));
                self.remark(
                    app,
                    from,
                    format!("the page opened a new tab ({shown}), which was closed: {why}"),
                );
            }
        }
    }

    /// Records where a popup is.
    fn settle(
        &self,
        app: &Application,
        running: &RunningBrowser,
        slot: SlotId,
        from: SlotId,
        tab: &comity_browser::Tab,
    ) {
        let context = {
            let world = app.engine().world();
            world.pools.slot(from).and_then(|(_, slot)| slot.at.as_ref()?.context.clone())
        };
        let at = comity_core::pools::TabLocation {
            container: tab.container().0.as_str().into(),
            context,
            url: stored_url(&tab.url()).into(),
        };
        app.tell_engine(Ask::Pool(PoolAsk::Note { slot, at: Box::new(at), reopened: false }));
        running.moved(app, slot, tab);
    }
}

/// Takes a slot for the owner of the tab that it came from.
fn take(app: &Application, from: SlotId, url: &str) -> Result<SlotId, String> {
    let owner: Principal = {
        let world = app.engine().world();
        world.pools.slot(from).ok_or("its tab is closed")?.1.owner
    };
    let wanted = Take { pool: TABS.into(), label: Some(label(url)), by_page: true, ..Take::default() };
    let events = app.engine().ask(owner, Ask::Pool(PoolAsk::Take(Box::new(wanted))));
    let taken = |event: &Event| match event {
        Event::Pool(PoolEvent::Taken { slot, .. }) => Some(*slot),
        _ => None,
    };
    match events {
        Ok(events) => events.iter().find_map(taken).ok_or_else(|| "there is no room".to_owned()),
        Err(crate::engine::Failed::Refused(refusal)) => Err(refusal.to_string()),
        Err(crate::engine::Failed::Fault(problem)) => Err(problem),
    }
}
