//! What a person sees: help, answers, errors and exit codes.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::process::Stdio;

use comity_app::catalog::CATALOG;
use expect_test::{Expect, expect};
use serde_json::Value;
use support::{Place, Ran};

/// What a person sees, with everything that changes from run to run replaced.
fn seen(place: &Place, ran: &Ran) -> String {
    let text = format!("{}{}[exit {}]", ran.out, ran.err, ran.code);
    let text = text.replace(&place.dir().display().to_string(), "DIR");
    let lines = text.split_inclusive('\n').map(|line| {
        let has_spans = ["is locked", " left", "locked "].iter().any(|word| line.contains(word));
        let words = line.split_inclusive([' ', '\n', '(', ')', ',', ';']).map(|word| {
            let end = word.trim_end_matches([' ', '\n', '(', ')', ',', ';']);
            format!("{}{}", stable(end, has_spans), &word[end.len()..])
        });
        words.collect::<String>().replace("SPAN SPAN", "SPAN")
    });
    lines.collect()
}

/// A word, or what stands for it if it is another one in the next run.
fn stable(word: &str, has_spans: bool) -> &str {
    let is_number = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    let is_span = ["ms", "m", "s"].iter().any(|unit| word.strip_suffix(unit).is_some_and(is_number));
    match word {
        _ if word.starts_with("agent_") && word.len() == 18 => "AGENT",
        _ if word.contains("cmty_") => "TOKEN",
        _ if word.starts_with("http://") => "URL",
        _ if word.len() >= 12 && is_number(word) => "FENCE",
        _ if word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit()) => "HASH",
        _ if word.len() == 24 && word.ends_with('Z') => "TIME",
        _ if has_spans && is_span => "SPAN",
        _ => word,
    }
}

fn check(place: &Place, ran: &Ran, expected: &Expect) {
    expected.assert_eq(&seen(place, ran));
}

