//! A person is proven, never what is left over: whoever slips away from an agent is nobody.

#[path = "people/attached.rs"]
mod attached;
#[path = "people/connections.rs"]
mod connections;
#[path = "people/holders.rs"]
mod holders;
#[path = "people/presence.rs"]
mod presence;
#[path = "people/proofs.rs"]
mod proofs;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[path = "people/terminal.rs"]
mod terminal;

use std::process::{Command, Stdio};

use support::program::Program;
use support::{BINARY, HUMAN, Place, Ran, eventually, has_program, http, skip};
use terminal::Terminal;

/// What an agent would like to do as the human: widen its mode, add a rule, take another's lock, stop the server.
const WISHES: [&str; 6] = [
    "mode ann full",
    "permissions rule add allow Bash",
    "release src/b.rs",
    "token create mine",
    "agent limit 20",
    "down",
];

/// Ann's program, and bob who has a lock.
fn scene() -> (Place, Program) {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/b.rs"]);
    let ann = Program::start(&place, "ann");
    (place, ann)
}

fn nothing_was_decided(place: &Place) {
    assert_eq!(place.json(&["locks"])["locks"][0]["holder"], "bob");
    assert!(place.log_of("rule_added").is_empty());
    assert!(place.log_of("mode_set").is_empty());
    assert_eq!(place.json(&["token", "list"])["tokens"].as_array().map(Vec::len), Some(1));
    assert!(place.server().is_some(), "it still runs");
}

/// Lets ann run every wish through a way out of its process tree, and checks that it became nobody.
fn escapes(wrap: impl Fn(&str, &str) -> String) {
    let (place, mut ann) = scene();
    for (at, wish) in
        WISHES.iter().chain(&["lock src/c.rs", "mail send bob --message hello", "whoami"]).enumerate()
    {
        // One that is quicker than its parent's end is still ann's: it has another try.
        let mut answers = (0..20).map(|attempt| {
            let said = place.dir().join(format!("said{at}-{attempt}"));
            let line = format!("{BINARY} {wish} >{0}.part 2>&1; mv {0}.part {0}", said.display());
            ann.run(&wrap(&line, &format!("{at}-{attempt}")));
            eventually("it answered", || said.exists());
            std::fs::read_to_string(&said).expect("an answer")
        });
        let refused = answers.find(|said| said.contains("can't tell who you are"));
        let refused = refused.unwrap_or_else(|| panic!("{wish}"));
        if *wish != "whoami" {
            for way in ["a terminal that was open before", "COMITY_TOKEN", "comity token create NAME"] {
                assert!(refused.contains(way), "it is told how to prove itself: {wish}: {refused}");
            }
        }
    }
    // Nobody may look.
    let said = place.dir().join("looked");
    let line = format!("{BINARY} locks >{0}.part 2>&1; mv {0}.part {0}", said.display());
    ann.run(&wrap(&line, "looks"));
    eventually("it answered", || said.exists());
    let looked = std::fs::read_to_string(&said).expect("an answer");
    assert!(looked.contains("src/b.rs") && looked.contains("bob"), "{looked}");
    nothing_was_decided(&place);
}

#[test]
fn a_session_of_its_own_is_nobody() {
    escapes(|line, _| format!("setsid -f sh -c '{line}'"));
}

#[test]
fn a_background_process_that_lost_its_parent_is_nobody() {
    escapes(|line, _| format!("sh -c '( sh -c \"sleep 0.2; {line}\" & )'")); // sleeps: until its parent has ended
}

#[test]
fn an_empty_environment_makes_nobody_a_person() {
    escapes(|line, at| {
        format!(
            "env -i PATH=\"$PATH\" HOME=\"$HOME\" COMITY_HOME=\"$COMITY_HOME\" X={at} setsid -f sh -c '{line}'"
        )
    });
}

#[test]
fn a_terminal_of_its_own_is_nobodys() {
    if !has_program("tmux") {
        return skip("a_terminal_of_its_own_is_nobodys", "there is no tmux");
    }
    let tmux = tempfile::tempdir().expect("a directory");
    let socket = tmux.path().join("t").display().to_string();
    escapes(|line, at| format!("tmux -S {socket}{at} -f /dev/null new-session -d '{line}'"));
}

#[test]
fn too_many_nested_programs_are_nobody() {
    let (place, mut ann) = scene();
    let nest = place.dir().join("nest");
    std::fs::write(
        &nest,
        "if [ \"$1\" = 0 ]; then shift; \"$@\"; else n=$(($1-1)); shift; sh \"$0\" $n \"$@\"; fi; exit $?\n",
    )
    .expect("written");
    // Nor by a token of the person, or of another agent.
    let cat = place.join(&["cat"]);
    for token in ["", HUMAN, &cat.token] {
        let set = if token.is_empty() { String::new() } else { format!("COMITY_TOKEN={token} ") };
        for wish in ["mode ann full", "agent limit 12", "release src/b.rs"] {
            let said = ann.run(&format!("{set}sh {} 70 {BINARY} {wish}", nest.display()));
            assert!(said.contains("more than 64 programs are nested"), "{set}{wish}: {said}");
        }
        nothing_was_decided(&place);
    }
}

