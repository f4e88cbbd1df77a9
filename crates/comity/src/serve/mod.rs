//! The server: puts the application together and opens its doors.

mod allocator;
mod connection;
mod connections;
mod identity;
mod liveness;
mod logging;
mod outbox;
mod output;
mod signals;
mod socket;
mod start_environment;
pub(crate) mod state_dir;
mod state_dir_ownership;

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::ExitCode;
use std::sync::Arc;

use comity_app::Wording;
use comity_app::application::ServerFacts;
use comity_app::clock::{self, Clock};
use comity_app::config::Config;
use comity_app::engine::{Engine, Failed};
use comity_app::log::{SqliteLog, StartPoint};
use comity_app::{Application, branch_moves, lapsed_locks, notifier, plain_file, watch, worktree_reaper};
use comity_core::people::PersonAsk;
use comity_core::server::ServerAsk;
use comity_core::{Ask, Fence, Principal};
use comity_wire::Home;

use crate::http;
use logging::note;
use signals::Signals;
use socket::Socket;
use state_dir::Unusable;
use state_dir_ownership::{OwnLog, StateDirOwnership, WatchedPath};

/// The start of counting fences, in milliseconds since 1970.
const FENCES_SINCE_MS: i64 = 1_735_689_600_000;
/// Fences that can be given per millisecond before the clock's part would be overtaken, as a power of two.
const FENCE_BITS: u32 = 10;

/// The exit code of a server that a bug has ended, as of any Rust program.
const PANIC: i32 = 101;
/// The file in the state directory with the last server that panicked, and why.
pub(crate) const PANICKED: &str = "panicked";
/// A file that exists from `comity down` until the next server starts.
pub(crate) const PUT_DOWN: &str = "down";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StartMode {
    /// By a person who watches it.
    Foreground,
    /// By a client that waits for one line on its standard output.
    Detached,
}

/// Serves until it is told to stop.
pub(crate) fn serve(home: &Home, how: StartMode) -> ExitCode {
    match start(home, how) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("comity: {problem}");
            if how == StartMode::Detached {
                println!("{problem}");
            }
            ExitCode::FAILURE
        }
    }
}

