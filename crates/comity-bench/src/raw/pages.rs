//! Pages for the browser to show, from a web server on a port of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// Lines of a request that are read.
const HEAD_LINES_MAX: usize = 200;

/// A web server in this process, and as long as this process.
pub(crate) struct Pages {
    port: u16,
}

impl Pages {
    pub(crate) fn start() -> Result<Pages, String> {
        let describe = |error: std::io::Error| format!("no pages can be served: {error}");
        let listener = TcpListener::bind("127.0.0.1:0").map_err(describe)?;
        let port = listener.local_addr().map_err(describe)?.port();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A browser may connect and say nothing for a while.
                std::thread::spawn(move || serve(&stream));
            }
        });
        Ok(Pages { port })
    }

    /// The address of a table with so many rows.
    pub(crate) fn rows(&self, count: usize) -> String {
        format!("http://127.0.0.1:{}/{count}", self.port)
    }
}

/// Answers one request; the connection ends with it. A browser that hangs up wants no answer.
fn serve(stream: &TcpStream) {
    let mut head = BufReader::new(stream).lines().take(HEAD_LINES_MAX).map_while(Result::ok);
    let first = head.next().unwrap_or_default();
    head.take_while(|line| !line.is_empty()).for_each(drop);
    let count = first.split(' ').nth(1).and_then(|path| path.trim_start_matches('/').parse().ok());
    let (status, page) = match count {
        Some(count) => ("200 OK", table(count)),
        // Such as the icon of the page.
        None => ("404 Not Found", String::new()),
    };
    let _ = write!(
        { stream },
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{page}",
        page.len()
    );
}

/// What a list of customers looks like: texts, a link and a button in each row.
fn table(count: usize) -> String {
    let row = |row| {
        format!(
            "<tr><td>{row}<td>Customer number {row}<td>customer{row}@example.com\
             <td><a href='/edit/{row}'>Edit</a> <button>Delete</button>"
        )
    };
    let rows: String = (0..count).map(row).collect();
    format!(
        "<!doctype html><title>Customers</title><style>tr:nth-child(odd) {{ background: lightblue }}</style>\
         <h1>Customers</h1><table>{rows}</table>"
    )
}
