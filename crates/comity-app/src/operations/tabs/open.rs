//! Opens a tab.

use std::fmt;
use std::time::{Duration, Instant};

use comity_browser::{BrowserError, Until};
use comity_core::pools::{FreeCause, Loss, PoolAsk, PoolEvent, SlotId, Take, check_context};
use comity_core::redact::redact;
use comity_core::{Ask, Event, Millis, Principal, Refusal};

use super::timeout;
use crate::browser::{TABS, failure, in_a_line, label, quote, told};
use crate::engine::Failed;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::span::Span;

const CONTEXT_CHARS_MAX: usize = 64;

/// Open a tab of your own in the shared browser. When all tabs are taken, wait in line, or give up your own oldest one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenTab {
    /// The page to load; empty if omitted
    pub url: Option<String>,
    /// Wait up to this long when all tabs are taken (e.g. 30s)
    pub wait: Option<Span>,
    /// Close your own oldest tab if all are taken
    #[serde(default)]
    pub evict_oldest: bool,
    /// Share cookies by this name with agents its maker lets in; your own if omitted
    pub context: Option<String>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for OpenTab {
    type Output = TabOpened;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabOpened>, Failure> {
        let timeout = timeout(self.timeout)?;
        check_name(self.context.as_deref())?;
        if let Some(context) = &self.context {
            let world = app.engine().world();
            world.pools.get(TABS).map_or(Ok(()), |pool| check_context(&world, pool, caller.who, context))?;
        }
        if let Some(url) = &self.url {
            app.browser().check(app, url)?;
        }
        let take = Take {
            pool: TABS.into(),
            label: self.url.as_deref().map(label),
            wait: self.wait.map(|span| span.0).filter(|wait| *wait > Millis(0)),
            evict_oldest: self.evict_oldest,
            ..Take::default()
        };
        let then = move |app: &Application, events: &[Event]| self.opened(app, events, timeout);
        Ok(Plan::change_then(vec![Ask::Pool(PoolAsk::Take(Box::new(take)))], then))
    }
}

/// The new tab.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabOpened {
    /// Names it in all commands.
    pub tab_id: u64,
    pub url: String,
    /// How many tabs are open or kept for somebody.
    pub tab_count: usize,
    /// How many there can be.
    pub max_tabs: usize,
    /// Why the page was not loaded, if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Your own oldest tab, which was closed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_oldest_tab: Option<ClosedTab>,
}

/// A tab that was closed for another.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClosedTab {
    pub tab_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl OpenTab {
    /// Has the slot: opens its tab, and loads the page.
    fn opened(self, app: &Application, events: &[Event], timeout: Duration) -> Result<TabOpened, Failure> {
        let begun = Instant::now();
        let taken = |event: &Event| match event {
            Event::Pool(PoolEvent::Taken { slot, owner, .. }) => Some((*slot, *owner)),
            _ => None,
        };
        let (slot, owner) =
            events.iter().find_map(taken).ok_or_else(|| Failure::fault("no tab was given"))?;
        let entered = self.context.as_deref().map_or(Ok(()), |context| enter(app, slot, context));
        let tab = entered.and_then(|()| app.browser().open(app, slot, self.context.as_deref(), timeout));
        let tab = tab.inspect_err(|why| give_back(app, slot, why))?;
        let left = timeout.saturating_sub(begun.elapsed());
        // It can be handed over as soon as it is taken: then its page is no longer this command's.
        let asked = app.clone();
        let is_owners = move || {
            let world = asked.engine().world();
            world.pools.slot(slot).is_some_and(|(_, slot)| slot.owner == owner)
        };
        // The tab stays open if its page cannot be loaded: whoever asked has it, and can try another.
        let permitted = tab.while_permitted(is_owners.clone());
        let loaded = self.url.as_deref().map(|url| permitted.navigate(url, Until::Complete, left));
        app.browser().settled(app, slot, &tab);
        if !is_owners() {
            return Err(failure(BrowserError::Revoked));
        }
        let world = app.engine().world();
        let (tab_count, max_tabs) =
            world.pools.get(TABS).map(|pool| (pool.used(), pool.capacity)).unwrap_or_default();
        let problem = loaded.and_then(Result::err).map(|error| told(&error));
        let closed_oldest_tab = events.iter().find_map(evicted);
        let url = in_a_line(&tab.url());
        Ok(TabOpened { tab_id: slot.0, url, tab_count, max_tabs, problem, closed_oldest_tab })
    }
}

fn evicted(event: &Event) -> Option<ClosedTab> {
    match event {
        Event::Pool(PoolEvent::Freed { slot, label, cause: FreeCause::Evicted, .. }) => {
            Some(ClosedTab { tab_id: slot.0, url: label.as_deref().map(Into::into) })
        }
        _ => None,
    }
}

/// Others may have created the context in the meantime.
fn enter(app: &Application, slot: SlotId, context: &str) -> Result<(), Failure> {
    let ask = PoolAsk::EnterContext { slot, context: context.into() };
    match app.engine().ask(Principal::System, Ask::Pool(ask)) {
        Ok(_) => Ok(()),
        Err(Failed::Refused(refusal)) => Err(refusal.into()),
        Err(Failed::Fault(problem)) => Err(Failure::Fault(problem)),
    }
}

/// Frees a tab that cannot be opened, so that those waiting are served.
fn give_back(app: &Application, slot: SlotId, why: &Failure) {
    let why = redact(&why.to_text(crate::Wording::Commands)).into();
    let ask = PoolAsk::Lose { slot, loss: Loss::OpenFailed { why } };
    // Refused if it was freed in the meantime.
    let _ = app.engine().ask(Principal::System, Ask::Pool(ask));
}

fn check_name(name: Option<&str>) -> Result<(), Refusal> {
    let is_good = |name: &str| {
        (1..=CONTEXT_CHARS_MAX).contains(&name.chars().count()) && !name.chars().any(char::is_control)
    };
    match name.is_none_or(is_good) {
        true => Ok(()),
        false => {
            let problem = format!("the name of a context has 1 to {CONTEXT_CHARS_MAX} characters");
            Err(Refusal::bad_input(problem, "such as login:github"))
        }
    }
}

impl fmt::Display for TabOpened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TabOpened { tab_id, url, tab_count, max_tabs, .. } = self;
        // A redirection may have changed the address.
        write!(f, "tab {tab_id} is yours, at {} ({tab_count} of {max_tabs} tabs are taken)", quote(url))?;
        if let Some(closed) = &self.closed_oldest_tab {
            let url = closed.url.as_deref().map(|url| format!(" ({})", quote(url))).unwrap_or_default();
            write!(f, "\nyour oldest, tab {}{url}, was closed for it", closed.tab_id)?;
        }
        self.problem.as_deref().map_or(Ok(()), |problem| write!(f, "\n{problem}"))
    }
}
