//! What an agent's process starts, leaves behind or becomes is never the person, whatever parents, tokens and servers it
//! loses or chooses.

#[path = "support/nobody.rs"]
mod nobody;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use nobody::again_as_nobody;
use serde_json::json;
use support::program::Program;
use support::wire::{No, Wire};
use support::{BINARY, HUMAN, Place, Ran, Running, eventually, has_program, is_root, skip};

/// Whether this is an answer to `comity whoami` by which nothing can be decided.
fn is_no_person(said: &str) -> bool {
    !said.is_empty() && !said.contains("you, present") && !said.contains("a person")
}

/// Starts something that waits in an own session, and asks who it is once it may.
fn leave_behind(place: &Place, ann: &mut Program) -> (std::path::PathBuf, std::path::PathBuf) {
    let (go, said) = (place.dir().join("go"), place.dir().join("said"));
    let line = format!(
        "while [ ! -e {} ]; do sleep 0.05; done; script -qc \"{BINARY} whoami\" /dev/null >{1}.part; mv {1}.part {1}",
        go.display(),
        said.display()
    );
    ann.run(&format!(
        "env -i PATH=\"$PATH\" HOME=\"$HOME\" COMITY_HOME=\"$COMITY_HOME\" setsid -f sh -c '{line}'"
    ));
    (go, said)
}

#[test]
fn the_program_of_an_agent_that_said_goodbye_is_no_person() {
    let place = Place::new();
    let mut ann = Program::start(&place, "ann");
    assert!(ann.run(&format!("{BINARY} agent bye")).contains("ended"));
    let said = ann.run(&format!("{BINARY} whoami; {BINARY} agent limit 3"));
    assert!(is_no_person(&said), "{said}");
    assert!(place.log_of("agents_limited").is_empty());
    assert!(ann.run(&format!("{BINARY} agent join again")).contains("is here as"), "it may begin again");
}

#[test]
fn what_an_agent_left_behind_is_no_person_after_its_end_and_the_servers() {
    if !has_program("script") {
        return skip("what_an_agent_left_behind_is_no_person_after_its_end_and_the_servers", "no script");
    }
    let place = Place::new();
    let mut ann = Program::start(&place, "ann");
    let (go, said) = leave_behind(&place, &mut ann);
    ann.run(&format!("{BINARY} agent bye"));
    drop(ann);
    place.kill_server();
    place.json(&["up"]);
    std::fs::write(go, "").expect("written");
    eventually("it answered", || said.exists());
    let said = std::fs::read_to_string(said).expect("an answer");
    assert!(is_no_person(&said), "{said}");
}

#[test]
fn what_somebody_with_a_token_alone_left_behind_is_no_person() {
    if !has_program("script") {
        return skip("what_somebody_with_a_token_alone_left_behind_is_no_person", "no script");
    }
    let place = Place::new();
    let bob = place.join(&["bob"]);
    // It never shows its token to the server, and loses it.
    let said = place.dir().join("said");
    let line = format!("script -qc \"{BINARY} whoami\" /dev/null >{0}.part; mv {0}.part {0}", said.display());
    let mut shell = place.program("sh");
    let left = format!("env -u COMITY_TOKEN setsid -f sh -c '{line}'; exit 0");
    shell.args(["-c", &left]).env("COMITY_TOKEN", &bob.token);
    assert!(shell.status().expect("a shell").success());
    eventually("it answered", || said.exists());
    let said = std::fs::read_to_string(said).expect("an answer");
    assert!(is_no_person(&said), "{said}");
}

#[test]
fn a_shell_that_does_away_with_its_token_is_no_person() {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    let mut shell = place.program("sh");
    let script =
        format!("{BINARY} locks; exec env -u COMITY_TOKEN sh -c '{BINARY} whoami; {BINARY} agent join x'");
    let ran = Ran::of(shell.args(["-c", &script]).env("COMITY_TOKEN", &bob.token).output().expect("a shell"));
    assert!(is_no_person(&ran.out), "{ran:?}");
    assert!(ran.err.contains("can't tell who you are"), "{ran:?}");
}

