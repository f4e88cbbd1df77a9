//! What turns an agent into the human or another agent, or lets it out: each is tried from inside a sandbox and fails, and
//! those that do no harm are tried outside, where they work: else a row would prove nothing.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

use super::support::{BINARY, HUMAN, Place, eventually, has_program, skip};
use super::{ready, wait_for_output};

/// Whether an attack works outside of a sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outside {
    Works,
    /// So it does for root.
    RootOnly,
    /// It would do harm there, or it is about what is inside.
    NotTried,
}
use Outside::{NotTried, RootOnly, Works};

/// Each ends with 0 if it worked.
const ATTACKS: &[(&str, Outside, &str)] = &[
    // The state directory, and the person's files.
    ("read the log", Works, "cat $STATE/log.db"),
    ("read the secret", Works, "cat $STATE/secret"),
    ("list the state directory", Works, "ls $STATE/log.db"),
    ("write to the state directory", Works, "touch $STATE/made"),
    ("write the server's settings", Works, "touch $STATE/comity.toml"),
    ("read by way of its own directory", NotTried, "cat /run/comity/../../$STATE/secret"),
    ("write beside its own socket", NotTried, "touch /run/comity/x"),
    ("replace its own socket", NotTried, "rm /run/comity/comity.sock"),
    ("read a key of the person", Works, "cat $PERSON/.ssh/id_rsa"),
    ("list the person's home", Works, "ls $PERSON/.ssh"),
    ("read what root alone reads", RootOnly, "test -s /etc/shadow"),
    ("follow a link to the state directory", Works, "ln -sfn $STATE out1 && cat out1/secret"),
    ("follow a link to the root", Works, "ln -sfn / out2 && cat out2/$PERSON/.ssh/id_rsa"),
    (
        "follow a link in a link",
        Works,
        "mkdir -p d && ln -sfn ../out2 d/in && ln -sfn / out2 && cat d/in/$STATE/secret",
    ),
    ("go up from where it works", Works, "cat ../.ssh/id_rsa"),
    ("go up from /proc", Works, "cat /proc/self/cwd/../state/secret"),
    ("see its root from /proc", Works, "cat /proc/self/root/$STATE/secret"),
    ("write to a program of the system", NotTried, "touch /usr/bin/x"),
    ("write to the system's settings", NotTried, "touch /etc/x"),
    ("write to Comity's program", Works, "test -w $BINARY"),
    ("read a raw disk", RootOnly, "find /dev -type b | grep ."),
    ("make a raw disk", RootOnly, "python3 attack.py mknod"),
    ("read the kernel's messages", RootOnly, "test -r /dev/kmsg"),
    // Other processes.
    ("see a process", Works, "ls /proc/$DECOY"),
    ("read its environment", Works, "grep -q decoy-secret /proc/$DECOY/environ"),
    ("read all environments", Works, "cat /proc/[0-9]*/environ | grep -q decoy-secret"),
    ("go by its root", Works, "ls /proc/$DECOY/root/"),
    ("go by its directory", Works, "ls /proc/$DECOY/cwd/"),
    ("read its memory", Works, "python3 attack.py read_memory $DECOY"),
    ("trace it", Works, "python3 attack.py trace $DECOY"),
    ("hold it by its number", Works, "python3 attack.py pidfd $DECOY"),
    ("signal it", Works, "kill -CONT $DECOY"),
    ("signal its group", Works, "kill -CONT -- -$DECOY"),
    ("join its namespaces", RootOnly, "python3 attack.py namespace $DECOY"),
    ("enter it", RootOnly, "nsenter -t $DECOY -m true"),
    ("take its number", RootOnly, "python3 attack.py number $DECOY"),
    ("trace the first process", NotTried, "python3 attack.py trace 1"),
    ("read the first one's environment", NotTried, "cat /proc/1/environ"),
    ("read the first one's memory", NotTried, "python3 attack.py read_memory 1"),
    ("go by the first one's root", NotTried, "ls /proc/1/root/"),
    ("kill the first one", NotTried, "kill -KILL 1; kill -STOP 1; ! true"),
    ("what was open before", NotTried, "python3 attack.py inherited"),
    // Sockets and networks.
    ("the server's own socket", Works, "python3 attack.py unix $STATE/comity.sock"),
    ("the guardians' socket", Works, "python3 attack.py unix $STATE/runs/runner.sock"),
    ("another agent's socket", Works, "python3 attack.py unix $OTHER_DOOR"),
    ("an agent of ssh, say", Works, "python3 attack.py unix $PERSON/agent.sock"),
    (
        "any socket with a name",
        Works,
        "find / -xdev -type s -not -path '/run/comity/*' -path \"$PERSON*\" 2>/dev/null | grep .",
    ),
    ("an abstract socket", Works, "python3 attack.py abstract $ABSTRACT"),
    ("sockets by variables", Works, "test -n \"$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS\""),
    ("the user's tmux", Works, "tmux -S $PERSON/tmux.sock ls"),
    ("the dashboard", Works, "python3 attack.py tcp 127.0.0.1 $HTTP"),
    ("the dashboard by the proxy", NotTried, "python3 attack.py proxied 127.0.0.1:$HTTP"),
    ("the dashboard by an allowed address", NotTried, "python3 attack.py proxied 127.0.0.7:$HTTP"),
    ("the dashboard by a name", NotTried, "python3 attack.py proxied localhost:$HTTP"),
    ("a service on loopback", Works, "python3 attack.py tcp 127.0.0.1 $PORT"),
    ("the same by the proxy", NotTried, "python3 attack.py proxied 127.0.0.1:$PORT"),
    ("by a name that leads there", NotTried, "python3 attack.py proxied localhost:$PORT"),
    ("by another spelling", NotTried, "python3 attack.py proxied 2130706433:$PORT"),
    ("by a short spelling", NotTried, "python3 attack.py proxied 127.1:$PORT"),
    ("by hexadecimal", NotTried, "python3 attack.py proxied 0x7f.1:$PORT"),
    ("by IPv6", NotTried, "python3 attack.py proxied '[::1]':$PORT"),
    ("by IPv4 in IPv6", NotTried, "python3 attack.py proxied '[::ffff:127.0.0.1]':$PORT"),
    ("by no address", NotTried, "python3 attack.py proxied 0.0.0.0:$PORT"),
    ("by plain HTTP", NotTried, "python3 attack.py forwarded http://127.0.0.1:$PORT/"),
    ("a denied host", NotTried, "python3 attack.py proxied denied.example:443"),
    ("the metadata of a cloud", NotTried, "python3 attack.py proxied 169.254.169.254:80"),
    ("without the proxy", NotTried, "python3 attack.py tcp 1.1.1.1 443"),
    ("datagrams", NotTried, "python3 attack.py udp 1.1.1.1 53"),
    ("raw packets", RootOnly, "python3 attack.py packet"),
    ("raw sockets", RootOnly, "python3 attack.py raw"),
    // The terminal.
    ("type into its terminal", NotTried, "python3 attack.py type"),
    ("write to a person's terminal", Works, "echo x > $TERMINAL"),
    // Rights.
    ("mount", NotTried, "mount -t tmpfs none /mnt || mount -t tmpfs none /tmp"),
    ("unmount", NotTried, "umount -l /run/comity || umount -l .git"),
    ("make what is read-only writable", NotTried, "mount -o remount,bind,rw /usr"),
    (
        "unmount in namespaces of its own",
        NotTried,
        "unshare -Urm sh -c 'umount -l .git || umount -l /proc/sys'",
    ),
    (
        "write in namespaces of its own",
        NotTried,
        "unshare -Urm sh -c 'mount -o remount,bind,rw .git && touch .git/x'",
    ),
    ("another root", RootOnly, "python3 attack.py chroot"),
    ("the kernel's settings", RootOnly, "v=$(cat /proc/sys/kernel/panic); echo $v > /proc/sys/kernel/panic"),
    ("the kernel's key", RootOnly, "test -w /proc/sysrq-trigger"),
    ("control groups", Works, "ls /sys/fs/cgroup/"),
    // What the person's git and clients would believe.
    ("a hook of git", Works, "echo true > .git/hooks/post-checkout"),
    ("a setting of git", Works, "git config core.fsmonitor true"),
    ("another git directory", Works, "echo . > .git/commondir"),
    ("a hook by a link", Works, "ln -sfn .git/hooks h && touch h/post-merge"),
    ("git's directory moved away", NotTried, "mv .git .git2"),
    ("settings of an agent program", Works, "echo '{}' >> .claude/settings.json"),
    (
        "its directory moved away",
        NotTried,
        "mv .claude .claude2 && mkdir .claude && touch .claude/settings.json",
    ),
    // Being somebody else.
    ("the human's token", Works, "COMITY_TOKEN=$HUMAN $BINARY whoami --json"),
    ("another agent's token", Works, "COMITY_TOKEN=$BOB $BINARY whoami --json"),
];

