//! What an agent in a sandbox sees of this machine: what it works on, programs, and what its client needs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use comity_core::runs::{AgentRun, RunId, RunProgram};
use comity_core::{AgentId, Principal};
use comity_git::Repository;
use comity_runner::{PROXY_PORT, PathAccess, Program, Sandbox, ShownPath};

use crate::application::Application;
use crate::operations::guard::confines;

/// Programs and what they read, wherever the system has it.
const SYSTEM: [&str; 10] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"];
/// What of that is secret, where root runs agents.
const SECRET: [&str; 6] =
    ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers.d", "/etc/ssh"];
/// Where the server is found inside.
pub const SANDBOX_HOME: &str = "/run/comity";
/// What of the user's home tools read: no passwords are there.
const READ: [&str; 5] = [".cargo/bin", ".cargo/config.toml", ".config/git", ".gitconfig", ".rustup"];
/// What tools keep for the next time; what they change of it here stays in the sandbox.
const CACHES: [&str; 4] = [".cache/pip", ".cargo/git", ".cargo/registry", ".npm"];
/// Where other programs of the user listen, and what lets one act for the user there.
const NOT_INHERITED: [&str; 17] = [
    "COMITY_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_HOST",
    "GIT_ASKPASS",
    "GPG_AGENT_INFO",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "SSH_CONNECTION",
    "SUDO_ASKPASS",
    "TMPDIR",
    "VSCODE_IPC_HOOK_CLI",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
];
const PROXIES: [&str; 6] =
    ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// What a client has in its user's home: the variable that names another place for it, where it is else, and its login there,
/// which it may renew.
struct ClientFiles {
    variable: &'static str,
    place: &'static str,
    login: &'static str,
}

const fn files(variable: &'static str, place: &'static str, login: &'static str) -> ClientFiles {
    ClientFiles { variable, place, login }
}

/// By the name of the client.
const CLIENTS: [(&str, &[ClientFiles]); 5] = [
    (
        "claude",
        &[files("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"), files("", ".local/share/claude", "")],
    ),
    ("codex", &[files("CODEX_HOME", ".codex", "auth.json")]),
    ("copilot", &[files("COPILOT_HOME", ".copilot", "config.json")]),
    ("gemini", &[files("", ".gemini", "oauth_creds.json")]),
    (
        "opencode",
        &[
            files("", ".config/opencode", ""),
            files("", ".local/share/opencode", "auth.json"),
            files("", ".cache/opencode", ""),
            files("", ".opencode", ""),
        ],
    ),
];

/// Where the sandbox of a run keeps what stays when its program is started again.
fn directory(app: &Application, run: RunId) -> PathBuf {
    app.home().join("sandboxes").join(run.to_string())
}

/// Where its own socket is.
pub(super) fn socket(app: &Application, run: RunId) -> PathBuf {
    directory(app, run).join("door").join("comity.sock")
}

