//! A whole team of real agent programs, each with a scripted model: a leader that plans, workers of three kinds in panes and over
//! ACP, tasks that wait for each other, a file that two want, a permission, and the end.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use support::clients;
use support::model::{Call, Model};
use support::{BINARY, Place, eventually_within, has_program, skip};

const TEST: &str = "a_team_of_four_programs_reaches_its_goal_and_leaves_nothing";
/// Four programs share what a test has of the machine.
const STEP_MAX: Duration = Duration::from_secs(150);

/// The place, what it is run with, and the models by the names of their agents.
struct Team {
    place: Place,
    tmux_dir: PathBuf,
    models: [(&'static str, Model); 4],
}

impl Team {
    /// Nothing, if not all of the programs are here.
    fn set_up() -> Option<Team> {
        if !has_program("tmux") {
            skip(TEST, "tmux is not installed");
            return None;
        }
        let place = Place::new();
        let tmux_dir = place.dir().join("tmux");
        std::fs::create_dir(&tmux_dir).expect("a directory");
        let [lead, codex, opencode, gemini] =
            [lead(), codex(&place), opencode(&place), gemini(&place)].map(Model::start);
        let programs = [
            ("claude", clients::claude_at_a_terminal(TEST, &place, &lead)?, 0),
            ("codex", clients::codex_at_a_terminal(TEST, &place, &codex)?, 0),
            ("opencode", clients::opencode_at_a_terminal(TEST, &place, &opencode)?, 0),
            ("gemini", clients::gemini_at_a_terminal(TEST, &place, &gemini)?, 4),
        ];
        let bin =
            programs.map(|(name, program, own)| clients::put_on_path(&place, name, &program, own))[0].clone();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let mut up = place.comity(&["up"]);
        let up = up.env("PATH", path).env("TMUX_TMPDIR", &tmux_dir).output().expect("up");
        assert!(up.status.success(), "{up:?}");
        let models =
            [("lead", lead), ("developer", codex), ("developer-2", opencode), ("developer-3", gemini)];
        Some(Team { place, tmux_dir, models })
    }

    fn model(&self, name: &str) -> &Model {
        &self.models.iter().find(|(of, _)| *of == name).expect("a model").1
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.env("TMUX_TMPDIR", &self.tmux_dir).args(["-L", "comity"]).args(arguments);
        String::from_utf8(tmux.output().expect("tmux").stdout).expect("text")
    }

    /// Waits; else fails with what everybody shows and was told.
    fn wait(&self, what: &str, is_so: impl FnMut() -> bool) {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually_within(STEP_MAX, what, is_so);
        }));
        if done.is_ok() {
            return;
        }
        let mut seen = String::new();
        for (name, model) in &self.models {
            seen +=
                &format!("\n== {name}\n{}\ntold: {:#?}\n", self.place.run(&["logs", name]).out, model.told());
        }
        panic!(
            "{what}: {seen}\n{:?}\n{:?}",
            self.place.run(&["runs", "--all"]),
            self.place.run(&["task", "list"])
        );
    }

    fn wait_for_told(&self, name: &str, words: &str) {
        self.wait(&format!("{name} is told {words:?}"), || self.model(name).was_told(words));
    }

    fn task(&self, id: &str) -> Value {
        self.place.json(&["task", "get", id])
    }
}

fn lead() -> Vec<Call> {
    let comity = |tool, input: Value| Call::new(tool, input);
    let add = |input: Value| comity("mcp__comity__TaskCreate", input);
    let to = |id: &str, owner: &str| comity("mcp__comity__TaskUpdate", json!({ "id": id, "owner": owner }));
    vec![
        comity("mcp__comity__plan_submit", json!({ "file": "plan.md", "content": "Three tasks." })),
        comity("mcp__comity__next", json!({ "wait": "120s" })),
        add(json!({ "title": "Write the parser", "id": "one" })),
        add(json!({ "title": "Read the settings", "id": "two" })),
        add(json!({ "title": "Join them", "id": "three", "depends_on": ["one", "two"] })),
        to("one", "developer"),
        to("two", "developer-2"),
        to("three", "developer-3"),
    ]
}

/// A command that waits until the test lets it go on.
fn gate(place: &Place) -> PathBuf {
    place.dir().join("gate")
}

fn codex(place: &Place) -> Vec<Call> {
    let gate = gate(place);
    let made = place.program("mkfifo").arg(&gate).status().expect("mkfifo");
    assert!(made.success());
    let comity = |words: &str| format!("{BINARY} {words}");
    let runs = |cmd: String| Call::new("exec_command", json!({ "cmd": cmd, "yield_time_ms": 100_000 }));
    let patch =
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-fn main() {}\n+// by codex\n*** End Patch\n";
    vec![
        runs(comity("task claim --wait 90s")),
        runs(comity("task start one")),
        runs(comity("lock src/a.rs --reason 'writing the parser'")),
        runs(format!("read -r go <'{}'; echo $go", gate.display())),
        Call::new("apply_patch", patch),
        runs(comity("commit -m 'Parser: written'")),
        runs(comity("unlock --all")),
        runs(comity("task done one --evidence committed")),
    ]
}

