//! Programs that edit files in place: `sed -i`, `perl -i`, editors and formatters.

use super::shells::code;
use super::walk::{ProgramCall, Walk};
use crate::arguments::Argument;
use crate::effects::{Unknown, WriteKind};
use crate::table::{self, ParsedArguments, ProgramOptions};

pub(crate) fn sed(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let mut in_place = None;
    let mut has_script = false;
    let mut operands = Vec::new();
    let mut rest = call.arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let text = argument.shown();
        match text {
            "--" => operands.extend(rest.by_ref()),
            "--expression" | "--file" | "--line-length" => {
                has_script |= text != "--line-length";
                rest.next();
            }
            _ if text.starts_with("--in-place") => {
                in_place = Some(text.strip_prefix("--in-place=").unwrap_or_default());
            }
            _ if text.starts_with("--") => {
                has_script |= text.starts_with("--expression=") || text.starts_with("--file=");
            }
            _ if text.len() > 1 && text.starts_with('-') => {
                let bundle = SedBundle::read(text);
                has_script |= bundle.has_script;
                if bundle.wants_value {
                    rest.next();
                }
                if let Some(suffix) = bundle.in_place {
                    // BSD takes the suffix as a separate word.
                    let own = suffix.is_empty() && rest.peek().is_some_and(|next| is_suffix(next));
                    let word = if own { rest.next().map(Argument::shown) } else { None };
                    in_place = Some(word.unwrap_or(suffix));
                }
            }
            _ => operands.push(argument),
        }
    }
    if !crate::read_only::sed_only_prints(&call.given) {
        walk.runs_unseen(call.name);
    }
    let Some(suffix) = in_place else {
        return operands.iter().skip(usize::from(!has_script)).for_each(|file| walk.reads(file, false));
    };
    for file in operands.iter().skip(usize::from(!has_script)) {
        walk.writes(file, WriteKind::Edit);
        if let Some(path) = file.plain().filter(|_| !suffix.is_empty() && !suffix.contains(['*', '/'])) {
            walk.writes(&Argument::Plain(format!("{path}{suffix}")), WriteKind::Create);
        }
    }
}

/// What a word like `-nie` means to `sed`.
struct SedBundle<'a> {
    /// The backup suffix, if files are edited in place.
    in_place: Option<&'a str>,
    has_script: bool,
    wants_value: bool,
}

impl SedBundle<'_> {
    fn read(text: &str) -> SedBundle<'_> {
        let mut bundle = SedBundle { in_place: None, has_script: false, wants_value: false };
        for (at, letter) in text.char_indices().skip(1) {
            let rest = &text[at + letter.len_utf8()..];
            match letter {
                'i' | 'I' => {
                    bundle.in_place = Some(rest);
                    return bundle;
                }
                'e' | 'f' | 'l' => {
                    bundle.has_script = letter != 'l';
                    bundle.wants_value = rest.is_empty();
                    return bundle;
                }
                _ => {}
            }
        }
        bundle
    }
}

fn is_suffix(argument: &Argument) -> bool {
    argument.plain().is_some_and(|text| text.is_empty() || (text.starts_with('.') && !text.contains('/')))
}

pub(crate) fn perl(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let Some(perl) = table::program("perl") else { return };
    let arguments: Vec<Argument> = call.arguments.iter().map(without_suffix).collect();
    let given = perl.options.guess(&arguments);
    let has_code = given.has(&["e", "E"]);
    if given.has(&["i"]) {
        for file in given.operands.iter().skip(usize::from(!has_code)) {
            walk.writes(file, WriteKind::Edit);
        }
        return;
    }
    if has_code || given.operands.first().is_none_or(|script| script.is("-")) {
        code(walk, call, given.values(&["e", "E"]));
    }
}

/// `-pi.bak` without the backup suffix, whose letters are not options.
fn without_suffix(argument: &Argument) -> Argument {
    let bundle = argument.plain().filter(|text| text.starts_with('-') && !text.starts_with("--"));
    match bundle.and_then(|text| Some((text, text.find(['i', 'e', 'E', 'I', 'M', 'm', 'F'])?))) {
        Some((text, at)) if text[at..].starts_with('i') => Argument::Plain(text[..=at].to_owned()),
        _ => argument.clone(),
    }
}

/// `awk`, which edits in place only with an extension of GNU awk.
pub(crate) fn awk(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    let in_place = given.value(&["i", "include"]).is_some_and(|library| library.is("inplace"));
    let has_program = given.has(&["f", "file", "e"]);
    let program = given.operands.first().filter(|_| !has_program).and_then(Argument::plain);
    if !program.is_some_and(crate::read_only::awk_only_prints) {
        walk.runs_unseen(call.name);
    }
    for file in given.operands.iter().skip(usize::from(!has_program)) {
        match in_place {
            true => walk.writes(file, WriteKind::Edit),
            // `a=b` sets a variable.
            false if file.shown().contains('=') => {}
            false => walk.reads(file, false),
        }
    }
}

