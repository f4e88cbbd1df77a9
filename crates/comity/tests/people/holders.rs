//! Who holds the other end of a terminal can type into it.

use crate::support::{BINARY, HUMAN, Place, Ran};

/// Opens a terminal, starts an agent that is given its other end or not, and types into the terminal.
const EMULATOR: &str = "import os, pty, subprocess, sys, time
comity, given, here = sys.argv[1:]
def wait(name):
    while not os.path.exists(name): time.sleep(0.01)
os.chdir(here)
pid, other_end = pty.fork()
if pid == 0: os.execvp('sh', ['sh'])
def types(name):
    line = f'unset COMITY_TOKEN; {comity} whoami >part 2>&1; mv part {name}\\n'
    os.write(other_end, line.encode())
    wait(name)
    return open(name).read()
before = types('before')
join = f'{comity} agent join ann --pid $$ >joined 2>&1; mv joined agent; exec sleep 1000'
ends = [other_end] if given == 'given' else []
agent = subprocess.Popen(['sh', '-c', join], pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
wait('agent')
print(open('agent').read() if 'you, present' in before else before, types('after'))
agent.kill(); agent.wait(); os.kill(pid, 9); os.waitpid(pid, 0)
";

/// What the terminal's shell is told of itself.
fn said(given: &str) -> String {
    let place = Place::new();
    place.json(&["up"]);
    let mut python = place.program("python3");
    python.args(["-c", EMULATOR, BINARY, given]).arg(place.dir()).env("COMITY_TOKEN", HUMAN);
    let ran = Ran::of(python.output().expect("python"));
    assert!(ran.out.contains("ann is here as"), "{ran:?}");
    ran.out
}

#[test]
fn a_terminal_whose_other_end_an_agent_holds_too_is_no_presence() {
    let own = said("kept");
    assert!(own.contains("you, present"), "{own}");
    let shared = said("given");
    assert!(shared.contains("a person, not present") && shared.contains("may be an agent's"), "{shared}");
}
