//! Pipes as a program's input and outputs, for one that speaks a protocol.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::pipe::{PipeFlags, pipe_with};

/// The ends that are not the program's.
pub(crate) struct Pipes {
    input: OwnedFd,
    output: OwnedFd,
    errors: OwnedFd,
}

pub(crate) struct ProgramEnds {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) errors: OwnedFd,
}

/// Makes the pipes of a program that has no terminal, in a session of its own: no key of somebody else's terminal reaches it.
pub(crate) fn make() -> io::Result<(Pipes, ProgramEnds)> {
    // It may lead one already.
    let _ = rustix::process::setsid();
    let (for_program, input) = pipe_with(PipeFlags::CLOEXEC)?;
    let (output, to_output) = pipe_with(PipeFlags::CLOEXEC)?;
    let (errors, to_errors) = pipe_with(PipeFlags::CLOEXEC)?;
    let ends = ProgramEnds { input: for_program, output: to_output, errors: to_errors };
    Ok((Pipes { input, output, errors }, ends))
}

impl ProgramEnds {
    /// Their numbers, for who starts a program without the standard library.
    pub(crate) fn numbers(&self) -> [RawFd; 3] {
        [self.input.as_raw_fd(), self.output.as_raw_fd(), self.errors.as_raw_fd()]
    }
}

impl Pipes {
    /// In the order in which they are sent.
    pub(crate) fn all(&self) -> [BorrowedFd<'_>; 3] {
        [self.input.as_fd(), self.output.as_fd(), self.errors.as_fd()]
    }
}
