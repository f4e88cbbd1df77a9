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

            What is going on:
              inbox        What is waiting for you, and how to answer it: list, answer
              next         Ask what to do now
              show         Show one agent
              diff         Show what an agent has changed, or what was changed for a task
              why          Say why a path, a task or an agent is held up
              log          Show what happened
              summary      Sum up agents, locks and waits now, and how often each thing happened lately
              alerts       Show what needs a decision
              status       Show where the server is, who you are to it, and what there is

            Files:
              lock         Lock paths so that nobody else edits them
              unlock       Release your locks
              check        Ask whether you may edit a path now
              extend       Give locks more time, counted from now
              handover     Hand locks over to another agent, which is told
              adopt        Take over uncommitted work that someone left behind
              rescue       Set aside uncommitted work that someone left behind
              release      Release locks
              commit       Commit exactly what you have locked and changed
              worktree     A copy of the repository for one agent: add, list, merge, remove, restore

            Shared things:
              lease        Lease something scarce for a time, such as a port, a GPU or the build
              tab          Tabs of the shared browser: open, close, list, navigate, read, state, and more

            Work:
              task         What there is to do: add, declare, list, graph, show, claim, and more
              mail         Letters between agents and you: send, read, search, boxes, tail, spool, and more
              idle         Tell your leader that you wait for work, and what you did
              decide       Record a decision for everyone, with the reason
              decision     What was decided, and what is waiting to be confirmed: list, confirm, reject

            Agents:
              team         A leader and its workers: create, admit, delete, list, show
              shutdown     Ask an agent to end, or answer that: request, approve, reject
              agent        Who is here: join, list, bye, limit, restart, dismiss
              ask          Ask to make a tool call
              permission   Who asks for what, and the rules: list, allow, deny, rule
              mode         Show or change an agent's mode
              plan         Plans of agents that may only read for now: list, submit, approve, reject

            Programs:
              run          Start an agent that leads, with a goal, and agents that work for it
              spawn        Start a program as an agent
              runs         List the programs that Comity runs, where each is in its life, and who started it
              logs         Show what the program of an agent wrote to its terminal
              attach       Attach your terminal to an agent that Comity started
              interrupt    Interrupt what an agent that Comity started is doing
              stop         Stop an agent that Comity started
              resume       Start agents again that ended with Comity's server

            You:
              whoami       Show who Comity thinks you are and how it knows
              places       Show what was done as you from places that were new to Comity
              token        Tokens with which scripts act as you: create, list, revoke, first
              passphrase   Set or remove your passphrase
              login        Prove that you are present

            Server:
              up           Start the server if it isn't running, and print how to reach it
              down         Stop the server
              restart      Stop the server and start it with this program
              doctor       Look for what is wrong, and say what to do
              backup       Copy the whole log into a new file while the server runs, and prove the copy
              restore      Stop the server and put a backup back
              serve        Run the server in the foreground
              settings     Show the settings in force, and where each one comes from

            Setup:
              install      Copy Comity's programs to where they stay
              init         Connect the agent programs found here, and guard this repository's commits
              mcp          Speak MCP on standard input and output, for one agent
              hook         Judge the tool call on standard input
              confine      Run a command where what others hold is read-only
              bench        Measure what Comity costs on this machine
              completions  Print the completions for a shell, or install them
              man          Show the manual page of a command, or install all of them


            Options:
                  --json     Print one JSON document
              -h, --help     Print help; -h is shorter
              -V, --version  Print version

            Examples:
              comity up                                      start, and see where everything is
              comity init                                    connect your agent programs
              comity lock src/login.rs --reason "fixing it"  nobody else edits it now
              comity inbox                                   what is waiting for you
              comity log --follow                            watch what happens

            Environment:
              COMITY_HOME   the state directory
              COMITY_TOKEN  who is calling: an agent's token, or a script's; without it, you
              COMITY_PAGER  what shows long output at a terminal, before PAGER; empty: nothing
              NO_COLOR      no colors, even at a terminal

            Exit codes: 0 done, 1 fault, 2 usage, 3 refused.

            Words such as fence, lapsed, orphaned and lease are explained in docs/guide/glossary.md.

            `comity COMMAND -h` shows a command's options, `comity COMMAND --help` explains them.
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["lock", "--help"]),
        &expect![[r#"
            Lock paths so that nobody else edits them: all or none.

            Usage: comity lock [OPTIONS] <PATH>...
                   comity lock <COMMAND>

            Commands:
              list  List what is locked here, by whom, why and until when, and who waits
              help  Print this message or the help of the given subcommand(s)

            Arguments:
              <PATH>...
                      Files, directories, globs (src/**/*.rs)

            Options:
                  --json
                      Print one JSON document

                  --reason <TEXT>
                      What you are doing

                  --shared
                      Others may share it; nobody may edit

                  --ttl <SPAN>
                      How long it lasts without a sign of life (5m)

                  --wait <SPAN>
                      Wait up to this long (30s)

                  --with-children
                      Let the agents below you write there, too

              -h, --help
                      Print help (see a summary with '-h')

            Examples:
              comity lock src/login.rs --reason "fixing the login"
              comity lock 'src/**/*.rs' --wait 30s
            [exit 0]"#]],
    );
    check(
        &place,
        &place.run(&["agent"]),
        &expect![[r#"
            Who is here: join, list, bye, limit, restart, dismiss

            Usage: comity agent [OPTIONS]
                   comity agent <COMMAND>

            Commands:
              join     Register an agent and print its id and secret token
              list     List who is here, what each is for, and how many locks each holds
              bye      Say goodbye
              limit    Show or set how many agents may be here at a time, from 1 to 20
              restart  Restart an agent that Comity started, whether it runs or is over
              dismiss  Take note of an agent that crashed too often, or could not be started
              help     Print this message or the help of the given subcommand(s)

            Options:
                  --json  Print one JSON document
              -h, --help  Print help
            [exit 2]"#]],
    );
}
