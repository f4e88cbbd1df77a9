//! Reads a box, and whatever can still be read of a damaged one.

use std::collections::BTreeMap;
use std::io;

use serde_json::Deserializer;
use serde_json::value::RawValue;

use crate::damage::DamageKind;
use crate::limits::{SALVAGED_BYTES_MAX, UNREAD_MAX};
use crate::message::{Message, MessageId};

#[derive(Debug, Default)]
pub(crate) struct BoxContents {
    pub(crate) messages: Vec<Message>,
    pub(crate) problem: Option<DamageKind>,
}

/// Parses a box. A file that was created but not yet written is an empty box.
pub(crate) fn read(bytes: &[u8]) -> BoxContents {
    if bytes.is_empty() {
        return BoxContents::default();
    }
    match serde_json::from_slice::<Vec<Message>>(bytes) {
        Ok(messages) if messages.iter().all(Message::is_within_bounds) => {
            BoxContents { messages, problem: None }
        }
        Ok(_) | Err(_) => salvage(bytes),
    }
}

/// Parses entry by entry. If one cannot be parsed it continues at the next line that begins an object: a string has
/// no line ends, so what is found there is an entry, and not text within one.
///
/// Linear: a line is looked at again only if an error was found in a later place of it. Not recursive either.
fn salvage(bytes: &[u8]) -> BoxContents {
    let (mut messages, mut problem) = (Vec::new(), DamageKind::BadEntries);
    if !is_array(bytes) {
        problem = DamageKind::Torn;
    }
    let mut at = 0;
    while let Some(start) = skip(bytes, at, |byte| byte.is_ascii_whitespace() || b",[]".contains(&byte)) {
        let mut entries = Deserializer::from_slice(&bytes[start..]).into_iter::<&RawValue>();
        match entries.next() {
            Some(Ok(entry)) => {
                messages.extend(Message::read(entry.get()));
                at = start + entries.byte_offset();
            }
            Some(Err(error)) => {
                problem = DamageKind::Torn;
                let failed_at = start + offset(&bytes[start..], &error);
                let Some(next) = next_object(bytes, start, failed_at) else { break };
                at = next;
            }
            None => break,
        }
    }
    let mut bytes_left = SALVAGED_BYTES_MAX;
    let fits = |message: &Message| {
        bytes_left = bytes_left.saturating_sub(message.encoded().len());
        bytes_left > 0
    };
    let messages: Vec<_> = messages.into_iter().take(UNREAD_MAX).take_while(fits).collect();
    BoxContents { messages, problem: Some(problem) }
}

fn is_array(bytes: &[u8]) -> bool {
    skip(bytes, 0, |byte| byte.is_ascii_whitespace()).is_some_and(|start| bytes[start] == b'[')
        && serde_json::from_slice::<Vec<&RawValue>>(bytes).is_ok()
}

/// The first position from `at` on where the bytes do not match.
fn skip(bytes: &[u8], at: usize, is_skipped: impl Fn(u8) -> bool) -> Option<usize> {
    bytes[at..].iter().position(|byte| !is_skipped(*byte)).map(|found| at + found)
}

/// The position of an error; its line is counted from 1.
fn offset(bytes: &[u8], error: &serde_json::Error) -> usize {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let line = std::iter::once(0).chain(ends).nth(error.line().saturating_sub(1)).unwrap_or(bytes.len());
    (line + error.column()).min(bytes.len())
}

/// The next line that begins an object: the line with the error, if the entry began before it, or a later one.
fn next_object(bytes: &[u8], start: usize, failed_at: usize) -> Option<usize> {
    let line = bytes[..failed_at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut at = line;
    loop {
        let first = skip(bytes, at, |byte| b" \t,".contains(&byte))?;
        if first > start && bytes[first] == b'{' {
            return Some(first);
        }
        at = skip(bytes, at, |byte| byte != b'\n')? + 1;
    }
}

/// Gives every message a unique id; returns whether anything had to be changed.
pub(crate) fn settle_ids(messages: &mut Vec<Message>) -> io::Result<bool> {
    let mut places = BTreeMap::<MessageId, usize>::new();
    let mut settled = Vec::<Message>::with_capacity(messages.len());
    let mut is_changed = false;
    for mut message in messages.drain(..) {
        if let Some(first) = places.get(&message.id).map(|place| &mut settled[*place]) {
            is_changed = true;
            if first.is_copy_of(&message) {
                first.read |= message.read;
                first.taken |= message.taken;
                continue;
            }
            message.id = MessageId::fresh()?;
        }
        if message.id.is_missing() {
            is_changed = true;
            message.id = MessageId::fresh()?;
        }
        places.insert(message.id.clone(), settled.len());
        settled.push(message);
    }
    *messages = settled;
    Ok(is_changed)
}
