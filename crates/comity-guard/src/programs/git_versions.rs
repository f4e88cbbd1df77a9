//! Files as git has them: `git show HEAD:src/a.rs`.

use super::walk::{ProgramCall, Walk};
use crate::arguments::Argument;
use crate::effects::{GitVersion, Read};

pub(crate) fn git_show(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    call.given.operands.iter().for_each(|operand| version(walk, operand));
}

pub(crate) fn git_cat_file(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if call.arguments.first().is_some_and(|kind| kind.is("-p") || kind.is("blob")) {
        call.arguments.iter().skip(1).for_each(|operand| version(walk, operand));
    }
}

/// `REVISION:PATH`.
fn version(walk: &mut Walk<'_>, operand: &Argument) {
    let (Some(name), Some(of)) = (operand.plain(), walk.base.here()) else { return };
    if let Some((_, path)) = name.split_once(':').filter(|(_, path)| !path.is_empty()) {
        let version = Some(GitVersion { of, name: name.to_owned() });
        walk.found.read(Read { path: path.to_owned(), whole: true, version });
    }
}
