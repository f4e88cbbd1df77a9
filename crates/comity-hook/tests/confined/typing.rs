//! What is confined puts no keys into its terminal: the shell that reads there next is a person's.

use crate::place::{Place, said};

/// Gets a terminal of its own and puts keys into it by each way; says what the kernel says, and whether anything is there to read.
const TYPES: &str = "import fcntl, os, pty, select, sys, termios
pid, other_end = pty.fork()
if pid == 0:
    for request in (termios.TIOCSTI, termios.TIOCSTI | 1 << 32):
        try: fcntl.ioctl(0, request, b'x'); print('typed')
        except OSError as error: print('refused', error.errno)
        except OverflowError: pass
    termios.tcsetattr(0, termios.TCSANOW, termios.tcgetattr(0)); print('set'); sys.stdout.flush(); os._exit(0)
said = b''
while True:
    try: more = os.read(other_end, 1000)
    except OSError: break
    if not more: break
    said += more
print(said.decode())
";

/// Says whether system calls are filtered, and by how many filters.
const FILTERS: &str = "grep -E '^Seccomp(_filters)?:' /proc/self/status | tr -s '[:space:]' ' '";

/// How many filters there are, if any.
fn filters(said: &str) -> u32 {
    let number = |name: &str| said.split_once(name)?.1.split_whitespace().next()?.parse::<u32>().ok();
    match number("Seccomp:") {
        Some(2) => number("Seccomp_filters:").expect("how many there are"),
        other => {
            assert_eq!(other, Some(0), "{said}");
            0
        }
    }
}

#[test]
fn nobody_types_for_others() {
    for place in Place::of_all_users() {
        let line = format!("exec /usr/bin/python3 -c \"{TYPES}\"");
        for rules in [place.held(&["src/a.rs"]), place.sealed()] {
            let said = said(&place.run(&rules, &line));
            assert!(said.contains("refused 5") && !said.contains("typed"), "{said}");
            assert!(said.contains("set"), "all else of a terminal is as ever: {said}");
            // Where the kernel lets nobody type, this alone shows that it is not by the kernel's leave.
            let confined = crate::place::said(&place.run(&rules, FILTERS));
            let free = std::process::Command::new("sh").args(["-c", FILTERS]).output().expect("sh");
            let free = crate::place::said(&free);
            assert_eq!(filters(&confined), filters(&free) + 1, "{confined} {free}");
        }
        let free =
            std::process::Command::new("/usr/bin/python3").args(["-c", TYPES]).output().expect("python");
        let is_allowed = std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti");
        if is_allowed.is_ok_and(|flag| flag.trim() == "1") {
            assert!(said(&free).contains("typed"), "it is confinement that forbids it: {}", said(&free));
        }
    }
}
