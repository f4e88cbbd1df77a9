//! A small web server on a port of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a path is answered with.
pub(crate) enum Answer {
    Page(String),
    Script(String),
    /// Something to be kept as a file.
    File(String),
    Redirect(String),
    /// A page that wants a password first.
    Locked,
    /// Nothing, for ever.
    Never,
}

/// A web server; it ends with the test.
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, log) = (answer.clone(), log.clone());
                std::thread::spawn(move || serve(stream, &*answer, &log));
            }
        });
        Server { port, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The paths that were asked for, with the host that they were asked of.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers one request; the connection ends with it.
fn serve(stream: TcpStream, answer: &dyn Fn(&str) -> Answer, log: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        let found = headers.iter().find_map(|line| {
            let (field, value) = line.split_once(": ")?;
            field.eq_ignore_ascii_case(name).then_some(value)
        });
        found.unwrap_or_default().to_owned()
    };
    log.lock().unwrap().push(format!("{} {path}", header("host")));
    let (head, body) = match answer(&path) {
        Answer::Page(page) => ("200 OK\r\nContent-Type: text/html; charset=utf-8".to_owned(), page),
        Answer::Script(text) => ("200 OK\r\nContent-Type: text/javascript".to_owned(), text),
        Answer::File(text) => (
            "200 OK\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=\"../a b.bin\""
                .to_owned(),
            text,
        ),
        Answer::Redirect(to) => (format!("302 Found\r\nLocation: {to}"), String::new()),
        Answer::Locked => (
            "401 Unauthorized\r\nContent-Type: text/html\r\nWWW-Authenticate: Basic realm=\"x\"".to_owned(),
            "<title>Locked</title>no entry".to_owned(),
        ),
        Answer::Never => {
            // The connection stays open until the browser gives up.
            let _gave_up = BufReader::new(&stream).lines().next();
            return;
        }
    };
    let body = body.replace("{{cookie}}", &header("cookie"));
    let _gone = write!(
        { &stream },
        "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}
