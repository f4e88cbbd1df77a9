//! Handing over a tab: what goes along with it, and what does not.

use std::time::Duration;

use comity_browser::Container;
use comity_core::Principal;
use comity_core::pools::{Slot, SlotId};

use super::running::{CookieJar, RunningBrowser};
use super::{BrowserService, failure};
use crate::application::Application;
use crate::operation::Failure;

impl BrowserService {
    /// The tabs whose pages may hold references to the page in this one.
    pub(crate) fn related(&self, slot: SlotId, timeout: Duration) -> Result<Vec<SlotId>, Failure> {
        let Some(running) = self.if_running() else { return Ok(Vec::new()) };
        let Some(tab) = running.tab_of(slot) else { return Ok(Vec::new()) };
        let related = tab.related(timeout).map_err(failure)?;
        Ok(related.iter().filter_map(|tab| running.slot_of(tab)).collect())
    }

    /// A tab was handed over with its page and cookies. Returns the giver's tabs that still have these cookies; the
    /// receiver is told of them. What the giver opens from now on has others.
    pub(crate) fn handed_over(&self, app: &Application, slot: SlotId, from: Principal) -> Vec<SlotId> {
        // Pending remarks about the page were for its giver.
        self.take_remarks(slot);
        let Some((container, left, giver)) = left_by(app, slot, from) else { return Vec::new() };
        if let Some(running) = self.if_running() {
            running.leave_jar(from, &container);
        }
        if !left.is_empty() {
            let told = format!(
                "this tab has its cookies in common with {giver}'s {}, opened before it was handed to you: what either of you \
                 logs into there is the other's, too; open a tab of your own for what is yours",
                in_words(&left)
            );
            self.remark(app, slot, told);
        }
        left
    }
}

impl RunningBrowser {
    /// The container goes along with the tab: its former owner gets another one for the next tab.
    fn leave_jar(&self, owner: Principal, container: &str) {
        let mut jars = super::lock(self.jars());
        let own = CookieJar::Of(owner);
        let is_it = |held: Option<Container>| held.is_some_and(|held| held.0 == container);
        if jars.get(&own).is_some_and(|cell| is_it(cell.get()))
            && let Some(cell) = jars.remove(&own)
        {
            jars.insert(CookieJar::Left(container.into()), cell);
        }
    }
}

/// The container of a tab that was handed over, the giver's tabs still in it, and the giver's name. `None` for a
/// named context, which is shared on purpose.
fn left_by(app: &Application, slot: SlotId, giver: Principal) -> Option<(Box<str>, Vec<SlotId>, String)> {
    let world = app.engine().world();
    let (pool, given) = world.pools.slot(slot)?;
    let at = given.at.as_ref().filter(|at| at.context.is_none())?;
    let is_there = |one: &&Slot| one.at.as_ref().is_some_and(|there| there.container == at.container);
    let left = pool.slots_of(giver).filter(is_there).map(|one| one.id).collect();
    Some((at.container.clone(), left, world.name_of(giver)))
}

/// Tabs in words: tab 3, tabs 3 and 4.
pub(crate) fn in_words(tabs: &[SlotId]) -> String {
    match tabs {
        [one] => format!("tab {one}"),
        [] => "no tab".to_owned(),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("tabs {} and {last}", first.join(", "))
        }
    }
}
