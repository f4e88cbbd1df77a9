//! The open connections by id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::connection::Connection;
use super::outbox::ConnectionId;

pub(crate) type Connections = HashMap<ConnectionId, Connection, BuildHasherDefault<IdHasher>>;

/// Hashes ids that the server itself gave out: nobody can choose them to collide.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, number: u64) {
        // An odd factor with bits all over: neighbours land far apart.
        self.0 = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0.rotate_left(8) ^ u64::from(*byte));
        }
    }
}
