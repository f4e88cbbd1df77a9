//! What is Comity's own is read-only for commands of agents, and what they ask of it works all the same.

use std::fs;

use super::nobody::again_as_nobody;
use super::{confined, place};
use crate::support::{Agent, BINARY, HUMAN, Place, Ran, beside};

fn run(place: &Place, agent: &Agent, line: &str) -> Ran {
    Ran::of(confined(place, agent, line).env("C", BINARY).output().expect("it runs"))
}

#[test]
fn a_command_changes_neither_the_state_nor_the_settings() {
    let place = Place::new();
    // Nobody holds anything here.
    let ann = place.join(&["ann"]);
    let settings = place.dir().join(".config/comity");
    for line in [
        "echo x >>$COMITY_HOME/server.log",
        "echo '[guard]' >$COMITY_HOME/comity.toml",
        "echo '[guard]' >$HOME/.config/comity/comity.toml",
        "mkdir -p $HOME/.config/comity/x",
        "rm -f $COMITY_HOME/comity.sock",
        "rm -f $COMITY_HOME/secret",
        "mv $COMITY_HOME $COMITY_HOME.old",
        "mv $HOME/.config $HOME/.other",
        "mv $HOME/.config/comity $HOME/.config/other",
    ] {
        let ran = run(&place, &ann, line);
        assert_ne!(ran.code, 0, "{line}: {ran:?}");
    }
    assert!(settings.is_dir() && place.home.join("comity.sock").exists());
    assert!(fs::read_dir(settings).expect("there").next().is_none());
    assert_eq!(
        run(&place, &ann, "echo x >$HOME/.config/other && echo y >new").code,
        0,
        "the rest is as it was"
    );
    // A person's are not confined.
    let mut human = place.program(beside("comity-confine"));
    human.args(["-c", "echo '[guard]' >>$COMITY_HOME/comity.toml"]).env("COMITY_TOKEN", HUMAN);
    assert_eq!(Ran::of(human.output().expect("it runs")).code, 0);
}

