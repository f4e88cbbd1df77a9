//! Which commands are proven to only read: a table and generated commands. Real shells are in the test `fuzz`.

mod generated;
mod table;

use comity_guard::{Classification, classify};

/// The table: a command and what is said of it in each line.
const COMMANDS: &str = include_str!("commands.tsv");

/// Whether a command is proven.
fn is_proven(command: &str) -> bool {
    matches!(classify(command), Classification::ReadOnly { .. })
}

/// The commands of the table, and whether each is to be proven.
fn commands() -> Vec<(String, bool)> {
    let lines = COMMANDS.lines().filter(|line| !line.is_empty() && !is_remark(line));
    lines.map(entry).collect()
}

/// A line about the table; a command that begins with a comment has a verdict.
fn is_remark(line: &str) -> bool {
    line.starts_with('#') && !line.contains('\t')
}

fn entry(line: &str) -> (String, bool) {
    let (command, verdict) = line.rsplit_once('\t').expect("a command, a tab and a verdict");
    let is_proven = match verdict {
        "read-only" => true,
        "not proven" => false,
        other => panic!("{line}: {other} isn't a verdict"),
    };
    (visible(command), is_proven)
}

/// Puts the characters in for which the table has signs.
fn visible(command: &str) -> String {
    let command = command.replace('⏎', "\n").replace('⇥', "\t");
    let mut parts = command.split("<U+");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('>').expect("the end of a character");
        let code = u32::from_str_radix(code, 16).expect("a number of base 16");
        text.push(char::from_u32(code).expect("a character"));
        text.push_str(rest);
    }
    text
}