fn start(home: &Home, how: StartMode) -> Result<(), String> {
    allocator::give_back_large_blocks();
    if how == StartMode::Detached {
        // A session of its own: closing the terminal of whoever started it ends nothing here.
        let _ = rustix::process::setsid();
    }
    signals::outlive_file_limits().map_err(|error| format!("signals can't be caught: {error}"))?;
    // Everything that this process creates is private, except in repositories.
    let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let held = state_dir::take(home).map_err(|unusable| match unusable {
        Unusable::Taken => state_dir::taken(home),
        Unusable::Bad(problem) => problem,
    })?;
    end_on_panic(home)?;
    comity_git::keep_private(start_environment::settle(home, umask.bits())?);
    comity_git::raise_open_files();
    let config = read_config(home)?;
    comity_git::use_git(config.git.program.clone());
    if let Some(silence) = config.git.hung_after {
        comity_git::give_up_git_after(std::time::Duration::from_millis(silence.0.0));
    }
    // A missing file cannot be protected from agents' commands, so it is created. If that fails, they cannot create
    // it either.
    let _ = comity_wire::user_settings().and_then(|file| file.parent().map(std::fs::create_dir_all));
    let opened = SqliteLog::open(home.path(), config.patience());
    let StartPoint { log, mut world } = opened.map_err(|problem| with_file(home, problem))?;
    log.sign(comity_wire::version())?;
    world.agents.limit.configured = Some(config.agents_max());
    world.roles = Arc::new(config.roles());
    let reader = Arc::new(log.reader()?);
    let floor = fence_floor(world.fence.max(log.fences_up_to()), clock::wall_ms());
    let clock = Clock::from(world.now);
    let (log, ownership) = (OwnLog::new(log, home)?, StateDirOwnership::begin(home, &held)?);
    let engine = Engine::start(world, Box::new(log), clock, || {
        note(
            "error",
            "fenced",
            &[("message", "the log or its directory is no longer as this server left it")],
        );
        std::process::exit(1);
    });
    let version = comity_wire::version();
    let boot = comity_app::processes::boot().map(Into::into);
    let uptime = comity_app::processes::uptime();
    let start = Ask::Server(ServerAsk::Start { fence_floor: floor, version: version.into(), boot, uptime });
    let begun = engine.ask(Principal::System, start);
    begun.map_err(|failed| {
        let why = match failed {
            Failed::Refused(refusal) => refusal.to_string(),
            Failed::Fault(fault) => fault,
        };
        with_file(home, format!("the log can't be written: {why}"))
    })?;

    first_token(&engine, home)?;
    configure_pools(&engine, &config)?;

    let (listener, bound) = listen(home)?;
    let web = open_web(home, &config)?;
    let url = web.as_ref().map(|(_, url)| url.clone()).unwrap_or_default();
    let facts = ServerFacts {
        pid: std::process::id(),
        home: home.path().into(),
        socket: home.socket(),
        url,
        version: version.into(),
        settings: comity_wire::user_settings(),
        confine: confine(),
        guardian: guardian(),
    };
    let idle_exit = config.server.idle_exit.map(|span| std::time::Duration::from_millis(span.0.0));
    let app = Application::new(engine.clone(), Some(reader.clone()), config, facts);
    app.set_secret(state_dir::secret(home, "secret")?);

    let describe = |error: std::io::Error| format!("a thread could not be started: {error}");
    engine.run_timer().map_err(describe)?;
    engine.run_housekeeping(reader.clone(), app.config().log.keep_segments).map_err(describe)?;
    lapsed_locks::run(&engine).map_err(describe)?;
    worktree_reaper::run(&app).map_err(describe)?;
    notifier::run(&app).map_err(describe)?;
    let browser = comity_app::browser::run(&app).map_err(describe)?;
    let runs = comity_app::runs::run(&app).map_err(describe)?;
    liveness::run(&app).map_err(describe)?;
    comity_app::spool::run(&app).map_err(describe)?;
    branch_moves::run(&app);
    watch::run(&app, Box::new(|problem| note("warn", "watch", &[("message", problem)])));
    let open_door = web.map(|(listener, _)| serve_web(&app, listener)).transpose()?;
    let signals = Signals::catch().map_err(|error| format!("signals can't be caught: {error}"))?;
    let mut socket = Socket::new(app.clone(), listener, signals, ownership)
        .map_err(|error| format!("the socket failed: {error}"))?;
    announce(how, &app);
    let stop = socket.run(idle_exit).map_err(|error| format!("the socket failed: {error}"))?;
    note("info", "stopped", &[("why", &format!("{stop:?}"))]);
    drop(open_door);
    // Whatever the reason to stop: another server's may be at its paths by now.
    let is_moved = socket.is_moved();
    if is_moved {
        // Nobody is answered from here on: another server may be running.
        drop(socket);
        app.leave_files();
    }
    engine.stop();
    // It closes Firefox; whoever waits for the server's end waits for that, too.
    let _ = browser.join();
    let _ = runs.join();
    if is_moved {
        let home = home.path().display();
        return Err(format!("{home} was moved or removed, and is no longer this server's"));
    }
    // Whoever copies log.db now has all of it.
    reader.close();
    engine.close_log();
    if bound.is_same() {
        let _ = std::fs::remove_file(home.socket());
    }
    Ok(())
}

/// Ends this process at the first panic, on whatever thread. Nobody knows what that left half done; the log does not
/// have it, and the next server begins from there. A file tells clients that it was a panic.
fn end_on_panic(home: &Home) -> Result<(), String> {
    use rustix::fs::{Mode, OFlags, openat};

    // Not by its path, where another server may have begun.
    let dir =
        std::fs::File::open(home.path()).map_err(|error| format!("{}: {error}", home.path().display()))?;
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.to_string();
        let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        if let Ok(file) = openat(&dir, PANICKED, flags, Mode::from_raw_mode(0o600)) {
            let _ = write!(std::fs::File::from(file), "{} {said}", std::process::id());
        }
        let thread = std::thread::current().name().unwrap_or("?").to_owned();
        note("error", "panicked", &[("message", &said), ("thread", &thread)]);
        std::process::exit(PANIC);
    }));
    Ok(())
}

/// A problem with the log, and the file that has it.
fn with_file(home: &Home, problem: String) -> String {
    let is_named = problem.contains(&*home.path().to_string_lossy());
    if is_named { problem } else { format!("{}: {problem}", home.path().join("log.db").display()) }
}

/// How this very program runs others confined, even if its file was replaced meanwhile.
fn confine() -> Vec<OsString> {
    match cfg!(target_os = "linux") {
        true => ["/proc/self/exe", "confine", "--told", "--"].map(OsString::from).into(),
        false => Vec::new(),
    }
}

/// How this program is a guardian of others. In a tmux pane, /proc/self is another process's.
fn guardian() -> Vec<OsString> {
    let own = std::env::current_exe().map(|program| vec![program.into_os_string(), "guardian".into()]);
    own.unwrap_or_default()
}

/// Gives the world the pools of the settings; removed ones are closed.
fn configure_pools(engine: &Engine, config: &Config) -> Result<(), String> {
    let asks = comity_app::pools::configure(&engine.world(), config);
    for ask in asks {
        match engine.ask(Principal::System, ask) {
            Ok(_) => {}
            Err(Failed::Refused(refusal)) => {
                return Err(format!("settings: {refusal}; {}", Wording::Commands.spell(&refusal.hint())));
            }
            Err(Failed::Fault(fault)) => return Err(format!("the log can't be written: {fault}")),
        }
    }
    Ok(())
}

