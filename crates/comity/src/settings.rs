//! Where a person's settings and secrets are.

use std::path::PathBuf;

/// The person's settings file.
pub(crate) fn user_file() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(config.join("comity").join("comity.toml"))
}

/// The person's token for the HTTP door, from the secret in the state directory.
pub(crate) fn human_token(secret: [u8; 32]) -> String {
    format!("cmty_human_{}", comity_core::TokenHash(secret))
}
