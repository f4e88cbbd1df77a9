//! What is Comity's own, and may not be written by agents, with a command or a tool.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use comity_core::paths::covers;
use comity_core::{CaseRule, PathPattern, Principal, Refusal};
use comity_guard::{Effects, FileTarget};
use serde::Deserialize;

use super::spelling::{parts, readings};
use crate::application::Application;
use crate::browser::{DOWNLOADS, SCREENSHOTS, owner_name};
use crate::catalog::next_call;
use crate::operations::ledger::ReadLog;
use crate::operations::mail::ReadMail;

/// Links that are followed one after the other.
const LINKS_MAX: usize = 16;

/// Comity's programs, which are installed next to each other.
const PROGRAMS: [&str; 3] = ["comity", "comity-hook", "comity-confine"];

/// Prefixes of the log's and the letter index's files, in the state directory.
const DATABASES: [&str; 2] = ["log.db", "mail-index.db"];
/// What else nobody may read there, and the databases' temporary files.
const HIDDEN: [&str; 11] = [
    "contents",
    "firefox",
    "ledger",
    "recovering",
    "secret",
    "set-aside",
    "teams",
    "log.db-wal",
    "log.db-shm",
    "mail-index.db-wal",
    "mail-index.db-shm",
];
/// Where everybody has a directory there.
const OF_EVERYBODY: [&str; 2] = [DOWNLOADS, SCREENSHOTS];
/// Codex keeps this beside its settings and reads it in a bash before each command, whichever shell that is for:
/// without it, the other shell starts by itself, bypassing us.
const READ_FIRST: &str = "shell_snapshots";

/// The part of what `comity init` keeps in the state directory that matters here.
#[derive(Default, Deserialize)]
struct GuardedFolders {
    /// The settings by which agent programs ask us.
    #[serde(default)]
    guarding: Vec<PathBuf>,
}

/// The state directory, the socket and the directory of the person's settings; Comity's programs, and the settings by
/// which agent programs ask them, as far as they exist.
///
/// If somebody works below one of these directories, its contents are listed instead, except for the workplace.
/// Programs built in a repository are what agents work on there.
pub(super) fn paths(app: &Application) -> Vec<PathBuf> {
    let server = app.server();
    let real = |dir: PathBuf| dir.canonicalize().unwrap_or(dir);
    let projects: Vec<PathBuf> = {
        let world = app.engine().world();
        world.projects.values().map(|project| PathBuf::from(&*project.common_dir)).collect()
    };
    let projects: Vec<PathBuf> = projects.into_iter().map(real).collect();
    let is_built_there = |file: &PathBuf| {
        projects.iter().filter_map(|project| project.parent()).any(|dir| file.starts_with(dir))
    };
    let worked_in: Vec<PathBuf> =
        projects.iter().cloned().chain(app.config().worktree.dir.clone().map(real)).collect();
    let settings = server.settings.as_deref().and_then(Path::parent);
    let dirs = [Some(&*server.home), Some(&*server.socket), settings].into_iter().flatten();
    let dirs = dirs.filter_map(|path| path.canonicalize().ok()).flat_map(|path| without(path, &worked_in));
    let own = std::env::current_exe().ok();
    let programs = own.iter().flat_map(|own| PROGRAMS.map(|name| own.with_file_name(name)));
    let git = comity_git::git_program();
    let programs = programs.chain((!comity_git::is_the_systems(git, None)).then(|| git.to_owned()));
    let files = programs.filter_map(|file| file.canonicalize().ok()).filter(|file| !is_built_there(file));
    let connected = crate::plain_file::read(&server.home.join("init.json")).unwrap_or_default();
    let connected: GuardedFolders = serde_json::from_slice(&connected).unwrap_or_default();
    let with_beside = |file: PathBuf| [file.with_file_name(READ_FIRST), file];
    let connected =
        connected.guarding.into_iter().flat_map(with_beside).filter_map(|file| file.canonicalize().ok());
    let mut all: Vec<PathBuf> = dirs.chain(files).chain(connected).collect();
    all.sort();
    all.dedup();
    all
}

/// What no agent may read besides: the log and everybody's letters, earlier logs, the secret for tokens, the Firefox
/// profile with everybody's cookies, what others have read, and others' downloads and screenshots. Some of it may not
/// exist yet.
pub(super) fn hidden(app: &Application, who: Principal) -> Vec<PathBuf> {
    let home = app.server().home.canonicalize().unwrap_or_else(|_| app.server().home.clone());
    let there = std::fs::read_dir(&home).into_iter().flatten().flatten();
    let there = there.filter_map(|entry| entry.file_name().into_string().ok());
    let databases = there.filter(|name| DATABASES.iter().any(|database| name.starts_with(database)));
    let databases: BTreeSet<String> = databases.chain(HIDDEN.map(str::to_owned)).collect();
    let of_others = OF_EVERYBODY.into_iter().flat_map(|dir| of_others(app, who, home.join(dir)));
    databases.into_iter().map(|name| home.join(name)).chain(of_others).collect()
}

