//! Which commands a line runs: what rules about commands go by.

use comity_guard::programs::{commands, commands_of_arguments};

/// The parts as text, `…` for a word that only running would tell; `+` if there may be more.
fn parts(line: &str) -> String {
    let found = commands(line);
    let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "…".into());
    let parts = found.parts.iter().map(|part| part.iter().map(word).collect::<Vec<_>>().join(" "));
    let more = if found.is_all { None } else { Some("+".to_owned()) };
    parts.chain(more).collect::<Vec<_>>().join(" | ")
}

#[test]
fn every_command_is_found() {
    for (line, expected) in [
        ("git status", "git status"),
        ("git status; rm -rf /", "git status | rm -rf /"),
        ("git status && (cd x; rm y) || true", "git status | cd x | rm y | true"),
        ("echo $(rm x) `rm y`", "rm x | rm y | echo … …"),
        ("ls | xargs rm -f", "ls | xargs rm -f | rm -f …"),
        ("sudo -u bob rm x", "sudo -u bob rm x | rm x"),
        ("bash -c 'rm x; ls'", "bash -c rm x; ls | rm x | ls"),
        ("if true; then rm x; fi", "true | rm x"),
        ("$CMD -rf /", "… -rf / | +"),
        ("eval \"$X\"", "eval … | +"),
        ("rm 'unterminated", "+"),
        ("FOO=1 rm x > y", "rm x"),
        ("cat <(rm x)", "rm x | cat …"),
        ("cat <<EOF\n$(rm x)\nEOF", "rm x | cat"),
    ] {
        assert_eq!(parts(line), expected, "{line}");
    }
}

#[test]
fn one_plain_command_is_told_from_everything_else() {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for (line, expected) in [
        ("git status", Some("git status")),
        ("  git   'status'  ", Some("git status")),
        ("git status;", Some("git status")),
        ("touch a{1,2}", Some("touch a1 a2")),
    ] {
        assert_eq!(commands(line).single, expected.map(words), "{line}");
    }
    let others = [
        "git status; rm -rf /",
        "git status & rm x",
        "git status &",
        "git status | cat",
        "git status > x",
        "git status 2>&1",
        "git status < x",
        "git status <<EOF\nx\nEOF",
        "X=1 git status",
        "git status $X",
        "git status $(rm x)",
        "git status *",
        "git status ~",
        "git status\nrm x",
        "(git status)",
        "{ git status; }",
        "git status 'open",
        "X=1",
        "",
    ];
    for line in others {
        assert_eq!(commands(line).single, None, "{line:?}");
    }
    let given = ["git".to_owned(), "log; rm".to_owned()];
    assert_eq!(commands_of_arguments(&given).single, Some(given.to_vec()), "no shell reads it");
}
