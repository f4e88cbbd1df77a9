//! The branch that the user's own checkout is on.

use super::Driver;
use super::failure::WorktreeError;
use super::names::Branch;

/// Bytes of a `HEAD` that are read.
const HEAD_BYTES_MAX: usize = 4_096;

impl Driver {
    /// The branch of the main checkout; nothing if it is on none.
    pub fn main_branch(&self) -> Result<Option<Branch>, WorktreeError> {
        let head = self.common_dir.join("HEAD");
        let text = std::fs::read(&head).map_err(WorktreeError::disk(&head))?;
        let text = String::from_utf8_lossy(&text[..text.len().min(HEAD_BYTES_MAX)]).into_owned();
        text.trim().strip_prefix("ref: refs/heads/").map(Branch::parse).transpose()
    }
}
