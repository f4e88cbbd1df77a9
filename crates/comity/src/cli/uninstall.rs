//! `comity uninstall`: takes back what `init`, `install`, `completions` and `man` have put into place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use comity_wire::Home;
use serde_json::json;

use super::output::{self, OutputFormat};
use super::{docs, install, server};
use crate::init;

pub(super) fn command() -> Command {
    Command::new("uninstall")
        .about("Remove Comity: undo init everywhere, stop the server, delete the programs; its state stays")
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("Only show what would be removed"),
        )
}

pub(super) fn run(home: &Home, matches: &ArgMatches, form: OutputFormat) -> ExitCode {
    let is_shown = matches.get_flag("dry-run");
    let (undone, is_good) = match init::undo_all(home, is_shown) {
        Ok(undone) => undone,
        Err(problem) => return output::fault(form, &problem),
    };
    let tell = |lines: &[String]| match form {
        OutputFormat::Text => lines.iter().for_each(|line| output::print(line)),
        OutputFormat::Json => {}
    };
    tell(&undone);
    if !is_good {
        return output::fault(
            form,
            "settings still name Comity's programs, so these stay: fix them and run this again",
        );
    }
    let files = installed();
    if !is_shown {
        // Before the programs go, and after the hooks: these would start it again.
        if let Err(problem) = server::stop_for_good(home) {
            return output::fault(form, &problem);
        }
        for file in &files {
            if let Err(error) = fs::remove_file(file) {
                return output::fault(form, &format!("can't remove {}: {error}", file.display()));
            }
        }
    }
    let word = if is_shown { "remove " } else { "removed" };
    tell(&files.iter().map(|file| format!("{word}  {}", file.display())).collect::<Vec<_>>());
    let state = home.path();
    match form {
        OutputFormat::Json => {
            output::print(&json!({ "dry_run": is_shown, "removed": files, "kept": state }).to_string());
        }
        OutputFormat::Text => {
            output::print(&format!(
                "kept     {}: the log, mail and worktrees; delete it if you need none of it",
                state.display()
            ));
            output::print(match is_shown {
                true => "nothing was changed; do it with: comity uninstall",
                false => "restart agent programs that are open: they still have Comity's hooks",
            });
        }
    }
    ExitCode::SUCCESS
}

/// The programs, completions and pages of the manual that are there.
fn installed() -> Vec<PathBuf> {
    let own = std::env::current_exe().unwrap_or_default();
    let programs = own.parent().filter(|dir| !init::is_build_dir(dir)).map(install::programs_in);
    let mut files: Vec<PathBuf> = programs.into_iter().flatten().collect();
    files.extend(docs::completion_files());
    files.extend(docs::data_dir().ok().map(|dir| pages_in(&dir.join("man/man1"))).into_iter().flatten());
    files.retain(|file| file.is_file());
    files
}

fn pages_in(dir: &Path) -> Vec<PathBuf> {
    let is_page = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name == "comity.1" || (name.starts_with("comity-") && name.ends_with(".1"))
    };
    let mut pages: Vec<PathBuf> =
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).filter(is_page).collect();
    pages.sort();
    pages
}
