//! A terminal of a program's own.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::termios::{Winsize, tcgetpgrp, tcsetwinsize};

use crate::launch::Size;

#[derive(Debug)]
pub(crate) struct Terminal {
    /// The end that is not the program's.
    pub(crate) master: OwnedFd,
}

impl Terminal {
    /// Makes one and lets this process and what it starts use it: for input and output, and as their terminal, unless a
    /// sandbox takes it for its own.
    pub(crate) fn make(size: Size, is_for_sandbox: bool) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let terminal = Self { master };
        terminal.resize(size)?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let slave = ioctl_tiocgptpeer(&terminal.master, flags)?;
        rustix::process::setsid()?;
        if !is_for_sandbox {
            rustix::process::ioctl_tiocsctty(&slave)?;
        }
        dup2_stdin(&slave)?;
        dup2_stdout(&slave)?;
        dup2_stderr(&slave)?;
        Ok(terminal)
    }

    pub(crate) fn resize(&self, size: Size) -> io::Result<()> {
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(&self.master, size)?)
    }

    /// The process group that its keys go to.
    pub(crate) fn foreground(&self) -> Option<Pid> {
        tcgetpgrp(&self.master).ok()
    }
}
