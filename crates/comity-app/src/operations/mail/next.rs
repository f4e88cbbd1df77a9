//! What an agent should do now.

use comity_core::inbox::{self, InboxItem};
use comity_core::limits::{MAIL_LEASE, WAIT_MAX};
use comity_core::mail::{MailAsk, OfferFilter, Receipt, has_something};
use comity_core::tasks::{Task, TaskAsk};
use comity_core::{Ask, Millis, World};

use super::read::once;
use super::{ANSWER_BYTES_MAX, ANSWER_LETTERS_MAX, Inbox};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::operations::inbox::InboxEntry;
use crate::operations::tasks::{TaskTaken, introduced};
use crate::projects::PathBase;
use crate::span::Span;

/// Ask what to do now: requests, answers, reviews, letters, a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Next {
    /// Wait this long, such as 30s
    pub wait: Option<Span>,
    /// Bytes of text at most
    #[schemars(skip)]
    pub bytes: Option<usize>,
    /// How long you need to acknowledge, such as 10s (the default)
    #[schemars(skip)]
    pub lease: Option<Span>,
}

/// Whoever waits for anything waits for work, too, unless it has some. Outside of a repository there is none.
fn seek_work(app: &Application, caller: &Caller, wait: Millis) {
    let has_work = |world: &World| world.tasks.owned_by(caller.who).any(Task::is_taken);
    if caller.who.agent().is_none() || has_work(&app.engine().world()) {
        return;
    }
    let Ok(place) = app.projects().place(caller) else { return };
    let asks = introduced(app, &place, TaskAsk::Seek { project: place.project(), wait });
    app.engine().tell(caller.asker(), asks);
}

impl Operation for Next {
    type Output = Inbox;

    fn receipt(inbox: &Inbox) -> Option<Receipt> {
        inbox.receipt()
    }

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Inbox>, Failure> {
        let who = caller.who;
        let ask = MailAsk::Take {
            bytes_max: self.bytes.unwrap_or(ANSWER_BYTES_MAX).min(ANSWER_BYTES_MAX),
            letters_max: ANSWER_LETTERS_MAX,
            what: OfferFilter::All,
            lease: self.lease.map_or(MAIL_LEASE, |span| span.0),
        };
        if let Some(wait) = self.wait {
            seek_work(app, caller, wait.0.min(WAIT_MAX));
        }
        // Whoever waits for work is given some; whoever only looks is told what there is.
        let place = app.projects().place(caller).ok();
        let project = place.as_ref().filter(|_| self.wait.is_none()).map(PathBase::project);
        let ready = move |world: &World| {
            let is_told = |agent| world.agents.get(agent).is_some_and(|agent| !agent.notices.is_empty());
            has_something(world, who, OfferFilter::All)
                || who.agent().is_some_and(is_told)
                || inbox::first(world, who, None).is_some_and(|item| !matches!(item, InboxItem::Mail { .. }))
        };
        // Waiting mail is taken last, because it makes the answer. Once answered, nobody waits for work.
        let is_agent = who.agent().is_some() && self.wait.is_some();
        let stop = is_agent.then_some(Ask::Task(TaskAsk::Take));
        let asks = stop.into_iter().chain([Ask::Mail(ask)]).collect();
        Ok(once(app, self.wait, ready, asks, move |events, world, now| {
            let mut taken = Inbox { task: TaskTaken::given(world, who), ..Inbox::of(events, world, who) };
            let first = inbox::first(world, who, project).filter(|item| !taken.has(item));
            taken.entry = first.map(|item| InboxEntry::of(&item, world, (who, place.as_ref()), now));
            taken
        }))
    }
}