/// Comity's programs beside each other, as they are installed, and two agent programs that are connected.
fn installed(place: &Place) -> std::path::PathBuf {
    let bin = place.dir().join("bin");
    fs::create_dir(&bin).expect("made");
    for name in ["comity", "comity-hook", "comity-confine"] {
        place.copy_program(&beside(name).display().to_string(), &bin.join(name));
    }
    for (dir, file, text) in [(".claude", "settings.json", "{}\n"), (".codex", "config.toml", "a = 1\n")] {
        fs::create_dir(place.dir().join(dir)).expect("made");
        fs::write(place.dir().join(dir).join(file), text).expect("written");
    }
    let comity = bin.join("comity");
    let mut init = place.program(&comity);
    let ran = Ran::of(
        init.args(["init", "--client", "claude"]).env("COMITY_TOKEN", HUMAN).output().expect("it runs"),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    comity
}

#[test]
fn a_command_changes_neither_the_programs_nor_the_settings_that_ask_them() {
    let place = Place::new();
    let comity = installed(&place);
    let ann = place.join(&["ann"]);
    let run = |line: &str| {
        let mut confined = place.program(comity.with_file_name("comity-confine"));
        confined.args(["-c", line]).env("COMITY_TOKEN", &ann.token);
        Ran::of(confined.output().expect("it runs"))
    };
    fs::write(place.repo.join("other"), "#!/bin/sh\n").expect("written");
    for line in [
        "cp other $HOME/bin/comity-hook",
        "mv other $HOME/bin/comity",
        "rm -f $HOME/bin/comity-confine",
        "mv $HOME/bin $HOME/old",
        "echo '{}' >$HOME/.claude/settings.json",
        "sed -i s/comity/other/ $HOME/.claude/settings.json",
        "mv $HOME/.claude $HOME/.old",
    ] {
        let ran = run(line);
        assert_ne!(ran.code, 0, "{line}: {ran:?}");
    }
    for line in [
        "echo x >$HOME/bin/another",
        "echo x >$HOME/.claude/another",
        "cp $HOME/.claude.json x && cat x >$HOME/.claude.json # its own notes",
        "echo x >>$HOME/.codex/config.toml # not connected",
    ] {
        assert_eq!(run(line).code, 0, "{line}");
    }
    for path in ["bin/comity", "bin/comity-hook", ".claude/settings.json"] {
        let payload = serde_json::json!({
            "session_id": "s1", "cwd": place.repo, "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": { "file_path": place.dir().join(path), "content": "x" },
        });
        let ran = place.run_as(&ann, &["guard", "tool", &payload.to_string(), "--client", "claude"]);
        assert!(ran.out.contains("is Comity's own"), "{path}: {ran:?}");
    }
    let mut undo = place.program(&comity);
    undo.args(["init", "--undo", "--client", "claude"]).env("COMITY_TOKEN", HUMAN);
    assert_eq!(Ran::of(undo.output().expect("it runs")).code, 0);
    assert_eq!(run("echo x >$HOME/.claude/settings.json").code, 0, "it is the agent program's again");
}

/// What the hook of Claude Code says to a call of an agent.
fn asked(place: &Place, agent: &Agent, event: &str, tool: &str, input: serde_json::Value) -> String {
    let payload = serde_json::json!({
        "session_id": "s1", "cwd": place.repo, "hook_event_name": event, "tool_name": tool, "tool_input": input,
        "tool_response": { "stderr": "sh: cannot create .mcp.json: Read-only file system" },
    });
    place.run_as(agent, &["guard", "tool", &payload.to_string(), "--client", "claude"]).out
}

#[test]
fn settings_of_agent_programs_in_a_repository_are_no_agents() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.git(&["worktree", "add", "--quiet", "../other"]);
    let files = [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".codex/config.toml",
        ".cursor/hooks.json",
        ".gemini/.env",
        ".github/hooks/any.json",
        ".mcp.json",
        ".opencode/plugins/any.js",
        "opencode.json",
    ];
    let is_refused = |path: &std::path::Path| {
        let input = serde_json::json!({ "file_path": path, "content": "x" });
        asked(&place, &ann, "PreToolUse", "Write", input).contains("no agent writes to it")
    };
    let trees = [place.repo.clone(), place.repo.with_file_name("other")];
    // Also where nothing is yet.
    for file in trees.iter().flat_map(|tree| files.map(|file| tree.join(file))) {
        assert!(is_refused(&file), "{}", file.display());
        fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        fs::write(&file, "{}").expect("written");
        let line = format!("echo x >'{}'", file.display());
        let ran = run(&place, &ann, &line);
        assert!(ran.code != 0 && ran.err.contains("Read-only file system"), "{line}: {ran:?}");
    }
    for line in [
        "rm -f .claude/settings.json",
        "mv .claude .other",
        "echo x >new && mv new .mcp.json",
        "rm -rf ../other/.opencode",
    ] {
        assert_ne!(run(&place, &ann, line).code, 0, "{line}");
    }
    assert!(trees.iter().all(|tree| files.iter().all(|file| tree.join(file).exists())));
    // All else is as it was, in the same directories, too.
    let line =
        "mkdir .claude/commands && echo x >.claude/commands/new.md && echo x >src/b.rs && git stash -q";
    let ran = run(&place, &ann, line);
    assert_eq!(ran.code, 0, "{ran:?}");
    for free in [".claude/commands/other.md", "src/b.rs", "package.json"] {
        assert!(!is_refused(&place.repo.join(free)), "{free}");
    }
    let bash = serde_json::json!({ "command": "echo x >.mcp.json" });
    let denied = asked(&place, &ann, "PreToolUse", "Bash", bash.clone());
    let allowed_by = "program_settings = true below [guard]";
    assert!(denied.contains(".mcp.json") && denied.contains(allowed_by), "{denied}");
    let hidden = serde_json::json!({ "command": "sh x.sh" });
    let told = asked(&place, &ann, "PostToolUse", "Bash", hidden);
    assert!(told.contains(allowed_by), "who ran into it learns why: {told}");
    // A person writes them, and may let agents.
    let mut human = place.program(beside("comity-confine"));
    human.args(["-c", "echo '{}' >.mcp.json"]).env("COMITY_TOKEN", HUMAN);
    assert_eq!(Ran::of(human.output().expect("it runs")).code, 0);
    place.set("[guard]\nprogram_settings = true\n");
    place.run(&["down"]);
    assert!(!is_refused(&place.repo.join(".mcp.json")));
    let ran = run(&place, &ann, "echo x >.claude/settings.json");
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn neither_a_command_nor_a_tool_reads_what_is_others() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&bob, &["mail", "send", "human", "-m", "xyzzy one"]);
    let (anns, bobs) = (&*ann.id, &*bob.id);
    let others = [
        "contents/1".into(),
        "downloads/human/1".into(),
        format!("downloads/{bobs}/1"),
        "downloads/of-one-that-ended/1".into(),
        "firefox/cookies.sqlite".into(),
        "recovering/log.db".into(),
        "screenshots/1-tab1.jpg".into(),
        "screenshots/human/1".into(),
        format!("screenshots/{bobs}/1"),
        "set-aside/monday/log.db".into(),
        "teams/default/inboxes/bob.json".into(),
        "teams/default/inboxes/bob.archive".into(),
    ];
    let own = [format!("downloads/{anns}/1"), format!("screenshots/{anns}/1")];
    for path in own.iter().chain(&others) {
        let file = place.home.join(path);
        fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        fs::write(file, format!("xyzzy in {path}\n")).expect("written");
    }
    let search = "cd $COMITY_HOME && { grep -ralE xyzzy . | sort; cat secret; }";
    let found = format!("./{}\n./{}\n", own[0], own[1]);
    let whole = Ran::of(place.comity(&["confine", "-c", search]).env("C", BINARY).output().expect("it runs"));
    for path in others.iter().map(String::as_str).chain(["log.db"]) {
        assert!(whole.out.contains(path), "a person sees {path}: {whole:?}");
    }
    for mode in ["build", "plan"] {
        if mode == "plan" {
            place.json(&["mode", "ann", "plan"]);
        }
        let ran = run(&place, &ann, search);
        assert_eq!(ran.out, found, "{mode}: {ran:?}");
        // What another server writes anew while the command runs is as hidden.
        let line = format!(
            "COMITY_TOKEN={HUMAN} $C restart >&2; COMITY_TOKEN={} $C mail send human -m 'xyzzy two' >&2; \
             $C whoami; {search}",
            bob.token
        );
        let mut line = line;
        if mode == "plan" {
            line = search.to_owned();
        }
        let ran = run(&place, &ann, &line);
        assert!(ran.out.ends_with(&found), "{mode}: {ran:?}");
        assert!(!ran.out.contains("log") && !ran.out.contains("mail"), "{mode}: {ran:?}");
    }
    let denied =
        ["log.db", "log.db-wal", "../state/ledger/x", "screenshots/../teams/default/inboxes/bob.json"];
    let denied = others.iter().map(String::as_str).chain(denied).map(|path| (path, true));
    for (path, is_denied) in denied.chain(own.iter().map(|path| (path.as_str(), false))) {
        let payload = serde_json::json!({
            "session_id": "s1", "cwd": place.repo, "hook_event_name": "PreToolUse", "tool_name": "Read",
            "tool_input": { "file_path": place.home.join(path) },
        });
        let ran = place.run_as(&ann, &["guard", "tool", &payload.to_string(), "--client", "claude"]);
        assert_eq!(ran.out.contains("no agent reads it"), is_denied, "{path}: {ran:?}");
    }
}

