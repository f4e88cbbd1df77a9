//! Settings that are checked in: no path of this machine, and nothing in the way of whoever has no Comity.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{HUMAN, Ran};
use crate::{User, client};

const ALL: [&str; 6] = ["claude", "codex", "gemini", "copilot", "cursor", "opencode"];

impl User {
    fn init_project(&self, arguments: &[&str]) -> Ran {
        let all = ALL.iter().flat_map(|name| ["--client", name]);
        let words: Vec<&str> =
            ["--scope", "project"].into_iter().chain(all).chain(arguments.iter().copied()).collect();
        self.init(&words)
    }

    /// A command as on a machine with Comity, or without.
    fn machine(&self, program: &str, has_comity: bool) -> Command {
        let mut command = self.place.program(program);
        let path = std::env::var("PATH").unwrap_or_default();
        if has_comity {
            command.env("PATH", format!("{}:{path}", self.file("bin").display()));
        }
        command.env("COMITY_TOKEN", HUMAN);
        command
    }

    /// What git would add to the next commit.
    fn added(&self) -> Vec<PathBuf> {
        let mut git = self.place.program("git");
        let ran = self.run(git.args(["ls-files", "--others", "--modified", "--exclude-standard"]));
        ran.out.lines().map(|line| self.place.repo.join(line)).collect()
    }
}

#[test]
fn what_is_checked_in_has_no_path_of_this_machine() {
    let user = User::new();
    let own = "{\n  \"model\": \"opus\"\n}\n";
    user.write("repo/.claude/settings.json", own);
    user.place.git(&["add", "."]);
    user.place.git(&["commit", "--quiet", "-m", "settings"]);
    let done = user.init_project(&["--json"]).json();
    assert_eq!(client(&done, "claude")["files"][0]["change"], "changed", "{done}");
    let mut added: Vec<String> = user
        .added()
        .iter()
        .map(|file| file.strip_prefix(&user.place.repo).expect("inside").display().to_string())
        .collect();
    added.sort();
    let expected = [
        ".claude/settings.json",
        ".codex/config.toml",
        ".codex/hooks.json",
        ".cursor/hooks.json",
        ".cursor/mcp.json",
        ".gemini/settings.json",
        ".github/hooks/comity.json",
        ".mcp.json",
        ".opencode/plugins/comity.js",
        "opencode.json",
    ];
    assert_eq!(added, expected, "and no copies");
    let here = user.place.dir().to_str().expect("a text");
    for file in user.added() {
        let text = fs::read_to_string(&file).expect("text");
        assert!(
            !text.contains(here) && !text.contains("\"/") && !text.contains("'/"),
            "{}: {text}",
            file.display()
        );
        assert!(text.contains("comity"), "{}", file.display());
    }
    assert_eq!(user.text(".claude/settings.json"), crate::CLAUDE, "the user's own settings are left alone");
    let again = user.init_project(&["--json"]).json();
    assert_eq!(client(&again, "claude")["files"][0]["change"], "same", "{again}");
    assert_eq!(user.init_project(&["--undo"]).code, 0);
    assert_eq!(user.added(), Vec::<PathBuf>::new(), "byte for byte");
    assert_eq!(user.text("repo/.claude/settings.json"), own);
}

