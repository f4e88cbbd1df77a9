//! `comity init`: what it writes for the agent programs and the repository, that it proves it, and that it takes it back.

#[path = "init/active.rs"]
mod active;
#[path = "init/installed.rs"]
mod installed;
#[path = "init/project.rs"]
mod project;
#[path = "init/shells.rs"]
mod shells;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{HUMAN, Place, Ran, beside};

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
        for name in ["comity", "comity-hook", "comity-confine"] {
            place.copy_program(&beside(name).display().to_string(), &bin.join(name));
        }
        let user = User { place, comity };
        // Only that it can be started counts: it is not.
        user.write_program("clients/claude", "#!/bin/sh\nexit 1\n");
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
        self.run(self.program().arg("init").args(arguments).env("COMITY_TOKEN", HUMAN))
    }

    fn doctor(&self) -> Ran {
        self.run(self.program().arg("doctor"))
    }

    /// Comity, where the user's agent programs are on the PATH.
    fn program(&self) -> Command {
        let mut command = self.place.program(&self.comity);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.file("clients").display()));
        command
    }

    fn write_program(&self, path: &str, text: &str) {
        self.write(path, text);
        fs::set_permissions(self.file(path), fs::Permissions::from_mode(0o755)).expect("executable");
    }

    fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.file(path)).expect(path).permissions().mode() & 0o7777
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.file(path).parent().expect("a directory")).expect("made");
        fs::write(self.file(path), text).expect("written");
    }

    fn pre_commit(&self) -> PathBuf {
        self.place.repo.join(".git/hooks/pre-commit")
    }
}

fn client<'a>(report: &'a Value, name: &str) -> &'a Value {
    let clients = report["clients"].as_array().expect("clients");
    clients.iter().find(|found| found["client"] == name).expect("the program")
}

fn changes(report: &Value, name: &str) -> Vec<String> {
    let files = client(report, name)["files"].as_array().expect("files").iter();
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
    let gap = "Tools of other MCP servers are judged by their names";
    assert!(!shown.out.contains(gap) && shown.out.contains("comity init --limits"), "{shown:?}");
    let limits = user.init(&["--dry-run", "--limits"]);
    assert_eq!(limits.out.matches(gap).count(), 1, "what nobody closes is said once: {limits:?}");
    assert!(shown.out.lines().count() < 150, "it is short enough to be read: {shown:?}");
    assert_eq!(user.text(".claude/settings.json"), CLAUDE, "nothing was changed");
    assert!(!user.pre_commit().exists());

    let done = user.init(&["--json"]).json();
    assert_eq!(done["ok"], true, "{done}");
    assert_eq!(changes(&done, "claude"), ["changed", "created"]);
    assert_eq!(changes(&done, "codex"), ["created", "changed"]);
    assert_eq!(client(&done, "claude")["proven"], true, "{done}");
    let codex = client(&done, "codex");
    assert!(codex["connected"] == true && codex["proven"] == false, "nobody saw it run the hook: {codex}");
    assert!(codex["problem"].as_str().is_some_and(|why| why.contains("codex isn't on your PATH")), "{codex}");
    assert_eq!(done["repositories"][0]["change"], "created");
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
    let log = user.place.json(&["log", "--all-projects"]).to_string();
    assert!(!log.contains("canary"), "what was tried is housekeeping: {log}");
    let all = user.place.json(&["log", "--all", "--all-projects", "--limit", "1000"]).to_string();
    assert!(all.contains("canary") && !all.contains("lock_orphaned"), "it left no work: {all}");
}

#[test]
fn a_repository_keeps_its_own_hook() {
    let user = User::new();
    let own = "#!/bin/sh\necho own hook >&2\n";
    fs::create_dir_all(user.pre_commit().with_file_name("")).expect("made");
    fs::write(user.pre_commit(), own).expect("written");
    let off = user.init(&["--json"]).document();
    assert_eq!(
        off["repositories"][0]["change"], "failed",
        "git does not run it: with ours in it, it would: {off}"
    );
    fs::set_permissions(user.pre_commit(), fs::Permissions::from_mode(0o755)).expect("executable");
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
    assert!(stopped.err.contains("Comity stopped this commit: "), "who says so: {stopped:?}");
    assert!(stopped.err.contains("comity release") && !stopped.err.contains("--wait"), "{stopped:?}");
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
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.err.contains("[possible values: claude, codex, gemini"), "{unknown:?}");
    assert!(Path::new(&user.comity).is_file());
}

