//! Mail as a feature: names, whom events concern, sentences.

use super::{LetterId, MailAsk, MailEvent, may_read, send, take};
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::event::{Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

impl FeatureAsk for MailAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let who = asker.who;
        let events = match self {
            MailAsk::Send(draft) => send::send(world, who, draft)?,
            MailAsk::Take { bytes_max, letters_max, what, lease } => {
                take::take(world, who, (*bytes_max, *letters_max), *what, *lease)?
            }
            MailAsk::Acknowledge { receipt } => take::acknowledge(world, who, *receipt)?,
            MailAsk::Return { receipt } => take::give_back(world, who, *receipt)?,
        };
        Ok(events.into())
    }

    fn is_work(&self) -> bool {
        matches!(self, MailAsk::Send(_))
    }

    fn is_look(&self) -> bool {
        matches!(self, MailAsk::Take { .. })
    }
}

event_types!(MailEvent {
    MailEvent::Sent { letter, .. } if letter.to.len() > 1 => durable("group_message", "mail:sent"),
    MailEvent::Sent { .. } => durable("message_sent", "mail:sent"),
    MailEvent::Offered { .. } => live("mail_offered", "mail:offered").housekeeping(),
    MailEvent::Acknowledged { .. } => live("mail_read", "mail:read").housekeeping(),
    MailEvent::Returned { .. } => live("mail_returned", "mail:returned").housekeeping(),
    MailEvent::PutAside { .. } => durable("mail_put_aside", "mail:put_aside"),
    MailEvent::Undelivered { .. } => durable("mail_undelivered", "mail:undelivered"),
});

impl FeatureEvent for MailEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        super::apply(world, record, self);
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        match self {
            MailEvent::Sent { letter, .. } => agents(letter.to.iter().copied()),
            MailEvent::Offered { to, .. }
            | MailEvent::Acknowledged { to, .. }
            | MailEvent::Returned { to, .. } => agents([*to]),
            // The senders have to know, too.
            MailEvent::PutAside { to, letters } | MailEvent::Undelivered { to, letters } => {
                let sender = |id| Some(before?.mail.get(id)?.from);
                agents(letters.iter().filter_map(|id| sender(*id)).chain([*to]))
            }
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let (by, name) = (telling.by(), |who: &Principal| telling.name(*who));
        match self {
            MailEvent::Sent { letter, .. } => {
                let to: Vec<String> = letter.to.iter().map(name).collect();
                if !may_read(telling.world, telling.reader, telling.record.by, &letter.to) {
                    return format!("{} {by} to {}", letter.id, to.join(", "));
                }
                let about = letter.subject.as_deref().unwrap_or(&letter.text);
                format!("{} {by} to {}: {}", letter.id, to.join(", "), shortened(about))
            }
            MailEvent::Offered { to, letters, controls, .. } => {
                format!("{} was offered {}", name(to), offered(letters.len(), controls.len()))
            }
            MailEvent::Acknowledged { to, receipt } => format!("offer {receipt} reached {}", name(to)),
            MailEvent::Returned { to, receipt } => {
                format!("offer {receipt} is not known to have reached {}", name(to))
            }
            MailEvent::PutAside { to, letters } => {
                format!("{} for {} set aside: could not be delivered", numbers(letters), name(to))
            }
            MailEvent::Undelivered { to, letters } => {
                format!("{} ended before {} letters reached it", name(to), letters.len())
            }
        }
    }
}

/// Characters of a text that a line of the ledger shows.
const SHOWN_CHARS: usize = 80;

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None if line.len() < text.len() => format!("{line}..."),
        None => line.to_owned(),
    }
}

fn offered(letters: usize, controls: usize) -> String {
    match (letters, controls) {
        (letters, 0) => format!("{letters} letters"),
        (0, controls) => format!("{controls} control messages"),
        (letters, controls) => format!("{letters} letters and {controls} control messages"),
    }
}

fn numbers(letters: &[LetterId]) -> String {
    letters.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
