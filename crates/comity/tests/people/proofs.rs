//! How long the proof of a person lasts: not for a later process with its number, nor for a connection that stays open.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::wire::{Follower, Wire};
use crate::support::{HUMAN, Place, Ran, eventually, http, is_root, skip};

const PASSPHRASE: &str = "correct horse";

/// What a program at a terminal of its own asks, on a connection of its own each time.
const ASKS: &str = "import fcntl, json, os, pty, signal, socket, sys, termios\n\
    to, passphrase = sys.argv[1:3]\n\
    def ask(op, **given):\n\
    \x20   s = socket.socket(socket.AF_UNIX); s.connect(to); return ask_on(s, op, **given)\n\
    def ask_on(s, op, **given):\n\
    \x20   s.sendall((json.dumps({'id': 1, 'op': op, 'input': given}) + '\\n').encode())\n\
    \x20   answer = json.loads(s.makefile().readline())\n\
    \x20   return answer.get('ok') or answer['error']\n\
    who = lambda: ask('whoami')\n\
    start = lambda pid: open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[19]\n\
    def at_terminal(act):\n\
    \x20   pid, other = pty.fork()\n\
    \x20   if pid == 0: said = act(); os.write(1, json.dumps(said).encode() + b'\\n'); os._exit(0)\n\
    \x20   began, said = start(pid), b''\n\
    \x20   while not said.endswith(b'\\n'): said += os.read(other, 4096)\n\
    \x20   os.waitpid(pid, 0); os.close(other)\n\
    \x20   return pid, began, json.loads(said)\n";

/// A passphrase is set.
fn place() -> Place {
    let place = Place::new();
    place.json(&["up"]);
    set_passphrase(&place, PASSPHRASE);
    place
}

fn asking(place: &Place, script: &str) -> Command {
    let mut python = place.program("python3");
    python.args(["-c", &format!("{ASKS}{script}")]).arg(place.socket()).arg(PASSPHRASE);
    python
}

fn run(place: &Place, script: &str) -> Value {
    said(&Ran::of(asking(place, script).output().expect("python")))
}

fn set_passphrase(place: &Place, passphrase: &str) {
    let input = json!({ "passphrase": passphrase });
    let set = http::request(place, Some(HUMAN), "POST", "/api/passphrase", Some(&input));
    assert_eq!(set.status, 200, "{set:?}");
}

