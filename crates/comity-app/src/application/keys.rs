//! Idempotency keys as they are stored: as hashes, each for one call of one caller.

use comity_core::{Ask, Event, Key, Principal, Refusal};

use super::{Application, Call, Responder};
use crate::catalog::Entry;
use crate::engine::{Job, Nobody};
use crate::operation::{Caller, Effect};
use crate::taken::Taken;

/// Hex digits of a key's hash: nobody finds another key with it.
const KEY_DIGITS: usize = 32;
/// Hex digits of a call's hash: one's own mistakes are found, which are not made on purpose.
const CALL_DIGITS: usize = 16;

/// The key as the log has it. Tokens are made from what was given, so only its hash is stored.
pub(super) fn stored(given: &str, caller: &Caller, call: &Call<'_>, effect: Effect) -> Option<Key> {
    let key = blake3::hash(given.as_bytes()).to_hex();
    if effect == Effect::Reads {
        return Key::new(&key[..KEY_DIGITS]);
    }
    let mut hasher = blake3::Hasher::new();
    let cwd = caller.cwd.as_deref().map(|cwd| cwd.as_os_str().as_encoded_bytes()).unwrap_or_default();
    for part in [call.op.as_bytes(), cwd, canonical(call.input).as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Key::for_call(&key[..KEY_DIGITS], &hasher.finalize().to_hex()[..CALL_DIGITS])
}

/// The same text for the same input, whatever the order of its fields.
fn canonical(input: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(input) {
        Ok(value) => value.to_string(),
        // The operation says what is wrong with it.
        Err(_) => input.to_owned(),
    }
}

impl Application {
    /// What the same call, by its key, led to before; its answer may have been lost with a server.
    pub(crate) fn answered(&self, caller: &Caller) -> Option<Vec<Event>> {
        self.engine().world().answers.get(caller.who, caller.key.as_ref()?).map(<[Event]>::to_vec)
    }

    /// Whether the caller has used this key for another call.
    pub(super) fn is_taken(&self, who: Principal, key: &Key) -> bool {
        self.engine().world().answers.is_taken(who, key) || self.0.repeats.is_taken(who, key)
    }

    /// Refuses a call with a key of another one, and has that written down.
    pub(super) fn refuse_key(&self, caller: &Caller, entry: &Entry, responder: Box<dyn Responder>) -> Taken {
        self.metrics().count_refusal();
        let asks = vec![Ask::NoteReusedKey { op: entry.name.into() }];
        self.engine().submit(Job { who: caller.asker(), asks, key: None, asker: Box::new(Nobody) });
        responder.respond(Err(Refusal::KeyReused.into()), vec![]);
        Taken::Quick
    }
}
