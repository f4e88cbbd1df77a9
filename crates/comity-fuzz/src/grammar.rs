//! Command lines of what the classifier accepts, with risky pieces in them.
//!
//! A line is mostly well-formed: programs of the table with likely options and operands, joined in the ways of shells.
//! Then up to three pieces that shells, programs or their little languages read differently are put somewhere.

use std::sync::OnceLock;

use crate::programs;
use crate::random::Random;

/// Pieces that mean something to some shell, or run a program that leaves a trace.
const RISKY: &str = include_str!("pieces/risky.txt");

/// How two commands are joined.
const JOINTS: &str = include_str!("pieces/joints.txt");

/// The table of commands, of which those that are proven are a beginning, too.
const TABLE: &str = include_str!("../../comity-guard/tests/read_only/commands.tsv");

/// The commands of the table that only read.
pub fn proven_commands() -> &'static [String] {
    static COMMANDS: OnceLock<Vec<String>> = OnceLock::new();
    COMMANDS.get_or_init(|| {
        let proven = TABLE.lines().filter_map(|line| line.strip_suffix("\tread-only"));
        proven.map(|line| line.replace('⏎', "\n").replace('⇥', "\t")).collect()
    })
}

/// The line of a seed.
pub fn line(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut line = match random.below(4) {
        0 => script(&mut random, 2),
        1 => {
            let table = proven_commands();
            let (one, other) = (random.below(table.len()), random.below(table.len()));
            format!("{}{}{}", table[one], random.piece(JOINTS), table[other])
        }
        _ => {
            let table = proven_commands();
            table[random.below(table.len())].clone()
        }
    };
    let risks = [1, 1, 1, 2, 2, 3][random.below(6)];
    for _ in 0..risks {
        line = with_risk(&mut random, &line);
    }
    line
}

fn script(random: &mut Random, depth: usize) -> String {
    let mut text = command(random, depth);
    for _ in 0..[0, 0, 0, 1, 1, 2][random.below(6)] {
        text.push_str(&random.piece(JOINTS));
        text.push_str(&command(random, depth));
    }
    text
}

fn command(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(10) < 7 {
        let mut text = programs::command(random);
        if random.once_in(8) {
            let ends = &[
                " >/dev/null",
                " 2>/dev/null",
                " 2>&1",
                " </dev/null",
                " <a.txt",
                " >&2",
                " &>/dev/null",
                " >/dev/null 2>&1",
            ];
            text.push_str(random.pick(ends));
        }
        return text;
    }
    let inner = script(random, depth - 1);
    let other = script(random, depth - 1);
    match random.below(16) {
        0 => format!("( {inner} )"),
        1 => format!("({inner})"),
        2 => format!("{{ {inner}; }}"),
        3 => format!("if {inner}; then {other}; fi"),
        4 => format!("for x in {}; do {inner}; done", programs::operands(random)),
        5 => format!("while {inner}; do {other}; break; done"),
        6 => format!("echo $({inner})"),
        7 => format!("echo \"$({inner})\""),
        8 => format!("x=$({inner})"),
        9 => format!("! {inner}"),
        10 => format!("# {}\n{inner}", random.pick(&["a note", "a; harm", "it's", "a note (b)"])),
        11 => format!("{inner} # {}", random.pick(&["a note", "; harm", "a out"])),
        12 => format!("while read -r x; do {inner}; done <a.txt"),
        13 => format!("[ -n \"$({inner})\" ] && {other}"),
        14 => format!("if {inner}\nthen {other}\nelse {inner}\nfi"),
        _ => format!("cat $({inner})"),
    }
}

/// Puts a risky piece somewhere, or takes or doubles a character.
fn with_risk(random: &mut Random, line: &str) -> String {
    let places: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
    let at = places[random.below(places.len())];
    // Most pieces mean something between words only.
    let blanks: Vec<usize> =
        line.match_indices([' ', ';', '|', '\n']).map(|(at, _)| at).chain([line.len()]).collect();
    let at = if random.once_in(3) { at } else { blanks[random.below(blanks.len())] };
    let (before, behind) = line.split_at(at);
    let first = behind.chars().next();
    match (random.below(8), first) {
        (0, Some(letter)) => format!("{before}{}", &behind[letter.len_utf8()..]),
        (1, Some(letter)) => format!("{before}{letter}{behind}"),
        _ => {
            let blank = if random.once_in(3) { "" } else { " " };
            format!("{before}{blank}{}{behind}", random.piece(RISKY))
        }
    }
}
