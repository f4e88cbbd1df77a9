//! Every bound of the file mailbox.

pub const TEXT_BYTES_MAX: usize = 256 << 10;
pub const SUMMARY_BYTES_MAX: usize = 1 << 10;
/// Bytes of a whole message, as stored; a byte of text takes up to six.
pub const ENTRY_BYTES_MAX: usize = 2 << 20;
pub const ID_BYTES_MAX: usize = 128;
/// Also bounds names of teams and senders.
pub const NAME_BYTES_MAX: usize = 64;
/// Unread messages in a box.
pub const UNREAD_MAX: usize = 10_000;
/// A larger box takes no further message.
pub const BOX_BYTES_MAX: usize = 64 << 20;
/// A larger box is not read; the difference is room for the marks that messages get.
pub const FILE_BYTES_MAX: usize = 72 << 20;
/// Bytes of the messages that stay in a box after it was damaged; the others stay in what was set aside.
pub const SALVAGED_BYTES_MAX: usize = 32 << 20;
/// Read messages that stay in a box; older ones move to the archive.
pub const READ_KEPT_MAX: usize = 100;
/// The same in bytes.
pub const READ_KEPT_BYTES_MAX: usize = 1 << 20;
/// A new archive is begun beyond this.
pub const ARCHIVE_BYTES_MAX: usize = 1 << 20;
/// Full archives of one box that are kept.
pub const ARCHIVES_MAX: usize = 256;
/// Boxes, and files that were set aside, in one list.
pub const LISTED_MAX: usize = 10_000;
