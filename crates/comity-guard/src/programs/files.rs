//! Programs that change the files they name: `rm`, `tee`, `touch`, `chmod` and their kin.

use super::arguments::Argument;
use super::feed::Feed;
use super::options::{FLAGS_ONLY, Options, read};
use super::walk::Walk;
use crate::effects::How;

pub(super) fn rm(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    let given = read(arguments, &FLAGS_ONLY);
    let recursive = given.has(&["r", "R", "recursive"]);
    for operand in &given.operands {
        match recursive {
            true => walk.writes_below(operand, How::Delete),
            false => walk.writes(operand, How::Delete),
        }
    }
}

/// `rmdir`, `unlink`
pub(super) fn remove(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    each(walk, arguments, &FLAGS_ONLY, How::Delete);
}

pub(super) fn shred(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    const SHRED: Options = Options { short: "ns", long: &["iterations", "size", "random-source"] };
    let removes = read(arguments, &SHRED).has(&["u", "remove"]);
    each(walk, arguments, &SHRED, if removes { How::Delete } else { How::Whole });
}

pub(super) fn tee(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    let appends = read(arguments, &FLAGS_ONLY).has(&["a", "append"]);
    each(walk, arguments, &FLAGS_ONLY, if appends { How::Append } else { How::Whole });
}

pub(super) fn touch(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    const TOUCH: Options = Options { short: "drtA", long: &["date", "reference", "time"] };
    each(walk, arguments, &TOUCH, How::Create);
}

pub(super) fn truncate(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    const TRUNCATE: Options = Options { short: "sr", long: &["size", "reference"] };
    each(walk, arguments, &TRUNCATE, How::Edit);
}

/// `sponge`
pub(super) fn sponge(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    let appends = read(arguments, &FLAGS_ONLY).has(&["a"]);
    each(walk, arguments, &FLAGS_ONLY, if appends { How::Append } else { How::Whole });
}

pub(super) fn sort(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    const SORT: Options = Options { short: "okStT", long: &["output", "key", "field-separator"] };
    if let Some(output) = read(arguments, &SORT).value(&["o", "output"]) {
        walk.writes(output, How::Whole);
    }
}

pub(super) fn dd(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    for output in arguments.iter().filter_map(|argument| argument.after("of=")) {
        walk.writes(&output, How::Whole);
    }
}

/// `chmod`, `chown`, `chgrp`
pub(super) fn mode(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], _: &Feed) {
    // A mode like -x looks like an option; what is one is known.
    let is_mode = |argument: &&Argument| {
        let letters = argument.plain().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
        name == "chmod" && !letters.is_empty() && letters.chars().all(|c| "rwxXstugo,+=-".contains(c))
    };
    let rest: Vec<Argument> = arguments.iter().filter(|argument| !is_mode(argument)).cloned().collect();
    let has_mode = rest.len() < arguments.len();
    let given = read(&rest, &Options { short: "", long: &["reference", "from"] });
    let skipped = usize::from(!has_mode && !given.has(&["reference"]));
    let recursive = given.has(&["R", "recursive"]);
    for operand in given.operands.iter().skip(skipped) {
        match recursive {
            true => walk.writes_below(operand, How::Mode),
            false => walk.writes(operand, How::Mode),
        }
    }
}

/// `cat` and others that show all of a file.
pub(super) fn show(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    for operand in read(arguments, &FLAGS_ONLY).operands.iter().filter(|operand| !operand.is("-")) {
        walk.reads(operand, true);
    }
}

/// `head`, `tail`
pub(super) fn show_part(walk: &mut Walk<'_>, _: &str, arguments: &[Argument], _: &Feed) {
    let given = read(arguments, &Options { short: "nc", long: &["lines", "bytes"] });
    for operand in given.operands.iter().filter(|operand| !operand.is("-")) {
        walk.reads(operand, false);
    }
}

fn each(walk: &mut Walk<'_>, arguments: &[Argument], options: &Options, how: How) {
    for operand in &read(arguments, options).operands {
        walk.writes(operand, how);
    }
}