/// Who it is in all these ways: always itself.
const WAYS: &[(&str, &str)] = &[
    ("plainly", "$BINARY whoami --json"),
    ("without its token", "env -u COMITY_TOKEN $BINARY whoami --json"),
    ("with nothing", "env -i COMITY_HOME=/run/comity $BINARY whoami --json"),
    ("in a session of its own", "env -u COMITY_TOKEN setsid -w $BINARY whoami --json"),
    (
        "detached",
        "env -u COMITY_TOKEN setsid -f sh -c \"$BINARY whoami --json > /tmp/d.new; mv /tmp/d.new /tmp/d\"; until test -e /tmp/d; do :; done; cat /tmp/d",
    ),
    (
        "without a parent",
        "(env -u COMITY_TOKEN nohup sh -c \"$BINARY whoami --json > /tmp/n.new; mv /tmp/n.new /tmp/n\" &) >/dev/null 2>&1; until test -e /tmp/n; do :; done; cat /tmp/n",
    ),
    (
        "in a tmux of its own",
        "env -u COMITY_TOKEN tmux -L own new-session -d \"$BINARY whoami --json > /tmp/t.new; mv /tmp/t.new /tmp/t\"; until test -e /tmp/t; do :; done; cat /tmp/t",
    ),
    ("in namespaces of its own", "env -u COMITY_TOKEN unshare -Urm $BINARY whoami --json"),
];

