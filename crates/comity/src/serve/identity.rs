//! Who is at the other end of a local connection.

use std::os::fd::AsFd;

use comity_app::{Application, processes};
use comity_core::agents::Process;
use comity_core::{Principal, Refusal};

/// The process at the other end, as the kernel told it when the connection was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) pid: u32,
    pub(crate) uid: u32,
}

/// Asks the kernel who connected.
#[cfg(target_os = "linux")]
pub(crate) fn peer(socket: &impl AsFd) -> std::io::Result<Peer> {
    let credentials = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(Peer { pid: credentials.pid.as_raw_nonzero().get() as u32, uid: credentials.uid.as_raw() })
}

/// Other platforms tell only the user; agents are known by their tokens there.
#[cfg(not(target_os = "linux"))]
pub(crate) fn peer(_: &impl AsFd) -> std::io::Result<Peer> {
    Ok(Peer { pid: 0, uid: rustix::process::geteuid().as_raw() })
}

/// Who calls, without a token: the agent in whose process tree the caller is, else the person.
pub(crate) fn by_process(app: &Application, peer: Peer) -> Principal {
    let has_processes = app.engine().world().agents.live().any(|agent| agent.profile.process.is_some());
    if !has_processes {
        return Principal::Human;
    }
    let line = processes::lineage(peer.pid);
    let world = app.engine().world();
    let owner = |process: &Process| world.agents.live().find(|agent| agent.profile.process == Some(*process));
    line.iter().find_map(owner).map_or(Principal::Human, |agent| Principal::Agent(agent.id))
}

/// Who calls with this token.
pub(crate) fn by_token(app: &Application, token: &str) -> Result<Principal, Refusal> {
    app.identify(token)
}
