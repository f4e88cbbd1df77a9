//! The references: what the machine itself costs, without Comity.

pub(super) mod commit;
pub(super) mod echo;
pub(super) mod pages;
pub(super) mod relay;
pub(super) mod wire;
pub(super) mod worker;