/// Makes a process whose parent is this one's parent.
const SIBLING: &str = "import ctypes, os, sys\n\
    CLONE_PARENT, SIGCHLD, CLONE = 0x8000, 17, 56\n\
    if ctypes.CDLL(None).syscall(CLONE, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0:\n\
    \x20   os.execv('/bin/sh', ['sh', '-c', sys.argv[1]])\n";

#[test]
fn a_sibling_that_an_agent_makes_of_itself_is_no_person() {
    if !cfg!(target_arch = "x86_64") || !has_program("python3") {
        return skip(
            "a_sibling_that_an_agent_makes_of_itself_is_no_person",
            "another machine, or no python3",
        );
    }
    let place = Place::new();
    let mut ann = Program::start(&place, "ann");
    let said = place.dir().join("said");
    let line = format!("{BINARY} whoami >{0}.part 2>&1; mv {0}.part {0}", said.display());
    std::fs::write(place.dir().join("sibling.py"), SIBLING).expect("written");
    // The registered process itself has to do it.
    ann.last(&format!("exec python3 {}/sibling.py \"{line}\"", place.dir().display()));
    eventually("it answered", || said.exists());
    let said = std::fs::read_to_string(said).expect("an answer");
    assert!(is_no_person(&said), "{said}");
}

#[test]
fn what_the_server_runs_for_an_agent_is_no_person() {
    let place = Place::new();
    place.json(&["up"]);
    // A server that is older than every agent lost its parent to no agent.
    let started = comity_app::processes::ticks_now();
    eventually("another tick", || comity_app::processes::ticks_now() > started);
    let ann = place.join(&["ann"]);
    let (hook, said) = (place.repo.join(".git/hooks/pre-commit"), place.dir().join("said"));
    std::fs::create_dir_all(hook.parent().expect("a directory")).expect("made");
    let script = format!("#!/bin/sh\nunset COMITY_TOKEN\n{BINARY} whoami >{} 2>&1\n", said.display());
    std::fs::write(&hook, script).expect("written");
    let mut chmod = place.program("chmod");
    assert!(chmod.arg("755").arg(&hook).status().expect("chmod").success());
    place.json_as(&ann, &["lock", "src/a.rs"]);
    std::fs::write(place.repo.join("src/a.rs"), "changed\n").expect("written");
    place.json_as(&ann, &["commit", "-m", "x", "--hooks"]);
    let said = std::fs::read_to_string(said).expect("an answer");
    assert!(is_no_person(&said), "{said}");
}

#[test]
fn an_agent_that_restarts_the_server_does_not_bring_settings() {
    let place = Place::new();
    let mut ann = Program::start(&place, "ann");
    let evil = place.dir().join("evil");
    std::fs::create_dir_all(evil.join("comity")).expect("made");
    let settings = "[roles.developer]\nmode = \"full\"\n[guard]\nconfine = \"off\"\n";
    std::fs::write(evil.join("comity/comity.toml"), settings).expect("written");
    let mode = |place: &Place| place.json(&["mode", "ann"])["mode"].clone();
    let before = mode(&place);
    place.kill_server();
    let evil = evil.display();
    ann.run(&format!("XDG_CONFIG_HOME={evil} HOME={evil} MAX_AGENTS=17 {BINARY} locks"));
    assert_eq!(mode(&place), before);
    let limit = place.json(&["agent", "limit"]);
    assert_ne!(limit["max"], 17, "{limit}");
}

