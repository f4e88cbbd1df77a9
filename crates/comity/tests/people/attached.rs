//! Who is attached to a terminal multiplexer, and what that proves.

use crate::support::program::Program;
use crate::support::{BINARY, Place, eventually, has_program, skip};
use crate::terminal::Terminal;

impl Terminal {
    /// Attaches a pane of this one to a session of another, or of its own.
    fn attaches_to(&self, other: &Terminal, session: &str) {
        let line = format!("exec env -u TMUX TERM=screen tmux -S {} attach -t {session}", other.socket);
        self.tmux(&["new-window", "-d", &line]);
        eventually("it is attached", || {
            !other.tmux(&["list-clients", "-t", session, "-F", "#{client_pid}"]).is_empty()
        });
    }
}

#[test]
fn a_multiplexer_that_is_attached_to_itself_proves_nothing() {
    if !has_program("tmux") {
        return skip("a_multiplexer_that_is_attached_to_itself_proves_nothing", "there is no tmux");
    }
    let place = Place::new();
    let _ann = Program::start(&place, "ann");
    let server = place.server();
    let (one, other) = (Terminal::open(&place), Terminal::open(&place));
    one.tmux(&["new-session", "-d", "-s", "again"]);
    one.attaches_to(&one, "again");
    let said = one.types(&place, &format!("{BINARY} whoami"));
    assert!(said.starts_with("nobody"), "in its own pane: {said}");
    for (from, to) in [(&one, &other), (&other, &one)] {
        to.tmux(&["new-session", "-d", "-s", "crossed"]);
        from.attaches_to(to, "crossed");
    }
    for terminal in [&one, &other] {
        let said = terminal.types(&place, &format!("{BINARY} whoami"));
        assert!(said.starts_with("nobody"), "each in the other's pane: {said}");
    }
    assert_eq!(place.server(), server, "the server is the same one");
}

