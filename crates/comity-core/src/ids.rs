//! Identifiers: agents, fences, tickets, projects, and who acts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One agent; printed as `agent_` and twelve hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(u64);

/// One project: a git repository with all its worktrees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectId(u64);

/// A number that only grows: a later holder has a larger one. It also identifies the lock that it was given with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Fence(pub u64);

/// A place in a queue; smaller ones came first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Ticket(pub u64);

/// The hash of an agent's secret token. The token itself is never stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// The hash of a file's content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentHash(pub [u8; 32]);

/// An idempotency key: an ask sent twice with the same key is done once. It belongs to one call, whose hash may
/// follow after a dot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(Box<str>);

/// Who acts. It comes from the connection and the token, never from a parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Principal {
    /// Comity itself: timers, the queue, watching processes.
    System,
    /// The person who owns the state directory.
    Human,
    /// An agent, proven by its token or its process.
    Agent(AgentId),
    /// A caller of whom nothing is proven: it may only look.
    Nobody,
}

/// Separates the hash of a key from that of its call.
const CALL_FOLLOWS: char = '.';
const ID_BITS: u32 = 48;
const AGENT_PREFIX: &str = "agent_";
const PROJECT_PREFIX: &str = "project_";

impl AgentId {
    /// Makes an id from random bits; only the low 48 are used.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits & ((1 << ID_BITS) - 1))
    }
}

impl ProjectId {
    /// Makes an id from a hash of the project's common git directory.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits & ((1 << ID_BITS) - 1))
    }
}

impl Key {
    pub const BYTES_MAX: usize = 128;

    /// `None` if the text is empty or too long.
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty() && text.len() <= Self::BYTES_MAX).then(|| Self(text.into()))
    }

    /// A key for one call, made of their hashes.
    pub fn for_call(key: &str, call: &str) -> Option<Self> {
        Self::new(&format!("{key}{CALL_FOLLOWS}{call}"))
    }

    /// The part that is the same for every call with the key; `None` if it names no call.
    pub(crate) fn without_call(&self) -> Option<Self> {
        let end = self.0.find(CALL_FOLLOWS)? + CALL_FOLLOWS.len_utf8();
        Some(Self(self.0[..end].into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Principal {
    pub fn agent(self) -> Option<AgentId> {
        match self {
            Principal::Agent(agent) => Some(agent),
            Principal::System | Principal::Human | Principal::Nobody => None,
        }
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(AGENT_PREFIX)?;
        write_hex(f, &self.0.to_be_bytes()[2..])
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PROJECT_PREFIX)?;
        write_hex(f, &self.0.to_be_bytes()[2..])
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Principal::System => f.write_str("comity"),
            Principal::Human => f.write_str("human"),
            Principal::Agent(agent) => agent.fmt(f),
            Principal::Nobody => f.write_str("nobody"),
        }
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl FromStr for AgentId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        hex_after(AGENT_PREFIX, text).map(Self)
    }
}

impl FromStr for ProjectId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        hex_after(PROJECT_PREFIX, text).map(Self)
    }
}

impl FromStr for Principal {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "comity" => Ok(Principal::System),
            "human" => Ok(Principal::Human),
            "nobody" => Ok(Principal::Nobody),
            other => other.parse().map(Principal::Agent),
        }
    }
}

impl FromStr for TokenHash {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        hash_of_hex(text).map(Self)
    }
}

impl FromStr for ContentHash {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        hash_of_hex(text).map(Self)
    }
}

fn hash_of_hex(text: &str) -> Result<[u8; 32], ()> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return Err(());
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).map_err(|_| ())?;
    }
    Ok(bytes)
}

/// Writes at most 32 bytes in hex with a single write: ids are written with every event.
fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 64];
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    f.write_str(str::from_utf8(&text[..bytes.len() * 2]).unwrap_or_default())
}

fn hex_after(prefix: &str, text: &str) -> Result<u64, ()> {
    let digits = text.strip_prefix(prefix).ok_or(())?;
    if digits.len() != 12 || !digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        return Err(());
    }
    u64::from_str_radix(digits, 16).map_err(|_| ())
}

/// Serializes an id as its text.
macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
                text.parse().map_err(|()| serde::de::Error::custom(concat!("not a ", stringify!($type))))
            }
        }
    )*};
}
as_text!(AgentId, ProjectId, Principal, TokenHash, ContentHash);

impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fence {}", self.0)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ticket {}", self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_what_they_print() {
        let agent = AgentId::from_bits(0xa1b2_c3d4_e5f6);
        assert_eq!(agent.to_string(), "agent_a1b2c3d4e5f6");
        assert_eq!(agent.to_string().parse(), Ok(agent));
        assert_eq!(Principal::Agent(agent).to_string().parse(), Ok(Principal::Agent(agent)));
        assert_eq!("human".parse(), Ok(Principal::Human));
        assert!("agent_A1B2C3D4E5F6".parse::<AgentId>().is_err(), "one spelling only");
        assert!("agent_+1b2c3d4e5f6".parse::<AgentId>().is_err());
        let hash = TokenHash([7; 32]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
    }
}
