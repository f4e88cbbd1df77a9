//! Programs that change the files they name: `rm`, `tee`, `dd`, `chmod` and their kin.

use super::walk::{ProgramCall, Walk};
use crate::arguments::Argument;
use crate::effects::WriteKind;
use crate::table::ProgramOptions;

pub(crate) fn rm(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let recursive = call.given.has(&["r", "R", "recursive"]);
    each(walk, &call.given.operands, WriteKind::Delete, recursive);
}

pub(crate) fn shred(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let how = if call.given.has(&["u", "remove"]) { WriteKind::Delete } else { WriteKind::Whole };
    each(walk, &call.given.operands, how, false);
}

/// `tee`, `sponge`
pub(crate) fn tee(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let how = if call.given.has(&["a", "append"]) { WriteKind::Append } else { WriteKind::Whole };
    each(walk, &call.given.operands, how, false);
}

pub(crate) fn dd(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    for output in call.arguments.iter().filter_map(|argument| argument.after("of=")) {
        walk.writes(&output, WriteKind::Whole);
    }
}

/// `chmod`, `chown`, `chgrp`
pub(crate) fn mode(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    // A mode like -x looks like an option, but options are known.
    let is_mode = |argument: &&Argument| {
        let letters = argument.plain().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
        call.name == "chmod" && !letters.is_empty() && letters.chars().all(|c| "rwxXstugo,+=-".contains(c))
    };
    let rest: Vec<Argument> = call.arguments.iter().filter(|argument| !is_mode(argument)).cloned().collect();
    let has_mode = rest.len() < call.arguments.len();
    let given = ProgramOptions::new(&["--reference= --from="]).guess(&rest);
    let skipped = usize::from(!has_mode && !given.has(&["reference"])).min(given.operands.len());
    each(walk, &given.operands[skipped..], WriteKind::Mode, given.has(&["R", "recursive"]));
}

/// `uniq`, `xxd`: the second operand is the output.
pub(crate) fn second_operand(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if let [_, output] = &call.given.operands[..] {
        walk.writes(output, WriteKind::Whole);
    }
}

/// `sqlite3`: the first operand is the database.
pub(crate) fn first_operand(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    each(walk, &call.given.operands[..call.given.operands.len().min(1)], WriteKind::Edit, false);
}

/// `rename`: all operands but those that say how.
pub(crate) fn rename(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let is_code = |argument: &Argument| {
        argument.shown().contains(['/', '{']) && argument.shown().starts_with(['s', 'y', 't'])
    };
    let skipped = if call.given.operands.first().is_some_and(is_code) { 1 } else { 2 };
    each(walk, call.given.operands.get(skipped..).unwrap_or_default(), WriteKind::Move, false);
}

/// `make`, whose operands are files to make, or goals.
pub(crate) fn make(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    walk.apart(|walk| {
        if let Some(directory) = call.given.value(&["C", "directory"]) {
            walk.base = walk.base.enter(directory);
        }
        let is_file =
            |operand: &&Argument| operand.shown().contains(['/', '.']) && !operand.shown().contains('=');
        call.given.operands.iter().filter(is_file).for_each(|file| walk.writes(file, WriteKind::Whole));
    });
}

/// Programs with an option that names an output, in one of the usual forms: `-out file`, `--js_out=dir`.
pub(crate) fn named_output(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let mut rest = call.arguments.iter();
    let mut in_place = false;
    while let Some(argument) = rest.next() {
        match argument.shown() {
            "-out" | "-keyout" => {
                rest.next().into_iter().for_each(|file| walk.writes(file, WriteKind::Whole))
            }
            "--in-place" | "--inplace" | "--write" | "--fix" if in_place => {}
            "--in-place" | "--inplace" | "--write" | "--fix" => {
                in_place = true;
                let is_path = |operand: &&Argument| operand.shown().contains(['/', '.']);
                call.given
                    .operands
                    .iter()
                    .filter(is_path)
                    .for_each(|file| walk.writes(file, WriteKind::Edit));
            }
            text => {
                let value =
                    text.split_once("_out=").and_then(|(name, _)| argument.after(&format!("{name}_out=")));
                value.iter().for_each(|directory| walk.writes_below(directory, WriteKind::Create));
            }
        }
    }
}

fn each(walk: &mut Walk<'_>, operands: &[Argument], how: WriteKind, recursive: bool) {
    for operand in operands {
        match recursive {
            true => walk.writes_below(operand, how),
            false => walk.writes(operand, how),
        }
    }
}
