//! Idempotency keys as they are stored: as hashes, each for one call of one caller.

use comity_core::server::ServerAsk;
use comity_core::{Ask, Event, Key, Refusal};

use super::{Application, CallInput};
use crate::catalog::CatalogEntry;
use crate::operation::{Caller, Effect};

/// Hex digits of a key's hash: enough that nobody finds another key with it.
const KEY_DIGITS: usize = 32;
/// Hex digits of a call's hash: it only catches mistakes, which are not made on purpose.
const CALL_DIGITS: usize = 16;

/// The key as stored in the log. Tokens are derived from the given one, so only its hash is stored.
pub(super) fn stored(
    given: &str,
    caller: &Caller,
    op: &str,
    input: &CallInput<'_>,
    effect: Effect,
) -> Option<Key> {
    let key = blake3::hash(given.as_bytes()).to_hex();
    if effect == Effect::Reads {
        return Key::new(&key[..KEY_DIGITS]);
    }
    let mut hasher = blake3::Hasher::new();
    let cwd = caller.cwd.as_deref().map(|cwd| cwd.as_os_str().as_encoded_bytes()).unwrap_or_default();
    for part in [op.as_bytes(), cwd, input.canonical().as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Key::for_call(&key[..KEY_DIGITS], &hasher.finalize().to_hex()[..CALL_DIGITS])
}

impl Application {
    /// What the same call, by its key, led to before; its answer may have been lost with a server.
    pub(crate) fn answered(&self, caller: &Caller) -> Option<Vec<Event>> {
        self.engine().world().answers.get(caller.who, caller.key.as_ref()?).map(<[Event]>::to_vec)
    }

    /// Refuses a key that the caller has used for another call, and records that.
    pub(super) fn refuse_reused_key(
        &self,
        caller: &Caller,
        entry: &CatalogEntry,
        key: &Key,
    ) -> Result<(), Refusal> {
        let is_taken = self.engine().world().answers.is_taken(caller.who, key)
            || self.0.dedupe.is_taken(caller.who, key);
        if !is_taken {
            return Ok(());
        }
        self.engine()
            .tell(caller.asker(), vec![Ask::Server(ServerAsk::NoteReusedKey { op: entry.name.into() })]);
        Err(Refusal::KeyReused)
    }
}
