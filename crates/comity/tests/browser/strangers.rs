//! Another user of the machine tries to get at Firefox: before it starts, while it is served, and once its server is dead.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

use comity_browser::BrowserError;
use serde_json::json;

use crate::support::{PATIENCE, Running, is_root, skip};
use crate::{Asker, firefox, page, place};

/// Rounds of attacks that each part of a test goes on for.
const ROUNDS: usize = 100;

/// A process of another user that attacks whatever it is told of.
struct Stranger {
    child: Child,
    lines: Receiver<String>,
    took: Vec<String>,
}

impl Stranger {
    fn comes() -> Stranger {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "python3", "-c"]);
        // Not one that only its owner can run.
        command.arg(include_str!("stranger.py")).current_dir("/").env("PATH", "/usr/bin:/bin");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("setpriv, python3");
        let (tell, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Stranger { child, lines, took: Vec::new() }
    }

    fn is_told(&mut self, target: &str) {
        writeln!(self.child.stdin.as_mut().expect("a pipe"), "{target}").expect("it listens");
    }

    /// Lets it go on for some rounds.
    fn goes_on(&mut self, rounds: usize) {
        let mut left = rounds;
        while left > 0 {
            let line = self.lines.recv_timeout(PATIENCE).expect("it goes on");
            match line.starts_with("round") {
                true => left -= 1,
                false => self.took.push(line),
            }
        }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Whether a test has to be left out because nobody else can be on stage.
fn lacks_strangers(test: &str) -> bool {
    if crate::support::lacks_firefox(test) {
        return true;
    }
    if !is_root() {
        skip(test, "only root can start a process of another user");
    }
    !is_root()
}

/// What the processes of a Firefox listen on: TCP ports, and Unix sockets by their names.
fn doors(profile: &Path) -> BTreeSet<String> {
    let profile = profile.to_str().expect("a path");
    let numbers = std::fs::read_dir("/proc").expect("proc").flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(profile))
    };
    let ours: Vec<u32> = pids.filter(is_ours).collect();
    let inodes: BTreeSet<String> = ours
        .iter()
        .filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).ok())
        .flat_map(|files| files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok()))
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut doors = BTreeSet::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for fields in text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>()) {
            // A datagram socket that is connected hears nobody else: names are looked up with such ones.
            let listening = if table.starts_with("udp") { "07" } else { "0A" };
            let listens = fields.get(3) == Some(&listening);
            let port =
                fields.get(1).and_then(|local| u16::from_str_radix(local.rsplit(':').next()?, 16).ok());
            if let (true, Some(port @ 1..), Some(inode)) = (listens, port, fields.get(9))
                && inodes.contains(*inode)
            {
                doors.insert(format!("port {port}"));
            }
        }
    }
    let text = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    for fields in text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>()) {
        let listens = fields.get(3) == Some(&"00010000");
        if let (true, Some(inode), Some(name)) = (listens, fields.get(6), fields.get(7))
            && inodes.contains(*inode)
        {
            doors.insert(format!("path {name}"));
        }
    }
    doors
}

/// Ends the watch when it goes, also with a test that fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Tells the stranger of every door as soon as it is there, until it is over.
fn watch(profile: &Path, is_over: &AtomicBool, mut tell: impl FnMut(&str)) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    while !is_over.load(Ordering::Relaxed) {
        for door in doors(profile) {
            if known.insert(door.clone()) {
                tell(&door);
            }
        }
    }
    known
}

