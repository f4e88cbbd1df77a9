//! Secret tokens: 256 random bits, stored only as their hash.

use std::fmt;

use comity_core::{AgentId, TokenHash};

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

/// A new id for an agent.
pub fn random_agent_id() -> Result<AgentId, getrandom::Error> {
    Ok(AgentId::from_bits(getrandom::u64()?))
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