#[test]
fn what_is_not_connected_is_not_called_proven() {
    let user = User::new();
    user.write(".gemini/settings.json", "// mine\n{ \"theme\": \"dark\", }\n");
    user.write(".claude/settings.json", "{ \"disableAllHooks\": true }\n");
    let ran = user.init(&[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let of = |name: &str| {
        let lines = ran.out.lines().skip_while(|line| *line != name).skip(1);
        lines.take_while(|line| line.starts_with(' ')).collect::<Vec<&str>>().join("\n")
    };
    assert!(of("codex").contains("\n  NOT ACTIVE  codex isn't on your PATH"), "{ran:?}");
    for name in ["gemini", "claude"] {
        assert!(!of(name).contains("  proven") && of(name).contains("  NOT CONNECTED"), "{name}: {ran:?}");
    }
    let report = user.init(&["--json"]).document();
    for (name, why) in [("gemini", "doesn't call Comity's hook"), ("claude", "disableAllHooks")] {
        let found = client(&report, name);
        assert!(found["proven"] == false && found["connected"] == false, "{found}");
        assert!(found["problem"].as_str().is_some_and(|problem| problem.contains(why)), "{found}");
    }
    assert!(client(&report, "codex")["active"] == false && client(&report, "codex")["connected"] == true);
    let doctor = user.doctor();
    let found = doctor.out.lines().find(|line| line.contains("agent programs")).expect("a finding");
    assert!(found.starts_with("BAD") && found.contains("connected: codex"), "{doctor:?}");
    assert!(found.contains("gemini") && found.contains("claude (disableAllHooks in"), "{doctor:?}");
}

#[test]
fn what_the_settings_run_is_what_is_proven() {
    let user = User::new();
    assert_eq!(user.init(&[]).code, 0);
    // The program is there and lets everything pass: the settings are as they should be.
    fs::write(user.file("bin/comity-hook"), "#!/bin/sh\nexit 0\n").expect("written");
    let report = user.init(&["--json"]).document();
    assert_eq!(client(&report, "codex")["proven"], false, "{report}");
    assert_eq!(client(&report, "codex")["connected"], true, "{report}");
}

#[test]
fn copies_of_private_settings_are_private() {
    let user = User::new();
    user.write(".gemini/.env", "GEMINI_API_KEY=secret\n");
    let files = [".gemini/.env", ".claude/settings.json", ".codex/config.toml"];
    let set = |path: &str, mode| fs::set_permissions(user.file(path), fs::Permissions::from_mode(mode));
    for (file, mode) in files.into_iter().zip([0o600, 0o640, 0o400]) {
        set(file, mode).expect("changed");
    }
    fs::create_dir_all(user.pre_commit().with_file_name("")).expect("made");
    fs::write(user.pre_commit(), "#!/bin/sh\n# secret\n").expect("written");
    set("repo/.git/hooks/pre-commit", 0o700).expect("changed");
    let is_private = || {
        let all = files.into_iter().chain(["repo/.git/hooks/pre-commit"]);
        for (file, mode) in all.zip([0o600, 0o640, 0o400, 0o700]) {
            assert_eq!(user.mode(file), mode, "{file}");
            assert_eq!(user.mode(&format!("{file}.before-comity")), mode, "the backup of {file}");
        }
    };
    assert_eq!(user.init(&[]).code, 0);
    is_private();
    // A backup of an older version was open to all.
    set(".gemini/.env.before-comity", 0o644).expect("changed");
    assert_eq!(user.init(&["--undo"]).code, 0);
    is_private();
}

#[test]
fn hooks_that_are_checked_in_are_left_to_their_owner() {
    let user = User::new();
    user.place.git(&["config", "core.hooksPath", ".husky"]);
    let done = user.init(&["--json"]).json();
    assert_eq!(done["repositories"][0]["change"], "by_hand", "{done}");
    let line = done["repositories"][0]["problem"].as_str().expect("what to do");
    assert!(line.contains("command -v comity-hook"), "{line}");
    assert!(!user.place.repo.join(".husky").exists(), "nothing with a path of this machine in it");
    user.write("repo/.gitignore", "/.husky\n");
    let done = user.init(&["--json"]).json();
    assert_eq!(done["repositories"][0]["change"], "created", "nobody else gets it: {done}");
}

#[test]
fn all_repositories_are_let_go() {
    let user = User::new();
    assert_eq!(user.init(&[]).code, 0);
    let other = user.file("other");
    user.place.git(&["init", "--quiet", other.to_str().expect("a text")]);
    let in_other = |program: &Path, words: &[&str]| {
        let mut command = user.place.program(program);
        user.run(command.args(words).current_dir(&other).env("COMITY_TOKEN", HUMAN))
    };
    assert_eq!(in_other(&user.comity, &["init"]).code, 0);

    // The programs are gone, and the hook is not: it says so, and is in nobody's way.
    let programs = user.file("bin");
    fs::rename(&programs, user.file("elsewhere")).expect("moved");
    let git = Path::new("git");
    let committed = in_other(git, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    assert!(committed.code == 0 && committed.err.contains("Comity: "), "{committed:?}");
    assert!(committed.err.contains("did not check this commit"), "{committed:?}");
    fs::rename(user.file("elsewhere"), &programs).expect("moved");

    let shown = in_other(&user.comity, &["init", "--undo", "--dry-run"]);
    assert!(shown.code == 0 && shown.out.contains("  remove   "), "{shown:?}");
    assert!(user.pre_commit().is_file(), "nothing was changed");
    let undone = in_other(&user.comity, &["init", "--undo", "--json"]).json();
    assert_eq!(undone["repositories"].as_array().map(Vec::len), Some(2), "{undone}");
    assert!(!user.pre_commit().exists() && !other.join(".git/hooks/pre-commit").exists(), "{undone}");
}

#[test]
fn an_undo_knows_what_is_ours_without_the_record() {
    let user = User::new();
    user.write(".gemini/.env", "");
    assert_eq!(user.init(&[]).code, 0);
    fs::remove_file(user.place.home.join("init.json")).expect("removed");
    assert_eq!(user.init(&["--undo"]).code, 0);
    assert!(!user.pre_commit().exists(), "{:?}", fs::read_to_string(user.pre_commit()));
    assert!(!user.file(".codex/hooks.json").exists());
    assert_eq!(user.text(".gemini/.env"), "");
}

#[test]
fn what_was_written_and_is_damaged_is_found_by_the_doctor() {
    let user = User::new();
    assert_eq!(user.init(&["--json"]).json()["ok"], true);
    let is_whole = || user.doctor().out.contains("ok   written by init");
    assert!(is_whole(), "{:?}", user.doctor());
    let check = |file: PathBuf, damage: &dyn Fn(&Path), said: &str| {
        damage(&file);
        let ran = user.doctor();
        let shown = file.display();
        assert!(ran.code == 1 && ran.out.contains(&format!("{shown} {said}")), "{shown} {said}: {ran:?}");
        assert_eq!(user.init(&["--json"]).json()["ok"], true);
        assert!(is_whole(), "{shown}");
    };
    let changed = "is not as comity init wrote it";
    let mode = |mode: u32| fs::set_permissions(user.pre_commit(), fs::Permissions::from_mode(mode));
    let hook = fs::canonicalize(user.pre_commit()).expect("written");
    check(hook.clone(), &|file| fs::write(file, "#!/bin/sh\n").expect("written"), changed);
    check(hook, &|file| fs::remove_file(file).expect("removed"), "is gone");
    mode(0o644).expect("set");
    assert!(user.doctor().out.contains("is not executable"), "{:?}", user.doctor());
    mode(0o755).expect("set");
    check(user.file(".codex/hooks.json"), &|file| fs::remove_file(file).expect("removed"), "is gone");
    let shortened = |file: &Path| {
        let mut settings: Value =
            serde_json::from_str(&fs::read_to_string(file).expect("text")).expect("JSON");
        settings["hooks"]["PreToolUse"] = Value::Array(vec![]);
        fs::write(file, settings.to_string()).expect("written");
    };
    check(user.file(".claude/settings.json"), &shortened, changed);
}
