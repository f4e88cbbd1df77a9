//! Reads and writes files for an agent: below its directory, and nowhere else.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, ftruncate, mkdirat, open, openat2};
use rustix::io::Errno;

/// A file that is read, at most.
const READ_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What is to be done with a file.
#[derive(Debug)]
pub(crate) enum FileWork {
    Read { path: String, line: Option<u64>, limit: Option<u64> },
    Write { path: String, content: String },
}

impl FileWork {
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Read { path, .. } | Self::Write { path, .. } => path,
        }
    }

    /// Does it; gives what was read.
    pub(crate) fn run(&self, directory: &Path) -> io::Result<String> {
        let root = Directory::open(directory)?;
        match self {
            Self::Read { path, line, limit } => Ok(lines(root.read(path)?, *line, *limit)),
            Self::Write { path, content } => root.write(path, content).map(|()| String::new()),
        }
    }
}

/// A directory that no path leads out of, by whatever links and dots.
struct Directory {
    root: OwnedFd,
    names: [PathBuf; 2],
}

impl Directory {
    fn open(path: &Path) -> io::Result<Self> {
        let root = open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, names: [path.to_owned(), path.canonicalize()?] })
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let mut file = self.file(&self.below(path)?, OFlags::RDONLY)?;
        let mut text = String::new();
        Read::by_ref(&mut file).take(READ_BYTES_MAX + 1).read_to_string(&mut text)?;
        match text.len() as u64 > READ_BYTES_MAX {
            true => Err(io::Error::other(format!("it has more than {READ_BYTES_MAX} bytes"))),
            false => Ok(text),
        }
    }

    fn write(&self, path: &str, content: &str) -> io::Result<()> {
        let path = self.below(path)?;
        let file = match self.file(&path, OFlags::WRONLY | OFlags::CREATE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_above(&path)?;
                self.file(&path, OFlags::WRONLY | OFlags::CREATE)?
            }
            other => other?,
        };
        ftruncate(&file, 0)?;
        (&file).write_all(content.as_bytes())
    }

    /// A regular file; nothing that one could wait for is opened.
    fn file(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
        let file = File::from(self.open_below(path, flags, mode)?);
        let kind = rustix::fs::FileType::from_raw_mode(fstat(&file)?.st_mode);
        match kind.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is not a regular file")),
        }
    }

    fn open_below(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        // Something may be renamed while the kernel looks: it says so, and looks again.
        for _ in 0..100 {
            match openat2(&self.root, path, flags, mode, within) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::XDEV) => return Err(self.outside()),
                other => return Ok(other?),
            }
        }
        Err(Errno::AGAIN.into())
    }

    fn make_above(&self, path: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> =
            path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()).collect();
        above.reverse();
        for directory in above {
            let is_there = self.open_below(directory, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
            if is_there.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                let parent =
                    directory.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let parent = self.open_below(
                    parent,
                    OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
                    Mode::empty(),
                )?;
                let name = directory.file_name().ok_or(io::ErrorKind::InvalidInput)?;
                match mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// The path as it is from the directory.
    fn below(&self, path: &str) -> io::Result<PathBuf> {
        let path = Path::new(path);
        let below = match path.is_absolute() {
            true => self
                .names
                .iter()
                .find_map(|root| path.strip_prefix(root).ok())
                .ok_or_else(|| self.outside())?,
            false => path,
        };
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir | Component::ParentDir);
        match below.components().all(is_plain) && below.file_name().is_some() {
            true => Ok(below.to_owned()),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn outside(&self) -> io::Error {
        let [directory, _] = &self.names;
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("only files below {} can be had", directory.display()),
        )
    }
}

/// From that line on, counted from 1, so many.
fn lines(text: String, line: Option<u64>, limit: Option<u64>) -> String {
    if line.is_none_or(|line| line <= 1) && limit.is_none() {
        return text;
    }
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let skipped = count(line.unwrap_or(1).saturating_sub(1));
    text.split_inclusive('\n').skip(skipped).take(limit.map_or(usize::MAX, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn read(directory: &Path, path: &str) -> Result<String, io::ErrorKind> {
        let work = FileWork::Read { path: path.into(), line: None, limit: None };
        work.run(directory).map_err(|error| error.kind())
    }

    fn write(directory: &Path, path: &str, content: &str) -> Result<(), io::ErrorKind> {
        let work = FileWork::Write { path: path.into(), content: content.into() };
        work.run(directory).map(drop).map_err(|error| error.kind())
    }

    #[test]
    fn files_below_are_read_and_written() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir(&root).unwrap();
        assert_eq!(read(&root, "a"), Err(io::ErrorKind::NotFound));
        write(&root, &root.join("x/y/a").display().to_string(), "one\ntwo\n").unwrap();
        write(&root, "x/../b", "longer than the next").unwrap();
        write(&root, "b", "short").unwrap();
        assert_eq!(read(&root, "x/y/a").as_deref(), Ok("one\ntwo\n"));
        assert_eq!(read(&root, "b").as_deref(), Ok("short"));
        // Also by the name that a link gives it.
        symlink(&root, dir.path().join("link")).unwrap();
        assert_eq!(
            read(&dir.path().join("link"), &root.join("b").display().to_string()).as_deref(),
            Ok("short")
        );
    }

    #[test]
    fn no_path_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let outside = dir.path().join("secret");
        std::fs::write(&outside, "secret").unwrap();
        symlink(&outside, root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink(dir.path(), root.join("all")).unwrap();
        let absolute = outside.display().to_string();
        let beside = format!("{}/../secret", root.display());
        for path in [
            &*absolute,
            &beside,
            "../secret",
            "link",
            "up/secret",
            "all/secret",
            "up/new",
            "all/n/e/w",
            "/etc/passwd",
        ] {
            assert_eq!(read(&root, path), Err(io::ErrorKind::PermissionDenied), "{path}");
            assert_eq!(write(&root, path, "x"), Err(io::ErrorKind::PermissionDenied), "{path}");
        }
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "secret");
        let mut left: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().flatten().map(|it| it.file_name()).collect();
        left.sort();
        assert_eq!(left, ["root", "secret"]);
    }

    #[test]
    fn what_is_no_regular_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        // It would wait for somebody at the other end for ever.
        assert!(read(dir.path(), "pipe").is_err());
        assert!(write(dir.path(), "pipe", "x").is_err());
        for path in ["", ".", "..", "/", "x/.."] {
            assert!(read(dir.path(), path).is_err(), "{path:?}");
            assert!(write(dir.path(), path, "x").is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_part_can_be_read() {
        let text = || "a\nb\nc".to_owned();
        assert_eq!(lines(text(), None, None), "a\nb\nc");
        assert_eq!(lines(text(), Some(2), None), "b\nc");
        assert_eq!(lines(text(), Some(2), Some(1)), "b\n");
        assert_eq!(lines(text(), None, Some(0)), "");
        assert_eq!(lines(text(), Some(9), Some(9)), "");
    }
}