#[test]
fn help() {
    let place = Place::new();
    check(
        &place,
        &place.run(&["--help"]),
        &expect![[r#"
        Lets several coding agents share one repository, one machine and one browser

        Usage: comity [OPTIONS] <COMMAND>

        Commands:
          up           Starts the server, if it does not run, and says where it is
          down         Stops the server; nothing is lost
          lock         Locks paths so that nobody else edits them. All or none; asking again renews. A
                       refusal says who holds it and what to do
          unlock       Gives back your own locks: these paths, all below a directory, or everything with all
          locks        Shows which paths are locked, by whom, why and until when, and who waits
          check        Asks whether you may edit a path right now: refused, with who and why, if somebody
                       else has locked it
          extend       Gives locks more time, counted from now: your own, those of agents you lead, or
                       anybody's if you are the human
          handover     Hands locks over to another agent, which is told: your own, those of agents you lead,
                       or anybody's if you are the human
          release      Takes locks away from whoever holds them: for people, and for agents over those they
                       lead. The holder is told
          agent        Who is here: join, list, bye
          log          Shows what happened: the newest entries, or those after a cursor, filtered by agent,
                       type and time
          summary      Sums up: agents, locks and waits now, and how often what happened lately
          alerts       Shows what needs a decision: locks over uncommitted work that their holder has left
          status       Says where the server is, who you are to it, and what there is
          doctor       Looks for what is wrong, and says what to do
          serve        Runs the server in the foreground
          mcp          Speaks MCP on standard input and output, for one agent
          bench        Measures the figures that we promise
          completions  Prints the completions for a shell
          help         Print this message or the help of the given subcommand(s)

        Options:
              --json     Print one JSON document
          -h, --help     Print help
          -V, --version  Print version

        Environment:
          COMITY_HOME   the state directory
          COMITY_TOKEN  which agent calls; without it, you

        Exit codes: 0 done, 1 fault, 2 usage, 3 refused.
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "--help"]),
        &expect![[r#"
        Locks paths so that nobody else edits them. All or none; asking again renews. A refusal says who
        holds it and what to do

        Usage: comity lock [OPTIONS] <PATH>...

        Arguments:
          <PATH>...  Files, directories or globs such as src/**/*.rs

        Options:
              --json           Print one JSON document
              --shared         Others may hold it shared too, and nobody may edit
              --reason <TEXT>  What you are doing, for the others
              --ttl <SPAN>     How long it lasts without a sign of life, such as 5m (the default)
              --wait <SPAN>    Wait in line this long, such as 30s; without it you are refused at once
          -h, --help           Print help
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["agent"]),
        &expect![[r#"
        Who is here: join, list, bye

        Usage: comity agent [OPTIONS]
               comity agent <COMMAND>

        Commands:
          join  Registers an agent and prints its id and its secret token. An agent that calls this becomes
                the new one's parent
          list  Shows which agents are here, what they are for, and how many locks they hold
          bye   Says goodbye: ends yourself, or the agent you name, with all below it. Everything they hold
                is released
          help  Print this message or the help of the given subcommand(s)

        Options:
              --json  Print one JSON document
          -h, --help  Print help
        [exit 2]"#]],
    );
}

#[test]
fn locking() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    check(
        &place,
        &place.run_as(&ann, &["lock", "src/a.rs", "src/b.rs", "--reason", "fixing login"]),
        &expect![[r#"
            locked src/a.rs for SPAN (fence FENCE)
            locked src/b.rs for SPAN (fence FENCE)
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["lock", "src/a.rs"]),
        &expect![[r#"
            comity: src/a.rs is locked by ann ("fixing login") since SPAN, for SPAN more
              wait with --wait, work on something else, or write to ann
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["lock", "src/", "--shared"]),
        &expect![[r#"
            comity: src/ is not free: src/a.rs is locked by ann ("fixing login") since SPAN, for SPAN more; src/b.rs is locked by ann ("fixing login") since SPAN, for SPAN more
              wait with --wait, work on something else, or write to ann
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["check", "src/b.rs"]),
        &expect![[r#"
            comity: src/b.rs is locked by ann ("fixing login") since SPAN, for SPAN more
              wait with --wait, work on something else, or write to ann
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["check", "src/c.rs"]),
        &expect![[r#"
        src/c.rs is free
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["unlock", "src/a.rs"]),
        &expect![[r#"
            comity: you hold no lock on src/a.rs: src/a.rs is locked by ann ("fixing login") since SPAN, for SPAN more
              only its holder, a leader or the human may release it
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["locks"]),
        &expect![[r#"
            src/a.rs  ann  SPAN left  "fixing login"
            src/b.rs  ann  SPAN left  "fixing login"
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run_as(&ann, &["extend", "src/a.rs", "--ttl", "30m"]),
        &expect![[r#"
        extended src/a.rs
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run_as(&ann, &["handover", "src/a.rs", "--to", "bob", "--reason", "yours"]),
        &expect![[r#"
        handed over src/a.rs
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["locks"]),
        &expect![[r#"
            src/b.rs  ann  SPAN left  "fixing login"
            src/a.rs  bob  SPAN left  "fixing login"
            note: the lock on src/a.rs was handed to you by ann ("yours")
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["release", "src/a.rs", "--reason", "urgent"]),
        &expect![[r#"
        released src/a.rs
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["unlock", "--all"]),
        &expect![[r#"
        nothing to be unlocked
        note: your lock on src/a.rs was taken away by the human ("urgent")
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run_as(&ann, &["unlock", "--all"]),
        &expect![[r#"
        unlocked src/b.rs
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["locks"]),
        &expect![[r#"
        nothing is locked
        [exit 0]"#]],
    );
}

#[test]
fn agents_and_the_log() {
    let place = Place::new();
    check(
        &place,
        &place.run(&["agent", "join", "ann", "--role", "developer"]),
        &expect![[r#"
        ann is here as AGENT
        let it call with: export TOKEN
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["agent", "join", "ann"]),
        &expect![[r#"
        comity: ann is here already (AGENT)
          choose another name, or end that agent with: comity agent bye
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["agent", "bye", "zoe"]),
        &expect![[r#"
        comity: there is no agent "zoe"
          here are: ann
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["agent", "bye"]),
        &expect![[r#"
        comity: it is not said which agent
          comity agent bye NAME; see who is here with: comity agent list
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["alerts"]),
        &expect![[r#"
        nothing needs a decision
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["agent", "bye", "ann", "--reason", "done"]),
        &expect![[r#"
        ann ended, 0 locks released
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["log", "--type", "agent_joined"]),
        &expect![[r#"
             2  TIME  agent_joined      ann joined as developer
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["log", "--type", "nothing_like_it"]),
        &expect![[r#"
        nothing of that kind has happened
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["log", "verify"]),
        &expect![[r#"
        3 records are as they were written
        hash HASH
        [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["summary"]),
        &expect![[r#"
        0 agents, 0 locks (0 orphaned), 0 waiting, 3 entries
               1  agent_joined
               1  agent_terminated
               1  server_started
        [exit 0]"#]],
    );
}

#[test]
fn mistakes() {
    let place = Place::new();
    check(
        &place,
        &place.run(&["status"]),
        &expect![[r#"
        comity: no server runs
          start it with: comity up
        [exit 1]"#]],
    );
    check(
        &place,
        &place.run(&["frobnicate"]),
        &expect![[r#"
        error: unrecognized subcommand 'frobnicate'

        Usage: comity [OPTIONS] <COMMAND>

        For more information, try '--help'.
        [exit 2]"#]],
    );
    check(
        &place,
        &place.run(&["lock"]),
        &expect![[r#"
        error: the following required arguments were not provided:
          <PATH>...

        Usage: comity lock <PATH>...

        For more information, try '--help'.
        [exit 2]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "../elsewhere"]),
        &expect![[r#"
        comity: ../elsewhere is outside of the repository
          give a path inside the repository you are in
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "src/[a"]),
        &expect![[r#"
        comity: cannot read "[a": '[' is never closed
          write a literal bracket as [[], or close the class with ]
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "src/a.rs", "--ttl", "soon"]),
        &expect![[r#"
        error: invalid value 'soon' for '--ttl <SPAN>': "soon" is no span of time; write it like 30s, 5m or 1h30m

        For more information, try '--help'.
        [exit 2]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "src/a.rs", "--ttl", "1000d"]),
        &expect![[r#"
        comity: a TTL of 1000d is not possible
          give one from 1s to 24h, such as 5m
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["log", "--limit", "0"]),
        &expect![[r#"
        comity: a limit of 0 is not possible
          1 to 10000
        [exit 3]"#]],
    );
    let mut outside = place.comity(&["lock", "a"]);
    let ran = Ran::of(outside.current_dir(place.dir()).output().expect("comity runs"));
    check(
        &place,
        &ran,
        &expect![[r#"
        comity: DIR is not in a git repository
          go to a git repository, or make one with: git init
        [exit 3]"#]],
    );
}

#[test]
fn json_is_one_document_everywhere() {
    let place = Place::new();
    let is_one = |arguments: &[&str]| {
        let ran = place.run(&[arguments, &["--json"]].concat());
        assert!([0, 1, 3].contains(&ran.code), "{arguments:?}: {ran:?}");
        assert_eq!(ran.out.lines().count(), 1, "{arguments:?}: {ran:?}");
        let document: Value = ran.document();
        assert!(document.is_object(), "{arguments:?}: {ran:?}");
        assert_eq!(ran.code != 0, document["error"].is_object() || document["ok"] == false, "{arguments:?}");
    };
    for arguments in [&["status"][..], &["down"], &["doctor"], &["up"], &["status"], &["doctor"]] {
        is_one(arguments);
    }
    for entry in CATALOG {
        let rest: &[&str] = match entry.name {
            "lock" | "unlock" | "check" | "release" => &["src/a.rs"],
            "extend" => &["src/a.rs", "--ttl", "1m"],
            "handover" => &["src/a.rs", "--to", "human"],
            "agent_join" | "agent_attach" => &["zoe"],
            "log_replay" => &["--at", "1"],
            _ => &[],
        };
        is_one(&[entry.command, rest].concat());
    }
}

#[test]
fn exit_codes_tell_what_happened() {
    let place = Place::new();
    let code = |arguments: &[&str]| place.run(arguments).code;
    assert_eq!(code(&["status"]), 1, "a fault");
    assert_eq!(code(&["lock", "src/a.rs"]), 0, "done");
    assert_eq!(code(&["lock"]), 2, "usage");
    assert_eq!(code(&["no-such-command"]), 2, "usage");
    assert_eq!(code(&["unlock", "src/b.rs"]), 3, "refused");
    assert_eq!(code(&["--version"]), 0);
    assert_eq!(code(&["lock", "--help"]), 0);
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    for _ in 0..50 {
        place.json_as(&ann, &["lock", "src/a.rs"]);
    }
    let commands: [&[&str]; 8] = [
        &["log"],
        &["log", "--json"],
        &["--help"],
        &["completions", "bash"],
        &["status"],
        &["doctor"],
        &["up"],
        &["nonsense"],
    ];
    for arguments in commands {
        let mut command = place.comity(arguments);
        let mut running = support::Running(
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("comity runs"),
        );
        drop(running.0.stdout.take());
        let ran = running.finish();
        assert!(!ran.err.contains("panicked"), "{arguments:?}: {ran:?}");
        assert_ne!(ran.code, 101, "{arguments:?}");
    }
}

#[test]
fn completions_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]);
        assert_eq!(script.code, 0);
        for word in ["lock", "unlock", "handover", "doctor", "verify"] {
            assert!(script.out.contains(word), "{shell} does not complete {word}");
        }
    }
    assert!(!place.home.exists(), "that needs no server");
}

#[test]
fn following_the_log_shows_what_happens() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let mut follow = place.comity(&["log", "--follow", "--json"]);
    let mut follow = support::Running(follow.stdout(Stdio::piped()).spawn().expect("comity runs"));
    let mut lines = std::io::BufReader::new(follow.0.stdout.take().expect("a pipe"));
    let mut until = |action: &str| loop {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut lines, &mut line).expect("text") > 0, "it ended");
        let entry: Value = serde_json::from_str(&line).expect("JSON");
        if entry["action"] == action {
            return entry;
        }
    };
    until("agent_joined");
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let first = until("lock_acquired");
    place.kill_server();
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    let second = until("lock_released");
    assert_eq!(first["details"]["fence"], second["details"]["fence"], "it goes on after the server");
}
