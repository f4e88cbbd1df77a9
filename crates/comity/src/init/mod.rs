//! `comity init`: connects the agent programs of this machine and the repository, proves each guard, and undoes that.

pub(crate) mod active;
pub(crate) mod configured;
mod files;
pub(crate) mod found;
mod pre_commit;
mod project;
mod proof;
mod report;
mod shared_hooks;
pub(crate) mod shells;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use comity_app::config::ConfinePolicy;
use comity_guard::Dialect;
use comity_guard::connect::{
    BASH_ENV_FILE, ProgramPaths, SettingsFile, connect, disconnect, places, shell_start,
};
use comity_wire::Home;

use crate::cli::output::{self, OutputFormat};
use crate::session::Session;
use configured::Configured;
use files::{FileEdit, FileOutcome, InitRecord};
use proof::{Canary, ProgramProof};
use report::{ClientReport, InitReport};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InitMode {
    Do,
    /// Only say what would be done.
    Show,
    Undo,
    /// Only say what would be undone.
    ShowUndo,
}

impl InitMode {
    fn is_undo(self) -> bool {
        matches!(self, InitMode::Undo | InitMode::ShowUndo)
    }

    fn is_shown(self) -> bool {
        matches!(self, InitMode::Show | InitMode::ShowUndo)
    }
}

pub(crate) struct User {
    pub(crate) home: PathBuf,
}

impl User {
    pub(crate) fn from_env() -> Result<User, String> {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        Ok(User { home: home.ok_or("HOME is not set, so it is not known where agent programs are set up")? })
    }

    /// Where a program keeps these settings of this user.
    pub(crate) fn file(&self, place: &SettingsFile) -> PathBuf {
        let file = place.file(&self.home, User::variable);
        let other = place.other_file(&self.home, User::variable);
        other.filter(|other| other.is_file() && !file.exists()).unwrap_or(file)
    }

    fn variable(name: &str) -> Option<PathBuf> {
        std::env::var_os(name).map(PathBuf::from)
    }
}

/// Whose settings are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InitScope {
    User,
    /// Those that are checked in.
    Project,
}

pub(crate) fn run(
    home: &Home,
    what: InitMode,
    scope: InitScope,
    only: &[String],
    form: OutputFormat,
) -> ExitCode {
    let report = match scope {
        InitScope::User => report(home, what, only),
        InitScope::Project => project::report(what, only),
    };
    match report {
        Ok(report) => report.show(form),
        Err(problem) => output::fault(form, &problem),
    }
}

fn report(home: &Home, what: InitMode, only: &[String]) -> Result<InitReport, String> {
    let user = User::from_env()?;
    let connection = programs(home)?;
    let from_build = build_dir(&connection);
    if let (InitMode::Do, Some(dir)) = (what, &from_build) {
        return Err(format!("{}; then run the init that it prints", install_first(dir)));
    }
    let mut record = InitRecord::read(home)?;
    let chosen = chosen(only)?;
    let mut clients = Vec::new();
    for dialect in &chosen {
        let is_found = found::is_here(*dialect, &user);
        if is_found || !only.is_empty() || what.is_undo() {
            clients.push(client(*dialect, is_found, what, &user, &connection));
        }
    }
    // Programs that were never connected have nothing to undo.
    clients.retain(|client| !what.is_undo() || !only.is_empty() || client.has_changes());
    let (mut scripts, mut repositories) = match what.is_undo() {
        false => (shells::written(&connection), pre_commit::written(&connection)?.into_iter().collect()),
        true => (
            shells::removed(&connection, &user, &chosen),
            pre_commit::removed(if only.is_empty() { &record.commit_hooks } else { &[] }),
        ),
    };
    if !what.is_shown() {
        crate::serve::state_dir::prepare(home)?;
        // First what the settings will name, and last what they have named.
        let settings = clients.iter_mut().flat_map(|client| client.changes.iter_mut());
        let all: Vec<&mut FileEdit> = match what.is_undo() {
            false => scripts.iter_mut().chain(settings).chain(&mut repositories).collect(),
            true => settings.chain(&mut repositories).chain(&mut scripts).collect(),
        };
        all.into_iter().for_each(|change| change.write(&mut record));
        record.note_commit_hooks(&repositories, what.is_undo());
        for client in &clients {
            for (place, change) in places(client.dialect).iter().zip(&client.changes) {
                if guards(client.dialect, place) {
                    record.note_guarding(change, what.is_undo());
                }
                if place.kind.calls_hooks() {
                    record.note_connected(client.dialect, place, change, what.is_undo());
                }
            }
        }
        record.save(home)?;
    }
    let confined = (what == InitMode::Do).then(|| confined(home, &connection));
    if what == InitMode::Do {
        // One for all: a process that shows the tokens of several agents is nobody when it connects again.
        let canary = Canary::new(&mut Session::from_env(home.clone()), home);
        for client in &mut clients {
            let mut configured = Configured::look(client.dialect, &user, &connection);
            if let Some(Err(problem)) = &confined {
                configured.shell = Err(problem.clone());
            }
            client.proof = Some(ProgramProof::of(client.dialect, &configured, &canary));
        }
    }
    if what.is_undo() {
        repositories.retain(FileEdit::is_change);
        scripts.retain(FileEdit::is_change);
    }
    let first = from_build.filter(|_| !what.is_undo()).map(|dir| install_first(&dir));
    Ok(InitReport { what, clients, repositories, scripts, confined, first, is_project: false })
}

