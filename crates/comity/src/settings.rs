//! A person's secrets.

/// The person's token for the HTTP door, from the secret in the state directory.
pub(crate) fn human_token(secret: [u8; 32]) -> String {
    format!("cmty_human_{}", comity_core::TokenHash(secret))
}
