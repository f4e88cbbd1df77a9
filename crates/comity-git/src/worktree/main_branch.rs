//! The branch that is checked out in the user's own checkout.

use super::Driver;
use super::failure::WorktreeError;
use super::names::Branch;

const HEAD_BYTES_MAX: usize = 4_096;

impl Driver {
    pub fn main_branch(&self) -> Result<Option<Branch>, WorktreeError> {
        let head = self.common_dir.join("HEAD");
        let text = std::fs::read(&head).map_err(WorktreeError::disk(&head))?;
        let text = String::from_utf8_lossy(&text[..text.len().min(HEAD_BYTES_MAX)]).into_owned();
        text.trim().strip_prefix("ref: refs/heads/").map(Branch::parse).transpose()
    }
}