/// Removes what was kept for runs that are over.
pub(super) fn clean(app: &Application) {
    let kept = fs::read_dir(app.home().join("sandboxes")).into_iter().flatten().flatten();
    for entry in kept {
        let run: Option<RunId> = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let is_over = |run: RunId| app.engine().world().runs.get(run).is_none_or(AgentRun::is_over);
        if run.is_none_or(is_over) {
            // What can't be removed now is with the next start.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Puts a program into a sandbox.
pub(super) fn enter(
    app: &Application,
    run: &AgentRun,
    agent: AgentId,
    own: PathBuf,
    program: &mut Program,
) -> Result<(), String> {
    let place = directory(app, run.id);
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.and_then(|home| home.canonicalize().ok()).ok_or("a sandbox needs HOME")?;
    let mut view = View { home, place, shown: BTreeMap::new(), held: vec![PathBuf::from(SANDBOX_HOME)] };
    // Links among them are made again.
    for path in
        SYSTEM.map(Path::new).into_iter().filter(|path| path.symlink_metadata().is_ok_and(|it| it.is_dir()))
    {
        view.read(path);
    }
    let (made_home, door) = (view.place.join("home"), view.place.join("door"));
    for dir in [&made_home, &door, &own] {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|error| format!("{}: {error}", dir.display()))?;
    }
    view.shown.insert(view.home.clone(), PathAccess::Replaced { by: made_home });
    view.shown.insert(SANDBOX_HOME.into(), PathAccess::Replaced { by: door });
    view.shown.insert(own, PathAccess::Write);
    for name in READ {
        view.read(&view.home.join(name));
    }
    for name in CACHES {
        view.copy(&view.home.join(name));
    }
    view.tools(program);
    if let RunProgram::Client(name) = &run.spec.program {
        view.client(name);
    }
    let root = view.work(app, &program.directory)?;
    let settings = &app.config().sandbox;
    for path in &settings.read {
        view.read(&view.at_home(path));
    }
    for path in &settings.write {
        view.shown.insert(view.at_home(path), PathAccess::Write);
    }
    // What agents never write to, such as settings of agent programs in their worktree.
    let confines = confines(app, Principal::Agent(agent), Some(&program.directory));
    let confines = confines.map_err(|_| "what it must not write to could not be found out".to_owned())?;
    let own = confines.own.into_iter().map(PathBuf::from);
    view.held.extend(own.filter(|path| path.starts_with(&root) && *path != root));

    program.environment.retain(|(name, _)| !NOT_INHERITED.contains(&&**name) && !PROXIES.contains(&&**name));
    let mut set = |name: &str, value: String| program.environment.push((name.to_owned(), value));
    set("COMITY_HOME", SANDBOX_HOME.into());
    for name in PROXIES {
        set(name, format!("http://127.0.0.1:{PROXY_PORT}"));
    }
    for name in ["no_proxy", "NO_PROXY"] {
        set(name, "localhost,127.0.0.1,::1".into());
    }
    // Node asks nobody by itself.
    set("NODE_USE_ENV_PROXY", "1".into());
    let shown = view.shown.into_iter().map(|(path, access)| ShownPath { path, access }).collect();
    program.sandbox = Some(Sandbox { shown, held: view.held, hidden: SECRET.map(PathBuf::from).to_vec() });
    Ok(())
}

struct View {
    /// The user's home.
    home: PathBuf,
    /// Where what is changed of copies is kept.
    place: PathBuf,
    shown: BTreeMap<PathBuf, PathAccess>,
    held: Vec<PathBuf>,
}

impl View {
    fn at_home(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(below) => self.home.join(below),
            Err(_) => path.to_owned(),
        }
    }

    /// A link is shown as what it leads to, under both names.
    fn read(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        let above = real.ancestors().find_map(|dir| self.shown.get(dir));
        if real.parent().is_some() && !self.home.starts_with(&real) && above != Some(&PathAccess::Read) {
            self.shown.entry(real).or_insert(PathAccess::Read);
        }
    }

    fn copy(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        if real.is_dir() && !self.home.starts_with(&real) {
            let name = real.to_string_lossy().replace('/', "%");
            self.shown.insert(real, PathAccess::Copied { changes: self.place.join("changes").join(name) });
        }
    }

    /// The programs on the PATH, and the one that is started.
    fn tools(&mut self, program: &Program) {
        let path = program.environment.iter().find(|(name, _)| name == "PATH");
        let dirs: Vec<PathBuf> =
            path.map(|(_, path)| std::env::split_paths(path).collect()).unwrap_or_default();
        let dirs = dirs.into_iter().filter(|dir| dir.is_absolute()).collect::<Vec<_>>();
        for dir in &dirs {
            self.read(dir);
            // Of packages that are beside their programs.
            if dir.ends_with("bin") {
                self.read(&dir.with_file_name("lib"));
            }
        }
        let Some(first) = program.command.first() else { return };
        let found = dirs.iter().map(|dir| dir.join(first)).find(|file| file.is_file());
        let Some(real) = found.and_then(|file| file.canonicalize().ok()) else { return };
        let package = real.ancestors().filter(|dir| dir.ends_with("node_modules")).last();
        if let Some(dir) = package.or(real.parent()) {
            self.read(dir);
        }
    }

    /// What a client has of its user's: a copy, but for its login.
    fn client(&mut self, name: &str) {
        let known = CLIENTS.iter().find(|(known, _)| *known == name);
        for files in known.into_iter().flat_map(|(_, files)| *files) {
            let named = std::env::var_os(files.variable).map(PathBuf::from).filter(|dir| dir.is_absolute());
            let dir = named.unwrap_or_else(|| self.home.join(files.place));
            self.copy(&dir);
            if let Ok(login) = dir.join(files.login).canonicalize()
                && login.is_file()
            {
                self.shown.insert(login, PathAccess::Write);
            }
        }
        if name == "claude" {
            // A file of its own, which it writes to all the time.
            let _ = fs::copy(self.home.join(".claude.json"), self.place.join("home").join(".claude.json"));
        }
    }

    /// What it works on. Of git's own directory it can write to what a commit in its worktree needs, and to nothing that says
    /// what git runs.
    fn work(&mut self, app: &Application, directory: &Path) -> Result<PathBuf, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
        let real = directory.canonicalize().map_err(failed)?;
        let repository = Repository::containing(&real).map_err(failed)?;
        let root = repository.as_ref().map_or(&*real, Repository::root).to_owned();
        if self.home.starts_with(&root) || app.home().starts_with(&root) {
            return Err(format!(
                "a sandbox would show all of {}, your home or Comity's state is in there; start it in a repository of its own",
                root.display()
            ));
        }
        self.shown.insert(root.clone(), PathAccess::Write);
        let Some(repository) = repository else { return Ok(root) };
        // Also where it says which directory is git's: the person's git would believe it.
        self.held.push(root.join(".git"));
        let (git, common) = (repository.git_dir(), repository.common_dir());
        if git == common {
            return Ok(root);
        }
        self.shown.insert(common.to_owned(), PathAccess::Read);
        for name in ["objects", "refs", "logs"] {
            let dir = common.join(name);
            fs::create_dir_all(&dir).map_err(failed)?;
            self.shown.insert(dir, PathAccess::Write);
        }
        self.shown.insert(git.to_owned(), PathAccess::Write);
        // What is not there could be made, and git would read it.
        let settings = git.join("config.worktree");
        let made = fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&settings);
        made.map_err(failed)?;
        self.held.extend([settings, git.join("commondir"), git.join("gitdir")]);
        // Where objects are looked for, and commits are replaced.
        self.held.push(common.join("objects").join("info"));
        Ok(root)
    }
}
