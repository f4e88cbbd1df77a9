//! The fuzz run with a fixed number of seeds, and whether it sees what it is for.

use comity_fuzz::{Escape, SHELLS, fuzz, is_proven, proven_commands, run};

/// Lines of the run in CI.
const LINES: u64 = 1_000;
/// The first seed; line by line it goes up by one.
const SEED: u64 = 1;

/// Says what cannot be tried here.
fn can_run() -> bool {
    for shell in SHELLS {
        if let Some(missing) = shell.missing() {
            comity_skip::skip(&format!("lines in {}", shell.name), &format!("{missing} is not installed"));
        }
    }
    let problem = comity_fuzz::problem();
    if let Some(problem) = &problem {
        comity_skip::skip("lines in real shells", problem);
    }
    problem.is_none()
}

#[test]
fn what_is_proven_only_reads() {
    if !can_run() {
        return;
    }
    let outcome = fuzz(SEED, LINES, is_proven, |_| ());
    println!("{} lines, {} proven, {} runs", outcome.lines, outcome.proven, outcome.runs);
    assert!(outcome.proven > 100, "{} proven", outcome.proven);
    assert!(outcome.escapes.is_empty(), "{:#?}", outcome.escapes);
}

/// What the table of commands calls read-only, in every shell.
#[test]
fn the_table_only_reads() {
    if !can_run() {
        return;
    }
    let (_, escapes) = run(proven_commands());
    assert!(escapes.is_empty(), "{escapes:#?}");
}

/// Lines that do more than read, and shells in which each does.
const FAULTS: [(&str, &str); 26] = [
    ("sort -o out a.txt", "bash dash zsh busybox"),
    ("echo a > out", "bash dash zsh busybox"),
    ("echo a >> a.txt", "bash dash zsh busybox"),
    ("echo a <> a.txt", "bash dash zsh busybox"),
    ("rm x", "bash busybox"),
    ("harm", "bash dash zsh busybox"),
    ("sh -c true", "bash dash zsh busybox"),
    ("ls &>/dev/null harm", "dash"),
    ("ls # ; harm", "zsh-i"),
    ("!h", "bash-i zsh-i"),
    ("ls *(e:harm:)", "zsh"),
    ("awk '{ print > \"out\" }' a.txt", "bash dash zsh busybox mawk gawk"),
    ("awk 'BEGIN { system(\"harm\") }'", "bash mawk gawk busybox"),
    ("sed -n 'w out' a.txt", "bash busybox"),
    ("cat < /dev/tcp/127.0.0.1/9", "bash"),
    ("git -C evil status", "bash"),
    ("git log --output=out", "bash"),
    ("git branch new", "bash"),
    ("find . -name x -delete", "bash dash zsh"),
    ("touch a.txt", "bash dash"),
    ("truncate -s 0 a.txt", "bash dash zsh"),
    ("mv x y", "bash dash zsh"),
    ("ln -s x out", "bash dash zsh"),
    ("chmod 600 x", "bash dash zsh"),
    ("mkdir out", "bash dash zsh busybox"),
    ("cat a.txt & harm", "bash dash zsh busybox"),
];

/// The run sees what it is for: each of these does more than read, in the shells that are named.
#[test]
fn planted_faults_are_found() {
    if !can_run() {
        return;
    }
    // Each beside many lines that only read, as in a run.
    let lines: Vec<String> =
        FAULTS.iter().flat_map(|(line, _)| [*line, "ls -l", "cat a.txt | sort"].map(str::to_owned)).collect();
    let (_, escapes) = run(&lines);
    for (line, shells) in FAULTS {
        let seen = |wanted: &str| {
            escapes.iter().any(|escape| escape.line == line && is_called(escape.shell, wanted))
        };
        let missed: Vec<&str> = shells.split(' ').filter(|wanted| !seen(wanted)).collect();
        let is_missing = |wanted: &&str| {
            SHELLS.iter().any(|shell| is_called(shell.name, wanted) && shell.missing().is_some())
        };
        let missed: Vec<&str> = missed.into_iter().filter(|wanted| !is_missing(wanted)).collect();
        assert!(missed.is_empty(), "{line}: not seen in {missed:?}, but {escapes:#?}");
    }
    let is_planted = |escape: &Escape| FAULTS.iter().any(|(line, _)| escape.line == *line);
    assert!(escapes.iter().all(is_planted), "no other line is blamed: {escapes:#?}");
}

/// Whether a shell is meant by a short name.
fn is_called(shell: &str, name: &str) -> bool {
    match name {
        "bash-i" => shell == "bash -i",
        "zsh-i" => shell == "zsh -i",
        "busybox" => shell == "busybox sh",
        "gawk" | "mawk" => shell.ends_with(name),
        name => shell == name,
    }
}

/// Lines that never end are ended, with all that they have started, and those behind them run.
#[test]
fn what_does_not_end_is_in_nobodys_way() {
    if !can_run() {
        return;
    }
    let lines = ["cat /dev/zero", "cat /dev/zero & ls", "tail -f a.txt", "ls ; harm", "tail -f a.txt | harm"];
    let (runs, escapes) = run(&lines.map(str::to_owned));
    assert!(runs >= lines.len());
    for line in [lines[3], lines[4]] {
        for shell in SHELLS.iter().filter(|shell| ["bash", "dash", "zsh"].contains(&shell.name)) {
            let is_it = |escape: &Escape| escape.line == line && escape.shell == shell.name;
            assert!(shell.missing().is_some() || escapes.iter().any(is_it), "{line}: {escapes:#?}");
        }
    }
}

/// A classifier that forgot one option is caught by generated lines, too.
#[test]
fn a_forgotten_option_is_caught() {
    if !can_run() {
        return;
    }
    let forgetful = |line: &str| {
        let is_one = !line.contains(|letter: char| ";|&<>`()\n#!".contains(letter));
        is_one && line.starts_with("sort ") && (line.contains(" -o") || line.contains(" --outp"))
    };
    let outcome = fuzz(SEED, 40_000, forgetful, |_| ());
    assert!(!outcome.escapes.is_empty(), "{} lines were run", outcome.proven);
}
