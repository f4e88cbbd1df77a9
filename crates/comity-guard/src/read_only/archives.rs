//! Archives, of which only the list is read.

use super::doubt::{Doubt, Proven, shown};
use super::options::{self, NONE};
use super::table::{Program, own, program};
use super::walk::Walk;
use super::words::Argument;

pub(super) const PROGRAMS: &[Program] = &[
    own("tar", tar),
    own("unzip", unzip),
    program("zipinfo", NONE.flags("1hlmstTvz")),
    program("zcat", NONE),
    program("bzcat", NONE),
    program("xzcat", NONE),
];

/// `tar -t`: the letters say what it does, with a dash or without.
fn tar(_: &mut Walk, arguments: &[Argument]) -> Proven {
    const LIST: &str = "tvzjJf";
    let Some((first, rest)) = arguments.split_first() else { return Err(Doubt::because("it lists nothing")) };
    let letters = first.known().unwrap_or_default();
    let letters = letters.strip_prefix('-').unwrap_or(letters);
    let lists = letters.contains('t') && letters.chars().all(|letter| LIST.contains(letter));
    // The name of the archive is the next word, so nothing may follow the letter that asks for it.
    let names = letters.ends_with('f') && letters.matches('f').count() == 1;
    if !lists || !names {
        return Err(Doubt::because("only a list (`tar -tf archive`) is known to only read"));
    }
    let Some((archive, members)) = rest.split_first() else {
        return Err(Doubt::because("the archive is not named"));
    };
    // A name with a colon is on another machine, which tar reaches by running a program.
    if !archive.known().is_some_and(|name| !name.contains(':') && !name.starts_with('-')) {
        return Err(Doubt::because(format!("`{}` may be on another machine", shown(archive.shown()))));
    }
    options::read(&NONE, members).map(drop)
}

/// `unzip -l`: one option that lists or tests, then the archive.
fn unzip(_: &mut Walk, arguments: &[Argument]) -> Proven {
    const LISTING: [&str; 6] = ["-l", "-lv", "-v", "-Z", "-Z1", "-t"];
    match arguments.split_first() {
        Some((first, rest)) if first.known().is_some_and(|first| LISTING.contains(&first)) => {
            options::read(&NONE, rest).map(drop)
        }
        Some(_) | None => Err(Doubt::because("only a list (`unzip -l archive`) is known to only read")),
    }
}
