//! Programs that edit files in place: `sed -i`, `perl -i`, editors and formatters.

use super::arguments::Argument;
use super::feed::Feed;
use super::options::{FLAGS_ONLY, Given, Options, read, read_before_operands};
use super::walk::Walk;
use crate::effects::{How, Unknown};

pub(super) fn sed(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    let mut in_place = None;
    let mut has_script = false;
    let mut operands = Vec::new();
    let mut rest = arguments.iter().peekable();
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
                    // BSD takes the suffix as a word of its own.
                    let own = suffix.is_empty() && rest.peek().is_some_and(|next| is_suffix(next));
                    let word = if own { rest.next().map(Argument::shown) } else { None };
                    in_place = Some(word.unwrap_or(suffix));
                }
            }
            _ => operands.push(argument),
        }
    }
    let Some(suffix) = in_place else { return };
    for file in operands.iter().skip(usize::from(!has_script)) {
        walk.writes(file, How::Edit);
        if let Some(path) = file.plain().filter(|_| !suffix.is_empty() && !suffix.contains(['*', '/'])) {
            walk.writes(&Argument::Plain(format!("{path}{suffix}")), How::Create);
        }
    }
}

/// What a word like `-nie` means to `sed`.
struct SedBundle<'a> {
    /// The suffix for backups, if files are edited in place.
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

pub(super) fn perl(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], _: &Feed) {
    let arguments: Vec<Argument> = arguments.iter().map(without_suffix).collect();
    let given = read_before_operands(&arguments, &Options { short: "eEIMmxF", long: &[] });
    let has_code = given.has(&["e", "E"]);
    if given.has(&["i"]) {
        for file in given.operands.iter().skip(usize::from(!has_code)) {
            walk.writes(file, How::Edit);
        }
        return;
    }
    if has_code || given.operands.first().is_none_or(|script| script.is("-")) {
        walk.unknown(Unknown::Code(name.to_owned()));
    }
}

/// `-pi.bak` without the suffix for backups, whose letters are no options.
fn without_suffix(argument: &Argument) -> Argument {
    let bundle = argument.plain().filter(|text| text.starts_with('-') && !text.starts_with("--"));
    match bundle.and_then(|text| Some((text, text.find(['i', 'e', 'E', 'I', 'M', 'm', 'F'])?))) {
        Some((text, at)) if text[at..].starts_with('i') => Argument::Plain(text[..=at].to_owned()),
        _ => argument.clone(),
    }
}

/// `awk`, which edits in place with an extension of GNU only.
pub(super) fn awk(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    let given =
        read_before_operands(arguments, &Options { short: "iFfvelW", long: &["include", "file", "assign"] });
    if !given.value(&["i", "include"]).is_some_and(|library| library.is("inplace")) {
        return;
    }
    let has_program = given.has(&["f", "file", "e"]);
    for file in given.operands.iter().skip(usize::from(!has_program)) {
        walk.writes(file, How::Edit);
    }
}

/// `ed`, `ex`, `vim` and others that open the files that they name.
pub(super) fn editor(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    let given = read(arguments, &Options { short: "cpSTuUwW", long: &["cmd"] });
    for file in given.operands.iter().filter(|file| !file.shown().starts_with('+')) {
        walk.writes(file, How::Edit);
    }
}

/// `yq`, whose first operand is an expression.
pub(super) fn yq(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    let given =
        read(arguments, &Options { short: "oIp", long: &["output-format", "input-format", "indent"] });
    if given.has(&["i", "inplace", "in-place"]) {
        let words = ["eval", "e", "eval-all", "ea"];
        let operands = given.operands.iter().filter(|operand| !words.contains(&operand.shown()));
        operands.skip(1).for_each(|file| walk.writes(file, How::Edit));
    }
}

/// How a formatter is told to change files.
pub(super) struct Formatter {
    pub(super) name: &'static str,
    /// The word before its options, for programs that do other things, too.
    command: Option<&'static str>,
    /// The options that make it write; none if it writes unless told otherwise.
    writes: &'static [&'static str],
    /// The options that make it look only.
    looks: &'static [&'static str],
    /// The letters of options that take a value.
    short: &'static str,
}

