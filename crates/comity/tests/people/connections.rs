//! Who is at the other end of a connection, and whose a process becomes.

use serde_json::{Value, json};

use crate::support::program::Program;
use crate::support::wire::Wire;
use crate::support::{BINARY, HUMAN, Place, Ran, eventually, is_root, skip};
use crate::{nothing_was_decided, scene};

/// Connects, hands the connection to a child and ends: what asks is not what connected. It is let in at some moment, or
/// before it ends ("asked"), or after that ("stopped", which the server is meanwhile).
const CONNECTOR: &str = "import os, signal, socket, sys, time, json\n\
    to, op, given, answered, how, server, token = sys.argv[1:]\n\
    if how == 'stopped': os.kill(int(server), signal.SIGSTOP)\n\
    s = socket.socket(socket.AF_UNIX); s.connect(to); lines = s.makefile()\n\
    def ask(id, op, given, **more):\n\
    \x20   s.sendall((json.dumps({'id': id, 'op': op, 'input': given, **more}) + '\\n').encode())\n\
    \x20   return lines.readline()\n\
    if how == 'asked': ask(1, 'whoami', {})\n\
    parent = os.getpid()\n\
    if os.fork(): os._exit(0)\n\
    while os.path.exists('/proc/%d' % parent): time.sleep(0.001)\n\
    if how == 'stopped': os.kill(int(server), signal.SIGCONT)\n\
    answer = ask(2, op, json.loads(given), **({'token': token} if token else {}))\n\
    open(answered + '.part', 'w').write(answer); os.rename(answered + '.part', answered)\n";

/// The line of shell in which the connector asks something, and the file that it puts the answer into.
fn connector(place: &Place, how: &str, token: &str, op: &str, input: &str) -> (String, std::path::PathBuf) {
    let script = place.dir().join("connector.py");
    std::fs::write(&script, CONNECTOR).expect("written");
    let said = place.dir().join("said");
    let (script, socket, to) = (script.display(), place.socket(), said.display());
    let server = place.server().expect("a server");
    let socket = socket.display();
    (format!("python3 {script} {socket} '{op}' '{input}' {to} {how} {server} '{token}'"), said)
}

