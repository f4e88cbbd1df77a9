//! Clients that ask for full pages of the log, again and again: the others do not wait for them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::slow_http::{check_not_delayed, slowest};
use crate::support::{HUMAN, PATIENCE, Place, eventually};
use crate::{address, write_letters};

const READERS: usize = 44;
/// Letters of the largest size: a page is full with four.
const LETTERS: usize = 8;

#[test]
fn readers_of_full_pages_delay_nobody() {
    let place = Place::new();
    write_letters(&place, ("bob", &place.join(&["bob"])), LETTERS);
    let address = address(&place);
    let before = slowest(&place, &address, || ());
    let (is_over, pages) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    read_page(&address);
                    pages.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        eventually("all have asked", || pages.load(Ordering::Relaxed) > 0);
        let _ends_the_readers = IsOver(&is_over);
        check_not_delayed(&place, &address, before, || ());
    });
    eprintln!("{pages:?} pages were read");
}

/// Says so to other threads when it goes, whatever the reason.
struct IsOver<'a>(&'a AtomicBool);

impl Drop for IsOver<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn read_page(address: &str) {
    let mut stream = TcpStream::connect(address).expect("the HTTP door");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let head = format!(
        "GET /api/coordination/activity?limit=10000 HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {HUMAN}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    assert!(answer.starts_with(b"HTTP/1.1 200 ") && answer.len() > 500_000, "{} bytes", answer.len());
}
