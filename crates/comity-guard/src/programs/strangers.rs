//! Programs that are not in the table.

use super::walk::Walk;
use crate::arguments::Argument;
use crate::effects::WriteKind;
use crate::table::{self, KnownProgram, ProgramOptions};

/// What many programs call the option for their output.
const OUTPUTS: ProgramOptions =
    ProgramOptions::new(&["-o: --output= --out= --outfile= --output-file= --out-file="]);

impl Walk<'_> {
    /// An unknown program: its output is written, if it looks like a path.
    pub(super) fn stranger(&mut self, arguments: &[Argument]) {
        let given = OUTPUTS.guess(arguments);
        let is_path = |argument: &&Argument| {
            let text = argument.shown();
            text.contains(['/', '.']) && !text.contains(['=', ':', ','])
        };
        for output in
            given.values(&["o", "output", "out", "outfile", "output-file", "out-file"]).filter(is_path)
        {
            self.writes(output, WriteKind::Whole);
        }
        if given.has(&["in-place", "inplace", "write", "fix"]) {
            given.operands.iter().filter(is_path).for_each(|file| self.writes(file, WriteKind::Edit));
        }
    }
}

/// `python3.12` is a Python.
pub(super) fn versioned(name: &str) -> Option<&'static KnownProgram> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    table::program(stem)
        .filter(|_| matches!(stem, "python" | "pypy" | "ruby" | "php" | "lua" | "perl" | "gcc" | "clang"))
}
