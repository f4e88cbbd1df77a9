//! The help, word for word.

use expect_test::expect;

use crate::seen::check;
use crate::support::Place;

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
              up           Starts the server, or restarts an older one that nobody uses, and says where it is
              down         Stops the server; nothing is lost
              restart      Stops the server and starts it with this program; nothing is lost
              inbox        What waits for you, and how to answer it: list, answer
              lock         Locks paths so that nobody else edits them. All or none; asking again renews. A
                           refusal says who holds it and what to do
              unlock       Gives back your own locks: these paths, all below a directory, or everything with all
              locks        Shows which paths are locked, by whom, why and until when, and who waits
              check        Asks whether you may edit a path now; refused, with who and why, if another has
                           locked it
              extend       Gives locks more time, counted from now: your own, those of agents you lead, or
                           anybody's if you are the human
              handover     Hands locks over to another agent, which is told: your own, those of agents you lead,
                           or anybody's if you are the human
              adopt        Takes over uncommitted work that somebody left: its orphaned locks become yours, and
                           its files stay as they are
              rescue       Puts uncommitted work that somebody left aside: it is kept in git's stash and by a
                           ref, its files are as they were committed, and its orphaned locks are free
              release      Takes locks away from whoever holds them: for people, and for agents over those they
                           lead. The holder is told
              lease        Takes a scarce thing for yourself, such as a port, a GPU or the build, until you free
                           it or its time is up
              leases       Shows the pools: how many there are, who has which lease since when and why, and who
                           waits
              commit       Commits exactly what you have locked and changed, nothing else
              worktree     A copy of the repository of one's own: add, list, merge, remove, restore
              tab          Tabs of the shared browser: open, close, list, navigate, read, state, and more
              task         What there is to do: add, declare, list, graph, get, claim, and more
              next         What to do now, what matters most first: requests, answers, letters, a task. Call it
                           when idle
              mail         Letters between agents and you: send, read, search, boxes, tail, spool, and more
              team         A leader and its workers: create, admit, delete, list, show
              shutdown     Asks an agent to end, and answers that: request, approve, reject
              idle         Tells your leader that you wait for work, and in 5 to 10 words what you did
              decide       Writes a decision down for everybody, with the reasons
              decisions    Shows what was decided, why, and what waits to be confirmed
              decision     Confirms a decision, or turns it down: confirm, reject
              agent        Who is here: join, list, bye, limit
              whoami       Says who you are to Comity and how it knows: an agent, you at a terminal, a script of
                           yours, or nobody
              token        Tokens by which scripts act as you: create, list, revoke, first
              passphrase   Sets the passphrase that has to be given once in every terminal before you can decide
                           anything there, or removes it
              login        Proves that you are present: gives the passphrase for this terminal, if one is set,
                           and prints a link that is logged in
              ask          Asks whether you may make a tool call; your leader answers what no rule does. An
                           answer is for this exact input, once
              permissions  Who asks for what, and the rules: list, allow, deny, rules, rule
              mode         Shows the mode of an agent, or changes it: plan (reads only), ask, accept-edits or
                           full. Nobody widens its own
              plan         Plans of agents that may only read: submit, approve, reject
              log          Shows what happened: the newest entries, or those after a cursor, filtered by agent,
                           type and time
              summary      Sums up: agents, locks and waits now, and how often what happened lately
              alerts       Shows what needs a decision: locks over uncommitted work that their holder has left
              status       Says where the server is, who you are to it, and what there is
              backup       Copies the whole log into a new file, also while the server runs, and proves the copy
              restore      Stops the server and puts a backup back; the log that was there is set aside
              doctor       Looks for what is wrong, and says what to do
              serve        Runs the server in the foreground
              mcp          Speaks MCP on standard input and output, for one agent
              init         Connects the agent programs found on this machine, and guards this repository's
                           commits
              hook         Judges the tool call on standard input: what agent programs run before and after a
                           tool
              confine      Runs a command where what others hold is read-only: what agent programs start their
                           shell through
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
                  --reason <TEXT>  What you are doing, for the others
                  --shared         Others may hold it shared too, and nobody may edit
                  --ttl <SPAN>     How long it lasts without a sign of life (5m)
                  --wait <SPAN>    Wait in line up to this long (e.g. 30s)
                  --with-children  The agents below you may write there, too
              -h, --help           Print help
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["agent"]),
        &expect![[r#"
            Who is here: join, list, bye, limit

            Usage: comity agent [OPTIONS]
                   comity agent <COMMAND>

            Commands:
              join   Registers an agent and prints its id and its secret token. An agent that calls this becomes
                     the new one's parent
              list   Shows who is here, what for, and how many locks they hold
              bye    Says goodbye: ends yourself, or the agent you name, with all below it. They give up all
                     that they hold; uncommitted work stays locked for you or a leader
              limit  Shows how many agents may be here at a time, or sets it, from 1 to 20: for people
              help   Print this message or the help of the given subcommand(s)

            Options:
                  --json  Print one JSON document
              -h, --help  Print help
            [exit 2]"#]],
    );
}
