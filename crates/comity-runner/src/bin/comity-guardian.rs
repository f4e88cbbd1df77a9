//! `comity-guardian SOCKET KEY`: runs one agent program and ends with all that it started.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [probe] if probe == "--probe" => comity_runner::guardian::probe(),
        [socket, key] => comity_runner::guardian::run(Path::new(socket), key),
        _ => {
            eprintln!("comity-guardian is started by the Comity server: comity-guardian SOCKET KEY");
            ExitCode::from(2)
        }
    }
}
