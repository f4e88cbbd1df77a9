//! A guardian that waits for a program: being there already, it starts it at once.

use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::run::Run;
use super::{CONNECT_WAIT, Runner, RunnerError, failed, locked};
use crate::launch::Program;
use crate::protocol::{Received, ToGuardian, send};

/// A guardian without a program.
#[derive(Debug)]
pub(super) struct SpareGuardian {
    pub(super) key: String,
    /// None while it is being started.
    child: Option<Child>,
    /// What has connected under that key, and as which process.
    connected: Option<(u32, UnixStream, Received)>,
}

impl SpareGuardian {
    /// It has come: it waits from now on.
    pub(super) fn met(&mut self, pid: u32, connection: UnixStream, received: Received) {
        if send(&connection, &ToGuardian::Wait, &[]).is_ok() {
            self.connected = Some((pid, connection, received));
        }
    }

    fn is_ready(&self) -> bool {
        let pid = self.child.as_ref().map(Child::id);
        self.connected.as_ref().is_some_and(|(connected, ..)| Some(*connected) == pid)
    }

    fn is_gone(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_)) | Err(_)))
    }

    /// Gives it a program, unless it is gone.
    fn launch(mut self, key: &str, program: &Program, is_piped: bool) -> Option<Run> {
        let ((_, connection, received), child) = (self.connected.take()?, self.child.take()?);
        let launch = match is_piped {
            true => ToGuardian::LaunchPiped(program.clone()),
            false => ToGuardian::Launch(program.clone()),
        };
        let told = send(&connection, &ToGuardian::Become { key: key.to_owned() }, &[])
            .and_then(|()| send(&connection, &launch, &[]));
        let run = Run::told(connection, received, program.survives).with_child(child);
        // One that can't be told is gone, and waited for when it is dropped.
        told.is_ok().then_some(run)
    }
}

impl Drop for SpareGuardian {
    fn drop(&mut self) {
        // It has nothing below it that it would have to end.
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Runner {
    /// A program under a guardian that is there, or under a new one.
    pub(super) fn start_program(
        &self,
        spare: &mut Option<SpareGuardian>,
        key: &str,
        program: Program,
        is_piped: bool,
    ) -> Result<Run, RunnerError> {
        let ready = spare.take_if(|spare| spare.is_ready());
        if let Some(run) = ready.and_then(|ready| ready.launch(key, &program, is_piped)) {
            return Ok(run);
        }
        let guardian = self.start_guardian(key)?;
        let due = Instant::now() + CONNECT_WAIT;
        Ok(Run::launched(program, Some(guardian.id()), due).with_child(guardian))
    }

    /// Whether a guardian waits for the next program.
    pub fn has_spare(&self) -> bool {
        locked(&self.state).spare.as_ref().is_some_and(SpareGuardian::is_ready)
    }

    /// Sees to it that a guardian waits for the next program. It has the umask that this thread has.
    pub(super) fn keep_spare(&self) {
        let key = {
            let mut state = locked(&self.state);
            let is_there = state.spare.as_mut().is_some_and(|spare| !spare.is_gone());
            if is_there || state.is_over {
                return;
            }
            state.spares += 1;
            let key = format!("spare-{}", state.spares);
            state.spare = Some(SpareGuardian { key: key.clone(), child: None, connected: None });
            key
        };
        // Without one, the next program starts a little later.
        let child = self.start_guardian(&key).ok();
        let mut state = locked(&self.state);
        let own = state.spare.as_mut().filter(|spare| spare.key == key && child.is_some());
        match own {
            Some(spare) => spare.child = child,
            None => state.spare = None,
        }
    }

    fn start_guardian(&self, key: &str) -> Result<Child, RunnerError> {
        let words = self.guardian_command(key);
        let (program, arguments) = words.split_first().ok_or(RunnerError::NoGuardian)?;
        Command::new(program)
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed("start a guardian"))
    }
}
