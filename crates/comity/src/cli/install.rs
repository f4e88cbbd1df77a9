//! `comity install`: puts the programs where settings can name them permanently.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::json;

use super::output::{self, OutputFormat};

/// The programs that belong together, side by side.
const PROGRAMS: [&str; 3] = ["comity", "comity-hook", "comity-confine"];
/// Programs that are installed too, if they exist.
const MORE_PROGRAMS: [&str; 1] = ["comity-guardian"];
/// Below the home directory: most systems have it on the PATH.
const USUAL_DIR: &str = ".local/bin";

pub(super) fn command() -> Command {
    Command::new("install")
        .about("Copy Comity's programs to where they stay; init puts their paths into settings")
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .help("Into which directory (default: ~/.local/bin)"),
        )
}

pub(super) fn run(matches: &ArgMatches, form: OutputFormat) -> ExitCode {
    let done = target(matches.get_one::<PathBuf>("to")).and_then(|dir| Ok((install(&dir)?, dir)));
    let (programs, dir) = match done {
        Ok(done) => done,
        Err(problem) => return output::fault(form, &problem),
    };
    let on_path = is_first_on_path(&dir);
    match form {
        OutputFormat::Json => {
            output::print(&json!({ "dir": dir, "programs": programs, "on_path": on_path }).to_string());
        }
        OutputFormat::Text => {
            programs.iter().for_each(|program| output::print(&format!("installed: {}", program.display())));
            let shown = comity_core::display::shell_word(&dir.to_string_lossy()).into_owned();
            if !on_path {
                output::print(&format!("add it to your PATH:\n  export PATH={shown}:\"$PATH\""));
            }
            let called = if on_path { "comity".to_owned() } else { format!("{shown}/comity") };
            output::print(&format!("connect your agent programs, in a git repository:\n  {called} init"));
        }
    }
    ExitCode::SUCCESS
}

fn target(given: Option<&PathBuf>) -> Result<PathBuf, String> {
    let dir = match given {
        Some(dir) => std::path::absolute(dir).map_err(|error| format!("{}: {error}", dir.display()))?,
        None => {
            let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
            home.ok_or("HOME is not set; say where to install: comity install --to DIR")?.join(USUAL_DIR)
        }
    };
    match crate::init::is_build_dir(&dir) {
        true => Err(format!("{} is a build directory, which is emptied sooner or later", dir.display())),
        false => Ok(dir),
    }
}

fn install(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let there = |name: &&str| own.with_file_name(name).is_file();
    if let Some(missing) = PROGRAMS.iter().find(|name| !there(name)) {
        return Err(format!(
            "{} is missing; build it first: cargo build --release -p comity -p comity-hook",
            own.with_file_name(missing).display()
        ));
    }
    fs::create_dir_all(dir).map_err(|error| format!("can't make {}: {error}", dir.display()))?;
    let names = PROGRAMS.into_iter().chain(MORE_PROGRAMS.into_iter().filter(there));
    let installed = names.map(|name| {
        let (from, to) = (own.with_file_name(name), dir.join(name));
        copy(&from, &to).map_err(|error| format!("can't write {}: {error}", to.display()))?;
        Ok(to)
    });
    installed.collect()
}

/// Replaces a program atomically: an agent may be about to start the old one.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if to.canonicalize().is_ok_and(|to| from.canonicalize().is_ok_and(|from| from == to)) {
        return Ok(());
    }
    let dir = to.parent().unwrap_or(Path::new("/"));
    let mut unfinished = tempfile::NamedTempFile::new_in(dir)?;
    io::copy(&mut fs::File::open(from)?, unfinished.as_file_mut())?;
    unfinished.as_file().set_permissions(fs::Permissions::from_mode(0o755))?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(to).map_err(|error| error.error)?;
    Ok(())
}

/// Whether a shell finds the `comity` in this directory.
fn is_first_on_path(dir: &Path) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&paths).find(|path| path.join(PROGRAMS[0]).is_file());
    let real = |path: &Path| path.canonicalize().ok();
    first.is_some_and(|first| real(&first) == real(dir))
}
