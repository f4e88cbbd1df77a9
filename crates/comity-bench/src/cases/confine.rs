//! Confined commands: what they cost over bare ones, and how many ways into a held file they leave.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::Bench;
use crate::compare::{in_turns, timed};
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::{BenchServer, input};

/// In all rounds together.
const SPAWNS: usize = 250;
/// Paths that others hold, and what they may cost in nanoseconds.
const HELD: [(usize, f64); 2] = [(10, 2e6), (100, 4e6)];
/// Every so many ways, when it has to be quick.
const QUICK_STEP: usize = 6;
/// Seconds for one way: some wait for what never comes.
const WAY_SECONDS_MAX: &str = "10";

const WAYS: &str = include_str!("../../../../benches/ways.txt");
const FILE: &str = "src/a.rs";
const BEFORE: &str = "fn main() {}\n";

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let beside = |name: &str| Some(bench.stage.program().with_file_name(name)).filter(|path| path.is_file());
    let (Some(confine), Some(hook)) = (beside("comity-confine"), beside("comity-hook")) else {
        let why = "comity-confine and comity-hook are not beside this program: cargo xtask build";
        bench.report.skipped("a confined command over a bare one", why);
        return Ok(());
    };
    let probe = Command::new(&confine).arg("--probe").stdin(Stdio::null()).output();
    let probe = probe.map_err(|error| error.to_string())?;
    if !probe.status.success() {
        bench
            .report
            .skipped("a confined command over a bare one", String::from_utf8_lossy(&probe.stderr).trim());
        return Ok(());
    }
    let place = ResetRepo::new(bench.stage.dir())?;
    for (count, limit) in HELD {
        overhead(bench, &place, &confine, count, limit)?;
    }
    coverage(bench, &place, &confine, &hook)
}

/// What a command costs that does nothing, with so many paths held by another agent.
fn overhead(
    bench: &mut Bench,
    place: &ResetRepo,
    confine: &Path,
    count: usize,
    limit: f64,
) -> Result<(), String> {
    let stage = bench.stage.clone();
    let server = BenchServer::start_in(&stage, &format!("confine-{count}"), &place.repo)?;
    let (mut holder, agent) = (server.join("holder")?, server.join("runner")?);
    std::fs::create_dir_all(place.repo.join("held")).map_err(|error| error.to_string())?;
    let names: Vec<String> = (0..count).map(|number| format!("held/f{number}.rs")).collect();
    for name in &names {
        std::fs::write(place.repo.join(name), "").map_err(|error| error.to_string())?;
    }
    holder.ask("lock", &input(&json!({ "paths": names, "ttl": "24h" }))?)?;
    let command = |program: &Path| {
        let mut command = stage.command(program, server.home().path());
        command.current_dir(&place.repo).env("COMITY_TOKEN", &agent.token);
        command
    };
    let mut write = command(confine);
    if write.args(["--", "touch", "held/f0.rs"]).status().is_ok_and(|status| status.success()) {
        return Err("a held file could be written to".into());
    }
    let (mut bare, mut ours) = (command(Path::new("true")), command(confine));
    ours.args(["--", "true"]);
    let spawns = bench.scaled(SPAWNS).div_ceil(bench.options.rounds);
    let mut over = Vec::new();
    for _ in 0..bench.options.rounds {
        let round = in_turns(spawns, 1, || timed(|| once(&mut bare)), || timed(|| once(&mut ours)))?;
        over.push(round.subject - round.reference);
    }
    let name = format!("a confined command over a bare one, {count} held");
    bench.measured(&name, Unit::Nanoseconds, &over, Some(Goal::AtMost(limit)));
    Ok(())
}

