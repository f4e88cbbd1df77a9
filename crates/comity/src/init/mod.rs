//! `comity init`: connects the agent programs of this machine and the repository, proves each guard, and takes it back.

mod files;
mod found;
mod pre_commit;
mod proof;
mod report;
pub(crate) mod shells;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use comity_guard::Dialect;
use comity_guard::connect::{Connection, connect, disconnect, gaps, places};
use comity_wire::Home;

use crate::cli::output::{self, Form};
use crate::session::Session;
use files::{Change, Record};
use report::{ClientReport, Report};

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// Connect.
    Do,
    /// Only say what would be done.
    Show,
    /// Take everything back.
    Undo,
}

/// Where the user's things are.
pub(crate) struct User {
    pub(crate) home: PathBuf,
}

impl User {
    fn from_env() -> Result<User, String> {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        Ok(User { home: home.ok_or("HOME is not set, so it is not known where agent programs are set up")? })
    }

    fn variable(name: &str) -> Option<PathBuf> {
        std::env::var_os(name).map(PathBuf::from)
    }
}

/// Runs the command.
pub(crate) fn run(home: &Home, what: What, only: &[String], form: Form) -> ExitCode {
    match report(home, what, only) {
        Ok(report) => report.show(form),
        Err(problem) => output::fault(form, &problem),
    }
}

fn report(home: &Home, what: What, only: &[String]) -> Result<Report, String> {
    let user = User::from_env()?;
    let connection = programs()?;
    let mut record = Record::read(home)?;
    let mut clients = Vec::new();
    for dialect in chosen(only)? {
        let is_found = found::is_here(dialect, &user);
        if !is_found && only.is_empty() && what != What::Undo {
            continue;
        }
        let changes = places(dialect).iter().map(|place| {
            let file = place.file(&user.home, User::variable);
            Change::of(&file, |text| match what {
                What::Do | What::Show => {
                    connect(dialect, place.kind, text, &connection).map(Some).map_err(|no| no.to_string())
                }
                What::Undo => match text {
                    Some(text) => disconnect(dialect, place.kind, text).map_err(|no| no.to_string()),
                    None => Ok(None),
                },
            })
        });
        let by_hand = shells::by_hand(dialect, &connection);
        clients.push(ClientReport { dialect, is_found, changes: changes.collect(), proven: None, by_hand });
    }
    let mut repository = pre_commit::change(&connection, what == What::Undo)?;
    let mut script = shells::change(&connection, what == What::Undo);
    if what != What::Show {
        let all = clients.iter_mut().flat_map(|client| client.changes.iter_mut());
        for change in all.chain(repository.as_slice_mut()).chain([&mut script]) {
            change.write(&mut record);
        }
        record.save(home)?;
    }
    if what == What::Do {
        // One for all: who shows the tokens of several agents is nobody where it connects next.
        let mut session = Session::from_env(home.clone());
        for client in &mut clients {
            client.proven = Some(proof::denies(&mut session, home, &connection.hook, client.dialect));
        }
    }
    let gaps = clients.iter().map(|client| (client.dialect, gaps(client.dialect))).collect();
    let confined = (what == What::Do).then(|| shells::probe(&connection.confine()));
    Ok(Report { what, clients, repository: repository.0, script, confined, gaps })
}

/// The programs that are named, or all.
fn chosen(only: &[String]) -> Result<Vec<Dialect>, String> {
    match only {
        [] => Ok(Dialect::ALL.to_vec()),
        names => names
            .iter()
            .map(|name| {
                name.parse().map_err(|unknown: comity_guard::dialect::UnknownDialect| unknown.to_string())
            })
            .collect(),
    }
}

/// This program and the hook beside it.
pub(crate) fn programs() -> Result<Connection, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let hook = own.with_file_name("comity-hook");
    if !hook.is_file() {
        return Err(format!(
            "{} is not there; build it beside this program with: cargo xtask build",
            hook.display()
        ));
    }
    let confine = own.with_file_name("comity-confine");
    if !confine.is_file() {
        return Err(format!(
            "{} is not there; build it beside this program with: cargo xtask build",
            confine.display()
        ));
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("a path of ours is not UTF-8");
    Ok(Connection { hook: text(&hook)?, comity: text(&own)? })
}
