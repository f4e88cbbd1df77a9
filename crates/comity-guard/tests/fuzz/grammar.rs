//! Command lines of what the classifier accepts, with risky pieces in them.
//!
//! A line is mostly well-formed: programs of the table with likely options and operands, joined in the ways of shells.
//! Then up to three pieces that shells, programs or their little languages read differently are put somewhere.

use super::programs;
use super::random::Random;

/// Pieces that mean something to some shell, or run a program that leaves a trace.
const RISKY: &[&str] = &[
    "harm",
    " harm ",
    ";harm",
    "\nharm\n",
    "|harm",
    "&harm",
    "&&harm",
    " >out",
    ">out",
    " >>out",
    ">|out",
    "&>out",
    " &>/dev/null harm",
    ">&out",
    " >&2harm",
    "2>&1",
    "<>out",
    "<a.txt",
    "|&harm",
    "|& cat",
    "<(harm)",
    ">(harm)",
    "=(harm)",
    "$(harm)",
    "`harm`",
    "${x:-$(harm)}",
    "${x:=out}",
    "$((1))",
    "$((x))",
    "$[1]",
    "$'\\x68arm'",
    "$'a'",
    "$\"a\"",
    "{a,out}",
    "{harm,}",
    "{1..2}",
    "{",
    "}",
    "{}",
    "[",
    "]",
    "[[",
    "]]",
    "((",
    "))",
    "(",
    ")",
    "(e:harm:)",
    "*(e:harm:)",
    "*(N)",
    "~",
    "~harm",
    "=ls",
    "=harm",
    "~/",
    "^a^harm",
    "!!",
    "!h",
    "!-1",
    "!harm",
    "!",
    "! ",
    "#",
    " #",
    " # ; harm",
    "# harm\n",
    "'",
    "\"",
    "\\",
    "\\\n",
    "\\\nharm",
    " \\\n",
    "\n",
    "\r",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\u{b}",
    "\u{c}",
    "é",
    ";",
    ";;",
    "&",
    "&&",
    "||",
    "|",
    "<<E\nharm\nE\n",
    "<<'E'\nharm\nE\n",
    "<<<x",
    "<<<$(harm)",
    "2>",
    "1>&2",
    ">&-",
    ">&-x",
    "{x}>out",
    "$x",
    "\"$x\"",
    "$y",
    "\"$y\"",
    "$z",
    "$u",
    "$v",
    "$w",
    "${x}",
    "${#x}",
    "${x%a}",
    "${x##*/}",
    "${x[1]}",
    "$x[1]",
    "$x[$(harm)]",
    "\"$x[$(harm)]\"",
    "$x:h",
    "$@",
    "$*",
    "$#",
    "$?",
    "$$",
    "$!",
    "$-",
    "$_",
    "$0",
    "$1",
    "${!x}",
    "${x@P}",
    "$=x",
    "$~x",
    "$^x",
    "$+x",
    "*",
    "?",
    "[a-z]*",
    "**",
    "***",
    "-",
    "--",
    "-o",
    "-oout",
    "-o out",
    "--output=out",
    "--outp=out",
    " out",
    " -exec harm ;",
    " -delete",
    "x=1 ",
    "x=harm ",
    "PATH=. ",
    "path=. ",
    "IFS=a ",
    "x+=1 ",
    "x[1]=2 ",
    "time ",
    "coproc ",
    "exec ",
    "eval ",
    "command ",
    "builtin ",
    "noglob ",
    "nocorrect ",
    "repeat 2 ",
    "function f ",
    "f(){ harm; };",
    "alias ls=harm\n",
    "always {harm}",
    "then",
    "do",
    "done",
    "fi",
    "in",
    "esac",
    "else",
    "case x in x) ",
    ";; esac",
    "for x in a; do ",
    "for ((;;)) ",
    "foreach x (a) ",
    "select x in a; do ",
    "if true; then ",
    "while true; do ",
    "until true; do ",
    "; done",
    "; fi",
    "; }",
    "-e",
    "-i",
    "-f",
    "-z",
    "%",
    "%n",
    ",",
    "@",
    "+",
    ":",
    "/",
];

/// How two commands are joined.
const JOINTS: &[&str] = &["; ", " && ", " || ", " | ", "\n", " | ", " & ", ";", "|"];

/// The line of a seed.
pub(crate) fn line(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut line = script(&mut random, 2);
    let risks = [0, 1, 1, 1, 2, 2, 3][random.below(7)];
    for _ in 0..risks {
        line = with_risk(&mut random, &line);
    }
    line
}

fn script(random: &mut Random, depth: usize) -> String {
    let mut text = command(random, depth);
    for _ in 0..[0, 0, 0, 1, 1, 2][random.below(6)] {
        text.push_str(random.pick(JOINTS));
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
            format!("{before}{blank}{}{behind}", random.pick(RISKY))
        }
    }
}
