//! What a guardian is told to run.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::launch::Program;
use crate::protocol::{Received, ToGuardian};

/// How long it waits to be told what to run.
const LAUNCH_WAIT: Duration = Duration::from_secs(10);

pub(super) struct ToldProgram {
    pub(super) program: Program,
    pub(super) is_piped: bool,
    /// Whose it is, if not that of the key that the guardian was started with.
    pub(super) key: Option<String>,
}

/// The program to run, unless the runner does not want it any more.
pub(super) fn told(connection: &UnixStream, received: &mut Received) -> io::Result<Option<ToldProgram>> {
    connection.set_read_timeout(Some(LAUNCH_WAIT))?;
    let mut give_up = Some(Instant::now() + LAUNCH_WAIT);
    let mut key = None;
    loop {
        match received.next()? {
            Some(ToGuardian::Launch(program)) => {
                return Ok(Some(ToldProgram { program, is_piped: false, key }));
            }
            Some(ToGuardian::LaunchPiped(program)) => {
                return Ok(Some(ToldProgram { program, is_piped: true, key }));
            }
            Some(ToGuardian::Wait) => {
                connection.set_read_timeout(None)?;
                give_up = None;
            }
            Some(ToGuardian::Become { key: told }) => key = Some(told),
            Some(ToGuardian::End { .. }) => return Ok(None),
            Some(ToGuardian::Resize(_) | ToGuardian::Interrupt) => {}
            None if give_up.is_some_and(|at| Instant::now() > at) => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            None => {
                if !received.read(connection)? {
                    return Ok(None);
                }
            }
        }
    }
}
