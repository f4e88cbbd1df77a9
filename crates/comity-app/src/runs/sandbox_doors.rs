//! The two ways out of a sandbox: its own socket, on which everybody is its agent, and the proxy.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::OnceLock;
use std::time::Duration;

use comity_core::AgentId;
use comity_core::runs::RunId;
use comity_runner::ProxyListener;
use rustix::event::{PollFd, PollFlags, poll};

use super::{proxy, sandbox};
use crate::application::Application;

/// How long to wait when a connection can't be taken: most likely there is no file descriptor for it.
const STARVED_FOR: Duration = Duration::from_millis(100);

type Admit = dyn Fn(AgentId, UnixStream) + Send + Sync;

/// The doors of the sandboxes that there are.
#[derive(Default)]
pub(super) struct SandboxDoors {
    /// Sockets on which nobody is heard yet.
    waiting: BTreeMap<AgentId, UnixListener>,
    /// Closed when a sandbox is over.
    open: BTreeMap<AgentId, UnixStream>,
}

/// Who takes connections that are known to be an agent's.
#[derive(Default)]
pub(super) struct Admission(OnceLock<Box<Admit>>);

impl Admission {
    pub(super) fn set(&self, admit: Box<Admit>) {
        let _ = self.0.set(admit);
    }
}

/// Listens where the sandbox of a run will find it.
pub(super) fn listen(app: &Application, run: RunId, agent: AgentId) -> Result<(), String> {
    let socket = sandbox::socket(app, run);
    let failed = |error: std::io::Error| format!("{}: {error}", socket.display());
    let dir = socket.parent().unwrap_or(&socket);
    let _ = std::fs::remove_file(&socket);
    // Its name may be too long for a socket.
    let held = std::fs::File::open(dir).map_err(failed)?;
    let short = format!("/proc/self/fd/{}/comity.sock", std::os::fd::AsRawFd::as_raw_fd(&held));
    let listener = UnixListener::bind(short).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    app.runs().parts().doors.waiting.insert(agent, listener);
    Ok(())
}

/// Serves both until the sandbox is over.
pub(super) fn open(app: &Application, run: RunId, agent: AgentId, proxy: ProxyListener) {
    if !app.runs().parts().doors.waiting.contains_key(&agent)
        && let Err(problem) = listen(app, run, agent)
    {
        eprintln!("comity: {problem}");
    }
    let door = app.runs().parts().doors.waiting.remove(&agent);
    let Ok((end, ended)) = UnixStream::pair() else { return };
    app.runs().parts().doors.open.insert(agent, end);
    let app = app.clone();
    let thread = std::thread::Builder::new().name("sandbox".into());
    let _ = thread.spawn(move || {
        let _ = proxy.0.set_nonblocking(true);
        let proxied = proxy::Proxy::of(&app, agent);
        loop {
            let mut sources = vec![
                PollFd::new(&ended, PollFlags::IN),
                PollFd::from_borrowed_fd(proxy.0.as_fd(), PollFlags::IN),
            ];
            sources.extend(door.as_ref().map(|door| PollFd::new(door, PollFlags::IN)));
            let _ = poll(&mut sources, None);
            if sources.first().is_none_or(|ended| !ended.revents().is_empty()) {
                return;
            }
            let caller = door.as_ref().map(UnixListener::accept);
            match (caller, app.runs().admission.0.get()) {
                (Some(Ok((stream, _))), Some(admit)) => admit(agent, stream),
                (Some(Err(error)), _) if error.kind() != std::io::ErrorKind::WouldBlock => {
                    std::thread::sleep(STARVED_FOR);
                }
                (Some(Ok(_) | Err(_)) | None, _) => {}
            }
            match proxy.0.accept() {
                Ok((stream, _)) => proxy::take(&proxied, stream),
                Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => {
                    std::thread::sleep(STARVED_FOR)
                }
                Err(_) => {}
            }
        }
    });
}

/// The sandbox is over.
pub(super) fn close(app: &Application, agent: AgentId) {
    let mut parts = app.runs().parts();
    parts.doors.waiting.remove(&agent);
    parts.doors.open.remove(&agent);
}
