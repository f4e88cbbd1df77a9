//! The hash chain that makes a change of the past visible.

use comity_core::Record;

/// The hash of a record and everything before it.
pub type Hash = [u8; 32];

/// The chain at some record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chain(pub Hash);

impl Chain {
    /// Adds a record, given by its number, times, actor, key and event as they are stored.
    pub fn add(&mut self, stored: &Stored<'_>) -> Hash {
        let texts = [stored.by, stored.key.unwrap_or_default(), stored.event];
        // In one piece: each piece costs as much as hashing it.
        let mut bytes = Vec::with_capacity(80 + texts.iter().map(|text| text.len()).sum::<usize>());
        bytes.extend_from_slice(&self.0);
        for number in [stored.seq, stored.now, stored.wall_ms as u64] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        // Older records, without this field, hash as they did before it existed.
        for text in texts.into_iter().chain(stored.concerns) {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        self.0 = *blake3::hash(&bytes).as_bytes();
        self.0
    }

    /// Adds a record that is stored with this hash; a changed one is an error.
    pub fn follow(&mut self, stored: &Stored<'_>, hash: Hash) -> Result<(), String> {
        match self.add(stored) == hash {
            true => Ok(()),
            false => Err(format!("record {} is not what was written", stored.seq)),
        }
    }
}

/// A record as the log stores it.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    pub seq: u64,
    /// On the engine's clock.
    pub now: u64,
    /// On the wall clock.
    pub wall_ms: i64,
    pub by: &'a str,
    pub key: Option<&'a str>,
    pub event: &'a str,
    /// The agents that it concerns and does not name, separated by spaces.
    pub concerns: Option<&'a str>,
}

impl Stored<'_> {
    pub fn record(&self) -> Result<Record, String> {
        let bad = |what: &str| format!("record {} has a bad {what}", self.seq);
        // Where the human acted from follows the name.
        let (by, from) = match self.by.split_once(' ') {
            None => (self.by, None),
            Some((by, from)) => {
                let from =
                    serde_json::from_str(from).map_err(|error| format!("{}: {error}", bad("origin")))?;
                (by, Some(std::sync::Arc::new(from)))
            }
        };
        Ok(Record {
            seq: self.seq,
            now: comity_core::Timestamp(self.now),
            wall_ms: self.wall_ms,
            by: by.parse().map_err(|()| bad("actor"))?,
            from,
            concerns: match self.concerns {
                None => vec![],
                Some(all) => all
                    .split(' ')
                    .map(|one| one.parse().map_err(|()| bad("agent that it concerns")))
                    .collect::<Result<_, String>>()?,
            },
            key: self.key.map(|key| comity_core::Key::new(key).ok_or_else(|| bad("key"))).transpose()?,
            event: serde_json::from_str(self.event).map_err(|error| format!("{}: {error}", bad("event")))?,
        })
    }
}
