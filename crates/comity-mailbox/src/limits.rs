//! Every bound of the file mailbox.

/// Bytes of a message's text.
pub const TEXT_BYTES_MAX: usize = 256 << 10;
/// Bytes of a message's summary.
pub const SUMMARY_BYTES_MAX: usize = 1 << 10;
/// Bytes of a message with everything in it, as it is stored; one byte of text takes up to six.
pub const ENTRY_BYTES_MAX: usize = 2 << 20;
/// Bytes of a message's id.
pub const ID_BYTES_MAX: usize = 128;
/// Bytes of the name of a team, an agent or a sender.
pub const NAME_BYTES_MAX: usize = 64;
/// Messages in a box that nobody has read.
pub const UNREAD_MAX: usize = 10_000;
/// Bytes of a box that takes another message.
pub const BOX_BYTES_MAX: usize = 64 << 20;
/// Bytes of a box that is read; between the two is room for the marks that messages get.
pub const FILE_BYTES_MAX: usize = 72 << 20;
/// Bytes of the messages that go on in a box after it was damaged; the others stay where it is set aside.
pub const SALVAGED_BYTES_MAX: usize = 32 << 20;
/// Messages that stay in a box after they were read; older ones move to the archive.
pub const READ_KEPT_MAX: usize = 100;
/// Bytes of the messages that stay in a box after they were read.
pub const READ_KEPT_BYTES_MAX: usize = 1 << 20;
/// Bytes of an archive, after which the next one is begun.
pub const ARCHIVE_BYTES_MAX: usize = 1 << 20;
/// Full archives of one box that are kept; the oldest go.
pub const ARCHIVES_MAX: usize = 256;
/// Boxes, and files that were set aside, in one list.
pub const LISTED_MAX: usize = 10_000;
