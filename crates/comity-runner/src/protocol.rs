//! What the runner and its guardians say to each other: lines of JSON over a Unix socket.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::launch::{Exit, Program, Size};
use crate::process_tree::ProcessId;

/// A line with a program, its arguments and its environment, at most.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
const READ_BYTES: usize = 16 * 1024;
/// Descriptors that come with one read, at most: a guardian hands over its terminal or three pipes, once.
const DESCRIPTORS_MAX: usize = 4;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToGuardian {
    /// It is to wait for a program, for as long as the runner is there.
    Wait,
    /// What comes is for this key, and not for the one that it was started with.
    Become {
        key: String,
    },
    Launch(Program),
    /// The same, with pipes as its input and outputs instead of a terminal.
    LaunchPiped(Program),
    Resize(Size),
    /// SIGINT to whatever has the terminal.
    Interrupt,
    /// SIGTERM to the program, then the end of all that is left.
    End {
        grace_ms: u64,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromGuardian {
    Hello {
        key: String,
        guardian: ProcessId,
        /// What runs already, if this is not the first runner. Its terminal comes along.
        running: Option<Running>,
    },
    /// The program's terminal comes along, if the guardian made one, or the other ends of its pipes.
    Started(Running),
    NotStarted {
        why: String,
    },
    Ended(Exit),
}

/// A program that its guardian has started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) program: ProcessId,
    /// The control group with all that it started, where there is one.
    pub(crate) group: Option<PathBuf>,
    /// What the terminal calls the pane that it is in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) pane: Option<String>,
}

/// Sends one message; descriptors may come along.
pub(crate) fn send<T: Serialize>(
    stream: &UnixStream,
    message: &T,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut sent = 0;
    while sent < line.len() {
        let mut control = SendAncillaryBuffer::new(&mut space);
        if sent == 0 && !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let rest = IoSlice::new(line.get(sent..).unwrap_or_default());
        sent += sendmsg(stream.as_fd(), &[rest], &mut control, SendFlags::NOSIGNAL)?;
    }
    Ok(())
}

/// What has come from the other side and was not taken yet.
#[derive(Default, Debug)]
pub(crate) struct Received {
    bytes: Vec<u8>,
    pub(crate) descriptors: VecDeque<OwnedFd>,
}

impl Received {
    /// Reads what is there; tells whether the other side is still there.
    pub(crate) fn read(&mut self, stream: &UnixStream) -> io::Result<bool> {
        let mut bytes = [0; READ_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(&mut bytes)];
        let count = match recvmsg(stream.as_fd(), &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(message) => message.bytes,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(true),
            Err(rustix::io::Errno::CONNRESET) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        self.bytes.extend_from_slice(bytes.get(..count).unwrap_or_default());
        if self.bytes.len() > LINE_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line without an end"));
        }
        Ok(count > 0)
    }

    /// The next whole message.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_comes_along_and_lines_may_come_in_pieces() {
        let (one, other) = UnixStream::pair().unwrap();
        let file = tempfile::tempfile().unwrap();
        let running = Running { program: ProcessId { pid: 7, start: 9 }, group: None, pane: None };
        send(&one, &FromGuardian::Started(running), &[file.as_fd()]).unwrap();
        rustix::io::write(&one, b"{\"not_started\":").unwrap();
        let mut received = Received::default();
        assert!(received.read(&other).unwrap());
        let started: Option<FromGuardian> = received.next().unwrap();
        assert!(matches!(started, Some(FromGuardian::Started(running)) if running.program.pid == 7));
        assert_eq!(received.descriptors.len(), 1);
        assert!(received.next::<FromGuardian>().unwrap().is_none());
        rustix::io::write(&one, b"{\"why\":\"no such file\"}}\n").unwrap();
        drop(one);
        assert!(received.read(&other).unwrap());
        assert!(
            matches!(received.next().unwrap(), Some(FromGuardian::NotStarted { why }) if why == "no such file")
        );
        assert!(!received.read(&other).unwrap());
    }
}
