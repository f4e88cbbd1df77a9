//! The manual: a page is shown as one at a terminal, and all of them can be installed for `man`.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, ExitCode, Stdio};

use clap::{Arg, ArgMatches, Command};

use super::docs::{PROGRAM, data_dir, install, installed};
use super::output::{self, OutputFormat};
use super::{spelling, terminal, tree};

pub(crate) fn command() -> Command {
    Command::new("man")
        .about("Show the manual page of a command, or install all of them")
        .arg(Arg::new("words").value_name("COMMAND").num_args(..).help("Which command, such as task add"))
        .arg(install("Write all pages to your own manual, below ~/.local/share/man").conflicts_with("words"))
}

/// Shows a manual page, or installs all.
pub(crate) fn run(matches: &ArgMatches, form: OutputFormat) -> ExitCode {
    let mut root = tree::command().disable_help_subcommand(true);
    root.build();
    if matches.get_flag("install") {
        return install_all(root, form);
    }
    let mut words: Vec<OsString> = vec![PROGRAM.into()];
    words.extend(matches.get_many::<String>("words").unwrap_or_default().map(Into::into));
    spelling::spell_out(&mut words);
    let mut command = &root;
    for word in &words[1..] {
        let Some(below) = word.to_str().and_then(|word| command.find_subcommand(word)) else {
            let problem = format!("there is no command {:?}", word.to_string_lossy());
            return output::bad_input(form, &problem, "see: comity --help");
        };
        command = below;
    }
    let mut page = Vec::new();
    if let Err(error) = clap_mangen::Man::new(command.clone()).render(&mut page) {
        return output::fault(form, &error.to_string());
    }
    // Without a terminal, prints the page itself.
    if !std::io::stdout().is_terminal() {
        let _ = std::io::stdout().lock().write_all(&page);
    } else if !shown_by_man(&page) {
        terminal::show(&terminal::styled(&command.clone().render_long_help()));
    }
    ExitCode::SUCCESS
}

/// Shows a page with `man`; false if there is none that does.
fn shown_by_man(page: &[u8]) -> bool {
    let Ok(mut file) = tempfile::Builder::new().suffix(".1").tempfile() else { return false };
    if file.write_all(page).is_err() {
        return false;
    }
    let shown = Process::new("man").arg(file.path()).stderr(Stdio::null()).status();
    shown.is_ok_and(|end| end.success())
}

fn install_all(root: Command, form: OutputFormat) -> ExitCode {
    let dir = match data_dir() {
        Ok(dir) => dir.join("man"),
        Err(problem) => return output::fault(form, &problem),
    };
    let pages = dir.join("man1");
    let describe = |error: std::io::Error| format!("{}: {error}", pages.display());
    let written = std::fs::create_dir_all(&pages)
        .and_then(|()| clap_mangen::generate_to(root, &pages))
        .map(|()| vec![pages.clone()])
        .map_err(describe);
    installed(form, written, &how_to_read(&dir, searched()))
}

/// How to read the pages in a directory, given those that `man` searches; `None` if there is no `man`.
fn how_to_read(dir: &Path, searched: Option<Vec<PathBuf>>) -> String {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match searched {
        None => "\nthere is no man here; read a page with: comity man COMMAND".into(),
        Some(searched) if searched.iter().any(|other| real(other) == real(dir)) => {
            "; read them with: man comity".into()
        }
        Some(_) => {
            let dir = comity_core::display::shell_word(&dir.to_string_lossy()).into_owned();
            format!(
                "\nman doesn't search there yet; add this to your shell's profile, then read them with: man comity\n  export MANPATH={dir}:\"$MANPATH\""
            )
        }
    }
}

/// The directories that `man` searches.
fn searched() -> Option<Vec<PathBuf>> {
    let said = Process::new("man").arg("-w").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let paths = String::from_utf8(said.stdout).ok().filter(|_| said.status.success())?;
    Some(std::env::split_paths(paths.trim()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_installs_the_pages_is_told_how_to_read_them() {
        let dir = Path::new("/srv/ann/share/man");
        let told = |searched: Option<&[&str]>| {
            how_to_read(dir, searched.map(|all| all.iter().map(PathBuf::from).collect()))
        };
        assert_eq!(told(Some(&["/usr/share/man", "/srv/ann/share/man"])), "; read them with: man comity");
        assert!(told(Some(&["/usr/share/man"])).ends_with("export MANPATH=/srv/ann/share/man:\"$MANPATH\""));
        assert!(told(None).contains("comity man COMMAND"));
    }
}
