//! The namespaces that a process joins.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::{ConfineError, FailedStep, NetworkAccess, ProblemKind};

/// Namespaces of another process, in the order in which they are joined: who is in the first may join the others.
pub(crate) struct Spaces(Vec<(File, LinkNameSpaceType)>);

impl Spaces {
    pub(crate) fn of(pid: u32, network: NetworkAccess) -> io::Result<Spaces> {
        let opened =
            |name: &str, kind| File::open(format!("/proc/{pid}/ns/{name}")).map(|space| (space, kind));
        let mut all =
            vec![opened("user", LinkNameSpaceType::User)?, opened("mnt", LinkNameSpaceType::Mount)?];
        if network == NetworkAccess::None {
            all.push(opened("net", LinkNameSpaceType::Network)?);
        }
        Ok(Spaces(all))
    }

    pub(crate) fn join(&self) -> Result<(), ConfineError> {
        for (at, (space, kind)) in self.0.iter().enumerate() {
            move_into_link_name_space(space.as_fd(), Some(*kind)).map_err(|error| {
                let problem =
                    ConfineError::before(FailedStep::Other, "the namespaces can't be entered", &error.into());
                match at {
                    0 => problem,
                    _ => ConfineError { kind: ProblemKind::HalfDone, ..problem },
                }
            })?;
        }
        Ok(())
    }
}
