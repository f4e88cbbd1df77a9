//! `comity-guardian [--without-group] SOCKET KEY`: runs one agent program and ends with all that it started.

use std::path::Path;
use std::process::ExitCode;

use comity_runner::guardian::{self, Containment};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [socket, key] => guardian::run(Path::new(socket), key, Containment::Group),
        [flag, socket, key] if flag == "--without-group" => {
            guardian::run(Path::new(socket), key, Containment::Tree)
        }
        _ => {
            eprintln!("comity-guardian is started by the Comity server: comity-guardian SOCKET KEY");
            ExitCode::from(2)
        }
    }
}