#[test]
fn hooks_that_are_checked_in_judge_where_comity_is_and_pass_where_it_is_not() {
    let user = User::new();
    assert_eq!(user.init_project(&[]).code, 0);
    let (ann, bob) = (user.place.join(&["ann"]), user.place.join(&["bob"]));
    user.place.json_as(&bob, &["lock", "src/a.rs"]);
    for (name, file, event, payload) in [
        (
            "claude",
            ".claude/settings.json",
            "PreToolUse",
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": { "file_path": "src/a.rs", "content": "x" } }),
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "BeforeTool",
            json!({ "hook_event_name": "BeforeTool", "tool_name": "write_file",
            "tool_input": { "file_path": "src/a.rs", "content": "x" } }),
        ),
        (
            "copilot",
            ".github/hooks/comity.json",
            "preToolUse",
            json!({ "sessionId": "s1", "toolName": "create",
            "toolArgs": { "path": "src/a.rs", "file_text": "x" } }),
        ),
    ] {
        let settings: Value = serde_json::from_str(&user.text(&format!("repo/{file}"))).expect("JSON");
        let entry = &settings["hooks"][event][0];
        let line = entry["hooks"][0]["command"].as_str().or(entry["bash"].as_str()).expect("a line");
        let mut payload = payload;
        payload["cwd"] = user.place.repo.to_str().into();
        payload["session_id"] = "s1".into();
        let judge = |has_comity: bool| {
            let mut shell = user.machine("sh", has_comity);
            shell.env("COMITY_TOKEN", &ann.token).args(["-c", &format!("{line} <<'END'\n{payload}\nEND")]);
            user.run(&mut shell)
        };
        let (with, without) = (judge(true), judge(false));
        assert!(with.code == 0 && with.out.contains("locked by bob"), "{name}: {with:?}");
        assert_eq!((without.code, &*without.out, &*without.err), (0, "", ""), "{name}");

        // Who is judged by settings of their own is judged once, as long as these are there.
        assert_eq!(user.init(&["--client", name]).code, 0);
        let left = judge(true);
        assert_eq!((left.code, &*left.out), (0, ""), "{name}: {left:?}");
        let own = match name {
            "claude" => ".claude/settings.json",
            "gemini" => ".gemini/settings.json",
            _ => ".copilot/hooks/comity.json",
        };
        user.write(own, "{}\n");
        assert!(judge(true).out.contains("locked by bob"), "{name}: nobody else judges it");
    }
    let elsewhere = |value: &str| {
        let mut hook = user.machine("sh", true);
        hook.env("CLAUDE_CONFIG_DIR", value).env("COMITY_TOKEN", &ann.token);
        let payload = json!({ "hook_event_name": "PreToolUse", "tool_name": "Write", "session_id": "s1",
            "cwd": user.place.repo, "tool_input": { "file_path": "src/a.rs", "content": "x" } });
        user.run(hook.args(["-c", &format!("comity-hook claude --project <<'END'\n{payload}\nEND")])).out
    };
    assert_eq!(user.init(&["--client", "claude"]).code, 0);
    assert_eq!(elsewhere(""), "");
    assert!(elsewhere("/nowhere").contains("locked by bob"), "it reads other settings there");
}

#[test]
fn a_checkout_without_comity_commits() {
    for (husky, file) in [
        (Some(".husky"), ".husky/pre-commit"),
        (Some(".husky/_"), ".husky/pre-commit"),
        (None, "lefthook.yml"),
    ] {
        let is_husky = husky.is_some();
        let user = User::new();
        let own = if is_husky { "echo own hook >&2\n" } else { "skip_output:\n  - meta\n" };
        user.write(&format!("repo/{file}"), own);
        user.place.git(&["add", "."]);
        user.place.git(&["commit", "--quiet", "-m", "hooks"]);
        if let Some(hooks) = husky {
            // From its ninth version on husky keeps what git starts in a directory that it ignores.
            user.write("repo/.husky/_/.gitignore", "*\n");
            user.place.git(&["config", "core.hooksPath", hooks]);
        }
        let by_hand = user.init(&["--json"]).json();
        assert_eq!(by_hand["repositories"][0]["change"], "by_hand", "{by_hand}");
        assert_eq!(user.text(&format!("repo/{file}")), own, "everybody would get it");
        let advice = by_hand["repositories"][0]["problem"].as_str().expect("what to do");
        let programs = user.file("bin");
        assert!(!advice.contains(&*programs.to_string_lossy()), "no path of this machine: {advice}");

        let done = user.init_project(&["--json"]).json();
        assert_eq!(done["repositories"][0]["change"], "changed", "{done}");
        let text = user.text(&format!("repo/{file}"));
        assert!(text.contains(own.trim_end()) && text.contains("comity-hook pre-commit"), "{text}");
        assert!(!text.contains(user.place.dir().to_str().expect("a text")), "{text}");
        // What runs before a commit: git starts husky's file, and lefthook the command of its own.
        let line = match is_husky {
            true => format!("sh {file}"),
            false => {
                let run = text.lines().find_map(|line| line.trim().strip_prefix("run: ")).expect("a command");
                run.trim_matches('\'').to_owned()
            }
        };
        let bob = user.place.join(&["bob"]);
        user.place.json_as(&bob, &["lock", "src/a.rs"]);
        user.write("repo/src/a.rs", "changed\n");
        user.place.git(&["add", "src/a.rs"]);
        let before_commit = |has_comity| user.run(user.machine("sh", has_comity).args(["-c", &line]));
        let (with, without) = (before_commit(true), before_commit(false));
        assert!(with.code != 0 && with.err.contains("locked by bob"), "{file}: {with:?}");
        assert_eq!(without.code, 0, "{file}: {without:?}");
        assert_eq!(without.err.contains("own hook"), is_husky, "{without:?}");
        assert_eq!(user.init_project(&["--undo"]).code, 0);
        assert_eq!(user.text(&format!("repo/{file}")), own, "byte for byte");
    }
}
