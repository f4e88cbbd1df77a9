//! Completions for shells, and the reference that is generated from the catalog.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use comity_app::catalog::CATALOG;
use comity_app::operation::Audience;

use super::output::{self, OutputFormat};

/// `comity completions SHELL`.
pub(crate) fn completions_command() -> Command {
    Command::new("completions")
        .about("Prints the completions for a shell")
        .arg(Arg::new("shell").required(true).value_parser(value_parser!(Shell)))
}

/// Prints completions.
pub(crate) fn completions(matches: &ArgMatches, mut command: Command) -> ExitCode {
    if let Some(shell) = matches.get_one::<Shell>("shell") {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut command, "comity", &mut script);
        // A reader that went away is no fault of ours.
        let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), &script);
    }
    ExitCode::SUCCESS
}

/// `comity docs reference --out DIR`.
pub(crate) fn command() -> Command {
    let out =
        Arg::new("out").long("out").value_name("DIR").required(true).value_parser(value_parser!(PathBuf));
    Command::new("docs")
        .hide(true)
        .about("Writes the reference from the catalog")
        .subcommand_required(true)
        .subcommand(Command::new("reference").arg(out))
}

/// Writes the reference.
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
    let openapi = serde_json::to_string_pretty(&crate::http::openapi()).map_err(std::io::Error::other)?;
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
            Audience::People | Audience::Internal => "with `--all-tools`".to_owned(),
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
