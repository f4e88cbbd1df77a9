//! People: who one is to Comity, tokens that stand in for the human, and being present.

mod login;
mod passphrase;
mod token_create;
mod token_list;
mod token_revoke;
mod whoami;

pub use login::Login;
pub use passphrase::SetPassphrase;
pub use token_create::CreateToken;
pub use token_list::ListTokens;
pub use token_revoke::RevokeToken;
pub use whoami::Whoami;
