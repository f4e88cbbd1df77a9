//! A sealed world as a file: its facts, the chain at its record, and a hash of both.

use std::borrow::Cow;

use comity_core::World;
use comity_core::snapshot::{self, Snapshot};
use comity_core::world::Timeouts;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::{Chain, Hash};
use super::segments::{hex, unhex};

#[derive(Serialize, Deserialize)]
struct WorldFile<'a> {
    chain: Cow<'a, str>,
    /// A hash of the other two; files of the first form have none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    check: Option<Cow<'a, str>>,
    #[serde(borrow)]
    world: &'a RawValue,
}

impl WorldFile<'_> {
    fn check(&self) -> Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.chain.as_bytes()).update(self.world.get().as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// As text, with its hash.
    fn checked(mut self) -> Result<Vec<u8>, String> {
        self.check = Some(hex(&self.check()).into());
        serde_json::to_vec(&self).map_err(|error| error.to_string())
    }
}

/// The file of a sealed world.
pub fn sealed_world(world: &World, chain: Chain) -> Result<Vec<u8>, String> {
    let facts = serde_json::value::to_raw_value(&Snapshot::of(world)).map_err(|error| error.to_string())?;
    WorldFile { chain: hex(&chain.0).into(), check: None, world: &facts }.checked()
}

/// Reads a world with the chain at that point; a changed one is refused.
pub(super) fn read_world(
    bytes: &[u8],
    patience: Timeouts,
    is_of_older_form: bool,
) -> Result<(World, Chain), String> {
    let bad = |error: serde_json::Error| format!("it is not what was written: {error}");
    let file: WorldFile<'_> = serde_json::from_slice(bytes).map_err(bad)?;
    match &file.check {
        Some(check) if unhex(check) != Some(file.check()) => return Err("it is not what was written".into()),
        None if !is_of_older_form => return Err("it is not what was written: its hash is gone".into()),
        Some(_) | None => {}
    }
    let world: Snapshot = serde_json::from_str(file.world.get()).map_err(bad)?;
    if world.version > snapshot::VERSION {
        return Err("written by a newer comity".into());
    }
    let chain = Chain(unhex(&file.chain).ok_or("it is not what was written: a bad hash")?);
    Ok((world.restore(patience), chain))
}

/// Adds the missing hash to a file of the first form; `None` if it has one.
pub(super) fn with_check(bytes: &[u8]) -> Result<Option<Vec<u8>>, String> {
    let file: WorldFile<'_> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    match file.check {
        Some(_) => Ok(None),
        None => file.checked().map(Some),
    }
}
