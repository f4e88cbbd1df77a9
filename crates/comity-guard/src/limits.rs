//! The bounds: what is longer, deeper or more is not read, and counts as unknown.

/// Bytes of one payload, which can contain whole files.
pub const PAYLOAD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one command line; Linux limits an argument to half of that.
pub const COMMAND_BYTES_MAX: usize = 256 * 1024;
/// Commands within commands: substitutions, groups, and lines for another shell.
pub const NESTING_MAX: usize = 32;
/// The same over all lines for other shells, and programs that start programs.
pub const WALK_NESTING_MAX: usize = 64;
/// Writes and reads of one call.
pub const EFFECTS_MAX: usize = 1_000;
/// Bytes of a text that may be a path; Linux accepts none that is longer.
pub const GUESS_BYTES_MAX: usize = 4_096;
/// Words of an argument string that are each tried as a path; with more, only those that look like one.
pub const LINE_WORDS_MAX: usize = 64;
/// Words that one word with braces may expand to.
pub const BRACE_WORDS_MAX: usize = 64;
/// Characters of one word with braces; no path is longer.
pub const BRACE_CHARS_MAX: usize = 4_096;
/// Bytes of a word with its variables expanded; no path is longer, and values with blanks are not followed.
pub const EXPANSION_BYTES_MAX: usize = 16 * 1024;
/// The work of reading one call: a unit for each byte read, expanded or copied, and [`READING_STEP_UNITS`] for each
/// command, word and path. A line of maximum length takes a quarter of it.
pub const READING_UNITS_MAX: usize = 8 * 1024 * 1024;
/// Units for one command, word or path, however short it is.
pub const READING_STEP_UNITS: usize = 32;
/// Linux accepts no longer path.
pub const PATH_BYTES_MAX: usize = 4_096;
/// Bytes that may be read twice in one line, to tell arithmetic from a subshell.
pub const LOOKAHEAD_BYTES_MAX: usize = 16 * COMMAND_BYTES_MAX;
/// Characters of one bracket class of a glob.
pub const CLASS_CHARS_MAX: usize = 256;
/// Bytes of additional context: Claude Code cuts at 10,000 characters, Copilot CLI at 10 KB.
pub const CONTEXT_BYTES_MAX: usize = 10_000;
pub const REASON_BYTES_MAX: usize = 10_000;
/// Characters of a command that a doubt quotes.
pub const DOUBT_CHARS_MAX: usize = 80;
/// Bytes of one command to be proven read-only; looking at files takes no more.
pub const PROVEN_BYTES_MAX: usize = 64 * 1024;
/// Programs that start programs, in one command to be proven read-only.
pub const PROVEN_RUNNERS_MAX: usize = 8;
/// Bytes of code in another language that are searched for names of files.
pub const CODE_BYTES_MAX: usize = 64 * 1024;
/// Names of files in one piece of code.
pub const CODE_NAMES_MAX: usize = 64;
/// Variables whose values are followed through one command line.
pub const VARIABLES_MAX: usize = 64;