/// To root nothing is closed: both hold for who is not root, too.
#[test]
fn nor_do_an_ordinary_users_commands() {
    for test in [
        "a_command_changes_neither_the_state_nor_the_settings",
        "neither_a_command_nor_a_tool_reads_what_is_others",
    ] {
        again_as_nobody(&format!("own::{test}"), &[]);
    }
}

#[test]
fn a_command_asks_the_server_as_ever() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let line = "set -e; $C whoami; $C lock src/b.rs; echo x >>src/b.rs; $C locks; $C mail send bob -m hello; \
        $C commit -m 'Change b'; $C status; $C unlock src/b.rs; $C check src/b.rs";
    let ran = run(&place, &ann, line);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("ann"), "{ran:?}");
    assert!(ran.out.contains("committed 1 file"), "{ran:?}");
}

#[test]
fn a_command_leaves_no_letters_in_files_and_is_told_what_to_do_instead() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    for (words, said) in [
        ("spool bob -m hello", ["read-only", "comity mail send bob"]),
        ("spooled ann", ["read-only", "comity mail read"]),
        ("spooled bob", ["these letters are for bob, and you are ann", "comity mail read"]),
    ] {
        let ran = run(&place, &ann, &format!("$C mail {words}"));
        assert_eq!(ran.code, 3, "{words}: {ran:?}");
        assert!(said.iter().all(|said| ran.err.contains(said)), "{words}: {ran:?}");
    }
}

