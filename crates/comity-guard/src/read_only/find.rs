//! `find`: its tests only look, and what it runs has to be proven.

use super::doubt::{Doubt, Proven, shown};
use super::runners::fill;
use super::table::{Program, own};
use super::walk::Walk;
use super::words::{Argument, Open};

pub(super) const PROGRAMS: &[Program] = &[own("find", find)];

/// Words of an expression that stand alone.
const ALONE: [&str; 34] = [
    "-H",
    "-L",
    "-P",
    "(",
    ")",
    "!",
    ",",
    "-a",
    "-and",
    "-o",
    "-or",
    "-not",
    "-true",
    "-false",
    "-empty",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-daystart",
    "-follow",
    "-noleaf",
    "-nowarn",
    "-warn",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
];
/// Words of an expression with a value behind them.
const VALUED: [&str; 38] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-lname",
    "-ilname",
    "-type",
    "-xtype",
    "-size",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-inum",
    "-links",
    "-samefile",
    "-fstype",
    "-maxdepth",
    "-mindepth",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-used",
    "-newer",
    "-anewer",
    "-cnewer",
    "-newermt",
    "-newerct",
    "-printf",
];

fn find(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    let mut rest = arguments;
    let mut start = ".";
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        let text = match word {
            Argument::Known(text) => text.as_str(),
            Argument::Open(open) if open.is_operand() && !open.prefix.starts_with(['(', '!', ',']) => {
                &open.prefix
            }
            Argument::Open(open) => {
                let part = shown(&open.shown);
                return Err(Doubt::because(format!("`{part}` may become an action of `find`")));
            }
        };
        match text {
            "-exec" => rest = run(walk, rest, start)?,
            alone if ALONE.contains(&alone) => {}
            valued if VALUED.contains(&valued) => {
                let is_one = |value: &Argument| !matches!(value, Argument::Open(open) if open.many);
                let Some((_, behind)) = rest.split_first().filter(|(value, _)| is_one(value)) else {
                    return Err(Doubt::because(format!("`{valued}` needs exactly one value")));
                };
                rest = behind;
            }
            action if action.starts_with('-') => {
                return Err(Doubt::because(format!("`{}` is not known to only look", shown(action))));
            }
            path if path.starts_with(['/', '~']) => start = "/",
            _ => {}
        }
    }
    Ok(())
}

/// Proves what `-exec` runs; gives what stands behind it.
fn run<'a>(walk: &mut Walk, words: &'a [Argument], start: &str) -> Result<&'a [Argument], Doubt> {
    // A `+` ends it only behind `{}`; elsewhere it is an argument.
    let ends = |at: &usize| words[*at].is(";") || (words[*at].is("+") && *at > 0 && words[*at - 1].is("{}"));
    let Some(end) = (0..words.len()).find(ends) else {
        return Err(Doubt::because("what `-exec` runs has no end"));
    };
    // What is not known may be an end, too, and what follows it an action.
    let may_end = |word: &Argument| matches!(word, Argument::Open(open) if !open.is_operand());
    if let Some(word) = words[..end].iter().find(|word| may_end(word)) {
        return Err(Doubt::because(format!("`{}` may end what `-exec` runs", shown(word.shown()))));
    }
    let many = words[end].is("+");
    let mut program = words[..end].to_vec();
    for word in &mut program {
        // A path that is found begins with where the search began, and so is no option.
        if word.is("{}") {
            *word = Argument::Open(Open { shown: "{}".to_owned(), prefix: start.to_owned(), many });
        }
        fill(word, "{}");
    }
    walk.run(&program)?;
    Ok(&words[end + 1..])
}
