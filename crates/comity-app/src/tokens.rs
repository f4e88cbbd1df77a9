//! Secret tokens: 256 random bits, stored only as their hash.

use std::fmt;

use comity_core::{AgentId, Principal, TokenHash};

/// Prefix of every token, so that one is recognized where it should not be.
const PREFIX: &str = "cmty_";

/// Prefix of every token that stands in for the human, so that an agent program which finds one does not take it for
/// its own.
pub const HUMAN_PREFIX: &str = "cmty_human_";

/// A shorter key may be guessed, so no token is derived from it.
pub const KEY_BYTES_MIN: usize = 32;

/// A secret, shown once to its owner.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new token.
    pub fn random() -> Result<Token, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Token(format!("{PREFIX}{}", comity_core::TokenHash(bytes))))
    }

    /// A new token that stands in for the human.
    pub fn for_human() -> Result<Token, getrandom::Error> {
        let Token(text) = Token::random()?;
        Ok(Token(text.replacen(PREFIX, HUMAN_PREFIX, 1)))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> TokenHash {
        hash(&self.0)
    }
}

/// The stored form of a token that was presented.
pub fn hash(token: &str) -> TokenHash {
    TokenHash(*blake3::hash(token.as_bytes()).as_bytes())
}

/// The id and token that this server always gives an ask with this key.
pub(crate) fn derived(secret: &[u8; 32], who: Principal, key: &str) -> (AgentId, Token) {
    let derive = |what: &str| {
        let mut hasher = blake3::Hasher::new_keyed(secret);
        for part in [what, &who.to_string(), key] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        *hasher.finalize().as_bytes()
    };
    let mut id = [0; 8];
    id.copy_from_slice(&derive("agent")[..8]);
    (AgentId::from_bits(u64::from_le_bytes(id)), Token(format!("{PREFIX}{}", TokenHash(derive("token")))))
}

/// What is stored of a passphrase: `argon2id`, its salt and its hash.
pub fn verifier(passphrase: &str) -> Result<String, String> {
    let mut salt = [0; 32];
    getrandom::fill(&mut salt).map_err(|error| error.to_string())?;
    let hash = stretched(passphrase, &salt)?;
    Ok(format!("argon2id {} {}", TokenHash(salt), TokenHash(hash)))
}

/// Whether a passphrase matches a verifier.
pub fn verify(verifier: &str, passphrase: &str) -> bool {
    let mut parts = verifier.split(' ').skip(1).map(str::parse::<TokenHash>);
    let (Some(Ok(salt)), Some(Ok(wanted))) = (parts.next(), parts.next()) else { return false };
    // Hashes of hashes are compared, so the time it takes tells nothing.
    let blind = |bytes: &[u8]| blake3::hash(bytes);
    stretched(passphrase, &salt.0).is_ok_and(|hash| blind(&hash) == blind(&wanted.0))
}

fn stretched(passphrase: &str, salt: &[u8; 32]) -> Result<[u8; 32], String> {
    let mut hash = [0; 32];
    let made = argon2::Argon2::default().hash_password_into(passphrase.as_bytes(), salt, &mut hash);
    made.map(|()| hash).map_err(|error| error.to_string())
}

pub(crate) fn random_agent_id() -> Result<AgentId, getrandom::Error> {
    Ok(AgentId::from_bits(getrandom::u64()?))
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
