//! Whoever is in plan mode changes nothing.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{confined, place};
use crate::support::program::Program;
use crate::support::{Agent, BINARY, Place, Ran, beside};

/// What the hook says to a call.
fn judged(place: &Place, agent: &Agent, tool: &str, input: Value) -> Ran {
    told(place, agent, "PreToolUse", tool, input)
}

fn told(place: &Place, agent: &Agent, event: &str, tool: &str, input: Value) -> Ran {
    let payload = json!({
        "session_id": "s1", "cwd": place.repo, "hook_event_name": event, "tool_name": tool, "tool_input": input,
    });
    // What an earlier plugin says of its shell changes nothing.
    let mut hook = place.comity_as(agent, &["hook", "claude", "--confined"]);
    let mut child =
        hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), payload.to_string().as_bytes())
        .expect("told");
    Ran::of(child.wait_with_output().expect("an end"))
}

fn is_denied(ran: &Ran) -> bool {
    ran.out.contains("\"deny\"") && ran.out.contains("plan mode")
}

#[test]
fn a_hook_denies_writes_in_plan_mode() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let write = json!({ "file_path": place.repo.join("free.rs"), "content": "x" });
    assert!(!is_denied(&judged(&place, &ann, "Write", write.clone())), "not in plan mode");
    place.json(&["mode", "ann", "plan"]);
    let locks = place.log_of("lock_acquired").len();
    for is_seen in [false, true] {
        if is_seen {
            judged(&place, &ann, "Bash", json!({ "command": "pwd" }));
            Ran::of(confined(&place, &ann, "pwd").output().expect("it runs"));
        }
        let ran = judged(&place, &ann, "Write", write.clone());
        assert!(is_denied(&ran), "{ran:?}");
        let ran = judged(&place, &ann, "Bash", json!({ "command": "echo x >free.rs" }));
        assert!(is_denied(&ran), "{ran:?}");
        let ran = judged(&place, &ann, "Bash", json!({ "command": "ls -l" }));
        assert!(!is_denied(&ran), "looking is allowed: {ran:?}");
        let ran = judged(&place, &ann, "mcp__comity__plan_submit", json!({ "content": "x" }));
        assert!(!is_denied(&ran), "so are our own tools: {ran:?}");
        for command in ["comity plan submit p.md --content 'do it'", "comity next", "comity mail read"] {
            let ran = judged(&place, &ann, "Bash", json!({ "command": command }));
            assert!(!is_denied(&ran), "and our own commands: {command}: {ran:?}");
        }
        let ran = judged(&place, &ann, "ExitPlanMode", json!({ "plan": "x" }));
        assert!(!is_denied(&ran), "{ran:?}");
    }
    for command in
        ["comity commit -m x", "comity next >free.rs", "comity lease run x -- rm a", "comity serve"]
    {
        let ran = judged(&place, &ann, "Bash", json!({ "command": command }));
        assert!(is_denied(&ran), "{command}: {ran:?}");
    }
    assert_eq!(place.log_of("lock_acquired").len(), locks, "nothing was locked for it");
}

/// Whether the hook lets a command pass of which nobody knows what it does.
fn may_try(place: &Place, agent: &Agent, besides: Value) -> bool {
    let mut input = json!({ "command": "python3 tool.py" });
    input.as_object_mut().expect("an object").extend(besides.as_object().cloned().unwrap_or_default());
    !is_denied(&judged(place, agent, "Bash", input))
}

/// A command that its hook judges and that runs confined, or not.
fn run(place: &Place, agent: &Agent, line: &str, runs: Option<&str>) {
    assert!(!is_denied(&judged(place, agent, "Bash", json!({ "command": line }))), "{line}");
    if let Some(runs) = runs {
        assert_eq!(Ran::of(confined(place, agent, runs).output().expect("it runs")).code, 0, "{runs}");
    }
    told(place, agent, "PostToolUse", "Bash", json!({ "command": line }));
}

#[test]
fn what_is_not_proven_runs_in_plan_mode_only_where_its_shell_was_seen_to_be_confined() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    run(&place, &ann, "pwd", Some("pwd"));
    place.json(&["mode", "ann", "plan"]);
    let none = || json!({});
    assert!(!may_try(&place, &ann, none()), "a shell that is open may have started before");
    run(&place, &ann, "pwd", None);
    assert!(!may_try(&place, &ann, none()), "its shell starts by itself");
    run(&place, &ann, "pwd", Some("ls"));
    assert!(!may_try(&place, &ann, none()), "another shell, within the command");
    Ran::of(confined(&place, &ann, "pwd").output().expect("it runs"));
    assert!(!may_try(&place, &ann, none()), "no hook was asked about that one");
    run(&place, &ann, "pwd", Some("pwd"));
    assert!(may_try(&place, &ann, none()), "it can't do anything there");
    for another in [json!({ "shell": "zsh" }), json!({ "shell": "bash" }), json!({ "env": { "A": "1" } })] {
        assert!(!may_try(&place, &ann, another.clone()), "another shell: {another}");
    }
    run(&place, &ann, "ls", Some("ls"));
    assert!(may_try(&place, &ann, none()), "it goes on so");
    run(&place, &ann, "ls", None);
    assert!(!may_try(&place, &ann, none()), "this one ran without us, in another sandbox perhaps");
    run(&place, &ann, "pwd", Some("pwd"));
    assert!(may_try(&place, &ann, none()), "it can be shown again");
    let dora = place.join(&["dora"]);
    place.json(&["mode", "dora", "plan"]);
    assert!(!may_try(&place, &dora, none()), "another agent's shell may be another one");
}

