//! Who is who in the new user namespace: everybody keeps the number that they have outside.

use std::fs;
use std::io;

use rustix::thread::{CapabilitySet, capabilities};

/// How the numbers of users and groups are carried over.
pub(crate) enum Ids {
    /// All of them: only who may become anybody can ask for that, from outside.
    All { users: String, groups: String },
    /// Only one's own, which everybody may.
    Own { user: String, group: String },
}

impl Ids {
    pub(crate) fn of_process() -> io::Result<Ids> {
        let wanted = CapabilitySet::SETUID | CapabilitySet::SETGID;
        if capabilities(None)?.effective.contains(wanted) {
            let all = |file: &str| fs::read_to_string(file).map(|text| identity(&text));
            return Ok(Ids::All { users: all("/proc/self/uid_map")?, groups: all("/proc/self/gid_map")? });
        }
        Ok(Ids::of_own())
    }

    /// One's own alone, whatever else one may ask for.
    pub(crate) fn of_own() -> Ids {
        let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Ids::Own { user: format!("{user} {user} 1\n"), group: format!("{group} {group} 1\n") }
    }

    /// Writes them for a process in the new namespace, if that has to be done from outside.
    pub(crate) fn write_from_outside(&self, pid: u32) -> io::Result<()> {
        let Ids::All { users, groups } = self else { return Ok(()) };
        fs::write(format!("/proc/{pid}/uid_map"), users)?;
        fs::write(format!("/proc/{pid}/gid_map"), groups)
    }

    /// Writes them for this process, which is in the new namespace, if that can be done here.
    pub(crate) fn write_from_inside(&self) -> io::Result<()> {
        let Ids::Own { user, group } = self else { return Ok(()) };
        fs::write("/proc/self/uid_map", user)?;
        // Else a process could give up a group that keeps it out of something.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/gid_map", group)
    }
}

/// The same numbers inside as outside, for the ranges that there are.
fn identity(map: &str) -> String {
    let line = |line: &str| {
        let mut fields = line.split_whitespace();
        let (first, count) = (fields.next()?, fields.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_their_numbers() {
        assert_eq!(identity("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(identity(" 0 1000 1\n 1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }
}