#[test]
fn a_command_starts_no_server() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let stop = format!("COMITY_TOKEN={} $C down", crate::support::HUMAN);
    for words in ["locks", "up", "serve", "whoami"] {
        let ran = run(&place, &ann, &format!("{stop} >&2; $C {words}"));
        assert_ne!(ran.code, 0, "{words}: {ran:?}");
        for said in ["confined", "read-only", "terminal of your own", "comity up"] {
            assert!(ran.err.contains(said), "{words} {said}: {ran:?}");
        }
        assert_eq!(place.server(), None, "{words}");
    }
    // With a state directory of its own, such as a test has, it may do what it likes.
    let ran = run(&place, &ann, "export COMITY_HOME=$HOME/mine; unset COMITY_TOKEN; $C up && $C down");
    assert!(ran.out.contains("Comity is running."), "{ran:?}");
}

#[test]
fn a_command_whose_working_directory_is_gone_is_confined() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    for mode in ["build", "plan"] {
        if mode == "plan" {
            place.json(&["mode", "ann", "plan"]);
        }
        let line = format!(
            "mkdir src/gone && cd src/gone && rmdir ../gone && exec {} -c 'echo x >../a.rs; echo x >{}'",
            beside("comity-confine").display(),
            place.repo.join("src/a.rs").display()
        );
        let mut bash = place.program("bash");
        bash.args(["-c", &line]).env("COMITY_TOKEN", &ann.token);
        let ran = Ran::of(bash.output().expect("it runs"));
        assert!(super::ways::is_untouched(&place.repo), "{mode}: {ran:?}");
        assert!(ran.err.contains("Read-only file system"), "{mode}: {ran:?}");
    }
}

#[test]
fn another_name_of_a_file_in_a_held_directory_is_held() {
    let (place, bob) = place();
    place.json_as(&bob, &["lock", "docs/"]);
    fs::create_dir_all(place.repo.join("docs/deep")).expect("made");
    fs::write(place.repo.join("docs/deep/d.md"), "as it was").expect("written");
    fs::hard_link(place.repo.join("docs/deep/d.md"), place.repo.join("linked")).expect("linked");
    let ann = place.join(&["ann"]);
    let ran = run(&place, &ann, "echo x >linked");
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(fs::read_to_string(place.repo.join("linked")).expect("there"), "as it was");
}

#[test]
fn worktrees_that_are_kept_in_the_state_directory_can_be_worked_in() {
    let place = Place::new();
    place.set(&format!("[worktree]\ndir = \"{}\"\n", place.home.join("trees").display()));
    let ann = place.join(&["ann"]);
    let made = place.json_as(&ann, &["worktree", "add", "mine"]);
    let path = made["path"].as_str().expect("a path").to_owned();
    let ran = run(&place, &ann, &format!("echo x >{path}/new && ! echo x >>$COMITY_HOME/server.log"));
    assert_eq!(ran.code, 0, "{ran:?}");
}