/// No fence up to this was ever given: none that the log or its witness knows, nor by an earlier clock.
fn fence_floor(known: Fence, wall_ms: i64) -> Fence {
    let since = u64::try_from(wall_ms - FENCES_SINCE_MS).unwrap_or(0);
    known.max(Fence(since << FENCE_BITS))
}

/// The settings of this user and of the state directory.
pub(crate) fn read_config(home: &Home) -> Result<Config, String> {
    let user = comity_wire::user_settings();
    let own = home.path().join("comity.toml");
    let files: Vec<&std::path::Path> =
        user.iter().map(std::path::PathBuf::as_path).chain([own.as_path()]).collect();
    Config::read(&files, |name| std::env::var(name).ok())
}

/// Opens the socket for this user alone. The state directory is held, so an existing socket is a dead server's.
fn listen(home: &Home) -> Result<(UnixListener, WatchedPath), String> {
    let path = home.socket();
    let describe = |error: std::io::Error| format!("{}: {error}", path.display());
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(describe(error)),
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(describe)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(describe)?;
    Ok((listener, WatchedPath::of(path)?))
}

/// Opens the HTTP port: the configured one, otherwise the last one, otherwise any.
fn open_web(home: &Home, config: &Config) -> Result<Option<(std::net::TcpListener, String)>, String> {
    if config.http.off {
        return Ok(None);
    }
    let remembered = home.path().join("http.port");
    let last = plain_file::read_to_string(&remembered).ok().and_then(|text| text.trim().parse().ok());
    let bound = match (config.http.port, last) {
        (Some(port), _) => http::bind(port),
        (None, Some(port)) => http::bind(port).or_else(|_| http::bind(0)),
        (None, None) => http::bind(0),
    };
    let listener =
        bound.map_err(|error| format!("the HTTP port can't be opened: {error}; set COMITY_HTTP_PORT"))?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    // Only a convenience: the dashboard keeps its address.
    let _ = std::fs::write(&remembered, port.to_string());
    Ok(Some((listener, format!("http://127.0.0.1:{port}"))))
}

/// Serves until the returned value is dropped.
fn serve_web(
    app: &Application,
    listener: std::net::TcpListener,
) -> Result<tokio::sync::oneshot::Sender<()>, String> {
    let door = http::Door::new(app.clone());
    let (stop, stopped) = tokio::sync::oneshot::channel();
    std::thread::Builder::new()
        .name("http".into())
        .spawn(move || {
            if let Err(error) = http::run(door, listener, stopped) {
                note("error", "http_failed", &[("message", &error.to_string())]);
            }
        })
        .map(|_| stop)
        .map_err(|error| format!("a thread could not be started: {error}"))
}

/// Takes the human's token that was laid down before the first start: the way in for machines without a terminal. A
/// used state directory has people who can make tokens, and takes none from a file.
fn first_token(engine: &Engine, home: &Home) -> Result<(), String> {
    let file = home.first_token();
    let Ok(text) = plain_file::read_to_string(&file) else { return Ok(()) };
    let describe = |error: std::io::Error| format!("{}: {error}", file.display());
    let is_new = !comity_app::log::knows_anybody(&engine.world());
    match (is_new, text.trim().parse()) {
        (true, Ok(hash)) => {
            let make = PersonAsk::MakeToken { name: "first".into(), hash };
            engine
                .ask(Principal::System, Ask::Person(make))
                .map_err(|failed| format!("the first token can't be taken: {failed:?}"))?;
        }
        (true, Err(())) => return Err(format!("{} does not hold a token's hash", file.display())),
        (false, _) => {
            let why = "this state directory has been used; make a token with: comity token create NAME";
            note("warn", "first_token_ignored", &[("message", why)]);
        }
    }
    std::fs::remove_file(&file).map_err(describe)
}

/// Tells those who wait that the server is ready.
fn announce(how: StartMode, app: &Application) {
    let server = app.server();
    let _ = std::fs::remove_file(server.home.join(PUT_DOWN));
    note("info", "ready", &[("home", &server.home.display().to_string()), ("url", &server.url)]);
    let mut out = std::io::stdout().lock();
    match how {
        StartMode::Detached => {
            let _ = writeln!(out, "ready");
            let _ = out.flush();
            // Nobody reads on: from here what is printed goes nowhere.
            if let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
                let _ = rustix::stdio::dup2_stdout(&null);
            }
        }
        StartMode::Foreground => {
            let _ = writeln!(out, "comity {} serves {}", server.version, server.home.display());
            let _ = writeln!(out, "web  {}\nstop with Ctrl-C", server.url);
        }
    }
}
