//! Shell completions, and the reference generated from the catalog.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use comity_app::catalog::CATALOG;
use comity_app::operation::Audience;

use super::output::{self, OutputFormat};
use super::tree;

pub(super) const PROGRAM: &str = "comity";

pub(crate) fn completions_command() -> Command {
    Command::new("completions")
        .about("Print the completions for a shell, or install them")
        .arg(Arg::new("shell").required(true).value_parser(value_parser!(Shell)).help("Whose completions"))
        .arg(install("Write them to where the shell looks for yours"))
}

pub(super) fn install(help: &'static str) -> Arg {
    Arg::new("install").long("install").action(clap::ArgAction::SetTrue).help(help)
}

/// Prints completions, or installs them.
pub(crate) fn completions(matches: &ArgMatches, form: OutputFormat) -> ExitCode {
    let Some(shell) = matches.get_one::<Shell>("shell").copied() else {
        return ExitCode::from(output::USAGE);
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut tree::command(), PROGRAM, &mut script);
    if !matches.get_flag("install") {
        // A reader that went away is not our fault.
        let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), &script);
        return ExitCode::SUCCESS;
    }
    let file = match shell {
        Shell::Bash => data_dir().map(|dir| dir.join("bash-completion/completions").join(PROGRAM)),
        Shell::Zsh => data_dir().map(|dir| dir.join("zsh/site-functions").join(format!("_{PROGRAM}"))),
        Shell::Fish => config_dir().map(|dir| dir.join("fish/completions").join(format!("{PROGRAM}.fish"))),
        _ => Err(format!("{shell} has no directory for this; print them, and load them in your profile")),
    };
    let written = file.and_then(|file| {
        let describe = |error: std::io::Error| format!("{}: {error}", file.display());
        file.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(describe)?;
        std::fs::write(&file, &script).map_err(describe)?;
        Ok(file)
    });
    let note = match shell {
        Shell::Zsh => "; its directory has to be in your fpath",
        _ => "; new shells use them",
    };
    installed(form, written.map(|file| vec![file]), note)
}

pub(super) fn installed(form: OutputFormat, written: Result<Vec<PathBuf>, String>, note: &str) -> ExitCode {
    match (written, form) {
        (Ok(files), OutputFormat::Json) => {
            output::print(&serde_json::json!({ "written": files }).to_string());
            ExitCode::SUCCESS
        }
        (Ok(files), OutputFormat::Text) => {
            files.iter().for_each(|file| output::print(&format!("written: {}{note}", file.display())));
            ExitCode::SUCCESS
        }
        (Err(problem), form) => output::fault(form, &problem),
    }
}

pub(super) fn data_dir() -> Result<PathBuf, String> {
    own_dir("XDG_DATA_HOME", ".local/share")
}

fn config_dir() -> Result<PathBuf, String> {
    own_dir("XDG_CONFIG_HOME", ".config")
}

/// A directory of the person's own, by the desktop's conventions.
fn own_dir(variable: &str, below_home: &str) -> Result<PathBuf, String> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(below_home));
    absolute(variable).or_else(home).ok_or_else(|| "HOME is not set".to_owned())
}

pub(crate) fn command() -> Command {
    let out = Arg::new("out")
        .long("out")
        .value_name("DIR")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("Where to write it");
    Command::new("docs")
        .hide(true)
        .about("Write the reference from the catalog")
        .subcommand_required(true)
        .subcommand(Command::new("reference").arg(out))
}

pub(crate) fn run(matches: &ArgMatches) -> ExitCode {
    let out = matches.subcommand().and_then(|(_, inner)| inner.get_one::<PathBuf>("out"));
    let Some(out) = out else { return ExitCode::from(output::USAGE) };
    match write(out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::fault(OutputFormat::Text, &format!("{}: {error}", out.display())),
    }
}

fn write(out: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(out)?;
    std::fs::write(out.join("operations.md"), operations())?;
    let openapi = serde_json::to_string_pretty(&crate::http::openapi(None)).map_err(std::io::Error::other)?;
    std::fs::write(out.join("openapi.json"), openapi + "\n")
}

fn operations() -> String {
    let mut page = String::from(
        "# Operations\n\nGenerated from the catalog by `cargo xtask docs`. Each operation is the same through every door.\n\n\
         | operation | command | REST | MCP | what it does |\n|---|---|---|---|---|\n",
    );
    for entry in CATALOG.iter().filter(|entry| entry.audience != Audience::Internal) {
        let tool = match entry.audience {
            Audience::Agents => "by default".to_owned(),
            Audience::Browsing => format!("with `--browser`: `{}`", entry.tool),
            Audience::People | Audience::Internal => "by `call`, or with `--all-tools`".to_owned(),
        };
        let (command, route) = (entry.command(), entry.route);
        let _ = writeln!(
            page,
            "| `{}` | `comity {command}` | `{} {}` | {tool} | {} |",
            entry.name,
            route.method,
            route.path,
            entry.summary().replace('|', "\\|")
        );
    }
    for entry in CATALOG.iter().filter(|entry| entry.audience != Audience::Internal) {
        let _ = writeln!(page, "\n## {}\n\n{}\n", entry.name, entry.summary());
        let schema = (entry.input)();
        let Some(fields) = schema["properties"].as_object().filter(|fields| !fields.is_empty()) else {
            continue;
        };
        let _ = writeln!(page, "| input | what it is |\n|---|---|");
        for (name, field) in fields {
            let what = field["description"].as_str().unwrap_or_default().replace('|', "\\|");
            let _ = writeln!(page, "| `{name}` | {what} |");
        }
    }
    page
}
