//! How a process gets into its confinement.
//!
//! Another process makes the namespaces and the mounts, and this one joins them when all is done: if anything cannot be
//! done, this process is as it was and can go on without.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};

use crate::builder::Builder;
use crate::descriptors::reopen_all;
use crate::working_dir::WorkingDir;
use crate::{ConfineError, Confinement, Extent, NetworkAccess, ProblemKind, typing};

pub(crate) fn enter(confinement: &Confinement) -> Result<(), ConfineError> {
    if confinement.is_empty() {
        return Ok(());
    }
    let half_done = |what: String| ConfineError { what, kind: ProblemKind::HalfDone };
    let cwd = WorkingDir::of_process();
    let builder = Builder::start(confinement)?;
    builder.spaces().join()?;
    drop(builder);
    cwd.enter(&confinement.extent).map_err(half_done)?;
    reopen_all(&confinement.extent).map_err(|error| half_done(format!("what was open before: {error}")))?;
    typing::forbid().map_err(|error| half_done(format!("typing for others can't be forbidden: {error}")))?;
    give_up_mounting().map_err(|error| half_done(format!("the right to mount can't be given up: {error}")))
}

impl Confinement {
    fn is_empty(&self) -> bool {
        let holds_nothing = match &self.extent {
            Extent::Held(paths) => paths.is_empty(),
            Extent::Everything { .. } => false,
        };
        holds_nothing && self.network == NetworkAccess::Shared
    }
}

/// Without this, who is root in here could take the mounts away again.
fn give_up_mounting() -> io::Result<()> {
    remove_capability_from_bounding_set(CapabilitySet::SYS_ADMIN)?;
    let CapabilitySets { effective, permitted, inheritable } = capabilities(None)?;
    let without = |set: CapabilitySet| set.difference(CapabilitySet::SYS_ADMIN);
    let left = CapabilitySets {
        effective: without(effective),
        permitted: without(permitted),
        inheritable: without(inheritable),
    };
    Ok(set_capabilities(None, left)?)
}