#[test]
fn a_connection_that_is_older_than_the_agent_is_no_person() {
    let place = Place::new();
    place.json(&["up"]);
    let python = "import json, socket, subprocess, sys, os\n\
        def ask(s, op, input):\n\
        \x20   s.sendall((json.dumps({'id': 1, 'op': op, 'input': input}) + '\\n').encode())\n\
        \x20   return json.loads(f.readline())\n\
        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[2]); f = s.makefile()\n\
        first = ask(s, 'whoami', {})\n\
        env = dict(os.environ, COMITY_TOKEN=sys.argv[3])\n\
        subprocess.run([sys.argv[1], 'agent', 'join', 'ann', '--pid', str(os.getpid())], env=env, check=True, stdout=subprocess.DEVNULL)\n\
        print(json.dumps([first, ask(s, 'whoami', {})]))\n";
    let mut program = place.program("python3");
    program.args(["-c", python, BINARY]).arg(place.socket()).arg(HUMAN);
    let ran = Ran::of(program.output().expect("python"));
    let answers: serde_json::Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|no| panic!("{no}: {ran:?}"));
    assert_eq!(answers[0]["ok"]["you"], "human", "{answers}");
    assert_eq!(answers[1]["ok"]["you"], "ann", "{answers}");
}

#[test]
fn an_agent_does_not_use_the_token_of_another() {
    let place = Place::new();
    let mut ann = Program::start(&place, "ann");
    let bob = place.join(&["bob"]);
    let said = ann.run(&format!("COMITY_TOKEN={} {BINARY} lock src/a.rs", bob.token));
    assert!(said.contains("this is bob's token, and you are ann"), "{said}");
    // One whom it leads is another matter: it may start that one's program.
    let joined = ann.run(&format!("{BINARY} agent join child --json"));
    let token = joined.split("\"token\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a token");
    let said = ann.run(&format!("COMITY_TOKEN={token} {BINARY} whoami"));
    assert!(said.starts_with("child"), "{said}");
}

#[test]
fn the_persons_token_is_no_use_to_what_an_agent_left_behind() {
    let place = Place::new();
    let mut ann = Program::start(&place, "ann");
    let said = place.dir().join("said");
    let line = format!("sleep 0.2; {BINARY} agent limit 3 >{0}.part 2>&1; mv {0}.part {0}", said.display()); // sleeps: until its parent has ended
    ann.run(&format!("COMITY_TOKEN={HUMAN} setsid -f sh -c '{line}'"));
    eventually("it answered", || said.exists());
    let said = std::fs::read_to_string(said).expect("an answer");
    assert!(said.contains("was started by an agent"), "{said}");
    assert!(place.log_of("agents_limited").is_empty());
}