/// The answer in a file, once it is there.
fn take_answer(said: &std::path::Path) -> Value {
    eventually("it answered", || said.exists());
    let answer = std::fs::read_to_string(said).expect("an answer");
    std::fs::remove_file(said).expect("removed");
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn a_connection_belongs_to_the_process_that_made_it() {
    let (place, mut ann) = scene();
    let mut ask = |op: &str, input: &str| {
        let (line, said) = connector(&place, "plain", "", op, input);
        ann.run(&line);
        take_answer(&said)
    };
    // Whether the kernel was asked before or after the connector ended, it is the agent or nobody: never the human.
    let whoami = ask("whoami", "{}");
    assert!(["ann", "nobody"].contains(&whoami["ok"]["you"].as_str().unwrap_or_default()), "{whoami}");
    for (op, input) in [
        ("agent_limit", r#"{"max": 20}"#),
        ("mode", r#"{"agent": "ann", "mode": "full"}"#),
        ("release", r#"{"paths": ["src/b.rs"]}"#),
        ("$stop", "{}"),
    ] {
        let answer = ask(op, input);
        let code = answer["error"]["code"].as_str().unwrap_or_default();
        assert!(["unproven", "not_allowed", "not_holder", "ownership"].contains(&code), "{op}: {answer}");
    }
    nothing_was_decided(&place);
}

/// What takes the person, and the program ends or not.
const DECISIONS: [(&str, &str); 2] = [("agent_limit", r#"{"max": 20}"#), ("$stop", "{}")];

/// Lets somebody ask with tokens that it has found, on connections of processes that have ended.
fn finds_tokens(place: &Place, bobs: &str, mut run: impl FnMut(&str)) {
    for how in ["plain", "asked", "stopped"] {
        for token in [HUMAN, bobs] {
            for (op, input) in DECISIONS {
                let (line, said) = connector(place, how, token, op, input);
                run(&line);
                let answer = take_answer(&said);
                let code = answer["error"]["code"].as_str().unwrap_or_default();
                assert!(["unproven", "not_allowed"].contains(&code), "{how}: {token}: {op}: {answer}");
            }
        }
        let (line, said) = connector(place, how, bobs, "whoami", "{}");
        run(&line);
        let whoami = take_answer(&said);
        assert_ne!(whoami["ok"]["you"], "bob", "{how}: {whoami}");
    }
}

#[test]
fn a_token_on_a_connection_of_a_process_that_ended_proves_nothing() {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/b.rs"]);
    let mut ann = Program::start(&place, "ann");
    finds_tokens(&place, &bob.token, |line| drop(ann.run(line)));
    // What she leaves behind, which nobody is above.
    let fifo = place.dir().join("lines").display().to_string();
    ann.run(&format!(
        "mkfifo {fifo}; setsid -f timeout 120 sh -c 'while read line <{fifo}; do eval \"$line\"; done'"
    ));
    ann.run(&format!("{BINARY} agent bye"));
    drop(ann);
    let tell = |line: &str| std::fs::write(&fifo, format!("{line}\n")).expect("written");
    finds_tokens(&place, &bob.token, tell);
    tell("exit");
    nothing_was_decided(&place);
}

/// What an agent leaves behind is nobody with an agent's token as with a person's, and goes on with one that it had before.
#[test]
fn what_an_agent_left_behind_is_nobody_with_an_agents_token() {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/b.rs"]);
    let mut ann = Program::start(&place, "ann");
    let fifo = place.dir().join("lines").display().to_string();
    ann.run(&format!(
        "mkfifo {fifo}; setsid -f timeout 120 sh -c 'while read line <{fifo}; do eval \"$line\"; done'"
    ));
    let tell = |line: &str| {
        let said = place.dir().join("said");
        let text = format!("{{ {line}; }} >{0}.part 2>&1; mv {0}.part {0}\n", said.display());
        std::fs::write(&fifo, text).expect("written");
        eventually("it answered", || said.exists());
        let answer = std::fs::read_to_string(&said).expect("an answer");
        std::fs::remove_file(&said).expect("removed");
        answer
    };
    for _ in 0..2 {
        let said = tell(&format!("COMITY_TOKEN={} {BINARY} whoami", bob.token));
        assert!(said.starts_with("nobody"), "{said}");
        let said = tell(&format!("COMITY_TOKEN={} {BINARY} release src/b.rs", bob.token));
        assert!(said.contains("can't tell who you are"), "{said}");
        let said = tell(&format!("{BINARY} whoami"));
        assert!(said.starts_with("nobody"), "nothing is remembered of it: {said}");
    }
    // Her own child had its token from her, below her.
    let child = ann.run(&format!("{BINARY} agent join cat --json"));
    let child: Value = serde_json::from_str(&child).expect("JSON");
    let token = child["token"].as_str().expect("a token");
    let said = ann.run(&format!("COMITY_TOKEN={token} {BINARY} whoami"));
    assert!(said.starts_with("cat"), "{said}");
    std::fs::write(&fifo, "exit\n").expect("written");
    nothing_was_decided(&place);
}

#[test]
fn a_connection_of_a_person_is_no_persons_once_its_process_has_ended() {
    let place = Place::new();
    place.json(&["up"]);
    let (line, said) = connector(&place, "asked", "", "whoami", "{}");
    // Its program becomes an agent's between its two questions, and is gone by the second.
    let python = "import os, runpy, subprocess, sys\n\
        binary, token, sys.argv = sys.argv[1], sys.argv[2], sys.argv[3:]\n\
        fork = os.fork\n\
        def joins():\n\
        \x20   subprocess.run([binary, 'agent', 'join', 'ann', '--pid', str(os.getpid())],\n\
        \x20       env=dict(os.environ, COMITY_TOKEN=token), check=True)\n\
        \x20   subprocess.run([binary, 'agent', 'bye', 'ann', '--reason', 'x'], env=dict(os.environ, COMITY_TOKEN=token))\n\
        \x20   return fork()\n\
        os.fork = joins\n\
        runpy.run_path(sys.argv[0])\n";
    let program = place.dir().join("program.py");
    std::fs::write(&program, python).expect("written");
    let line = line.replacen("python3 ", &format!("python3 {} {BINARY} {HUMAN} ", program.display()), 1);
    let ran = Ran::of(place.program("sh").args(["-c", &format!("{line}; exit 0")]).output().expect("sh"));
    let whoami = take_answer(&said);
    assert_eq!(whoami["ok"]["you"], "nobody", "{whoami}: {ran:?}");
}

#[test]
fn a_number_that_is_used_again_is_another_process() {
    if !is_root() {
        return skip(
            "a_number_that_is_used_again_is_another_process",
            "only root chooses the next process's number",
        );
    }
    let place = Place::new();
    place.json(&["up"]);
    // The process that connects ends before the server looks, and a process of the human gets its number.
    let script = "import os, signal, socket, sys, json, subprocess\n\
        server = int(sys.argv[3]); os.kill(server, signal.SIGSTOP)\n\
        s = socket.socket(socket.AF_UNIX)\n\
        r, w = os.pipe()\n\
        child = os.fork()\n\
        if child == 0:\n\
        \x20   s.connect(sys.argv[1]); os.write(w, b'c'); os._exit(0)\n\
        os.read(r, 1); os.waitpid(child, 0)\n\
        for _ in range(200):\n\
        \x20   open('/proc/sys/kernel/ns_last_pid', 'w').write(str(child - 1))\n\
        \x20   again = subprocess.Popen(['sleep', '60'])\n\
        \x20   if again.pid == child: break\n\
        \x20   again.kill(); again.wait()\n\
        else: os.kill(server, signal.SIGCONT); print('{\"lost\": true}'); sys.exit(0)\n\
        os.kill(server, signal.SIGCONT)\n\
        s.sendall((json.dumps({'id': 1, 'op': 'lock', 'cwd': sys.argv[2], 'input': {'paths': ['src/a.rs']}}) + '\\n').encode())\n\
        print(s.makefile().readline()); again.kill(); again.wait()\n";
    let server = place.server().expect("a server").to_string();
    let mut python = place.program("python3");
    python.args(["-c", script]).arg(place.socket()).arg(&place.repo).arg(server);
    let ran = Ran::of(python.output().expect("python"));
    let answer: Value =
        serde_json::from_str(ran.out.trim()).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    if answer["lost"] == true {
        return skip("a_number_that_is_used_again_is_another_process", "others took the number each time");
    }
    assert_eq!(answer["error"]["code"], "unproven", "{answer}");
    assert!(answer["error"]["message"].as_str().expect("words").contains("has ended"), "{answer}");
}

#[test]
fn the_number_of_an_agents_process_makes_nobody_that_agent() {
    const TEST: &str = "the_number_of_an_agents_process_makes_nobody_that_agent";
    if !is_root() {
        return skip(TEST, "only root chooses the next process's number");
    }
    let place = Place::new();
    place.json(&["up"]);
    // The agent's process ends while the server sees nothing, and a person's shell gets its number. The kernel counts starts
    // in hundredths of a second: one that began in the same is another try.
    let script = "import os, signal, subprocess, sys\n\
        server, comity, said = int(sys.argv[1]), sys.argv[2], sys.argv[3]\n\
        eve = subprocess.Popen(['sh', '-c', comity + ' agent join eve --pid $$ && exec sleep 1000'], stdout=subprocess.PIPE)\n\
        assert b'is here as' in eve.stdout.readline()\n\
        start = lambda pid: open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[19]\n\
        began = start(eve.pid)\n\
        os.kill(server, signal.SIGSTOP); eve.kill(); eve.wait()\n\
        for _ in range(200):\n\
        \x20   open('/proc/sys/kernel/ns_last_pid', 'w').write(str(eve.pid - 1))\n\
        \x20   again = subprocess.Popen(['sh', '-c', comity + ' whoami >' + said + '-$$; true'])\n\
        \x20   if again.pid == eve.pid and start(again.pid) != began: break\n\
        \x20   again.kill(); again.wait()\n\
        else: os.kill(server, signal.SIGCONT); print('lost'); sys.exit(0)\n\
        os.kill(server, signal.SIGCONT); again.wait()\n\
        print(open(said + '-' + str(again.pid)).read())\n";
    let server = place.server().expect("a server").to_string();
    let mut python = place.program("python3");
    python.args(["-c", script, &server, BINARY]).arg(place.dir().join("said"));
    let ran = Ran::of(python.env("COMITY_TOKEN", HUMAN).output().expect("python"));
    if ran.out.trim() == "lost" {
        return skip(TEST, "others took the number each time");
    }
    assert!(ran.out.starts_with("you"), "{ran:?}");
}

#[test]
fn a_process_is_registered_only_from_inside_it() {
    let (place, mut ann) = scene();
    let stranger = place.start(place.program("sleep").arg("60"));
    let ran = place.run(&["agent", "join", "eve", "--pid", &stranger.pid().to_string()]);
    assert!(ran.err.contains("is not above this command"), "{ran:?}");
    let inside = format!("COMITY_TOKEN={HUMAN} {BINARY} agent join eve --pid $$");
    assert!(ann.run(&inside).contains("ann"), "a process has one agent");
    let said = ann.run(&format!("sh -c '{BINARY} agent join eve --pid $$; exit 0'"));
    assert!(said.contains("is here as"), "one below its own process is its child: {said}");
    let agents = place.json(&["agent", "list", "--all"]);
    let eve = agents["agents"].as_array().expect("agents").iter().find(|agent| agent["name"] == "eve");
    assert_eq!(eve.expect("eve")["parent"], "ann");
}

#[test]
fn knowing_a_session_makes_nobody_its_agent() {
    let (place, mut ann) = scene();
    // Of carl no process is known.
    let carl = place.join(&["carl", "--session", "s-of-carl"]);
    place.json(&["mail", "send", "carl", "-m", "the launch code is xyzzy"]);
    let call = json!({
        "session_id": "s-of-carl", "cwd": place.repo, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": place.repo.join("src/c.rs"), "content": "x" },
    });
    let (payload, said) = (place.dir().join("call.json"), place.dir().join("said"));
    std::fs::write(&payload, call.to_string()).expect("written");
    let line = format!(
        "{BINARY} hook claude <{} >{1}.part 2>&1; mv {1}.part {1}",
        payload.display(),
        said.display()
    );
    ann.run(&format!("setsid -f sh -c '{line}'"));
    eventually("it answered", || said.exists());
    let told = std::fs::read_to_string(&said).expect("an answer");
    assert!(!told.contains("xyzzy"), "{told}");
    std::fs::remove_file(&said).expect("removed");
    ann.run(&line);
    let told = std::fs::read_to_string(&said).expect("an answer");
    assert!(!told.contains("xyzzy"), "ann is ann: {told}");
    // Under the name of an agent program that has not joined.
    let claude = place.dir().join("claude");
    std::fs::copy("/bin/sh", &claude).expect("copied");
    std::fs::remove_file(&said).expect("removed");
    ann.run(&format!("setsid -f {} -c '{line}; exit'", claude.display()));
    eventually("it answered", || said.exists());
    let told = std::fs::read_to_string(&said).expect("an answer");
    assert!(!told.contains("xyzzy"), "{told}");
    let locks = place.json(&["locks"]);
    assert!(!locks.to_string().contains("carl"), "{locks}");
    let own = place.json_as(&carl, &["mail", "read"]);
    assert!(own.to_string().contains("xyzzy"), "it waits for carl: {own}");
    let joined = place.log_of("agent_joined");
    let of_carl = joined.iter().filter(|entry| entry["details"]["profile"]["session"] == "s-of-carl");
    assert_eq!(of_carl.count(), 1, "nor does it go on with what carl leaves one day: {joined:?}");
}

#[test]
fn a_process_above_anothers_is_no_agents() {
    let place = Place::new();
    let script = format!(
        "mkfifo told; sh -c '{BINARY} agent join low --pid $$ >low; echo >told; exec sleep 1000' & read x <told
         {BINARY} agent join high --pid $$; kill $!"
    );
    let mut shell = place.program("sh");
    shell.args(["-c", &script]).current_dir(place.dir()).env("COMITY_TOKEN", HUMAN);
    let ran = Ran::of(shell.output().expect("sh"));
    let low = std::fs::read_to_string(place.dir().join("low")).expect("what join said");
    assert!(low.contains("low is here as"), "{low}");
    assert!(ran.err.contains("low (process") && ran.err.contains("is below process"), "{ran:?}");
}

#[test]
fn whoever_attaches_names_no_process_but_one_above_it() {
    let place = Place::new();
    let stranger = place.start(place.program("sleep").arg("60"));
    let mut wire = Wire::connect(&place);
    let given = json!({ "name": "eve", "pid": stranger.pid() });
    let attached = wire.ask("agent_attach", given).expect("attached");
    assert_eq!(attached["new"], true, "{attached}");
    let _low = Program::start(&place, "low");
    let joined = place.log_of("agent_joined");
    let process_of = |name: &str| {
        let its = |entry: &&Value| entry["details"]["profile"]["name"] == name;
        joined.iter().find(its).expect("it joined")["details"]["profile"]["process"].clone()
    };
    assert!(process_of("low").is_object(), "{joined:?}");
    assert_eq!(process_of("eve"), Value::Null, "that one is not above it");
}