#[test]
fn a_multiplexer_becomes_no_agents_program() {
    if !has_program("tmux") {
        return skip("a_multiplexer_becomes_no_agents_program", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let server = terminal.tmux(&["display-message", "-p", "#{pid}"]);
    let payload =
        r#"{"session_id":"s1","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{}}"#;
    for (line, said) in [
        (format!("{BINARY} agent join eve --pid {}", server.trim()), "your own terminal's"),
        (format!("echo '{payload}' | {BINARY} hook claude"), "no agent program runs this hook"),
    ] {
        let file = place.dir().join("said");
        terminal.tmux(&["run-shell", &format!("({line}) >{} 2>&1; true", file.display())]);
        let ran = std::fs::read_to_string(file).expect("an answer");
        assert!(ran.contains(said), "{line}: {ran}");
    }
    // It asks for an agent of its own, which is not the multiplexer.
    terminal.tmux(&["run-shell", &format!("{BINARY} mcp </dev/null >/dev/null 2>&1; true")]);
    let said = terminal.types(&place, &format!("{BINARY} whoami"));
    assert!(said.starts_with("you, present"), "{said}");
}

#[test]
fn a_window_that_an_agent_opens_in_a_persons_multiplexer_is_asked_about() {
    if !has_program("tmux") {
        return skip(
            "a_window_that_an_agent_opens_in_a_persons_multiplexer_is_asked_about",
            "there is no tmux",
        );
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    terminal.types(&place, &format!("{BINARY} agent limit 9"));
    terminal.types(&place, &format!("{BINARY} status"));
    let asked = |words: &str| {
        let said = terminal.types(&place, &format!("{BINARY} {words}"));
        said.lines().filter(|line| line.contains("was it you?")).map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(asked("locks"), [""; 0]);
    let mut ann = Program::start(&place, "ann");
    asked("agent list");
    let tmux = format!("tmux -S {}", terminal.socket);
    ann.run(&format!("{tmux} new-window -d -n hers sh"));
    ann.run(&format!("{tmux} send-keys -t hers '{BINARY} agent limit 12' Enter"));
    eventually("it was done", || place.log_of("agents_limited").len() == 2);
    let first = asked("whoami");
    assert!(first.len() == 1 && first[0].contains("something was done as you"), "{first:?}");
    assert_eq!(asked("agent list"), [""; 0], "once");
    // Another one later is another place.
    ann.run(&format!("{tmux} new-window -d -n more sh"));
    ann.run(&format!("{tmux} send-keys -t more '{BINARY} agent limit 13' Enter"));
    eventually("it was done", || place.log_of("agents_limited").len() == 3);
    let second = asked("whoami");
    assert!(second.len() == 1 && second[0].contains("2 things were done as you"), "one note: {second:?}");
    let inbox = terminal.types(&place, &format!("{BINARY} inbox"));
    assert!(inbox.contains("places  2 things were done as you from new places"), "{inbox}");
    assert_eq!(inbox.matches("was it you?").count(), 1, "{inbox}");
    let shown = terminal.types(&place, &format!("{BINARY} places"));
    assert_eq!(shown.matches("agents limited").count(), 2, "{shown}");
    assert!(
        shown.contains("opened after the first agent") && shown.contains("aren't asked again"),
        "{shown}"
    );
    let inbox = terminal.types(&place, &format!("{BINARY} inbox"));
    assert!(inbox.contains("nothing is waiting for you"), "settled: {inbox}");
}

#[test]
fn an_agent_program_that_comes_in_is_no_new_place_of_yours() {
    if !has_program("tmux") {
        return skip("an_agent_program_that_comes_in_is_no_new_place_of_yours", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    terminal.types(&place, &format!("{BINARY} agent limit 9"));
    terminal.types(&place, &format!("sh -c '{BINARY} agent join ann; true'"));
    terminal.types(&place, &format!("(({BINARY} lock src/a.rs; true); true)"));
    let said = terminal.types(&place, &format!("{BINARY} inbox"));
    assert!(said.contains("nothing is waiting for you") && !said.contains("was it you?"), "{said}");
}

/// What an agent has written a person may run: that is the person's act then, but no quiet one.
#[test]
fn a_git_hook_that_an_agent_has_written_is_asked_about() {
    if !has_program("tmux") {
        return skip("a_git_hook_that_an_agent_has_written_is_asked_about", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    terminal.types(&place, &format!("{BINARY} agent limit 9"));
    let asked = |words: &str| {
        let said = terminal.types(&place, &format!("{BINARY} {words}"));
        said.lines().filter(|line| line.contains("was it you?")).map(str::to_owned).collect::<Vec<String>>()
    };
    asked("status");
    assert_eq!(asked("locks"), [""; 0]);
    let mut ann = Program::start(&place, "ann");
    asked("agent list");
    let hook = place.repo.join(".git/hooks/post-commit");
    let hook = hook.display();
    ann.run(&format!("mkdir -p {}/.git/hooks", place.repo.display()));
    ann.run(&format!("printf '#!/bin/sh\\n{BINARY} agent limit 12\\n' >{hook} && chmod +x {hook}"));
    terminal.types(&place, "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m mine");
    eventually("it was done", || place.log_of("agents_limited").len() == 2);
    let first = asked("locks");
    assert!(first.len() == 1 && first[0].contains("git"), "{first:?}");
    assert_eq!(asked("agent list"), [""; 0], "once");
}

#[test]
fn an_agent_program_in_a_terminal_that_is_newer_than_agents_joins_in_no_wider_mode() {
    if !has_program("tmux") {
        return skip(
            "an_agent_program_in_a_terminal_that_is_newer_than_agents_joins_in_no_wider_mode",
            "there is no tmux",
        );
    }
    let place = Place::new();
    let _ann = Program::start(&place, "ann");
    let terminal = Terminal::open(&place);
    let claude = place.dir().join("claude");
    std::fs::copy("/bin/sh", &claude).expect("copied");
    let joins = |name: &str| {
        let line = format!("{BINARY} agent join {name} --pid $$; {BINARY} mode");
        terminal.types(&place, &format!("{} -c '{line}; true'", claude.display()))
    };
    let said = joins("new");
    assert!(said.contains("new is in ask mode"), "{said}");
    place.json(&["mode", "ann", "plan"]);
    let said = joins("newer");
    assert!(said.contains("newer is in plan mode"), "{said}");
}