/// A client of `comity mcp` that no name gives away; once it is an agent, it runs what it is told.
const CLIENT: &str = r#"
import subprocess, sys
client = subprocess.Popen([sys.argv[1], 'mcp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def ask(message):
    print('{"jsonrpc":"2.0","id":1,' + message + '}', file=client.stdin, flush=True)
    return client.stdout.readline()
ask('"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"mine","version":"1"}}')
print(ask('"method":"tools/call","params":{"name":"whoami","arguments":{}}'), end='', flush=True)
for line in sys.stdin:
    subprocess.run(line, shell=True)
"#;

#[test]
fn whatever_starts_comity_mcp_is_an_agents() {
    let place = Place::new();
    let mut python = place.program("python3");
    python.args(["-c", CLIENT, BINARY]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = Running(python.spawn().expect("python3"));
    let mut said = String::new();
    BufReader::new(python.0.stdout.take().expect("a pipe")).read_line(&mut said).expect("a line");
    assert!(comity_app::processes::is_marked(python.0.id()), "{said}");

    // What it leaves behind may join, and is in no wider mode.
    place.json(&["mode", "mine", "plan"]);
    let said = place.dir().join("said");
    let line = format!(
        "sleep 0.2; {BINARY} agent join new --pid $$ >{0}.part 2>&1; {BINARY} mode >>{0}.part 2>&1; mv {0}.part {0}", // sleeps: until its parent has ended
        said.display()
    );
    let told = format!("setsid -f sh -c '{line}'\n");
    python.0.stdin.as_mut().expect("a pipe").write_all(told.as_bytes()).expect("written");
    eventually("it answered", || said.exists());
    let said = std::fs::read_to_string(said).expect("an answer");
    assert!(said.contains("new is in plan mode"), "{said}");
}

#[test]
fn whatever_runs_hooks_is_an_agents() {
    let place = Place::new();
    let hook = std::path::Path::new(BINARY).with_file_name("comity-hook");
    let payload = json!({ "hook_event_name": "SessionStart", "session_id": "s1", "cwd": place.repo, "source": "startup" });
    let run = "import subprocess, sys\n\
        print(subprocess.run([sys.argv[1], 'claude'], input=sys.argv[2].encode()).returncode, flush=True)\n\
        sys.stdin.read()\n";
    let mut python = place.program("python3");
    python.args(["-c", run]).arg(hook).arg(payload.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = Running(python.spawn().expect("python3"));
    let mut said = BufReader::new(python.0.stdout.take().expect("a pipe")).lines();
    assert!(said.any(|line| line.is_ok_and(|line| line == "0")), "the hook answered");
    assert_eq!(place.json(&["agent", "list"])["agents"].as_array().map(Vec::len), Some(1));
    assert!(comity_app::processes::is_marked(python.0.id()), "what it leaves behind is known by that");
}

#[test]
fn plan_mode_is_not_left_by_coming_again() {
    let place = Place::new();
    let mut ann = Program::start(&place, "ann");
    place.json(&["mode", "ann", "plan"]);
    let again = format!(
        "{BINARY} agent bye; {BINARY} agent join zed --json; sh -c '{BINARY} agent join kid --pid $$; {BINARY} mode'"
    );
    let said = ann.run(&again);
    assert!(said.contains("kid is in plan mode"), "{said}");
    let mode = Ran::of(place.comity(&["mode", "zed"]).output().expect("comity"));
    assert!(mode.out.contains("zed is in plan mode"), "{mode:?}");
}

#[test]
fn an_orphan_with_the_name_of_an_agent_program_does_not_widen_anything() {
    for (goodbye, expected) in [
        (None, "new is in plan mode"),
        (Some((false, "agent bye")), "new is in plan mode"),
        (Some((true, "agent bye ann --reason rogue")), "was ended by somebody else"),
    ] {
        let place = Place::new();
        let mut ann = Program::start(&place, "ann");
        place.json(&["mode", "ann", "plan"]);
        match goodbye {
            None => {}
            Some((true, words)) => drop(place.json(&words.split(' ').collect::<Vec<_>>())),
            Some((false, words)) => drop(ann.run(&format!("{BINARY} {words}"))),
        }
        let (claude, said) = (place.dir().join("claude"), place.dir().join("said"));
        std::fs::copy("/bin/sh", &claude).expect("copied");
        let line = format!(
            "sleep 0.2; {BINARY} agent join new --role lead --pid $$ >{0}.part 2>&1; {BINARY} mode >>{0}.part 2>&1; mv {0}.part {0}", // sleeps: until its parent has ended
            said.display()
        );
        ann.run(&format!("setsid -f {} -c '{line}'", claude.display()));
        eventually("it answered", || said.exists());
        let said = std::fs::read_to_string(said).expect("an answer");
        assert!(said.contains(expected), "{goodbye:?}: {said}");
        let here = place.json(&["agent", "list"]);
        assert!(!here.to_string().contains("\"lead\""), "{goodbye:?}: {here}");
    }
}

#[test]
fn whom_the_human_ended_does_not_come_back_by_itself() {
    let place = Place::new();
    let mut ann = Program::start(&place, "ann");
    place.json(&["agent", "bye", "ann", "--reason", "rogue"]);
    let said = ann.run(&format!("{BINARY} agent join ann; {BINARY} agent join boss --role lead --pid $$"));
    assert_eq!(said.matches("was ended by somebody else").count(), 2, "{said}");
    assert_eq!(place.json(&["agent", "list"])["agents"], json!([]));
}

#[test]
fn no_token_is_made_for_an_agent_program_in_a_new_state_directory() {
    let place = Place::without_state();
    let mut first = place.comity_as_whoever(&["token", "first"]);
    let ran = Ran::of(first.env("CLAUDECODE", "1").output().expect("comity"));
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!place.home.join("first-token").exists());
}

#[test]
fn a_refused_change_of_the_passphrase_changes_nothing() {
    let place = Place::new();
    place.json(&["up"]);
    let mut wire = Wire::connect(&place);
    wire.ask("passphrase_set", json!({ "passphrase": "correct horse" })).expect("set");
    if !has_program("script") {
        return skip("a_refused_change_of_the_passphrase_changes_nothing", "no script");
    }
    let twice = format!("{BINARY} passphrase --remove; {BINARY} passphrase --remove; {BINARY} whoami");
    let mut terminal = place.program("script");
    let ran = Ran::of(terminal.args(["-qec", &twice, "/dev/null"]).output().expect("script"));
    let is_changed =
        ["passphrase removed", "no passphrase was set"].iter().any(|said| ran.out.contains(said));
    assert!(!ran.out.contains("you, present") && !is_changed, "{ran:?}");
    assert!(ran.out.contains("comity login"), "the next step is said: {ran:?}");
    let set = Wire::connect(&place).without_token().ask("passphrase_set", json!({}));
    assert!(matches!(set, Err(No::Refused(_))), "{set:?}");
}

/// Where an ordinary user asks root to run something.
const AS_ROOT: &str = "RUN_AS_ROOT";

#[test]
fn a_program_that_runs_as_the_system_for_an_agent_is_no_person() {
    const SELF: &str = "a_program_that_runs_as_the_system_for_an_agent_is_no_person";
    if !is_root() || !["setpriv", "sg", "script"].into_iter().all(has_program) {
        if std::env::var_os(AS_ROOT).is_none() {
            return skip(SELF, "root, setpriv, sg and script are needed");
        }
    } else {
        let asked = tempfile::tempdir().expect("a directory");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(asked.path(), mode).expect("set");
        let (script, done) = (asked.path().join("script"), asked.path().join("done"));
        // What the system starts and leaves: of root, and an ordinary user's below it.
        let line = format!(
            "while [ ! -e {0} ]; do [ -d {1} ] || exit; sleep 0.05; done; . {0}; : >{2}",
            script.display(),
            asked.path().display(),
            done.display()
        );
        let mut root = std::process::Command::new("setsid");
        assert!(root.args(["-f", "sh", "-c", &line]).status().expect("setsid").success());
        assert!(again_as_nobody(SELF, &[(AS_ROOT, asked.path())]));
        return;
    }
    let asked = std::path::PathBuf::from(std::env::var_os(AS_ROOT).expect("a directory"));
    let place = Place::new();
    let _ann = Program::start(&place, "ann");
    let whoami = |to: &std::path::Path| {
        format!("script -qc \"{BINARY} whoami\" /dev/null >{0}.part; mv {0}.part {0}", to.display())
    };
    // `sg` runs as root for whoever starts it, and this is a program that no agent is known to be above.
    let said = place.dir().join("by-sg");
    let mut sg = place.program("setsid");
    assert!(sg.args(["-f", "sg", "nogroup", "-c", &whoami(&said)]).status().expect("setsid").success());
    eventually("it answered", || said.exists());
    let by_sg = std::fs::read_to_string(said).expect("an answer");
    assert!(is_no_person(&by_sg) && by_sg.contains("lost its parent"), "{by_sg}");
    // One that is root's own is the system's, as sshd is.
    let said = place.dir().join("by-root");
    let who = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let home = format!("COMITY_HOME={} HOME={}", place.home.display(), place.dir().display());
    let line = format!("cd /; env -i PATH=\"$PATH\" {home} {who} sh -c '{}'; true", whoami(&said));
    std::fs::write(asked.join("script.part"), line).expect("written");
    std::fs::rename(asked.join("script.part"), asked.join("script")).expect("renamed");
    eventually("it answered", || said.exists());
    let by_root = std::fs::read_to_string(said).expect("an answer");
    assert!(by_root.contains("you, present"), "{by_root}");
}