/// The build directory of the programs, if they are still in it: the next clean-up would remove what settings name.
fn build_dir(connection: &ProgramPaths) -> Option<PathBuf> {
    Path::new(&connection.comity).parent().filter(|dir| is_build_dir(dir)).map(Path::to_owned)
}

fn install_first(dir: &Path) -> String {
    let program = comity_core::display::shell_word(&dir.join("comity").to_string_lossy()).into_owned();
    format!(
        "{} is a build directory, and settings are to name programs that stay: first run {program} install",
        dir.display()
    )
}

/// Whether a directory is one that a build fills and a clean-up empties.
pub(crate) fn is_build_dir(dir: &Path) -> bool {
    dir.join(".fingerprint").is_dir() || dir.ancestors().any(|above| above.join("CACHEDIR.TAG").is_file())
}

/// What is wrong with settings that this command would have to write, and can't.
pub(crate) fn obstacle(dialect: Dialect, user: &User, connection: &ProgramPaths) -> Option<String> {
    let changes = client(dialect, true, InitMode::Show, user, connection).changes;
    changes.iter().find(|change| matches!(change.outcome, FileOutcome::Failed(_))).and_then(FileEdit::damage)
}

/// What differs from what this command has written.
#[derive(Default)]
pub(crate) struct InitDamage {
    /// One line each.
    pub(crate) found: Vec<String>,
    /// Whether some of it can't be written before somebody has fixed it by hand.
    pub(crate) is_for_hands: bool,
}

/// What differs from what this command has written.
pub(crate) fn damage(home: &Home) -> Result<InitDamage, String> {
    let record = InitRecord::read(home)?;
    // Without the programs nothing can be compared; that is reported elsewhere.
    let (Ok(user), Ok(connection)) = (User::from_env(), programs(home)) else {
        return Ok(InitDamage::default());
    };
    let (mut found, mut is_for_hands) = (record.missing(), false);
    let traced = Dialect::ALL.into_iter().filter(|dialect| Configured::has_traces(*dialect, &user));
    for dialect in traced {
        let changes = client(dialect, true, InitMode::Show, &user, &connection).changes;
        is_for_hands |= changes.iter().any(|change| matches!(change.outcome, FileOutcome::Failed(_)));
        found.extend(changes.iter().filter_map(FileEdit::damage));
    }
    found.extend(record.commit_hooks.iter().filter_map(|hook| pre_commit::damage(hook, &connection)));
    found.sort();
    found.dedup();
    Ok(InitDamage { found, is_for_hands })
}

fn client(
    dialect: Dialect,
    is_found: bool,
    what: InitMode,
    user: &User,
    connection: &ProgramPaths,
) -> ClientReport {
    let changes = places(dialect).iter().map(|place| {
        let file = user.file(place);
        FileEdit::of(&file, |text| match (what.is_undo(), text) {
            (false, text) => {
                connect(dialect, place.kind, text, connection).map(Some).map_err(|no| no.to_string())
            }
            (true, Some(text)) => match disconnect(dialect, place.kind, text) {
                // An unreadable file has nothing of ours in it, unless it mentions us.
                Err(_) if !text.contains("comity") => Ok(Some(text.to_owned())),
                left => left.map_err(|no| no.to_string()),
            },
            (true, None) => Ok(None),
        })
    });
    let changes: Vec<FileEdit> = changes.collect();
    let by_hand = match what.is_undo() {
        true => None,
        false => shells::by_hand(dialect, &changes, connection),
    };
    ClientReport { dialect, is_found, changes, proof: None, by_hand }
}

/// Whether a program asks before tool calls, or starts its shell through us, because of this file.
fn guards(dialect: Dialect, place: &SettingsFile) -> bool {
    place.kind.calls_hooks() || shell_start(dialect, place.kind, "").is_some()
}

/// Whether commands can be confined here, as the user wants it.
fn confined(home: &Home, connection: &ProgramPaths) -> Result<(), String> {
    // Unreadable settings stop the server, which says so.
    match crate::serve::read_config(home).unwrap_or_default().guard.confine {
        ConfinePolicy::Off => Err("off by guard.confine".into()),
        ConfinePolicy::Auto | ConfinePolicy::Required => shells::probe(&connection.confine()),
    }
}

/// The named programs, or all.
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

/// This program, those next to it, and the file that goes with them.
pub(crate) fn programs(home: &Home) -> Result<ProgramPaths, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let (hook, confine) = (own.with_file_name("comity-hook"), own.with_file_name("comity-confine"));
    if let Some(missing) = [&hook, &confine].into_iter().find(|program| !program.is_file()) {
        return Err(format!(
            "{} is missing; install it beside this program (from the sources: cargo xtask build)",
            missing.display()
        ));
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("a path of ours is not UTF-8");
    let bash_env = home.path().join(BASH_ENV_FILE);
    // A client started elsewhere, or with another environment, asks the same server.
    let is_found = std::env::var_os("HOME").is_some_and(|user| Home::of_user(Path::new(&user)) == *home);
    let told = if is_found { None } else { Some(text(home.path())?) };
    Ok(ProgramPaths { hook: text(&hook)?, comity: text(&own)?, bash_env: text(&bash_env)?, home: told })
}
