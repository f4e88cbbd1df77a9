//! Secret tokens: 256 random bits, stored only as their hash.

use std::fmt;

use comity_core::{AgentId, Key, Principal, TokenHash};

/// Begins every token, so that one is recognised where it should not be.
const PREFIX: &str = "cmty_";

/// A secret. It is shown once, to whom it belongs.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Makes a new one.
    pub fn random() -> Result<Token, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Token(format!("{PREFIX}{}", comity_core::TokenHash(bytes))))
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    pub fn hash(&self) -> TokenHash {
        hash(&self.0)
    }
}

/// What is stored of a token that somebody presents.
pub fn hash(token: &str) -> TokenHash {
    TokenHash(*blake3::hash(token.as_bytes()).as_bytes())
}

/// The id and token that an ask with this key always gets from this server.
pub fn derived(secret: &[u8; 32], who: Principal, key: &Key) -> (AgentId, Token) {
    let derive = |what: &str| {
        let mut hasher = blake3::Hasher::new_keyed(secret);
        for part in [what, &who.to_string(), key.as_str()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    };
    let mut id = [0; 8];
    id.copy_from_slice(&derive("agent")[..8]);
    (AgentId::from_bits(u64::from_le_bytes(id)), Token(format!("{PREFIX}{}", TokenHash(derive("token")))))
}

/// A new id for an agent.
pub fn random_agent_id() -> Result<AgentId, getrandom::Error> {
    Ok(AgentId::from_bits(getrandom::u64()?))
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