#[test]
fn a_command_in_plan_mode_writes_nothing() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.json(&["mode", "ann", "plan"]);
    let run = |line: &str| Ran::of(confined(&place, &ann, line).output().expect("it runs"));
    for line in
        ["echo x >src/b.rs", "touch new", "rm -rf src", "git commit --allow-empty -m x", "touch $HOME/new"]
    {
        let ran = run(line);
        assert_ne!(ran.code, 0, "{line}: {ran:?}");
    }
    let ran = run(
        "cat src/a.rs && git log --oneline | wc -l && f=$(mktemp) && echo x >$f && cat $f && ls /tmp | wc -l",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = run("exec 3<>/dev/tcp/127.0.0.1/1");
    assert!(ran.err.contains("refused"), "{ran:?}");
    // The server is there all the same: a plan can be submitted. It changes nothing for who plans.
    let comity = crate::support::BINARY;
    let ran = run(&format!("'{comity}' status"));
    assert_eq!(ran.code, 0, "{ran:?}");
    for words in ["commit -m x", "worktree add feature"] {
        let ran = run(&format!("'{comity}' {words}"));
        assert!(ran.code == 3 && ran.err.contains("you are in plan mode"), "{words}: {ran:?}");
    }
}

#[test]
fn a_command_in_plan_mode_has_the_network_if_the_settings_say_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    for (settings, is_reached) in [("", false), ("[guard]\nplan_network = true\n", true)] {
        let place = Place::new();
        place.set(settings);
        let ann = place.join(&["ann"]);
        place.json(&["mode", "ann", "plan"]);
        let run = |line: &str| Ran::of(confined(&place, &ann, line).output().expect("it runs"));
        let ran = run(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}"));
        assert_eq!(ran.code == 0, is_reached, "{settings}: {ran:?}");
        assert_ne!(run("echo x >src/b.rs").code, 0, "{settings}: and nothing is written");
    }
}

#[test]
fn who_plans_stands_in_nobodys_way() {
    let (place, bob) = place();
    let (ann, carl) = (place.join(&["ann"]), place.join(&["carl"]));
    place.json_as(&ann, &["lock", "src/c.rs"]);
    place.json(&["mode", "ann", "plan"]);
    for words in
        [&["lock", "**", "--wait", "20s"][..], &["lock", "**", "--shared", "--wait", "20s"], &["lock", "new"]]
    {
        let refused = place.run_as(&ann, &[words, &["--json"]].concat()).refusal();
        assert!(
            refused["message"].as_str().is_some_and(|it| it.contains("you are in plan mode")),
            "{refused}"
        );
    }
    place.json_as(&carl, &["lock", "src/b.rs"]);
    assert_eq!(
        place.json(&["locks", "src/c.rs"])["locks"][0]["holder"],
        "ann",
        "what it held before it holds still"
    );
    drop(bob);
}

#[test]
fn who_leaves_in_plan_mode_writes_nothing_afterwards() {
    let (place, _bob) = place();
    let mut ann = Program::start(&place, "ann");
    place.json(&["mode", "ann", "plan"]);
    let confine = beside("comity-confine").display().to_string();
    for (file, goodbye) in [("before", ""), ("after", " agent bye")] {
        if !goodbye.is_empty() {
            ann.run(&format!("{BINARY}{goodbye}"));
        }
        let said = ann.run(&format!("{confine} -c 'touch {file}' 2>&1"));
        assert!(!place.repo.join(file).exists(), "{file}: {said}");
    }
}

/// By whatever way: nothing is locked for who changes nothing.
#[test]
fn who_plans_takes_no_locks() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.json(&["mode", "ann", "plan"]);
    place.json_as(&ann, &["task", "add", "Parser", "--files", "src/c.rs"]);
    for act in [
        &["lock", "src/c.rs"][..],
        &["task", "start", "t1"],
        &["task", "update", "t1", "--status", "running"],
    ] {
        let no = place.run_as(&ann, &[act, &["--json"]].concat()).refusal();
        assert_eq!(no["code"], "not_allowed", "{act:?}: {no}");
        assert!(no["message"].as_str().is_some_and(|said| said.contains("plan mode")), "{act:?}: {no}");
    }
    let adopt = place.run_as(&ann, &["adopt", "src/c.rs", "--json"]).refusal();
    assert!(adopt["message"].as_str().is_some_and(|said| said.contains("plan mode")), "{adopt}");
    let ours = place.json(&["locks"]);
    assert!(!ours.to_string().contains("\"ann\""), "{ours}");
}
