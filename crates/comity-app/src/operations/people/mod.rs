//! People: who one is to Comity, tokens that stand in for the human, and being present.

mod login;
mod new_places;
mod passphrase;
mod token_create;
mod token_list;
mod token_revoke;
mod whoami;

use crate::catalog::{CatalogEntry, DELETE, GET, Group, POST};
use crate::identity::WayIn;
use crate::operation::AtTerminal;
use comity_core::calls;
pub use login::Login;
pub use new_places::ShowNewPlaces;
pub use passphrase::SetPassphrase;
pub use token_create::CreateToken;
pub use token_list::ListTokens;
pub use token_revoke::RevokeToken;
pub use whoami::Whoami;

pub(crate) const GROUPS: &[Group] = &[("token", "Tokens with which scripts act as you")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Whoami>(       "whoami",            "whoami",              GET,    "/api/whoami"),
    CatalogEntry::of::<ShowNewPlaces>("new_places",        "places",              POST,   "/api/new-places")   .changes(),
    CatalogEntry::of::<CreateToken>(  calls::TOKEN_CREATE, "token create <name>", POST,   "/api/tokens")       .changes().also(&["token add"]),
    CatalogEntry::of::<ListTokens>(   calls::TOKENS,       "token list",          GET,    "/api/tokens").also(&["token ls"]),
    CatalogEntry::of::<RevokeToken>(  calls::TOKEN_REVOKE, "token revoke <name>", DELETE, "/api/tokens/{name}").removes().also(&["token rm"]),
    CatalogEntry::of::<SetPassphrase>("passphrase_set",    "passphrase",          POST,   "/api/passphrase")   .changes().long().at_terminal(AtTerminal::AsksNewPassphrase),
    CatalogEntry::of::<Login>(        calls::LOGIN,        "login",               POST,   "/api/login")        .changes().long().lets_in(WayIn::LogIn).at_terminal(AtTerminal::AsksPassphrase),
];
