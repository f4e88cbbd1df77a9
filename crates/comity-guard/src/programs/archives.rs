//! Programs that unpack, mirror or fetch: `tar`, `unzip`, `rsync`, `curl`, `wget`.

use super::shells::line_of;
use super::walk::{ProgramCall, Walk};
use crate::arguments::Argument;
use crate::effects::WriteKind;
use crate::table;

pub(crate) fn tar(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let arguments = dashed(call.arguments, "fCbgHIKLNTVX");
    let Some(tar) = table::program("tar") else { return };
    let given = tar.options.guess(&arguments);
    let extracts = given.has(&["x", "extract", "get"]) && !given.has(&["O", "to-stdout"]);
    for action in given.values(&["checkpoint-action"]).filter_map(|action| action.after("exec=")) {
        line_of(walk, call, &action);
    }
    for line in given.values(&["to-command", "use-compress-program", "I"]) {
        line_of(walk, call, line);
    }
    let here = Argument::Plain(".".to_owned());
    if extracts {
        walk.writes_below(given.value(&["C", "directory"]).unwrap_or(&here), WriteKind::Whole);
    }
    let packs = given.has(&["c", "create", "r", "append", "u", "update", "A", "delete"]);
    if let Some(archive) = given.value(&["f", "file"]).filter(|archive| packs && !archive.is("-")) {
        walk.writes(archive, if given.has(&["c", "create"]) { WriteKind::Whole } else { WriteKind::Edit });
    }
}

/// Old-style options are a first word without a dash; their values follow in the order of its letters.
fn dashed(arguments: &[Argument], with_value: &str) -> Vec<Argument> {
    let Some((Argument::Plain(letters), rest)) = arguments.split_first() else { return arguments.to_vec() };
    if letters.starts_with('-') {
        return arguments.to_vec();
    }
    let mut rest = rest.iter().cloned();
    let mut dashed = Vec::new();
    for letter in letters.chars() {
        dashed.push(Argument::Plain(format!("-{letter}")));
        dashed.extend(with_value.contains(letter).then(|| rest.next()).flatten());
    }
    dashed.extend(rest);
    dashed
}

pub(crate) fn unzip(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    if given.has(&["l", "t", "p", "v", "Z", "c"]) {
        return;
    }
    let here = Argument::Plain(".".to_owned());
    walk.writes_below(given.value(&["d"]).unwrap_or(&here), WriteKind::Whole);
}

pub(crate) fn zip(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    if let Some(archive) = given.operands.first().filter(|archive| !archive.is("-")) {
        walk.writes(archive, WriteKind::Edit);
    }
}

/// `rsync`, and `scp`, whose last operand is the destination.
pub(crate) fn rsync(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    let [sources @ .., to] = &given.operands[..] else { return };
    if given.has(&["n", "dry-run", "list-only"]) || sources.is_empty() {
        return;
    }
    if !is_remote(to) {
        walk.writes_below(to, WriteKind::Whole);
    }
    if given.has(&["remove-source-files"]) {
        for source in sources.iter().filter(|source| !is_remote(source)) {
            walk.writes_below(source, WriteKind::Delete);
        }
    }
}

/// Whether a path is on another machine: a colon before any slash.
fn is_remote(path: &Argument) -> bool {
    let path = path.shown();
    let name = path.split('/').next().unwrap_or_default();
    name.contains(':')
}

pub(crate) fn curl(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    walk.apart(|walk| {
        if let Some(directory) = given.value(&["output-dir"]) {
            walk.base = walk.base.enter(directory);
        }
        for (name, value) in &given.options {
            let writes =
                ["o", "output", "D", "dump-header", "c", "cookie-jar", "trace", "trace-ascii", "stderr"];
            if let Some(file) = value.as_ref().filter(|file| writes.contains(&name.as_str()) && !file.is("-"))
            {
                walk.writes(file, WriteKind::Whole);
            }
        }
        if given.has(&["O", "remote-name", "remote-name-all"]) {
            let urls = given.value(&["url"]).into_iter().chain(&given.operands);
            urls.for_each(|url| walk.writes(&url_name(url), WriteKind::Whole));
        }
    });
}

pub(crate) fn wget(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    for log in ["o", "output-file", "a", "append-output"].iter().filter_map(|name| given.value(&[name])) {
        walk.writes(log, WriteKind::Append);
    }
    if given.has(&["spider"]) {
        return;
    }
    if let Some(document) = given.value(&["O", "output-document"]) {
        if !document.is("-") {
            walk.writes(document, WriteKind::Whole);
        }
        return;
    }
    walk.apart(|walk| {
        if let Some(directory) = given.value(&["P", "directory-prefix"]) {
            walk.base = walk.base.enter(directory);
        }
        if given.has(&["r", "recursive", "m", "mirror", "p", "page-requisites"]) {
            return walk.writes_below(&Argument::Plain(".".to_owned()), WriteKind::Whole);
        }
        given.operands.iter().for_each(|url| walk.writes(&url_name(url), WriteKind::Whole));
    });
}

/// The file that a download goes to: the last name of its address.
fn url_name(url: &Argument) -> Argument {
    // An address with `?` looks like a glob.
    let (Argument::Plain(text) | Argument::Glob(text)) = url else {
        return Argument::unclear(url.shown(), false);
    };
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    match path.split_once('/').and_then(|(_, path)| path.rsplit('/').next()) {
        Some(name) if !name.is_empty() => Argument::Plain(name.to_owned()),
        _ => Argument::Plain("index.html".to_owned()),
    }
}

/// `gzip` and its kin, which replace a file with another.
pub(crate) fn gzip(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    if given.has(&["c", "stdout", "to-stdout", "t", "test", "l", "list"]) {
        return;
    }
    let unpacks =
        call.name.starts_with("un") || call.name == "gunzip" || given.has(&["d", "decompress", "uncompress"]);
    for operand in &given.operands {
        if !given.has(&["k", "keep"]) {
            walk.writes(operand, WriteKind::Delete);
        }
        let made = match (operand.plain(), unpacks) {
            (Some(path), true) => path.rsplit_once('.').map(|(stem, _)| stem.to_owned()),
            (Some(path), false) => Some(format!("{path}.{}", ending(call.name))),
            (None, _) => None,
        };
        if let Some(made) = made {
            walk.writes(&Argument::Plain(made), WriteKind::Create);
        }
    }
}

fn ending(name: &str) -> &'static str {
    match name {
        "bzip2" => "bz2",
        "xz" => "xz",
        "zstd" => "zst",
        _ => "gz",
    }
}

/// `cpio`, which unpacks here with `-i`.
pub(crate) fn cpio(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let here = Argument::Plain(".".to_owned());
    if call.given.has(&["i", "extract"]) && !call.given.has(&["t", "list"]) {
        walk.writes_below(call.given.value(&["D", "directory"]).unwrap_or(&here), WriteKind::Whole);
    }
    if let Some(directory) = call.given.operands.last().filter(|_| call.given.has(&["p", "pass-through"])) {
        walk.writes_below(directory, WriteKind::Whole);
    }
}
