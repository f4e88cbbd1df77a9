//! Reads files that others can replace: a pipe must not block, and a device has no end.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Larger settings and other small files are not read.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Opens a file for reading, if it is a regular one.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    checked(OpenOptions::new().read(true).custom_flags(flags).open(path)?)
}

/// The open file, if it is a regular one; it has to be opened without blocking.
pub(crate) fn checked(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    match () {
        () if kind.is_file() => Ok(file),
        () if kind.is_dir() => Err(rustix::io::Errno::ISDIR.into()),
        () => Err(io::Error::new(ErrorKind::InvalidInput, "it is a pipe or a device, not a file")),
    }
}

/// Reads a small file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > BYTES_MAX {
        true => Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {BYTES_MAX} bytes"))),
        false => Ok(bytes),
    }
}

/// Reads a small text file.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read(path)?).map_err(not_text)
}