/// The contents of a directory in which everybody has one, without one's own.
fn of_others(app: &Application, who: Principal, dir: PathBuf) -> Vec<PathBuf> {
    let there = std::fs::read_dir(&dir).into_iter().flatten().flatten();
    let there = there.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: BTreeSet<String> = there.chain([owner_name(Principal::Human)]).collect();
    names.extend(app.engine().world().agents.live().map(|agent| owner_name(Principal::Agent(agent.id))));
    if matches!(who, Principal::Agent(_) | Principal::Human) {
        names.remove(&owner_name(who));
    }
    names.into_iter().map(|name| dir.join(name)).collect()
}

fn without(path: PathBuf, worked_in: &[PathBuf]) -> Vec<PathBuf> {
    if !worked_in.iter().any(|dir| dir.starts_with(&path)) {
        return vec![path];
    }
    let inside = std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
    inside.filter(|path| !worked_in.iter().any(|dir| dir.starts_with(path))).collect()
}

/// Refuses a call that would write any of it, or read what is hidden, in whichever way its paths are read.
pub(super) fn check(app: &Application, who: Principal, cwd: &Path, effects: &Effects) -> Result<(), Refusal> {
    let is_in = |own: &[PathBuf], text: &str| {
        let is_inside = |path: &Path| own.iter().any(|own| path.starts_with(own));
        let at = cwd.join(text);
        // Some programs resolve `..` before they look, others after.
        is_inside(&followed(&at)) || is_inside(&followed(&plain(&at)))
    };
    if !effects.reads.is_empty() || !effects.searches.is_empty() {
        let hidden = hidden(app, who);
        let is_hidden = |text: &&str| readings(text).iter().any(|reading| is_in(&hidden, reading));
        let mut reads = effects.reads.iter().map(|read| &*read.path);
        if let Some(text) =
            reads.find(is_hidden).or(effects.searches.iter().map(|dir| &**dir).find(is_hidden))
        {
            return Err(Refusal::NotAllowed {
                problem: format!("{text} is Comity's own, and no agent reads it"),
                hint: format!(
                    "ask Comity for what is yours, such as: {}, {}",
                    next_call::<ReadLog>([]),
                    next_call::<ReadMail>([])
                ),
            });
        }
    }
    let home = app.server().home.canonicalize();
    let has_it_all =
        |dir: &&String| home.as_ref().is_ok_and(|home| home.starts_with(followed(&cwd.join(dir))));
    if let Some(dir) = effects.searches.iter().find(has_it_all) {
        return Err(Refusal::NotAllowed {
            problem: format!("{dir} has Comity's state directory in it, which no agent searches"),
            hint: "search in a directory of the project".into(),
        });
    }
    if effects.writes.is_empty() && effects.guesses.is_empty() {
        return Ok(());
    }
    let own = paths(app);
    let is_own = |text: &str| is_in(&own, text);
    let is_own_glob = |glob: &str| {
        let literal = glob.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let above = literal.rsplit_once('/').map_or("", |(above, _)| above);
        is_own(above) || own.iter().any(|own| is_matched(&cwd.join(glob), own))
    };
    let is_own_in_any_reading = |text: &str| readings(text).iter().any(|reading| is_own(reading));
    let refused = |text: &str| {
        Err(Refusal::NotAllowed {
            problem: format!("{text} is Comity's own, and no agent writes to it"),
            hint: "ask your human to change it, if necessary".into(),
        })
    };
    for write in &effects.writes {
        let (text, is_own) = match &write.target {
            FileTarget::Path(path) | FileTarget::Into { path, .. } | FileTarget::Below(path) => {
                (path, is_own_in_any_reading(path))
            }
            FileTarget::Glob(glob) => (glob, is_own_glob(glob)),
            // What is in a repository is judged as such.
            FileTarget::WorkTree(_) | FileTarget::FromTop { .. } | FileTarget::Unclear(_) => continue,
        };
        if is_own {
            return refused(text);
        }
    }
    let guessed = effects.guesses.iter().flat_map(|guess| parts(&guess.text).chain([&*guess.text]));
    match guessed.into_iter().find(|text| is_own_in_any_reading(text)) {
        Some(text) => refused(text),
        None => Ok(()),
    }
}

fn is_matched(glob: &Path, own: &Path) -> bool {
    let parsed =
        |path: &Path| PathPattern::parse(path.to_str()?.trim_start_matches('/'), CaseRule::Exact).ok();
    let file =
        own.to_str().and_then(|own| PathPattern::file(own.trim_start_matches('/'), CaseRule::Exact).ok());
    parsed(&plain(glob)).zip(file).is_some_and(|(glob, own)| covers(&glob, &own))
}

/// Where a path leads, even if its last part does not exist yet.
fn followed(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Some((above, real)) = at.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))
        else {
            return at;
        };
        let rest = at.strip_prefix(above).unwrap_or(Path::new("")).to_owned();
        let mut names = rest.iter();
        let first: PathBuf = real.join(names.next().unwrap_or(OsStr::new("")));
        // A dangling link: writing creates its target.
        match std::fs::read_link(&first) {
            Ok(to) => at = real.join(to).join(names.as_path()),
            Err(_) if rest.as_os_str().is_empty() => return real,
            Err(_) => return plain(&real.join(rest)),
        }
    }
    at
}

/// The path with every `..` removed together with the name before it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}