#[test]
fn nobody_else_gets_a_session() {
    if lacks_strangers("nobody_else_gets_a_session") {
        return;
    }
    let place = place(2);
    let ann = Asker::joins(&place, "ann");
    let profile = place.home.join("firefox");
    let mut stranger = Stranger::comes();
    // These are the names of its sockets, whether or not they are told of in time.
    for name in ["comity-driver", "comity-debugger"] {
        stranger.is_told(&format!("path {}", profile.join(name).display()));
    }
    let over = AtomicBool::new(false);
    let (tell, told) = channel();
    let doors = std::thread::scope(|scope| {
        let watching =
            scope.spawn(|| watch(&profile, &over, |door| tell.send(door.to_owned()).expect("heard")));
        let end = End(&over);
        let mut goes_on = |rounds: usize| {
            for _ in 0..rounds {
                told.try_iter().for_each(|door| stranger.is_told(&door));
                stranger.goes_on(1);
            }
        };
        goes_on(ROUNDS);
        let opening = scope.spawn(|| ann.opens(&page("hers", "white")));
        while !opening.is_finished() {
            goes_on(1);
        }
        let tab = opening.join().expect("no panic");
        goes_on(ROUNDS);
        assert_eq!(ann.title(tab), "hers", "its owner uses it meanwhile");
        let before = firefox(&place).expect("a browser");
        place.kill_server();
        goes_on(ROUNDS);
        assert_eq!(ann.title(tab), "hers", "the next server gets it");
        assert_eq!(firefox(&place), Some(before), "it is the same Firefox");
        goes_on(ROUNDS);
        drop(end);
        watching.join().expect("no panic")
    });
    assert_eq!(stranger.took, [""; 0]);
    let ports: Vec<&String> = doors.iter().filter(|door| door.starts_with("port")).collect();
    assert!(ports.is_empty(), "Firefox listens on {ports:?}");
    assert!(doors.iter().any(|door| door.ends_with("comity-driver")), "the watch sees nothing: {doors:?}");
}

/// Without this the test above would say little.
#[test]
fn somebody_else_gets_a_session_where_ports_are_open() {
    let test = "somebody_else_gets_a_session_where_ports_are_open";
    if lacks_strangers(test) {
        return;
    }
    let profile = tempfile::tempdir().expect("a directory");
    std::fs::write(profile.path().join("user.js"), "user_pref(\"marionette.port\", 0);\n").expect("written");
    for arguments in [&["--remote-debugging-port", "0"][..], &["--marionette"]] {
        let mut command = Command::new(comity_browser::find_firefox(None).expect("a Firefox"));
        command.args(["--headless", "--no-remote", "--profile"]).arg(profile.path()).args(arguments);
        command.env("HOME", profile.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let _firefox = Running(command.spawn().expect("Firefox"));
        let mut stranger = Stranger::comes();
        let mut known = BTreeSet::new();
        crate::support::eventually("the stranger reads a file", || {
            for door in doors(profile.path()).into_iter().filter(|door| door.starts_with("port")) {
                if known.insert(door.clone()) {
                    stranger.is_told(&door);
                }
            }
            stranger.goes_on(1);
            stranger.took.iter().any(|took| took.starts_with("GOT") && took.ends_with("True"))
        });
    }
}

#[test]
fn files_are_refused_inside_firefox() {
    if crate::support::lacks_firefox("files_are_refused_inside_firefox") {
        return;
    }
    let place = place(2);
    let ann = Asker::joins(&place, "ann");
    ann.opens(&page("hers", "white"));
    let secret = place.dir().join("secret.html");
    std::fs::write(&secret, "<title>secret</title>").expect("written");
    place.kill_server();
    // Past our own policy, with the bare commands of WebDriver BiDi.
    let options = comity_browser::BrowserOptions::new(place.home.join("firefox"));
    let browser = comity_browser::Browser::attach_or_start(options, |_| {}).expect("a browser");
    let raw = |method: &str, params| browser.raw(method, params, PATIENCE);
    let tree = raw("browsingContext.getTree", json!({})).expect("a tree");
    let tab = tree["contexts"][0]["context"].clone();
    for url in [
        format!("file://{}", secret.display()),
        "file:///etc/passwd".to_owned(),
        format!("view-source:file://{}", secret.display()),
        "file:///".to_owned(),
    ] {
        let went = raw("browsingContext.navigate", json!({ "context": tab, "url": url, "wait": "complete" }));
        assert!(matches!(went, Err(BrowserError::Refused { .. })), "{url}: {went:?}");
        let params = json!({ "expression": "document.title + (document.documentElement?.innerText ?? \"\")",
            "target": { "context": tab }, "awaitPromise": false });
        let read = raw("script.evaluate", params).map(|read| read.to_string()).unwrap_or_default();
        assert!(!read.contains("secret") && !read.contains("root:"), "{url}: {read}");
    }
}
