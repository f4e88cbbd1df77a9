//! `grep` and `rg`, which show lines of the files that they name.

use super::walk::{ProgramCall, Walk};

pub(crate) fn grep(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let has_pattern = call.given.has(&["e", "f", "regexp", "file"]);
    if call.given.has(&["files", "type-list"]) {
        return;
    }
    let files = call.given.operands.iter().skip(usize::from(!has_pattern));
    files.filter(|file| !file.is("-")).for_each(|file| walk.reads(file, false));
}