fn said(ran: &Ran) -> Value {
    serde_json::from_str(ran.out.trim()).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Present at first, and not after that, for the passphrase is missing.
fn check(before: &Value, after: &Value) {
    assert_eq!((&before["you"], &before["present"]), (&json!("human"), &json!(true)), "{before}");
    assert_eq!((&after["you"], &after["present"]), (&json!("human"), &json!(false)), "{after}");
    assert!(after["why"].as_str().is_some_and(|why| why.contains("passphrase was not given")), "{after}");
}

#[test]
fn who_gets_the_number_of_who_gave_the_passphrase_has_not_given_it() {
    const TEST: &str = "who_gets_the_number_of_who_gave_the_passphrase_has_not_given_it";
    if !is_root() {
        return skip(TEST, "only root chooses the next process's number");
    }
    // The number of the terminal is used again, too.
    let place = place();
    let said = run(
        &place,
        "def logs_in():\n\
        \x20   ask('login', passphrase=passphrase); return [who(), os.ttyname(0)]\n\
        pid, began, (before, terminal) = at_terminal(logs_in)\n\
        def looks():\n\
        \x20   is_other = os.getpid() != pid or start(pid) == began or os.ttyname(0) != terminal\n\
        \x20   return None if is_other else [who(), ask('agent_limit', max=20)]\n\
        for _ in range(200):\n\
        \x20   open('/proc/sys/kernel/ns_last_pid', 'w').write(str(pid - 1))\n\
        \x20   after = at_terminal(looks)[2]\n\
        \x20   if after: break\n\
        print(json.dumps([before, after]))\n",
    );
    if said[1].is_null() {
        return skip(TEST, "others took the number each time");
    }
    check(&said[0], &said[1][0]);
    assert_eq!(said[1][1]["code"], "not_present", "{said}");
    assert_ne!(place.json(&["status"])["agents_max"], 20);
}

#[test]
fn a_passphrase_was_given_at_one_terminal_only() {
    // What leads one terminal gives it up for another one.
    let said = run(
        &place(),
        "def moves():\n\
        \x20   ask('login', passphrase=passphrase); before = who()\n\
        \x20   old = os.dup(1)\n\
        \x20   for number in (signal.SIGHUP, signal.SIGCONT): signal.signal(number, signal.SIG_IGN)\n\
        \x20   fcntl.ioctl(old, termios.TIOCNOTTY); nowhere = who()\n\
        \x20   other, own = os.openpty()\n\
        \x20   fcntl.ioctl(own, termios.TIOCSCTTY, 0)\n\
        \x20   return [before, who(), nowhere]\n\
        print(json.dumps(at_terminal(moves)[2]))\n",
    );
    check(&said[0], &said[1]);
    assert_eq!(said[2]["present"], false, "{said}");
}

#[test]
fn who_stays_connected_gives_a_new_passphrase_again() {
    let place = place();
    let (ready, go) = (place.dir().join("ready"), place.dir().join("go"));
    let script = "import time\n\
        ready, go = sys.argv[3:]\n\
        def stays():\n\
        \x20   s = socket.socket(socket.AF_UNIX); s.connect(to)\n\
        \x20   ask_on(s, 'login', passphrase=passphrase); before = ask_on(s, 'whoami')\n\
        \x20   open(ready, 'w').close()\n\
        \x20   while not os.path.exists(go): time.sleep(0.001)\n\
        \x20   return [before, ask_on(s, 'whoami'), ask_on(s, 'agent_limit', max=20)]\n\
        print(json.dumps(at_terminal(stays)[2]))\n";
    let asks = place.start(asking(&place, script).arg(&ready).arg(&go));
    eventually("it was present", || ready.exists());
    set_passphrase(&place, "another horse");
    std::fs::write(go, "").expect("written");
    let said = said(&asks.finish());
    check(&said[0], &said[1]);
    assert_eq!(said[2]["code"], "not_present", "{said}");
}

#[test]
fn who_stays_connected_is_not_present_by_a_token_that_was_revoked() {
    let place = Place::new();
    let deploy = place.json(&["token", "create", "deploy"])["token"].as_str().expect("a token").to_owned();
    let mut wire = Wire::connect(&place).asking_with(&deploy);
    assert_eq!(wire.ask("whoami", json!({})).expect("an answer")["present"], true);
    let mut wire = wire.without_token();
    assert_eq!(wire.ask("whoami", json!({})).expect("an answer")["why"], "by the token deploy");
    place.json(&["token", "revoke", "deploy"]);
    let whoami = wire.ask("whoami", json!({})).expect("an answer");
    assert_ne!(whoami["why"], "by the token deploy", "{whoami}");
    // A token of the same name is another one.
    place.json(&["token", "create", "deploy"]);
    let whoami = wire.ask("whoami", json!({})).expect("an answer");
    assert_ne!(whoami["why"], "by the token deploy", "{whoami}");
}

#[test]
fn who_follows_with_a_token_that_is_revoked_is_let_go() {
    let place = Place::new();
    let deploy = place.json(&["token", "create", "deploy"])["token"].as_str().expect("a token").to_owned();
    let mut follower = Follower::new(Wire::connect(&place).asking_with(&deploy));
    follower.until_action("human_token_made");
    place.json(&["token", "revoke", "deploy"]);
    place.json(&["lock", "src/a.rs"]);
    assert!(follower.is_let_go_before("lock_acquired"));
}