fn opencode(place: &Place) -> Vec<Call> {
    let file = place.repo.join("src/a.rs");
    let write = json!({ "filePath": file, "content": "// by codex\n// by opencode\n" });
    let claim = json!({ "operation": "task_claim", "input": { "wait": "90s" } });
    vec![
        Call::new("comity_call", claim),
        Call::new("comity_TaskUpdate", json!({ "id": "two", "status": "running" })),
        Call::new("read", json!({ "filePath": file })),
        Call::new("write", write.clone()),
        Call::new(
            "comity_lock",
            json!({ "paths": ["src/a.rs"], "reason": "reading settings", "wait": "60s" }),
        ),
        Call::new("read", json!({ "filePath": file })),
        Call::new("write", write),
        Call::new("comity_commit", json!({ "message": "Settings: read" })),
        Call::new("comity_TaskUpdate", json!({ "id": "two", "status": "done", "evidence": "committed" })),
    ]
}

fn gemini(place: &Place) -> Vec<Call> {
    let file = place.repo.join("src/joined.rs");
    let claim = json!({ "operation": "task_claim", "input": { "wait": "90s" } });
    vec![
        Call::new("mcp_comity_call", claim.clone()),
        Call::new("mcp_comity_TaskUpdate", json!({ "id": "three", "status": "running" })),
        Call::new("write_file", json!({ "file_path": file, "content": "// by gemini\n" })),
        Call::new("mcp_comity_commit", json!({ "message": "Parser and settings: joined" })),
        Call::new(
            "mcp_comity_TaskUpdate",
            json!({ "id": "three", "status": "done", "evidence": "committed" }),
        ),
    ]
}

/// Allows what waits, as you do; tells what that was.
fn allow(place: &Place) -> Option<String> {
    let requests = place.json(&["permission", "list"])["requests"].clone();
    let waiting = requests.as_array()?.iter().find(|it| it["state"] == "waiting")?.clone();
    // Its leader is asked, and you may answer all the same.
    let allowed = place.run(&["permission", "allow", &waiting["id"].to_string()]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    Some(format!("{} of {}", waiting["summary"].as_str()?, waiting["asker"].as_str()?))
}

#[test]
fn a_team_of_four_programs_reaches_its_goal_and_leaves_nothing() {
    let Some(team) = Team::set_up() else { return };
    let place = &team.place;
    let workers = "codex,opencode,gemini:acp";
    let run = ["run", "Parse the settings", "--plan", "--backend", "tmux", "--workers", workers];
    let started = place.json(&run);
    let names: Vec<&Value> =
        started["workers"].as_array().expect("workers").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["developer", "developer-2", "developer-3"], "{started}");

    // The plan waits for you.
    team.wait("the plan is in the inbox", || place.run(&["inbox"]).out.contains("plan.md"));
    let approved = place.run(&["plan", "approve", "1"]);
    assert_eq!(approved.code, 0, "{approved:?}");
    team.wait_for_told("lead", "Join them");
    assert_eq!(team.tmux(&["list-panes", "-a"]).lines().count(), 3);

    // Two want one file: the second is refused, and waits until the first has committed.
    team.wait("developer-2 is refused", || {
        let told = team.model("developer-2");
        told.was_told("is locked by developer") || told.was_told("is being edited by developer")
    });
    team.wait("developer-2 waits for it", || place.json(&["locks"])["locks"][0]["waiting"] == 1);
    let mut gate = std::fs::File::options().write(true).open(gate(place)).expect("codex reads it");
    writeln!(gate, "go on").expect("written");
    drop(gate);
    team.wait("both are done", || ["one", "two"].iter().all(|id| team.task(id)["status"] == "done"));

    // The third task becomes ready, and its worker asks before it writes.
    let mut asked = Vec::new();
    team.wait("the third is done", || {
        asked.extend(allow(place));
        team.task("three")["status"] == "done"
    });
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].contains("joined.rs") && asked[0].ends_with("developer-3"), "{asked:?}");

    let log = place.program("git").args(["log", "--format=%s", "--name-only", "-3"]).output().expect("git");
    let log = String::from_utf8(log.stdout).expect("text");
    let lines: Vec<&str> = log.lines().filter(|line| !line.is_empty()).collect();
    let committed = [
        "Parser and settings: joined",
        "src/joined.rs",
        "Settings: read",
        "src/a.rs",
        "Parser: written",
        "src/a.rs",
    ];
    assert_eq!(lines, committed);
    assert_eq!(
        std::fs::read_to_string(place.repo.join("src/a.rs")).expect("a file"),
        "// by codex\n// by opencode\n"
    );

    // Nothing is left of them.
    assert_eq!(place.run(&["stop", "lead"]).code, 0);
    team.wait("all are stopped", || {
        let runs = place.json(&["runs", "--all"])["runs"].clone();
        runs.as_array().expect("runs").iter().all(|run| run["state"] == "stopped")
    });
    assert_eq!(place.json(&["agents"])["agents"].as_array().map(Vec::len), Some(0));
    assert_eq!(place.json(&["locks"])["locks"].as_array().map(Vec::len), Some(0));
    assert_eq!(team.tmux(&["list-panes", "-a"]), "");
    let trees = place.program("git").args(["worktree", "list"]).output().expect("git");
    assert_eq!(String::from_utf8_lossy(&trees.stdout).lines().count(), 1);
    place.json(&["down"]);
    let of_the_team = place.processes();
    assert!(of_the_team.is_empty(), "{of_the_team:?}");
    let left: Vec<PathBuf> = std::fs::read_dir(place.home.join("runs"))
        .expect("a directory")
        .flatten()
        .map(|it| it.path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
