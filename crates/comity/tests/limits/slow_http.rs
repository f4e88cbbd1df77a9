//! Clients of the HTTP door that take their time.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;

use crate::memory::narrow;
use crate::support::wire::Wire;
use crate::support::{HUMAN, PATIENCE, Place};
use crate::{address, crowd_size};

/// Connections that dawdle.
const DAWDLERS: usize = 1_100;
/// Which of 25 does not read its answer.
const DEAF: usize = 3;
/// How much longer a request may take because of them.
const DELAY_MAX: Duration = Duration::from_millis(100);
/// Questions of a round, of which the slowest counts.
const QUESTIONS: usize = 20;
/// Rounds, and how many of them whatever else this machine does may delay.
const ROUNDS: usize = 5;
const DELAYED_MAX: usize = 1;
/// How long the server has patience with anybody.
const PATIENCE_OF_SERVER: Duration = Duration::from_secs(20);

/// A request, and how long its answer takes.
fn asked(address: &str) -> Duration {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(address).expect("the HTTP door");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let head = format!(
        "GET /api/status HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {HUMAN}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    begun.elapsed() // clock: compared with the same without dawdlers
}

/// A question at the local socket, and how long its answer takes.
fn asked_locally(place: &Place) -> Duration {
    let begun = Instant::now();
    Wire::connect(place).ask("status", json!({})).expect("a status");
    begun.elapsed() // clock: compared with the same without dawdlers
}

/// The slowest of some questions over HTTP, and of some at the local socket.
pub(crate) fn slowest(place: &Place, address: &str, mut between: impl FnMut()) -> [Duration; 2] {
    (0..QUESTIONS).fold([Duration::ZERO; 2], |[http, local], _| {
        between();
        [http.max(asked(address)), local.max(asked_locally(place))]
    })
}

/// Asks in rounds beside others, who delay nobody.
pub(crate) fn check_not_delayed(
    place: &Place,
    address: &str,
    before: [Duration; 2],
    mut between: impl FnMut(),
) {
    let rounds = [(); ROUNDS].map(|()| slowest(place, address, &mut between));
    for (door, name) in ["HTTP", "the local socket"].iter().enumerate() {
        let (before, beside) = (before[door], rounds.map(|round| round[door]));
        let delayed = beside.iter().filter(|slowest| **slowest >= before + DELAY_MAX).count();
        eprintln!("{name}: {before:?} alone, {beside:?} beside the others");
        assert!(delayed <= DELAYED_MAX, "{name}: {beside:?} beside the others, {before:?} alone");
    }
}

/// Begins something, and does not go on.
fn dawdle(address: &str, number: usize) -> TcpStream {
    let mut stream = match number % 25 {
        DEAF => narrow(address),
        _ => TcpStream::connect(address).expect("the HTTP door"),
    };
    let lines = format!("Host: {address}\r\nAuthorization: Bearer {HUMAN}\r\n");
    let said = match number % 25 {
        0 | 5 | 10 | 15 | 20 => String::new(),
        1 | 6 | 11 | 16 | 21 => format!("GET /api/status HTTP/1.1\r\n{lines}"),
        2 | 7 | 12 | 17 | 22 => format!(
            "POST /api/mail HTTP/1.1\r\n{lines}Content-Type: application/json\r\n\
             Content-Length: 1000\r\n\r\n{{\"to\":"
        ),
        // It does not read the answer, which is larger than what its socket holds.
        DEAF => format!("GET /api/openapi.json HTTP/1.1\r\n{lines}\r\n"),
        // It has got its answer.
        _ => format!("GET /api/status HTTP/1.1\r\n{lines}\r\n"),
    };
    stream.write_all(said.as_bytes()).expect("sent");
    stream
}

/// Whether the server hangs up in time.
fn is_closed(stream: &TcpStream, until: Instant) -> bool {
    let hangs_up = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
    loop {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).expect("a span");
        let mut polled = [PollFd::new(stream, PollFlags::RDHUP)];
        match poll(&mut polled, Some(&left)) {
            Ok(0) => return false,
            Ok(_) if polled[0].revents().intersects(hangs_up) => return true,
            Ok(_) | Err(_) => {}
        }
    }
}

/// Whether the server has hung up, after what is on its way.
fn ends(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    match std::io::copy(stream, &mut std::io::sink()) {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn clients_that_dawdle_delay_nobody_and_are_disconnected() {
    if crowd_size("clients_that_dawdle_delay_nobody_and_are_disconnected").is_none() {
        return;
    }
    let place = Place::new();
    place.json(&["up"]);
    let address = address(&place);
    let before = slowest(&place, &address, || ());
    let mut dawdlers: Vec<TcpStream> = (0..DAWDLERS).map(|number| dawdle(&address, number)).collect();
    check_not_delayed(&place, &address, before, || {
        for stream in dawdlers.iter_mut().skip(1).step_by(5) {
            // One byte now and then; some are gone already.
            let _ = stream.write_all(b"x");
        }
    });
    let until = Instant::now() + PATIENCE_OF_SERVER + PATIENCE;
    let reads = |at: usize| at % 25 != DEAF;
    let readers = dawdlers.iter().enumerate().filter(|(at, _)| reads(*at));
    let open: Vec<usize> =
        readers.filter_map(|(at, stream)| (!is_closed(stream, until)).then_some(at)).collect();
    assert!(open.is_empty(), "still open: {open:?}");
    // The end of those who do not read comes after what they did not read.
    let others = dawdlers.iter_mut().enumerate().filter(|(at, _)| !reads(*at));
    let open: Vec<usize> = others.filter_map(|(at, stream)| (!ends(stream)).then_some(at)).collect();
    assert!(open.is_empty(), "still open, and not read from: {open:?}");
}