fn once(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("it ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Ways of writing into a held file: how many change it with the hook alone, and how many confined.
fn coverage(bench: &mut Bench, place: &ResetRepo, confine: &Path, hook: &Path) -> Result<(), String> {
    let stage = bench.stage.clone();
    let server = BenchServer::start_in(&stage, "ways", &place.repo)?;
    let (mut holder, agent) = (server.join("holder")?, server.join("runner")?);
    holder.ask("lock", &input(&json!({ "paths": [FILE], "ttl": "24h" }))?)?;
    let command = |program: &Path| {
        let mut command = stage.command(program, server.home().path());
        command.current_dir(&place.repo).env("COMITY_TOKEN", &agent.token);
        command
    };
    let step = if bench.options.quick { QUICK_STEP } else { 1 };
    let lines = WAYS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<String> = lines
        .step_by(step)
        .enumerate()
        .map(|(at, way)| way.replace("$T", &format!("scratch/{at}")))
        .collect();
    let (mut judged, mut confined) = (Harm::default(), Harm::default());
    for (at, line) in lines.iter().enumerate() {
        place.prepare(at)?;
        if may_run(command(hook), &place.repo, line)? {
            let mut bare = command(Path::new("timeout"));
            let _ = bare.args([WAY_SECONDS_MAX, "bash", "-c", line]).status(); // shell: it is what is tried
        }
        judged.add(place.bytes_changed());
        place.prepare(at)?;
        let mut ours = command(Path::new("timeout"));
        let _ = ours.arg(WAY_SECONDS_MAX).arg(confine).args(["-c", line]).status();
        confined.add(place.bytes_changed());
    }
    for (how, harm, goal) in [("hooks alone", judged, None), ("confined", confined, Some(Goal::AtMost(0.0)))]
    {
        let writes = format!("writes that got through, of {} tried, {how}", lines.len());
        bench.measured(&writes, Unit::Count, &[harm.writes as f64], goal);
        let bytes = format!("bytes of the held file changed, {how}");
        bench.measured(&bytes, Unit::Count, &[harm.bytes as f64], goal);
    }
    Ok(())
}

/// What came through.
#[derive(Default)]
struct Harm {
    writes: usize,
    bytes: usize,
}

impl Harm {
    fn add(&mut self, bytes: usize) {
        self.writes += usize::from(bytes > 0);
        self.bytes += bytes;
    }
}

/// Whether the hook lets a command pass.
fn may_run(mut hook: Command, repo: &Path, line: &str) -> Result<bool, String> {
    let payload = json!({
        "session_id": "ways", "cwd": repo, "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": line },
    });
    let file = repo.with_file_name("payload.json");
    std::fs::write(&file, payload.to_string()).map_err(|error| error.to_string())?;
    let stdin = std::fs::File::open(&file).map_err(|error| error.to_string())?;
    let said = hook.arg("claude").stdin(stdin).stdout(Stdio::piped()).output();
    let said = said.map_err(|error| error.to_string())?;
    Ok(said.status.success() && !String::from_utf8_lossy(&said.stdout).contains("\"deny\""))
}

/// A repository that is put back as it was after each way.
struct ResetRepo {
    repo: PathBuf,
    first: PathBuf,
}

impl ResetRepo {
    fn new(dir: &Path) -> Result<ResetRepo, String> {
        let place = ResetRepo { repo: dir.join("ways-repo"), first: dir.join("ways-first") };
        let first = &place.first;
        let write = |file: &str, text: &str| {
            std::fs::create_dir_all(first.join("src"))
                .and_then(|()| std::fs::write(first.join(file), text))
                .map_err(|error| error.to_string())
        };
        write(FILE, "fn old() {}\n")?;
        write("src/b.rs", &"fn other() { something() }\n".repeat(8))?;
        write("Cargo.toml", "[package]\n")?;
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(words).current_dir(first);
            once(git.stdin(Stdio::null()).stdout(Stdio::null()))
        };
        git(&["init", "--quiet"])?;
        git(&["add", "--all"])?;
        git(&["commit", "--quiet", "-m", "1"])?;
        write(FILE, BEFORE)?;
        git(&["commit", "--quiet", "--all", "-m", "2"])?;
        place.restore()?;
        Ok(place)
    }

    fn restore(&self) -> Result<(), String> {
        std::fs::create_dir_all(&self.repo).map_err(|error| error.to_string())?;
        for entry in std::fs::read_dir(&self.repo).map_err(|error| error.to_string())?.flatten() {
            let _ = std::fs::remove_dir_all(entry.path()).or_else(|_| std::fs::remove_file(entry.path()));
        }
        let mut copy = Command::new("cp");
        once(copy.arg("-a").arg(self.first.join(".")).arg(&self.repo))
    }

    /// Puts everything back, for what fails for want of another file shows nothing; and makes the directory that a way has
    /// for itself.
    fn prepare(&self, at: usize) -> Result<(), String> {
        self.restore()?;
        std::fs::create_dir_all(self.repo.join(format!("scratch/{at}"))).map_err(|error| error.to_string())
    }

    /// Bytes that are no longer what and where they were; all, if the file is gone.
    fn bytes_changed(&self) -> usize {
        let now = std::fs::read(self.repo.join(FILE)).unwrap_or_default();
        let same = now.iter().zip(BEFORE.as_bytes()).filter(|(now, before)| now == before).count();
        now.len().max(BEFORE.len()) - same
    }
}
