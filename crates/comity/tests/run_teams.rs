//! Programs that work together: a leader with its workers, agents for ready tasks, and commands in what agents write.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use serde_json::Value;
use support::{BINARY, Place, eventually};

fn run_of(place: &Place, name: &str) -> Option<Value> {
    let runs = place.json(&["runs", "--all"]);
    let runs = runs["runs"].as_array().expect("runs").clone();
    runs.into_iter().rfind(|run| run["name"] == name)
}

fn wait_for_state(place: &Place, name: &str, state: &str) {
    eventually(&format!("{name} is {state}"), || {
        run_of(place, name).is_some_and(|run| run["state"] == state)
    });
}

fn wait_for_output(place: &Place, name: &str, words: &str) -> String {
    let mut text = String::new();
    eventually(&format!("{name} says {words}"), || {
        text = place.run(&["logs", name]).out;
        text.contains(words)
    });
    text
}

fn process_of(place: &Place, name: &str) -> u32 {
    let pid = run_of(place, name).and_then(|run| run["pid"].as_u64()).expect("a process");
    u32::try_from(pid).expect("a number")
}

#[test]
fn a_leader_gets_the_goal_and_its_workers_are_below_it_in_worktrees_of_their_own() {
    let place = Place::new();
    let script = format!("echo \"$COMITY_PROMPT\"; pwd; {BINARY} whoami; echo ready; sleep 1000");
    let started =
        place.json(&["run", "Make the login faster", "--agent", &script, "--workers", "2", "--worktree"]);
    assert_eq!(started["leader"]["name"], "lead", "{started}");
    let told = wait_for_output(&place, "lead", "ready");
    for words in ["Make the login faster", "You lead a team", "developer, developer-2"] {
        assert!(told.contains(words), "{words:?} is not in {told}");
    }
    for name in ["developer", "developer-2"] {
        let told = wait_for_output(&place, name, "ready");
        assert!(
            told.contains("You work for lead") && told.contains(&format!("repo.comity/worktrees/{name}")),
            "{told}"
        );
    }
    let agents = place.json(&["agents"])["agents"].clone();
    let parents: Vec<&Value> =
        agents.as_array().expect("agents").iter().map(|agent| &agent["parent"]).collect();
    assert_eq!(parents.iter().filter(|parent| parent.is_string()).count(), 2, "{agents}");

    // A leader that is killed comes back, and its workers with it, in the same worktrees.
    let before = place.json(&["worktree", "list"])["worktrees"].clone();
    support::kill(process_of(&place, "lead"), rustix::process::Signal::KILL);
    for name in ["lead", "developer", "developer-2"] {
        let starts = || place.log_of("run_started").len() >= 6;
        eventually("all three were started again", starts);
        wait_for_state(&place, name, "running");
    }
    wait_for_output(&place, "developer", "repo.comity/worktrees/developer");
    let after = place.json(&["worktree", "list"])["worktrees"].clone();
    let paths = |trees: &Value| -> Vec<Value> {
        trees.as_array().expect("worktrees").iter().map(|tree| tree["path"].clone()).collect()
    };
    assert_eq!(paths(&before), paths(&after));
    assert_eq!(place.log_of("worktree_passed_on").len(), 2);

    // They end with it.
    place.run(&["stop", "lead", "--force"]);
    for name in ["lead", "developer", "developer-2"] {
        wait_for_state(&place, name, "stopped");
    }
    assert_eq!(place.json(&["agents"])["agents"].as_array().map(Vec::len), Some(0));
}

#[test]
fn what_crashed_too_often_waits_in_your_inbox() {
    let place = Place::new();
    place.json(&["spawn", "developer", "--name", "ann", "--agent", "/no/such/program"]);
    eventually("it is in the inbox", || place.run(&["inbox"]).out.contains("ann: not started"));
    let entry = place.json(&["inbox"])["entries"][0].clone();
    assert_eq!((&entry["type"], &entry["entry"]), (&"gave_up".into(), &"run1".into()), "{entry}");
    let restarted = place.run(&["inbox", "run1", "restart"]);
    assert_eq!(restarted.code, 0, "{restarted:?}");
    eventually("it is there again", || place.run(&["inbox"]).out.contains("ann: not started"));
    assert_eq!(place.run(&["inbox", "run1", "dismiss"]).code, 0);
    assert!(!place.run(&["inbox"]).out.contains("ann"));
}

#[test]
fn ready_tasks_get_agents_and_idle_ones_end() {
    let place = Place::new();
    let work = format!("{BINARY} task start $TASK && {BINARY} task done $TASK --evidence done && sleep 1000");
    // What its task is stands in what it is told.
    let script = format!(
        "TASK=$(echo \"$COMITY_PROMPT\" | sed -n 's/.*Your task is \\([a-z0-9-]*\\):.*/\\1/p'); {work}"
    );
    place.set(&format!("[spawn]\nidle = \"1s\"\nauto = {}\n", toml::Value::from(script)));
    for id in ["one", "two"] {
        place.json(&["task", "add", &format!("Do {id}"), "--id", id]);
    }
    for id in ["one", "two"] {
        eventually(&format!("{id} is done"), || place.json(&["task", "get", id])["status"] == "done");
    }
    let started = place.log_of("sub_agent_spawned");
    assert_eq!(started.len(), 2, "{started:?}");
    assert!(started[0]["summary"].as_str().is_some_and(|text| text.contains("which nobody is free for")));
    eventually("both have ended", || {
        let runs = place.json(&["runs", "--all"])["runs"].clone();
        runs.as_array().expect("runs").iter().all(|run| run["state"] == "stopped")
    });
}

#[test]
fn commands_in_what_an_agent_writes_are_obeyed_and_answered() {
    let place = Place::new();
    let lock = "⟦⟦ LOCK_FILE {\"filePath\": \"src/a.rs\", \"reason\": \"mine\"} ⟧⟧";
    let script = format!(
        "echo 'I will write {lock} soon'; echo '```'; echo '{}'; echo '```'; echo '> {}'; echo '{lock}'; \
         read answer; echo \"got $answer\"; echo '⟦⟦ DANCE ⟧⟧'; read answer; echo \"got $answer\"; sleep 1000",
        lock.replace("src/a.rs", "src/b.rs"),
        lock.replace("src/a.rs", "src/c.rs"),
    );
    place.json(&["spawn", "developer", "--name", "ann", "--agent", &script, "--text-commands"]);
    let told = wait_for_output(&place, "ann", "there is no command DANCE");
    assert!(told.contains("got Comity: LOCK_FILE: locked src/a.rs"), "{told}");
    let locks = place.json(&["locks"])["locks"].clone();
    let held: Vec<&Value> = locks.as_array().expect("locks").iter().map(|lock| &lock["path"]).collect();
    assert_eq!(held, ["src/a.rs"], "{locks}");
    assert_eq!(locks[0]["holder"], "ann");
    // What is written without the flag are words.
    place.json(&[
        "spawn",
        "developer",
        "--name",
        "bob",
        "--agent",
        &format!("echo '{lock}'; echo ready; sleep 1000"),
    ]);
    wait_for_output(&place, "bob", "ready");
    assert_eq!(place.log_of("lock_acquired").len(), 1);
}

#[test]
fn nobody_asks_for_more_workers_than_there_can_be() {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    for workers in ["101", "9223372036854775807"] {
        let no =
            place.run_as(&bob, &["run", "go", "--agent", "true", "--workers", workers, "--json"]).refusal();
        assert!(no["message"].as_str().is_some_and(|said| said.contains("100 is the most")), "{no}");
    }
}
