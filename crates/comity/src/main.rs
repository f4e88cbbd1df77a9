//! Comity: lets several coding agents share one repository, one machine and one browser.

mod cli;
mod http;
mod init;
mod mcp;
mod serve;
mod session;
mod start;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os())
}
