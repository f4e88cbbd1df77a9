//! The table, command by command, and what is said of those that are not proven.

use std::collections::HashSet;

use comity_guard::limits::{DOUBT_CHARS_MAX, NESTING_MAX, PROVEN_BYTES_MAX};
use comity_guard::{Classification, classify};
use expect_test::{Expect, expect};

use super::{commands, is_proven};

#[test]
fn each_command_of_the_table() {
    let wrong: Vec<String> = commands()
        .into_iter()
        .filter(|(command, expected)| is_proven(command) != *expected)
        .map(|(command, _)| format!("{command:?}: {:?}", classify(&command)))
        .collect();
    assert!(wrong.is_empty(), "{} commands:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_is_large_and_says_nothing_twice() {
    let commands = commands();
    let (proven, others): (Vec<_>, Vec<_>) = commands.iter().partition(|(_, is_proven)| *is_proven);
    assert!(proven.len() >= 250 && others.len() >= 250, "{} and {}", proven.len(), others.len());
    let mut seen = HashSet::new();
    let again: Vec<_> = commands.iter().filter(|(command, _)| !seen.insert(command)).collect();
    assert!(again.is_empty(), "{again:?}");
}

/// A reason is one line of some length, in which nothing is invisible.
#[test]
fn every_reason_can_be_read() {
    for (command, _) in commands() {
        let Classification::NotProven { why } = classify(&command) else { continue };
        assert!(!why.is_empty() && why.chars().count() < 4 * DOUBT_CHARS_MAX + 200, "{command:?}: {why}");
        let hidden = |letter: char| letter.is_control() || (letter.is_whitespace() && letter != ' ');
        assert!(!why.contains(hidden) && !why.contains('\u{202e}'), "{command:?}: {why:?}");
    }
}

#[track_caller]
fn check(command: &str, expected: Expect) {
    match classify(command) {
        Classification::ReadOnly { .. } => expected.assert_eq("read-only"),
        Classification::NotProven { why } => expected.assert_eq(&why),
    }
}

#[test]
fn reasons_name_the_part_and_what_to_do() {
    check("cat x; rm y", expect!["`rm y`: `rm` is not known to only read"]);
    check("ls > out.txt", expect!["`out.txt`: the redirection writes to it; only /dev/null is nothing"]);
    check("find . -name x -delete", expect!["`find . -name x -delete`: `-delete` is not known to only look"]);
    check("sort -uo out a.txt", expect!["`sort -uo out a.txt`: the option `-uo` is not known to only read"]);
    check(
        "sort \"$file\"",
        expect![[r#"`sort "$file"`: `"$file"` may become an option; put `--` before it"#]],
    );
    check("git branch new", expect!["`git branch new`: with these arguments it is not known to only look"]);
    check(
        "git -c core.pager=x log",
        expect!["`git -c core.pager=x log`: the option `-c` is not known to only read"],
    );
    check(
        "cd other && git status",
        expect!["git in a directory that `cd` leads to obeys the settings of whatever repository is there"],
    );
    check("echo \"$(rm y)\"", expect!["`rm y`: `rm` is not known to only read"]);
    check(
        "awk '{print > \"out\"}' a.txt",
        expect![[r#"`awk {print > "out"} a.txt`: its program `{print > "out"}` is not known to only print"#]],
    );
    check(
        "PATH=. ls",
        expect![
            "`PATH`: setting this variable may change what programs do; one of a single letter would not"
        ],
    );
    check("ls\u{a0}-l", expect!["it has a character that is not seen (U+00A0)"]);
    check("[ $x = y ]", expect!["`[ $x = y ]`: `$x` may become several words; put it in quotes"]);
    check("$program a", expect!["`$program a`: which program runs is not written down"]);
    check("echo 'a", expect!["it can't be read: a quote does not end"]);
}

#[test]
fn bounds() {
    let nested = |levels: usize| (0..levels).fold("ls".to_owned(), |inner, _| format!("echo $({inner})"));
    assert!(is_proven(&nested(NESTING_MAX - 1)));
    assert!(!is_proven(&nested(NESTING_MAX + 1)));
    let long = |bytes: usize| format!("ls {}", "x".repeat(bytes - "ls ".len()));
    assert!(is_proven(&long(PROVEN_BYTES_MAX)));
    assert!(!is_proven(&long(PROVEN_BYTES_MAX + 1)));
    assert!(is_proven(&format!("{}ls", "timeout 1 ".repeat(3))));
    assert!(!is_proven(&format!("{}ls", "timeout 1 ".repeat(5_000))));
}

/// Texts at which a reader that goes back would take minutes; each is as long as a command may be.
#[test]
fn time_is_linear() {
    let pieces = [
        "$((",
        "$(",
        "`",
        "{",
        "[",
        "${",
        "\"$(",
        "<<A ",
        "cat <<A\nA\n",
        "((",
        "ls;",
        "ls|",
        "[[ ",
        "'",
        "\\\n",
        "a{b,",
        "sed p;",
        "f() { ls; }\n",
        "x=1 ",
        "env ",
        "awk /",
        "sed s/[",
        "echo $x ",
        "# <<A\n",
    ];
    for piece in pieces {
        let text = piece.repeat((PROVEN_BYTES_MAX - "echo \"$()\"".len()) / piece.len());
        classify(&text);
        classify(&format!("sed '{text}'"));
        classify(&format!("awk '{text}'"));
        classify(&format!("echo \"$({text})\""));
    }
}
