//! A control group for one agent: whatever it starts is in it, and one write ends all of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a group's killed processes get to leave it.
const REMOVE_WAIT: Duration = Duration::from_millis(500);
const REMOVE_ROUND: Duration = Duration::from_millis(2);

/// The group of one agent, empty when it is made. It is removed when nobody is in it any more.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
    /// Where this process belongs.
    home: PathBuf,
}

impl Cgroup {
    /// Makes one below the group of this process, where the system lets us.
    pub(crate) fn make(name: &str) -> io::Result<Self> {
        let home = own_group().ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        let path = home.join(format!("comity-{name}-{}", std::process::id()));
        fs::create_dir(&path)?;
        let group = Self { path, home };
        // Before Linux 5.14 nothing ends a group at once.
        if !group.path.join("cgroup.kill").exists() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(group)
    }

    /// Runs `start` inside: what it starts is in the group from its first moment on.
    pub(crate) fn within<T>(&self, start: impl FnOnce() -> T) -> io::Result<T> {
        move_here(&self.path)?;
        let started = start();
        move_here(&self.home)?;
        Ok(started)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Ends all that is in a group.
pub(crate) fn kill(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.kill"), "1")
}

/// Removes a group that nobody else will; whoever was in it was killed and may need a moment.
pub(crate) fn remove(group: &Path) {
    let give_up = Instant::now() + REMOVE_WAIT;
    while fs::remove_dir(group).is_err() && group.exists() && Instant::now() < give_up {
        std::thread::sleep(REMOVE_ROUND);
    }
}

fn move_here(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// The directory of the group that this process is in, in the unified hierarchy.
fn own_group() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let at_root = mount.split(' ').nth(3)? == "/";
        (at_root && source.starts_with("cgroup2 ")).then(|| mount.split(' ').nth(4))?
    })?;
    Some(Path::new(mount).join(group))
}
