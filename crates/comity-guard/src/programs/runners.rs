//! Programs that start another program: `sudo`, `env`, `timeout`, `xargs`.

use super::arguments::Argument;
use super::feed::Feed;
use super::options::{Options, read_before_operands};
use super::search::filled;
use super::shells;
use super::walk::Walk;
use crate::effects::{How, Target};

/// How a program says what it starts.
pub(super) struct Runner {
    pub(super) name: &'static str,
    /// The letters of options that take a value.
    short: &'static str,
    /// The long options that take a value.
    long: &'static [&'static str],
    /// Operands before the program.
    skips: usize,
}

const fn runner(name: &'static str, short: &'static str, skips: usize) -> Runner {
    Runner { name, short, long: &[], skips }
}

pub(super) const RUNNERS: [Runner; 27] = [
    Runner {
        name: "sudo",
        short: "ugCDhpRrTt",
        long: &["user", "group", "chdir", "host", "prompt"],
        skips: 0,
    },
    runner("doas", "uC", 0),
    Runner { name: "env", short: "uCS", long: &["unset", "chdir", "split-string"], skips: 0 },
    runner("command", "", 0),
    runner("builtin", "", 0),
    runner("exec", "a", 0),
    runner("nohup", "", 0),
    runner("time", "fo", 0),
    Runner { name: "timeout", short: "ks", long: &["kill-after", "signal"], skips: 1 },
    Runner { name: "gtimeout", short: "ks", long: &["kill-after", "signal"], skips: 1 },
    Runner { name: "nice", short: "n", long: &["adjustment"], skips: 0 },
    runner("ionice", "cnp", 0),
    Runner { name: "stdbuf", short: "ioe", long: &["input", "output", "error"], skips: 0 },
    runner("setsid", "", 0),
    runner("chronic", "", 0),
    runner("unbuffer", "", 0),
    runner("busybox", "", 0),
    runner("coproc", "", 0),
    runner("caffeinate", "tw", 0),
    runner("strace", "oepsuEaISPXU", 0),
    runner("ltrace", "oepsu", 0),
    runner("flock", "wE", 1),
    Runner { name: "npx", short: "pc", long: &["package", "call"], skips: 0 },
    runner("bunx", "p", 0),
    Runner { name: "uvx", short: "p", long: &["from", "with", "python"], skips: 0 },
    runner("pnpx", "", 0),
    runner("entr", "", 0),
];

/// Programs of which one word runs another program: `uv run black`, `npm exec prettier`.
pub(super) const RUN_WORDS: [(&str, &[&str]); 8] = [
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["x"]),
    ("bundle", &["exec"]),
];

pub(super) fn run(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], feed: &Feed) {
    let Some(runner) = RUNNERS.iter().find(|runner| runner.name == name) else { return };
    let given = read_before_operands(arguments, &Options { short: runner.short, long: runner.long });
    // `command -v` only looks.
    if name == "command" && given.has(&["v", "V"]) {
        return;
    }
    if let Some(line) = given.value(&["S", "split-string"]).filter(|_| name == "env") {
        return shells::line_of(walk, name, line);
    }
    let directory = match name {
        "env" => given.value(&["C", "chdir"]),
        "sudo" => given.value(&["D", "chdir"]),
        _ => None,
    };
    let is_assignment = |argument: &&&Argument| {
        let name = argument.shown().split_once('=').map(|(name, _)| name);
        matches!(runner.name, "env" | "sudo" | "doas")
            && name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    };
    let assignments = given.operands.iter().take_while(is_assignment).count();
    let program: Vec<Argument> =
        given.operands.iter().skip(assignments + runner.skips).copied().cloned().collect();
    match directory {
        Some(directory) => walk.apart(|walk| {
            walk.base = walk.base.enter(directory);
            walk.program(&program, feed);
        }),
        None => walk.program(&program, feed),
    }
    if name == "time"
        && let Some(output) = given.value(&["o"])
    {
        walk.writes(output, How::Whole);
    }
}

pub(super) fn run_word(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], feed: &Feed) {
    let words = RUN_WORDS.iter().find(|(program, _)| *program == name).map_or(&[][..], |(_, words)| words);
    let given = read_before_operands(arguments, &Options { short: "", long: &["with", "from", "package"] });
    let Some((word, program)) = given.operands.split_first() else { return };
    if !word.plain().is_some_and(|word| words.contains(&word)) {
        return;
    }
    let program: Vec<Argument> =
        program.iter().skip_while(|argument| argument.shown().starts_with('-')).copied().cloned().collect();
    walk.program(&program, feed);
}

/// `xargs`, which gives what it reads to another program.
pub(super) fn xargs(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], feed: &Feed) {
    const XARGS: Options = Options {
        short: "aEILnPsdJRS",
        long: &["arg-file", "replace", "max-args", "max-procs", "max-lines", "max-chars", "delimiter"],
    };
    let given = read_before_operands(arguments, &XARGS);
    let found = match feed {
        Feed::Found(targets) => targets.clone(),
        Feed::Text(text) => {
            let names = text.split_whitespace().map(|name| Argument::Plain(name.to_owned()));
            names.flat_map(|name| walk.base.targets(&name)).collect()
        }
        Feed::File | Feed::Unknown => vec![Target::Unclear("what xargs reads".to_owned())],
    };
    let mark = given.value(&["I", "J", "replace"]).and_then(Argument::plain);
    let mark = mark.or(given.has(&["i", "replace"]).then_some("{}")).filter(|mark| !mark.is_empty());
    let mut program: Vec<Argument> = match mark {
        Some(mark) => given.operands.iter().map(|word| filled(word, mark, &found)).collect(),
        None => given.operands.iter().copied().cloned().collect(),
    };
    if mark.is_none() {
        program.push(Argument::Found(found));
    }
    walk.apart(|walk| walk.program(&program, &Feed::Unknown));
}
