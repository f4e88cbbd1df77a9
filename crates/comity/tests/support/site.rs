//! A web site on loopback: every address gives the same small page.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// It is there until the test ends.
pub(crate) struct Site {
    url: String,
}

impl Site {
    pub(crate) fn start() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(&stream));
            }
        });
        Site { url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

/// Reads a request up to its empty line, and answers it.
fn answer(mut stream: &TcpStream) {
    let is_header = |line: &std::io::Result<String>| line.as_ref().is_ok_and(|line| !line.is_empty());
    BufReader::new(stream).lines().take_while(is_header).for_each(drop);
    let page = "<title>site</title><h1>site</h1>";
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    // Whoever has gone meanwhile needs no answer.
    let _ = stream.write_all((head + page).as_bytes());
}
