//! Sends a letter.

use std::fmt;

use comity_core::display::visible;
use comity_core::mail::{Importance, LetterDraft, MailAsk, MailEvent, Recipient};
use comity_core::redact::redact;
use comity_core::{Ask, Event, Key, Principal, Refusal, World};

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::locks::one_or_many;

/// Message agents, a role, a team or the human; kept until it arrives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMail {
    /// Names, role:ROLE, team, team:NAME, all or human
    #[serde(alias = "recipient", deserialize_with = "one_or_many")]
    pub to: Vec<String>,
    /// What you have to say
    #[serde(alias = "text", alias = "content")]
    pub message: String,
    /// What it is about, in a few words
    #[serde(alias = "summary")]
    pub subject: Option<String>,
    /// The conversation, or the message you answer
    pub thread: Option<String>,
    /// normal or high
    pub importance: Option<String>,
    /// Your own id for it: sent twice with the same id, it is stored once
    pub client_id: Option<String>,
}

/// What was sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sent {
    pub id: String,
    pub to: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Whether it had been sent before with the same id.
    pub repeated: bool,
}

impl Operation for SendMail {
    type Output = Sent;

    fn plan(self, _: &Application, caller: &Caller) -> Result<Plan<Sent>, Failure> {
        let importance = match self.importance.as_deref() {
            None | Some("normal") => Importance::Normal,
            Some("high") => Importance::High,
            Some(other) => {
                let problem = format!("{other:?} isn't an importance");
                return Err(Refusal::bad_input(problem, "use normal or high").into());
            }
        };
        let client_id = match &self.client_id {
            None => caller.key.clone(),
            Some(id) => {
                let key = Key::new(id).ok_or_else(|| {
                    Refusal::bad_input(format!("an id has 1 to {} bytes", Key::BYTES_MAX), "shorten it")
                })?;
                Some(key)
            }
        };
        let draft = LetterDraft {
            to: self.to.iter().map(|to| Recipient::parse(to.trim())).collect(),
            thread: self.thread.map(Into::into),
            subject: self.subject.map(|subject| redact(subject.trim()).into()),
            text: redact(&self.message).into(),
            importance,
            client_id: client_id.clone(),
            claimed: None,
        };
        let who = caller.who;
        let finish = move |events: &[Event], world: &World, _| sent(events, world, who, client_id);
        Ok(Plan::change(vec![Ask::Mail(MailAsk::Send(Box::new(draft)))], finish))
    }
}

fn sent(events: &[Event], world: &World, who: Principal, client_id: Option<Key>) -> Sent {
    if let Some(Event::Mail(MailEvent::Sent { letter, .. })) = events.last() {
        let to = letter.to.iter().map(|one| world.name_of(*one)).collect();
        let (id, thread) = (letter.id.to_string(), Some(letter.thread.to_string()));
        return Sent { id, to, thread, repeated: false };
    }
    let id = client_id.and_then(|client_id| world.mail.sent_as(who, &client_id));
    Sent { id: id.map(|id| id.to_string()).unwrap_or_default(), to: vec![], thread: None, repeated: true }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.repeated {
            true => write!(f, "{} was sent before", self.id),
            false => write!(f, "{} sent to {}", self.id, visible(&self.to.join(", "))),
        }
    }
}