#[test]
fn unsetting_the_token_does_not_unset_the_agent() {
    let place = Place::new();
    let cat = place.join(&["cat"]);
    place.json_as(&cat, &["lock", "src/b.rs"]);
    let bob = place.join(&["bob"]);
    // Started with the token, and without it for what it runs.
    let run = |script: &str| {
        let mut shell = place.program("sh");
        shell.args(["-c", script]).env("COMITY_TOKEN", &bob.token);
        Ran::of(shell.output().expect("sh"))
    };
    let ran = run(&format!("unset COMITY_TOKEN; {BINARY} whoami; {BINARY} release src/b.rs; exit $?"));
    assert!(ran.out.starts_with("bob"), "{ran:?}");
    assert_eq!(ran.code, 3, "{ran:?}");
    // Never in its environment: used once for a command, and left out the next time.
    let python = "import os, subprocess, sys\n\
        token = dict(os.environ, COMITY_TOKEN=sys.argv[2])\n\
        subprocess.run([sys.argv[1], 'locks'], env=token, stdout=subprocess.DEVNULL)\n\
        sys.exit(subprocess.run([sys.argv[1], 'release', 'src/b.rs']).returncode)";
    let program = place.program("python3").args(["-c", python, BINARY, &bob.token]).output().expect("python");
    let ran = Ran::of(program);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("may not decide about it"), "it is bob: {ran:?}");
    assert_eq!(place.json(&["locks"])["locks"][0]["holder"], "cat");
}

#[test]
fn a_human_token_below_an_agent_is_the_agents() {
    let (place, mut ann) = scene();
    let said = ann.run(&format!("COMITY_TOKEN={HUMAN} {BINARY} whoami"));
    assert!(said.starts_with("ann"), "{said}");
    let said = ann.run(&format!("COMITY_TOKEN={HUMAN} {BINARY} release src/b.rs"));
    assert!(said.contains("may not decide about it"), "{said}");
    nothing_was_decided(&place);
}

