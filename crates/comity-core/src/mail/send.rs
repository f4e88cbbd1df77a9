//! Sends a letter: to live receivers, once for each id that the sender gave, and never beyond what a box can hold.

use std::sync::Arc;

use super::{Letter, LetterDraft, LetterId, MailEvent, recipients};
use crate::event::Event;
use crate::ids::Principal;
use crate::limits::{
    BOX_BYTES_MAX, BOX_KEPT_PART, BOX_LETTERS_FROM_ONE_MAX, BOX_LETTERS_MAX, LETTER_BYTES_MAX,
    RECIPIENTS_MAX, SUBJECT_BYTES_MAX, THREAD_CHARS_MAX,
};
use crate::refusal::Refusal;
use crate::teams::leads;
use crate::world::World;

pub(super) fn send(world: &World, who: Principal, draft: &LetterDraft) -> Result<Vec<Event>, Refusal> {
    if let Some(client_id) = &draft.client_id
        && world.mail.sent_as(who, client_id).is_some()
    {
        return Ok(vec![]);
    }
    check(draft)?;
    let to = recipients::resolve(world, who, &draft.to)?;
    for one in &to {
        check_room(world, who, *one, draft.text.len())?;
    }
    let id = LetterId(world.mail.last.0 + 1);
    let letter = Letter {
        id,
        to,
        thread: thread(world, who, draft, id)?,
        subject: draft.subject.clone(),
        text: draft.text.clone(),
        importance: draft.importance,
        claimed: draft.claimed.clone(),
    };
    Ok(vec![Event::Mail(MailEvent::Sent { letter: Arc::new(letter), client_id: draft.client_id.clone() })])
}

fn check(draft: &LetterDraft) -> Result<(), Refusal> {
    if draft.text.trim().is_empty() {
        return Err(Refusal::bad_input("the message is empty", "say something, with -m TEXT"));
    }
    if draft.text.len() > LETTER_BYTES_MAX {
        let problem = format!("the message has {} bytes; {LETTER_BYTES_MAX} is the most", draft.text.len());
        return Err(Refusal::bad_input(problem, "write it into a file and send the path"));
    }
    if draft.subject.as_deref().is_some_and(|subject| subject.len() > SUBJECT_BYTES_MAX) {
        let problem = format!("the subject is longer than {SUBJECT_BYTES_MAX} bytes");
        return Err(Refusal::bad_input(problem, "shorten it"));
    }
    if draft.to.len() > RECIPIENTS_MAX {
        let problem = format!("more than {RECIPIENTS_MAX} recipients");
        return Err(Refusal::bad_input(problem, "send to a team or a role"));
    }
    Ok(())
}

/// The named thread, that of the named letter, or a new one.
fn thread(world: &World, who: Principal, draft: &LetterDraft, id: LetterId) -> Result<Box<str>, Refusal> {
    let Some(named) = draft.thread.as_deref() else { return Ok(id.to_string().into()) };
    if named.is_empty() || named.chars().count() > THREAD_CHARS_MAX || named.chars().any(char::is_control) {
        let problem = "this can't be the name of a thread";
        return Err(Refusal::bad_input(problem, format!("use 1 to {THREAD_CHARS_MAX} plain characters")));
    }
    let answered = named.parse().ok().and_then(|letter| world.mail.get(letter));
    // Names that others give their conversations are theirs.
    let answered = answered.filter(|held| super::may_read(world, who, held.from, &held.letter.to));
    Ok(answered.map_or_else(|| named.into(), |held| held.letter.thread.clone()))
}

/// A peer does not fill a box by itself, and all peers together leave room for who is above.
fn check_room(world: &World, who: Principal, to: Principal, bytes: usize) -> Result<(), Refusal> {
    let Some(mailbox) = world.mail.of(to) else { return Ok(()) };
    let (letters, all_bytes) = (mailbox.letters(), mailbox.bytes() + bytes);
    let is_above = who.agent().is_none() || to.agent().is_some_and(|to| leads(world, who, to));
    let part = if is_above { 0 } else { BOX_KEPT_PART };
    let most = |max: usize| max - max.checked_div(part).unwrap_or(0);
    let own = if is_above { 0 } else { mailbox.letters_from(who) };
    let full = match own >= BOX_LETTERS_FROM_ONE_MAX {
        true => Some(own),
        false => (letters >= most(BOX_LETTERS_MAX) || all_bytes > most(BOX_BYTES_MAX)).then_some(letters),
    };
    let Some(unread) = full else { return Ok(()) };
    let (name, whose) = (world.name_of(to), if unread == letters { "" } else { " of yours" });
    Err(Refusal::LimitReached {
        problem: format!("the mailbox of {name} is full: {unread} letters{whose} are unread"),
        hint: format!("wait until {name} reads its mail, or end it"),
    })
}