const fn writes_if(name: &'static str, writes: &'static [&'static str]) -> Formatter {
    Formatter { name, command: None, writes, looks: &[], short: "" }
}

const fn writes_unless(name: &'static str, looks: &'static [&'static str]) -> Formatter {
    Formatter { name, command: None, writes: &[], looks, short: "" }
}

const fn command(formatter: Formatter, command: &'static str) -> Formatter {
    Formatter { command: Some(command), ..formatter }
}

const fn values(formatter: Formatter, short: &'static str) -> Formatter {
    Formatter { short, ..formatter }
}

pub(super) const FORMATTERS: [Formatter; 22] = [
    writes_if("prettier", &["w", "write"]),
    writes_if("gofmt", &["w"]),
    writes_if("goimports", &["w"]),
    values(writes_if("eslint", &["fix"]), "cfo"),
    writes_if("stylelint", &["fix"]),
    writes_if("clang-format", &["i"]),
    values(writes_if("shfmt", &["w", "write"]), "i"),
    writes_if("autopep8", &["i", "in-place"]),
    writes_if("yapf", &["i", "in-place"]),
    writes_unless("rustfmt", &["check"]),
    values(writes_unless("black", &["check", "diff"]), "ltCW"),
    values(writes_unless("isort", &["check", "check-only", "c", "diff"]), "lwp"),
    command(writes_unless("ruff", &["check", "diff"]), "format"),
    command(writes_if("ruff", &["fix"]), "check"),
    command(writes_unless("cargo", &["check"]), "fmt"),
    command(writes_if("cargo", &["fix"]), "clippy"),
    command(writes_unless("cargo", &[]), "fix"),
    command(writes_if("biome", &["write", "fix"]), "format"),
    command(writes_if("biome", &["write", "fix"]), "check"),
    command(writes_unless("deno", &["check"]), "fmt"),
    command(writes_unless("dprint", &[]), "fmt"),
    command(writes_unless("terraform", &["check"]), "fmt"),
];

/// A formatter changes the files that it names, or some that it finds.
pub(super) fn formatter(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], _: &Feed) {
    const LONG: &[&str] = &[
        "config",
        "config-path",
        "edition",
        "line-length",
        "parser",
        "ignore-path",
        "plugin",
        "ext",
        "rule",
    ];
    for formatter in FORMATTERS.iter().filter(|formatter| formatter.name == name) {
        let mut given = read(arguments, &Options { short: formatter.short, long: LONG });
        // `cargo +nightly fmt`
        given.operands.retain(|operand| !operand.shown().starts_with('+'));
        let is_meant = match formatter.command {
            None => true,
            Some(command) => given.operands.first().is_some_and(|operand| operand.is(command)),
        };
        let writes = formatter.writes.is_empty() || given.has(formatter.writes);
        if is_meant && writes && !given.has(formatter.looks) {
            named_or_unknown(walk, formatter, &given);
        }
    }
}

fn named_or_unknown(walk: &mut Walk<'_>, formatter: &Formatter, given: &Given<'_>) {
    let files = given.operands.iter().skip(usize::from(formatter.command.is_some()));
    let files: Vec<&Argument> = files.copied().filter(|file| !file.is("-")).collect();
    // What follows `cargo fmt --` is for another program, and names no files.
    if files.is_empty() || formatter.name == "cargo" {
        let words = [Some(formatter.name), formatter.command];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        return walk.unknown(Unknown::InPlace(words.join(" ")));
    }
    for file in files {
        match file.plain() {
            // Quoted from the shell, a glob is one for the formatter.
            Some(path) if path.contains(['*', '?', '{']) => {
                walk.writes(&Argument::Glob(path.to_owned()), How::Edit);
            }
            _ => walk.writes(file, How::Edit),
        }
    }
}

/// `dos2unix` and others that change every file that they name.
pub(super) fn converter(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    for file in &read(arguments, &FLAGS_ONLY).operands {
        walk.writes(file, How::Edit);
    }
}