#[test]
fn a_person_at_a_terminal_is_present_and_a_script_needs_a_token() {
    if !has_program("tmux") {
        return skip("a_person_at_a_terminal_is_present_and_a_script_needs_a_token", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let said = terminal.types(&place, &format!("{BINARY} whoami"));
    assert!(said.starts_with("you, present"), "{said}");
    terminal.types(&place, &format!("{BINARY} agent limit 11"));
    let from = &place.log_of("agents_limited")[0]["from"];
    assert_eq!(from["proof"], "terminal", "{from}");
    assert!(from["terminal"].as_str().is_some_and(|name| name.starts_with("pts/")), "{from}");
    let said = terminal.types(&place, &format!("setsid -w {BINARY} agent limit 9"));
    assert!(said.contains("only a person at a terminal may change the limit"), "{said}");
    assert!(said.contains("comity token create NAME"), "{said}");
    let behind = place.dir().join("behind");
    terminal.types(&place, &format!("{BINARY} agent limit 9 >{} 2>&1 & wait; true", behind.display()));
    let answer = || std::fs::read_to_string(&behind).unwrap_or_default();
    eventually("it answered", || answer().contains("comity token create NAME"));
    let said = answer();
    assert!(said.contains("runs in the background"), "{said}");
    let said = terminal.types(&place, &format!("{BINARY} token create deploy"));
    let token = said.lines().next().expect("a token").to_owned();
    let with_token = |arguments: &[&str]| {
        Ran::of(place.comity_as_whoever(arguments).env("COMITY_TOKEN", &token).output().expect("comity"))
    };
    assert_eq!(with_token(&["agent", "limit", "9"]).code, 0);
    let log = place.log_of("agents_limited");
    let from = &log.last().expect("an entry")["from"];
    assert_eq!(from["proof"]["token"], "deploy", "{from}");
    assert!(
        from["process"]["pid"].is_u64() && from["lineage"].as_str().is_some_and(|l| l.ends_with("comity"))
    );
    assert_eq!(with_token(&["token", "revoke", "deploy"]).code, 0);
    assert_eq!(with_token(&["agent", "limit", "8"]).code, 3, "worthless");
    let said = terminal.types(&place, &format!("{BINARY} status"));
    assert!(
        said.contains("was it you?") && said.contains("comity places"),
        "what the script did is shown: {said}"
    );
    assert!(!terminal.types(&place, &format!("{BINARY} agent list")).contains("was it you?"), "once");
}

#[test]
fn a_terminal_that_came_after_an_agent_counts_while_somebody_is_attached_to_it() {
    if !has_program("tmux") || !has_program("script") {
        return skip(
            "a_terminal_that_came_after_an_agent_counts_while_somebody_is_attached_to_it",
            "no tmux or script",
        );
    }
    let place = Place::new();
    let _ann = Program::start(&place, "ann");
    let terminal = Terminal::open(&place);
    let said = terminal.types(&place, &format!("{BINARY} whoami"));
    assert!(said.starts_with("nobody"), "an agent could have started it: {said}");
    // Somebody attaches from a terminal that is older than the agent's program in no way that matters: the test's own.
    let mut attach = place.program("script");
    attach.args(["-qfc", &format!("tmux -S {} attach", terminal.socket), "/dev/null"]);
    attach.env("TERM", "xterm").stdin(Stdio::piped());
    let _attached = place.start(&mut attach);
    eventually("it is attended", || {
        terminal.types(&place, &format!("{BINARY} whoami")).starts_with("you, present")
    });
}

#[test]
fn a_passphrase_makes_terminals_prove_themselves() {
    if !has_program("tmux") {
        return skip("a_passphrase_makes_terminals_prove_themselves", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let removed = place.run(&["passphrase", "--remove"]);
    assert!(removed.code == 0 && removed.out == "no passphrase was set\n", "{removed:?}");
    let input = serde_json::json!({ "passphrase": "correct horse" });
    let set = http::request(&place, Some(HUMAN), "POST", "/api/passphrase", Some(&input));
    assert_eq!(set.status, 200, "{set:?}");
    let log = std::fs::read(place.home.join("log.db")).expect("the log");
    let wal = std::fs::read(place.home.join("log.db-wal")).unwrap_or_default();
    let holds = |bytes: &[u8]| bytes.windows(13).any(|window| window == b"correct horse");
    assert!(!holds(&log) && !holds(&wal), "it is stored nowhere");
    let terminal = Terminal::open(&place);
    let limit = format!("{BINARY} agent limit 9");
    assert!(terminal.types(&place, &limit).contains("the passphrase was not given"));
    let login = format!("{BINARY} login");
    let type_keys = |keys: &[&str]| {
        assert!(
            Command::new("tmux")
                .args(["-S", &terminal.socket, "send-keys"])
                .args(keys)
                .status()
                .expect("tmux")
                .success()
        );
    };
    let screen = || {
        let shown =
            Command::new("tmux").args(["-S", &terminal.socket, "capture-pane", "-p"]).output().expect("tmux");
        String::from_utf8_lossy(&shown.stdout).into_owned()
    };
    for (passphrase, answer) in
        [("wrong horse", "not the passphrase"), ("correct horse", "you are logged in")]
    {
        type_keys(&["-l", "clear"]);
        type_keys(&["Enter"]);
        eventually("an empty screen", || !screen().contains("Passphrase:"));
        type_keys(&["-l", &login]);
        type_keys(&["Enter"]);
        eventually("it asks", || screen().contains("Passphrase:"));
        type_keys(&["-l", passphrase]);
        type_keys(&["Enter"]);
        eventually(answer, || screen().contains(answer));
        assert!(!screen().contains(passphrase), "it is not shown");
    }
    assert!(terminal.types(&place, &limit).contains("of 9 agents"));
    let screen = screen();
    let link = screen.lines().find(|line| line.contains("#login=")).expect("a link");
    let token = http::open_link(&place, link).json()["token"].as_str().expect("a token").to_owned();
    let status = http::request(&place, Some(&token), "GET", "/api/whoami", None);
    assert_eq!(status.json()["present"], true, "{status:?}");
}

#[test]
fn the_first_token_can_still_be_had_after_a_look() {
    let place = Place::without_state();
    let comity = |arguments: &[&str]| Ran::of(place.comity_as_whoever(arguments).output().expect("comity"));
    assert_eq!(comity(&["locks"]).code, 0);
    assert!(place.home.join("log.db").exists(), "the look has started a server");
    let token = comity(&["token", "first"]);
    assert!(token.code == 0 && token.out.starts_with("cmty_human_"), "{token:?}");
    let mut limit = place.comity_as_whoever(&["agent", "limit", "9"]);
    let ran = Ran::of(limit.env("COMITY_TOKEN", token.out.trim()).output().expect("comity"));
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn the_first_token_is_for_a_new_state_directory_only() {
    let place = Place::without_state();
    let comity = |arguments: &[&str]| place.comity_as_whoever(arguments);
    let first = Ran::of(comity(&["token", "first"]).output().expect("comity"));
    let token = first.out.trim().to_owned();
    assert!(token.starts_with("cmty_human_"), "{first:?}");
    assert_eq!(Ran::of(comity(&["token", "first"]).output().expect("comity")).code, 1);
    let mut limit = comity(&["agent", "limit", "9"]);
    assert_eq!(Ran::of(limit.env("COMITY_TOKEN", &token).output().expect("comity")).code, 0);
    let again = Ran::of(comity(&["token", "first"]).output().expect("comity"));
    assert!(again.err.contains("has been used"), "{again:?}");
    // Laid down by hand for a directory in use, it is ignored.
    let forged = comity_app::tokens::hash("cmty_human_forged").to_string();
    place.kill_server();
    std::fs::write(place.home.join("first-token"), forged).expect("written");
    let mut limit = comity(&["agent", "limit", "7"]);
    let ran = Ran::of(limit.env("COMITY_TOKEN", "cmty_human_forged").output().expect("comity"));
    assert_eq!(ran.code, 3, "{ran:?}");
    let secrets = ["http.token"].map(|name| place.home.join(name).exists());
    assert_eq!(secrets, [false], "no secret of the human lies around");
}
