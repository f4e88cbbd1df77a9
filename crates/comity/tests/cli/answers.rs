//! Answers and errors, word for word.

use expect_test::expect;

use crate::seen::check;
use crate::support::{Place, Ran};

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
            comity refused: src/a.rs is locked by ann ("fixing login") for SPAN more (SPAN so far)
              wait for it: comity lock src/a.rs --wait 60s; or ask ann: comity mail send ann -m TEXT; or work on something else
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["lock", "src/", "--shared"]),
        &expect![[r#"
            comity refused: src/ is not free: src/a.rs is locked by ann ("fixing login") for SPAN more (SPAN so far); src/b.rs is locked by ann ("fixing login") for SPAN more (SPAN so far)
              wait for it: comity lock src/ --wait 60s; or ask ann: comity mail send ann -m TEXT; or work on something else
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run_as(&bob, &["check", "src/b.rs"]),
        &expect![[r#"
            comity refused: src/b.rs is locked by ann ("fixing login") for SPAN more (SPAN so far)
              wait for it: comity lock src/b.rs --wait 60s; or ask ann: comity mail send ann -m TEXT; or work on something else
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
            comity refused: you hold no lock on src/a.rs: src/a.rs is locked by ann ("fixing login") for SPAN more (SPAN so far)
              only its holder can release it; if you lead the holder, or are a person, take it with: comity release src/a.rs --from ann
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["locks"]),
        &expect![[r#"
            in repo:
            PATH  HOLDER  STATE  LEFT  REASON
            src/a.rs  ann  exclusive  SPAN  "fixing login"
            src/b.rs  ann  exclusive  SPAN  "fixing login"
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
            in repo:
            PATH  HOLDER  STATE  LEFT  REASON
            src/b.rs  ann  exclusive  SPAN  "fixing login"
            src/a.rs  you  exclusive  SPAN  "fixing login"
            note: the lock on src/a.rs was handed to you by ann ("yours")
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["release", "src/a.rs", "--from", "bob", "--reason", "urgent"]),
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
        nothing is locked in repo
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
            comity refused: ann is here already (AGENT)
              choose another name, or end that agent with: comity agent bye ann
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["agent", "bye", "zoe"]),
        &expect![[r#"
            comity refused: there is no agent "zoe"
              the agents here: ann
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["agent", "bye"]),
        &expect![[r#"
            comity refused: say which agent
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
            ann ended, 0 locks given up
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["log", "--type", "agent_joined"]),
        &expect![[r#"
                 4  TIME  agent_joined          ann joined as developer
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["log", "--type", "nothing_like_it"]),
        &expect![[r#"
            comity refused: there is no event type "nothing_like_it"
              did you mean nothing_changed, task_looks_like?
            [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["log", "verify"]),
        &expect![[r#"
            log verified: 6 records, chain intact
            hash HASH
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["summary"]),
        &expect![[r#"
            0 agents, 0 locks (0 orphaned), 0 waiting, 6 entries

            WHAT    HOW OFTEN LATELY
            acted   from new place 1
            agent   joined 1, terminated 1
            human   token made 1
            server  started 1
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
            comity: no server is running
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
        comity refused: ../elsewhere is outside of the repository
          give a path inside the repository you are in
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "src/[a"]),
        &expect![[r#"
        comity refused: can't read "[a": '[' is never closed
          write a literal bracket as [[], or close the class with ]
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "src/a.rs", "--ttl", "soon"]),
        &expect![[r#"
            error: invalid value 'soon' for '--ttl <SPAN>': "soon" isn't a length of time; write it like 30s, 5m or 1h30m

            For more information, try '--help'.
            [exit 2]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "src/a.rs", "--ttl", "1000d"]),
        &expect![[r#"
        comity refused: a TTL of 1000d is not possible
          give one from 1s to 24h, such as 5m
        [exit 3]"#]],
    );
    check(
        &place,
        &place.run(&["log", "--limit", "0"]),
        &expect![[r#"
        comity refused: a limit of 0 is not possible
          1 to 10000
        [exit 3]"#]],
    );
    let mut outside = place.comity(&["lock", "a"]);
    let ran = Ran::of(outside.current_dir(place.dir()).output().expect("comity runs"));
    check(
        &place,
        &ran,
        &expect![[r#"
        comity refused: DIR is not in a git repository
          go to a git repository, or make one with: git init
        [exit 3]"#]],
    );
}
