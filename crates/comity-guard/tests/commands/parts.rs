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

/// Whether a rule that forbids `rm` would see it: as a command, or that there may be more than is seen.
fn seen(line: &str) -> &'static str {
    let found = commands(line);
    let is_rm = |part: &Vec<Option<String>>| part.first().is_some_and(|word| word.as_deref() == Some("rm"));
    match (found.parts.iter().any(is_rm), found.is_all) {
        (true, _) => "rm",
        (false, false) => "may be",
        (false, true) => "no",
    }
}

#[test]
fn what_programs_start_is_found() {
    for (line, expected) in [
        ("comity-confine \"rm x\"", "rm"),
        ("comity confine -- rm x", "rm"),
        ("comity lease run build -- rm x", "rm"),
        ("comity lease run build --wait 5s -- sh -c 'rm x'", "rm"),
        ("comity locks", "no"),
        ("taskset 1 rm x", "rm"),
        ("taskset -c 0,1 rm x", "rm"),
        ("chrt 1 rm x", "rm"),
        ("chroot / rm x", "rm"),
        ("unshare -r rm x", "rm"),
        ("nsenter -t 1 -m rm x", "rm"),
        ("watch -n 1 rm x", "rm"),
        ("watch 'ls; rm x'", "rm"),
        ("su -c 'rm x'", "rm"),
        ("su - bob -c 'rm x'", "rm"),
        ("runuser -u bob -c 'rm x'", "rm"),
        ("trap 'rm x' EXIT", "rm"),
        ("trap - EXIT", "no"),
        ("alias z=rm; z x", "rm"),
        ("alias z=ls; z x", "may be"),
        ("printf 'rm x' | sh", "rm"),
        ("cat s.sh | sh", "may be"),
        ("bash s.sh", "may be"),
        ("sh -x ./s.sh a", "may be"),
        (". ./s.sh", "may be"),
        ("source s.sh", "may be"),
        ("git submodule foreach rm x", "rm"),
        ("git submodule foreach --recursive 'rm x'", "rm"),
        ("git submodule update", "no"),
        ("git bisect run rm x", "rm"),
        ("git rebase -x 'rm x' main", "rm"),
        ("git rebase --exec='rm x' main", "rm"),
        ("git -c alias.z='!rm x' z", "rm"),
        ("git -c alias.z=\"$X\" z", "may be"),
        ("git -c user.name=x commit", "no"),
        ("awk 'BEGIN{system(\"rm x\")}'", "may be"),
        ("awk '{print $1}' f", "no"),
        ("awk -f p f", "may be"),
        ("sed '1e rm x' f", "may be"),
        ("sed -i s/a/b/ f", "no"),
        ("sed -n '1,20p' f", "no"),
        ("tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='rm x'", "rm"),
        ("tar xf a --to-command='rm x'", "rm"),
        ("tar cf a b", "no"),
        ("tmux new 'rm x'", "may be"),
        ("ssh h rm x", "rm"),
        ("ssh h", "no"),
        ("parallel rm ::: x", "rm"),
        ("parallel 'rm {}' ::: x", "rm"),
        ("find . -exec rm {} +", "rm"),
        ("cargo build", "no"),
    ] {
        assert_eq!(seen(line), expected, "{line}");
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
