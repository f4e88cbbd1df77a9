//! A disk whose power can be cut: a file system in a file, which forgets what was never synced.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{eventually, has_program, is_root, skip};

/// Ends a file system at once, without writing anything more: `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`.
///
/// In Perl, which is a part of every Debian: an `ioctl` from here would need `unsafe`, and no usual tool offers this one.
const CUT: &str = r#"open(my $disk, "<", $ARGV[0]) or die "open: $!\n"; my $how = pack("L", 2);
    ioctl($disk, 0x8004587D, $how) or die "ioctl: $!\n";"#;
const DISK_BYTES: u64 = 256 * 1024 * 1024;

/// A mounted disk.
pub(crate) struct Disk {
    dir: tempfile::TempDir,
}

impl Disk {
    /// A new disk, unless it cannot be had here: then the test is skipped.
    pub(crate) fn new(test: &str) -> Option<Disk> {
        let is_possible =
            is_root() && ["mkfs.ext4", "mount", "umount", "perl"].iter().all(|name| has_program(name));
        if !is_possible {
            skip(test, "it needs root, ext4, mount and perl");
            return None;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let disk = Disk { dir };
        std::fs::create_dir(disk.path()).expect("a directory");
        let image = std::fs::File::create(disk.image()).expect("a file");
        image.set_len(DISK_BYTES).expect("a file with room");
        let made = run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(disk.image()));
        if let Err(problem) = made.and_then(|()| disk.mount()) {
            skip(test, &format!("a disk in a file can't be mounted here: {problem}"));
            return None;
        }
        Some(disk)
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("disk")
    }

    fn image(&self) -> PathBuf {
        self.dir.path().join("image")
    }

    fn mount(&self) -> Result<(), String> {
        run(Command::new("mount").args(["-t", "ext4", "-o", "loop"]).arg(self.image()).arg(self.path()))
    }

    /// Cuts the power: what is not on the disk by now never gets there.
    pub(crate) fn cut(&self) -> Result<(), String> {
        run(Command::new("perl").args(["-e", CUT]).arg(self.path()))
    }

    /// Turns the power on again; whoever used the disk has to be gone.
    pub(crate) fn power_on(&self) {
        // What a killed process had open may be closed a moment after its end.
        eventually("the disk is free", || unmount(&self.path()).is_ok());
        self.mount().expect("the disk is mounted again");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = run(Command::new("umount").arg("--lazy").arg(self.path()));
    }
}

fn unmount(path: &Path) -> Result<(), String> {
    run(Command::new("umount").arg(path))
}

fn run(command: &mut Command) -> Result<(), String> {
    let done = command.output().map_err(|error| error.to_string())?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
    }
}
