//! Commands put together at random: one harmful piece that could run makes the whole not proven.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::is_proven;

/// Commands that only read, and may stand anywhere.
const HARMLESS: [&str; 12] = [
    "ls",
    "cat a.txt",
    "grep -n foo a.txt",
    "git status",
    "head -n 3 a.txt",
    "wc -l a.txt",
    "find . -name a",
    "echo hello",
    "sort -u a.txt",
    "sed -n 1p a.txt",
    "test -f a.txt",
    "ls > /dev/null",
];

/// Commands that write, run or connect.
const HARMFUL: [&str; 24] = [
    "rm y",
    "ls > out",
    "sort -o out a.txt",
    "sed -i s/a/b/ a.txt",
    "find . -delete",
    "find . -exec rm {} +",
    "git branch new",
    "git log --output=out",
    "tee out",
    "uniq a.txt out",
    "xxd a.txt out",
    "PATH=. ls",
    "env rm y",
    "timeout 5 rm y",
    "xargs rm",
    "awk 1 /inet/tcp/0/example.org/80",
    "eval ls",
    "bash -c ls",
    "./ls",
    "$x",
    "cat < /dev/tcp/example.org/80",
    "printf -v PATH x",
    "date -s now",
    "curl example.org",
];

/// What a command may be put into; `@` is where it runs, once or several times.
const AROUND: [&str; 22] = [
    "@",
    "@; @",
    "@ | @",
    "@ && @ || @",
    "( @ )",
    "{ @; }",
    "@\n@",
    "! @",
    "echo $( @ )",
    "echo \"$( @ )\"",
    "x=$( @ )",
    "x=$( @ ) ls",
    "if @; then @; fi",
    "if @; then @; elif @; then @; else @; fi",
    "while @; do @; done",
    "until @; do break; done",
    "for i in a b; do @; done",
    "for i in $( @ ); do ls; done",
    "[ -n \"$( @ )\" ]",
    "# rm y\n@",
    "echo '$(rm y)'; @",
    "{ @; } 2>&1",
];

/// Places where some are not proven at all, however harmless.
const DOUBTFUL: [&str; 16] = [
    "cat <<'E'\n$(rm y)\nE\n@",
    "[[ -n $( @ ) ]]",
    "case x in x) @;; *) @;; esac",
    "cat <<< $( @ )",
    "cat < <( @ )",
    "cat <( @ )",
    "time @",
    "@ & @",
    "cat <<E\n$( @ )\nE",
    "echo ${x:-$( @ )}",
    "echo `@`",
    "echo $((x[$( @ )]))",
    "f() { @; }; f",
    "find . -exec @ \\;",
    "nice @",
    "ls | xargs -I{} @",
];

/// A command in which each hole is filled with one of two kinds; and whether a harmful one is among them.
fn filled(around: Vec<&'static str>) -> impl Strategy<Value = (String, bool)> {
    let piece = prop_oneof![
        3 => prop::sample::select(HARMLESS.to_vec()).prop_map(|piece| (piece.to_owned(), false)),
        1 => prop::sample::select(HARMFUL.to_vec()).prop_map(|piece| (piece.to_owned(), true)),
    ];
    piece.prop_recursive(3, 24, 4, move |inner| {
        let around = prop::sample::select(around.clone());
        (around, prop::collection::vec(inner, 5)).prop_map(|(around, pieces)| {
            let mut pieces = pieces.into_iter();
            let mut parts = around.split('@');
            let mut text = parts.next().unwrap_or_default().to_owned();
            let mut is_harmful = false;
            for part in parts {
                let (piece, harms) = pieces.next().expect("a piece for each hole");
                text.push_str(&piece);
                text.push_str(part);
                is_harmful |= harms;
            }
            (text, is_harmful)
        })
    })
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(4_000))]

    #[test]
    fn one_harmful_piece_is_enough((command, is_harmful) in filled([&AROUND[..], &DOUBTFUL[..]].concat())) {
        if is_harmful {
            prop_assert!(!is_proven(&command), "{}", command);
        }
    }
}

/// The places are understood: with harmless pieces each is proven, with one harmful piece none is.
#[test]
fn each_place_with_each_piece() {
    let put = |around: &str, piece: &str| around.replace('@', piece);
    for around in AROUND {
        let doubted: Vec<&str> =
            HARMLESS.into_iter().filter(|piece| !is_proven(&put(around, piece))).collect();
        assert!(doubted.is_empty(), "{around:?}: {doubted:?}");
    }
    for around in AROUND.iter().chain(&DOUBTFUL) {
        let proven: Vec<&str> = HARMFUL.into_iter().filter(|piece| is_proven(&put(around, piece))).collect();
        assert!(proven.is_empty(), "{around:?}: {proven:?}");
    }
}

/// Whatever stands before or behind it on lines of its own, a harmful command is found.
#[test]
fn a_harmful_line_among_the_table() {
    for (command, is_proven_alone) in super::commands() {
        for whole in [format!("{command}\nrm y"), format!("rm y\n{command}"), format!("rm y; {command}")] {
            let is_swallowed = command.ends_with('\\');
            assert!(!is_proven(&whole) || is_swallowed, "{whole:?} ({is_proven_alone})");
        }
    }
}