/// `ed`, `ex`, `vim` and others that open the files that they name.
pub(crate) fn editor(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    for file in given.operands.iter().filter(|file| !file.shown().starts_with('+')) {
        walk.writes(file, WriteKind::Edit);
    }
}

/// `yq`, whose first operand is an expression.
pub(crate) fn yq(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    if given.has(&["i", "inplace", "in-place"]) {
        let words = ["eval", "e", "eval-all", "ea"];
        let operands = given.operands.iter().filter(|operand| !words.contains(&operand.shown()));
        operands.skip(1).for_each(|file| walk.writes(file, WriteKind::Edit));
    }
}

/// How a formatter is told to change files.
struct Formatter {
    name: &'static str,
    /// The word before its options, for programs that also do other things.
    command: &'static str,
    /// The options that make it write; empty if it writes unless told otherwise.
    writes: &'static [&'static str],
    /// The options that make it only look.
    looks: &'static [&'static str],
    options: ProgramOptions,
}

const fn row(
    name: &'static str,
    command: &'static str,
    writes: &'static [&'static str],
    looks: &'static [&'static str],
    options: &'static [&'static str],
) -> Formatter {
    Formatter { name, command, writes, looks, options: ProgramOptions::new(options) }
}

const LONG: &str =
    "--config= --config-path= --edition= --line-length= --parser= --ignore-path= --plugin= --ext= --rule=";

#[rustfmt::skip]
const FORMATTERS: [Formatter; 22] = [
    row("prettier",     "",       &["w", "write"],    &[],                                   &[LONG]),
    row("gofmt",        "",       &["w"],             &[],                                   &[LONG]),
    row("goimports",    "",       &["w"],             &[],                                   &[LONG]),
    row("eslint",       "",       &["fix"],           &[],                                   &[LONG, "-c: -f: -o:>"]),
    row("stylelint",    "",       &["fix"],           &[],                                   &[LONG]),
    row("clang-format", "",       &["i"],             &[],                                   &[LONG]),
    row("shfmt",        "",       &["w", "write"],    &[],                                   &[LONG, "-i:"]),
    row("autopep8",     "",       &["i", "in-place"], &[],                                   &[LONG]),
    row("yapf",         "",       &["i", "in-place"], &[],                                   &[LONG]),
    row("rustfmt",      "",       &[],                &["check"],                            &[LONG]),
    row("black",        "",       &[],                &["check", "diff"],                    &[LONG, "-l: -t: -C: -W:"]),
    row("isort",        "",       &[],                &["check", "check-only", "c", "diff"], &[LONG, "-l: -w: -p:"]),
    row("ruff",         "format", &[],                &["check", "diff"],                    &[LONG]),
    row("ruff",         "check",  &["fix"],           &[],                                   &[LONG]),
    row("cargo",        "fmt",    &[],                &["check"],                            &[LONG]),
    row("cargo",        "clippy", &["fix"],           &[],                                   &[LONG]),
    row("cargo",        "fix",    &[],                &[],                                   &[LONG]),
    row("biome",        "format", &["write", "fix"],  &[],                                   &[LONG]),
    row("biome",        "check",  &["write", "fix"],  &[],                                   &[LONG]),
    row("deno",         "fmt",    &[],                &["check"],                            &[LONG]),
    row("dprint",       "fmt",    &[],                &[],                                   &[LONG]),
    row("terraform",    "fmt",    &[],                &["check"],                            &[LONG]),
];

/// A formatter changes the files that it names, or those that it finds.
pub(crate) fn formatter(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    for formatter in FORMATTERS.iter().filter(|formatter| formatter.name == call.name) {
        let mut given = formatter.options.guess(call.arguments);
        // `cargo +nightly fmt`
        given.operands.retain(|operand| !operand.shown().starts_with('+'));
        let is_meant = formatter.command.is_empty()
            || given.operands.first().is_some_and(|operand| operand.is(formatter.command));
        let writes = formatter.writes.is_empty() || given.has(formatter.writes);
        if is_meant && writes && !given.has(formatter.looks) {
            named_or_unknown(walk, formatter, &given);
        }
    }
}

fn named_or_unknown(walk: &mut Walk<'_>, formatter: &Formatter, given: &ParsedArguments) {
    let files = given.operands.iter().skip(usize::from(!formatter.command.is_empty()));
    let files: Vec<&Argument> = files.filter(|file| !file.is("-")).collect();
    // What follows `cargo fmt --` is for another program, and names no files.
    if files.is_empty() || formatter.name == "cargo" {
        let words = format!("{} {}", formatter.name, formatter.command);
        return walk.unknown(Unknown::InPlace(words.trim_end().to_owned()));
    }
    for file in files {
        match file.plain() {
            // Quoted from the shell, a glob is one for the formatter.
            Some(path) if path.contains(['*', '?', '{']) => {
                walk.writes(&Argument::Glob(path.to_owned()), WriteKind::Edit);
            }
            _ => walk.writes(file, WriteKind::Edit),
        }
    }
}
