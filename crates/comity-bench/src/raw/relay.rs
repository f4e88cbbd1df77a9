//! The least that takes a line from one process to another: a process between two sockets.

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::wire::read_line;
use crate::bench_env::BenchEnv;
use crate::process_reaper::OwnedProcess;

const START_MAX: Duration = Duration::from_secs(10);
const LINE_BYTES_MAX: usize = 64 * 1024;

/// A relay in a process of its own, with both ends open.
pub(crate) struct Relay {
    _process: OwnedProcess,
    pub(crate) sender: UnixStream,
    pub(crate) receiver: UnixStream,
}

impl Relay {
    pub(crate) fn start(stage: &BenchEnv) -> Result<Relay, String> {
        let socket: PathBuf = stage.dir().join("relay.sock");
        let _ = std::fs::remove_file(&socket);
        let mut command = stage.command(stage.own(), stage.dir());
        command.args(["all", "--raw-relay"]).arg(&socket);
        let process = stage.spawn(&mut command)?;
        let start = Instant::now();
        let receiver = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(error) if start.elapsed() > START_MAX => return Err(format!("the relay: {error}")),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let sender = UnixStream::connect(&socket).map_err(|error| error.to_string())?;
        Ok(Relay { _process: process, sender, receiver })
    }
}

/// Is the relay, until the sender hangs up: the first connection receives, the second sends.
pub(crate) fn serve(socket: &Path) -> Result<(), String> {
    let describe = |error: std::io::Error| error.to_string();
    let listener = UnixListener::bind(socket).map_err(describe)?;
    let (mut receiver, _) = listener.accept().map_err(describe)?;
    let (mut sender, _) = listener.accept().map_err(describe)?;
    let mut buffer = vec![0; LINE_BYTES_MAX];
    loop {
        match read_line(&mut sender, &mut buffer)? {
            0 => return Ok(()),
            length => receiver.write_all(&buffer[..length]).map_err(describe)?,
        }
    }
}
