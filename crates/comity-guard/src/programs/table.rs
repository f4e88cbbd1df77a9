//! Which program does what: the table of all programs that we know.

use super::arguments::Argument;
use super::feed::Feed;
use super::walk::Walk;
use super::{archives, copies, files, git, inplace, patches, runners, search, shells};
use crate::effects::Unknown;

/// What a program does, given its name and arguments.
pub(super) type Effect = fn(&mut Walk<'_>, &str, &[Argument], &Feed);

const PROGRAMS: &[(&[&str], Effect)] = &[
    (&["rm", "grm", "trash"], files::rm),
    (&["rmdir", "unlink"], files::remove),
    (&["shred"], files::shred),
    (&["tee", "gtee"], files::tee),
    (&["touch"], files::touch),
    (&["truncate"], files::truncate),
    (&["sponge"], files::sponge),
    (&["sort"], files::sort),
    (&["dd"], files::dd),
    (&["chmod", "chown", "chgrp"], files::mode),
    (&["cat", "nl", "tac", "bat", "less", "more"], files::show),
    (&["head", "tail"], files::show_part),
    (&["mv", "gmv"], copies::mv),
    (&["cp", "gcp"], copies::cp),
    (&["install", "ginstall"], copies::install),
    (&["ln", "link"], copies::ln),
    (&["git"], git::git),
    (&["apply_patch", "applypatch"], patches::apply_patch),
    (&["patch", "gpatch"], patches::patch),
    (&["tar", "gtar", "bsdtar"], archives::tar),
    (&["unzip"], archives::unzip),
    (&["zip"], archives::zip),
    (&["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"], archives::gzip),
    (&["rsync", "scp"], archives::rsync),
    (&["curl"], archives::curl),
    (&["wget"], archives::wget),
    (&["sed", "gsed"], inplace::sed),
    (&["perl"], inplace::perl),
    (&["awk", "gawk"], inplace::awk),
    (&["ed", "ex", "vi", "vim", "nvim", "nano", "emacs"], inplace::editor),
    (&["yq"], inplace::yq),
    (&["dos2unix", "unix2dos"], inplace::converter),
    (&["find", "gfind"], search::find),
    (&["xargs", "gxargs"], runners::xargs),
    (&["cd", "pushd", "popd"], shells::cd),
    (&["bash", "sh", "zsh", "dash", "ksh", "ash"], shells::shell),
    (&["eval"], shells::eval),
    (&["ruby", "php", "node", "nodejs", "deno", "bun", "lua", "osascript", "Rscript"], shells::interpreter),
];

/// What the program of this name does; nothing if we do not know it.
pub(super) fn of(name: &str) -> Option<Effect> {
    if runners::RUNNERS.iter().any(|runner| runner.name == name) {
        return Some(runners::run);
    }
    if let Some(effect) = with_words(name) {
        return Some(effect);
    }
    let known = PROGRAMS.iter().find(|(names, _)| names.contains(&name));
    match known {
        Some((_, effect)) => Some(*effect),
        None if is_python(name) => Some(shells::interpreter),
        None => None,
    }
}

/// Programs whose first word says what they do; they may be formatters, runners or interpreters.
fn with_words(name: &str) -> Option<Effect> {
    let formats = inplace::FORMATTERS.iter().any(|formatter| formatter.name == name);
    let runs = runners::RUN_WORDS.iter().any(|(program, _)| *program == name);
    match (name, formats, runs) {
        ("bun" | "deno", ..) => Some(word_or_code),
        (_, true, _) => Some(inplace::formatter),
        (_, _, true) => Some(runners::run_word),
        (_, false, false) => None,
    }
}

/// `bun` and `deno` run code, but also have words.
fn word_or_code(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], feed: &Feed) {
    let word = arguments.first().map(Argument::shown).unwrap_or_default();
    match word {
        "fmt" => inplace::formatter(walk, name, arguments, feed),
        "x" => runners::run_word(walk, name, arguments, feed),
        _ if word.starts_with('-') || word.is_empty() => shells::interpreter(walk, name, arguments, feed),
        "eval" => walk.unknown(Unknown::Code(name.to_owned())),
        _ => {}
    }
}

/// `python`, `python3`, `python3.12`, `pypy3`
fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}