#[test]
fn nothing_leads_out_of_a_sandbox() {
    if !["/usr/bin/python3", "/usr/bin/tmux"].iter().all(|file| std::path::Path::new(file).exists())
        || !has_program("unshare")
    {
        return skip("nothing_leads_out_of_a_sandbox", "python3, tmux and unshare are needed");
    }
    let place = Place::with(&[
        ("SSH_AUTH_SOCK", "/tmp/of-ssh"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/tmp/of-dbus"),
    ]);
    place.set("[permission]\nwait = \"1s\"\n[sandbox]\nallow = [\"*\", \"127.0.0.7\"]\ndeny = [\"denied.example\"]\n");
    let person = place.dir();
    std::fs::create_dir_all(person.join(".ssh")).expect("a directory");
    std::fs::write(person.join(".ssh/id_rsa"), "a key").expect("written");
    std::fs::create_dir_all(place.repo.join(".claude")).expect("a directory");
    std::fs::write(place.repo.join(".claude/settings.json"), "{}").expect("written");
    std::fs::write(place.repo.join("attack.py"), include_str!("attack.py")).expect("written");
    let bob = place.join(&["bob"]);
    // What is there to be reached.
    let _agent = UnixListener::bind(person.join("agent.sock")).expect("a socket");
    let name = format!("comity-test-{}", person.file_name().expect("a name").to_string_lossy());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let _abstract = UnixListener::bind_addr(&address).expect("a socket");
    let service = std::net::TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = service.local_addr().expect("an address").port();
    std::thread::spawn(move || service.incoming().flatten().for_each(drop));
    let mut decoy = place.program("setsid");
    let decoy = place.start(decoy.args(["sleep", "1000"]).env("DECOY", "decoy-secret"));
    let tmux = person.join("tmux.sock").display().to_string();
    let begun =
        place.program("tmux").args(["-S", &tmux, "new-session", "-d", "sleep 1000"]).status().expect("tmux");
    assert!(begun.success());
    let pane =
        place.program("tmux").args(["-S", &tmux, "display", "-p", "#{pane_tty}"]).output().expect("tmux");
    let terminal = String::from_utf8(pane.stdout).expect("text").trim().to_owned();
    let url = place.json(&["status"])["url"].as_str().expect("a door").to_owned();
    let http = url.trim_end_matches('/').rsplit(':').next().expect("a port").to_owned();

    place.json(&["spawn", "developer", "--name", "other", "--sandbox", "--agent", "sleep 1000"]);
    ready(&place, "other");
    let other = place.json(&["runs"])["runs"][0]["run"].as_str().expect("a run").to_owned();
    let variables = BTreeMap::from([
        ("STATE", place.home.display().to_string()),
        ("PERSON", person.display().to_string()),
        ("BINARY", BINARY.to_owned()),
        ("HUMAN", HUMAN.to_owned()),
        ("BOB", bob.token.clone()),
        ("DECOY", decoy.0.id().to_string()),
        (
            "OTHER_DOOR",
            place.home.join("sandboxes").join(other).join("door/comity.sock").display().to_string(),
        ),
        ("ABSTRACT", name),
        ("HTTP", http),
        ("PORT", port.to_string()),
        ("TERMINAL", terminal),
    ]);
    let mut script: String =
        variables.iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect();
    script += "export PATH=/usr/bin:/bin\n";
    for (at, (_, _, attack)) in ATTACKS.iter().enumerate() {
        script += &format!(
            "if ( {attack} ) </dev/null >/tmp/said 2>&1; then echo @{at} worked; else echo @{at} failed; fi\n"
        );
    }
    let mut inside = script.clone();
    for (at, (_, way)) in WAYS.iter().enumerate() {
        inside += &format!("echo \"+{at} $( ( {way} ) </dev/null 2>&1 | tr -d '\\n')\"\n");
    }
    std::fs::write(place.repo.join("inside.sh"), inside + "echo all-tried; sleep 1000\n").expect("written");
    place.json(&["spawn", "developer", "--name", "ann", "--sandbox", "--agent", "sh inside.sh"]);
    let said = wait_for_output(&place, "ann", "all-tried");
    let worked = |said: &str, at: usize| {
        let line =
            said.lines().find_map(|line| line.trim().strip_prefix(&format!("@{at} "))).map(str::to_owned);
        match line.as_deref() {
            Some("worked") => true,
            Some("failed") => false,
            other => panic!("{}: {other:?} in {said}", ATTACKS[at].0),
        }
    };
    let all = || ATTACKS.iter().enumerate();
    let out: Vec<&str> = all().filter(|(at, _)| worked(&said, *at)).map(|(_, (name, ..))| *name).collect();
    assert_eq!(out, Vec::<&str>::new(), "{said}");
    for (at, (name, _)) in WAYS.iter().enumerate() {
        let line = said.lines().find(|line| line.starts_with(&format!("+{at} "))).unwrap_or_default();
        assert!(line.contains("\"ann\"") && !line.contains("human\""), "{name}: {line}");
    }
    // Nothing of it lives on, and the person's files are as they were.
    place.json(&["stop", "ann", "--force"]);
    eventually("it has ended", || place.json(&["runs"])["runs"].as_array().map(Vec::len) == Some(1));

    let mut tried = script;
    for (at, _) in all().filter(|(_, (_, outside, _))| *outside == NotTried) {
        let line = tried.find(&format!("echo @{at} worked")).expect("a line");
        let start = tried[..line].rfind("if ( ").expect("a line");
        let end = tried[line..].find('\n').expect("a line") + line;
        tried.replace_range(start..end, "true");
    }
    std::fs::write(person.join("outside.sh"), tried).expect("written");
    let mut outside: Command = place.program("sh");
    outside.arg(person.join("outside.sh"));
    let outside = outside.output().expect("sh");
    let outside = String::from_utf8_lossy(&outside.stdout).into_owned();
    let is_root = rustix::process::geteuid().is_root();
    let dull: Vec<&str> = all()
        .filter(|(at, (_, how, _))| (*how == Works || *how == RootOnly && is_root) && !worked(&outside, *at))
        .map(|(_, (name, ..))| *name)
        .collect();
    assert_eq!(dull, Vec::<&str>::new(), "these work nowhere, so they prove nothing: {outside}");
    let mut ended = String::new();
    let _ = place
        .program("tmux")
        .args(["-S", &tmux, "kill-server"])
        .output()
        .map(|done| done.stdout.as_slice().read_to_string(&mut ended));
}
