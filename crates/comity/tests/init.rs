//! `comity init`: what it writes for the agent programs and the repository, that it proves it, and that it takes it back.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{BINARY, HUMAN, Place, Ran};

const CLAUDE: &str = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\"Stop\": []}\n}\n";
const CODEX: &str = "# mine\nmodel = \"gpt-5\" # the best\n";

/// A user with two agent programs, and the programs of Comity side by side as they are installed.
struct User {
    place: Place,
    comity: PathBuf,
}

impl User {
    fn new() -> User {
        let place = Place::new();
        let bin = place.dir().join("bin");
        fs::create_dir(&bin).expect("made");
        let comity = bin.join("comity");
        place.copy_program(BINARY, &comity);
        let hook = bin.join("comity-hook");
        fs::write(&hook, format!("#!/bin/sh\nexec '{BINARY}' hook \"$@\"\n")).expect("written");
        let user = User { place, comity };
        let confine = bin.join("comity-confine");
        fs::write(&confine, format!("#!/bin/sh\nexec '{BINARY}' confine \"$@\"\n")).expect("written");
        user.run(Command::new("chmod").arg("755").arg(&hook).arg(&confine));
        fs::create_dir_all(user.file(".claude")).expect("made");
        fs::create_dir_all(user.file(".codex")).expect("made");
        fs::write(user.file(".claude/settings.json"), CLAUDE).expect("written");
        fs::write(user.file(".codex/config.toml"), CODEX).expect("written");
        user
    }

    fn run(&self, command: &mut Command) -> Ran {
        Ran::of(command.output().expect("it runs"))
    }

    fn file(&self, path: &str) -> PathBuf {
        self.place.dir().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap_or_default()
    }

    fn init(&self, arguments: &[&str]) -> Ran {
        self.run(self.place.program(&self.comity).arg("init").args(arguments))
    }

    fn pre_commit(&self) -> PathBuf {
        self.place.repo.join(".git/hooks/pre-commit")
    }
}

fn changes(report: &Value, client: &str) -> Vec<String> {
    let clients = report["clients"].as_array().expect("clients");
    let client = clients.iter().find(|found| found["client"] == client).expect("the program");
    let files = client["files"].as_array().expect("files").iter();
    files.map(|file| file["change"].as_str().expect("a word").to_owned()).collect()
}

#[test]
fn programs_are_connected_proven_and_let_go() {
    let user = User::new();
    let shown = user.init(&["--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(
        shown.out.contains("+") && shown.out.contains("comity-hook' claude"),
        "the change is shown: {shown:?}"
    );
    assert!(shown.out.contains("gap"), "and what it cannot close: {shown:?}");
    assert_eq!(user.text(".claude/settings.json"), CLAUDE, "nothing was changed");
    assert!(!user.pre_commit().exists());

    let done = user.init(&["--json"]).json();
    assert_eq!(done["ok"], true, "{done}");
    assert_eq!(changes(&done, "claude"), ["changed", "created"]);
    assert_eq!(changes(&done, "codex"), ["created", "changed"]);
    for client in done["clients"].as_array().expect("clients") {
        assert_eq!(client["proven"], true, "{client}");
    }
    assert_eq!(done["repository"]["change"], "created");
    assert!(user.text(".claude/settings.json").contains("onFailure"));
    assert!(user.text(".codex/config.toml").starts_with(CODEX), "comments stay");
    assert_eq!(user.text(".claude/settings.json.before-comity"), CLAUDE, "there is a backup");
    let again = user.init(&["--json"]).json();
    assert_eq!(changes(&again, "claude"), ["same", "same"], "once is enough");

    let undone = user.init(&["--undo", "--json"]).json();
    assert_eq!(undone["ok"], true, "{undone}");
    assert_eq!(user.text(".claude/settings.json"), CLAUDE, "byte for byte");
    assert_eq!(user.text(".codex/config.toml"), CODEX, "byte for byte");
    for made in [".claude.json", ".codex/hooks.json"] {
        assert!(!user.file(made).exists(), "{made} was ours alone");
    }
    assert!(!user.pre_commit().exists());
    let left = user.place.json(&["agent", "list"]);
    let canaries = left["agents"]
        .as_array()
        .expect("agents")
        .iter()
        .filter(|agent| agent["name"].as_str().is_some_and(|name| name.starts_with("canary")));
    assert_eq!(canaries.count(), 0, "no canary is left: {left}");
}

#[test]
fn a_repository_keeps_its_own_hook() {
    let user = User::new();
    let own = "#!/bin/sh\necho own hook >&2\n";
    fs::create_dir_all(user.pre_commit().with_file_name("")).expect("made");
    fs::write(user.pre_commit(), own).expect("written");
    assert_eq!(user.init(&[]).code, 0);
    let bob = user.place.join(&["bob"]);
    user.place.json_as(&bob, &["lock", "src/a.rs"]);
    fs::write(user.place.repo.join("src/a.rs"), "changed\n").expect("written");
    let commit = |file: &str| {
        let mut git = user.place.program("git");
        git.args(["commit", "--quiet", "-m", "x", "--", file]).env("COMITY_TOKEN", HUMAN);
        user.run(&mut git)
    };
    let stopped = commit("src/a.rs");
    assert!(stopped.code != 0 && stopped.err.contains("locked by bob"), "{stopped:?}");
    fs::write(user.place.repo.join("src/b.rs"), "changed\n").expect("written");
    let made = commit("src/b.rs");
    assert!(made.code == 0 && made.err.contains("own hook"), "both run: {made:?}");
    assert_eq!(user.init(&["--undo"]).code, 0);
    assert_eq!(fs::read_to_string(user.pre_commit()).expect("a hook"), own, "byte for byte");
}

#[test]
fn what_cannot_be_edited_is_left_alone_and_said() {
    let user = User::new();
    let odd = "{ // a comment\n  \"hooks\": {} }\n";
    fs::write(user.file(".claude/settings.json"), odd).expect("written");
    let ran = user.init(&["--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let report = ran.document();
    assert_eq!(changes(&report, "claude")[0], "failed", "{report}");
    assert_eq!(user.text(".claude/settings.json"), odd);
    assert_eq!(changes(&report, "codex"), ["created", "changed"], "the others go on");
    let unknown = user.init(&["--client", "nobody"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert!(unknown.err.contains("is no agent program"), "{unknown:?}");
    assert!(Path::new(&user.comity).is_file());
}
