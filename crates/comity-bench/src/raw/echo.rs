//! The server that servers are compared with: it reads a line and writes one, a thread for each connection.
//!
//! The first line of a connection says how long the answers are to be, in turn.

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::wire::{FrameBytes, Wire, padded, read_line};
use crate::bench_env::BenchEnv;
use crate::process_reaper::OwnedProcess;

/// How long it may take to start.
const START_MAX: Duration = Duration::from_secs(10);
const LINE_BYTES_MAX: usize = 64 * 1024;

/// An echo server in a process of its own.
pub(crate) struct Echo {
    process: OwnedProcess,
    socket: PathBuf,
}

/// A connection to it on which questions and answers have given lengths.
pub(crate) struct PingPong {
    wire: Wire,
    question: Vec<u8>,
}

impl Echo {
    pub(crate) fn start(stage: &BenchEnv) -> Result<Echo, String> {
        let socket = stage.dir().join("echo.sock");
        let _ = std::fs::remove_file(&socket);
        let mut command = stage.command(stage.own(), stage.dir());
        command.args(["all", "--raw-echo"]).arg(&socket);
        let process = stage.spawn(&mut command)?;
        let start = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            if start.elapsed() > START_MAX {
                return Err("the echo server did not start".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Echo { process, socket })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(crate) fn open(&self, frame: FrameBytes) -> Result<PingPong, String> {
        let mut wire = Wire::connect(&self.socket)?;
        wire.send(&greeting(&[frame]))?;
        Ok(PingPong { wire, question: padded(frame.asked) })
    }
}

impl PingPong {
    pub(crate) fn play(&mut self) -> Result<(), String> {
        self.wire.ask(&self.question).map(drop)
    }
}

/// The first line of a connection.
pub(crate) fn greeting(frames: &[FrameBytes]) -> Vec<u8> {
    let lengths: Vec<String> = frames.iter().map(|frame| frame.answered.to_string()).collect();
    (lengths.join(" ") + "\n").into_bytes()
}

/// Is the echo server, until it is killed.
pub(crate) fn serve(socket: &Path) -> Result<(), String> {
    let listener = UnixListener::bind(socket).map_err(|error| error.to_string())?;
    for stream in listener.incoming() {
        let stream = stream.map_err(|error| error.to_string())?;
        std::thread::spawn(move || answer(stream));
    }
    Ok(())
}

fn answer(mut stream: UnixStream) -> Result<(), String> {
    let mut buffer = vec![0; LINE_BYTES_MAX];
    let greeted = read_greeting(&mut stream)?;
    for reply in greeted.iter().cycle() {
        if read_line(&mut stream, &mut buffer)? == 0 {
            break;
        }
        stream.write_all(reply).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Byte by byte: the first question may be right behind it.
fn read_greeting(stream: &mut UnixStream) -> Result<Vec<Vec<u8>>, String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while read_line_byte(stream, &mut byte)? && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    let lengths = String::from_utf8_lossy(&line).into_owned();
    Ok(lengths.split(' ').filter_map(|length| length.parse().ok()).map(padded).collect())
}

fn read_line_byte(stream: &mut UnixStream, byte: &mut [u8; 1]) -> Result<bool, String> {
    use std::io::Read;
    stream.read(byte).map(|count| count == 1).map_err(|error| error.to_string())
}
