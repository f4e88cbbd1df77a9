//! The bounds: what is longer, deeper or more is not read, and said to be unknown.

/// Bytes of one payload; it holds whole files.
pub const PAYLOAD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one command line; Linux gives a program no argument longer than half of it.
pub const COMMAND_BYTES_MAX: usize = 256 * 1024;
/// Commands within commands: substitutions, groups, and lines that are given to another shell.
pub const NESTING_MAX: usize = 32;
/// The same over all lines that are given to other shells, and programs that start programs.
pub const WALK_NESTING_MAX: usize = 64;
/// Writes and reads that one call may have.
pub const EFFECTS_MAX: usize = 1_000;
/// Bytes of a text that may be a path though nothing says so; Linux takes none that is longer.
pub const GUESS_BYTES_MAX: usize = 4_096;
/// Words of an argument string that each may be a path; in more only those that look like one.
pub const LINE_WORDS_MAX: usize = 64;
/// Words that the braces of one word may stand for.
pub const BRACE_WORDS_MAX: usize = 64;
/// Characters of one word with braces; no path is longer.
pub const BRACE_CHARS_MAX: usize = 4_096;
/// Bytes that a word may come to with its variables filled in; no path is longer, and values with blanks are not followed.
pub const EXPANSION_BYTES_MAX: usize = 16 * 1024;
/// What reading one call may take: a unit for each byte that is read, filled in or copied, and [`READING_STEP_UNITS`]
/// for each command, word and path. A line of the greatest length takes a quarter of it.
pub const READING_UNITS_MAX: usize = 8 * 1024 * 1024;
/// Units for one command, word or path, however short it is.
pub const READING_STEP_UNITS: usize = 32;
/// Bytes of a path; Linux takes none that is longer.
pub const PATH_BYTES_MAX: usize = 4_096;
/// Bytes that may be read twice in one line, to tell arithmetic from a subshell.
pub const LOOKAHEAD_BYTES_MAX: usize = 16 * COMMAND_BYTES_MAX;
/// Characters of one bracket class of a glob.
pub const CLASS_CHARS_MAX: usize = 256;
/// Bytes of additional context: Claude Code cuts at 10,000 characters, Copilot CLI at 10 KB.
pub const CONTEXT_BYTES_MAX: usize = 10_000;
/// Bytes of the reason of a refusal.
pub const REASON_BYTES_MAX: usize = 10_000;
/// Characters of the part of a command that a doubt names.
pub const DOUBT_CHARS_MAX: usize = 80;
/// Bytes of one command that is proven to only read; who looks at files needs no more.
pub const PROVEN_BYTES_MAX: usize = 64 * 1024;
/// Programs that start programs, in one command that is proven to only read.
pub const PROVEN_RUNNERS_MAX: usize = 8;
/// Bytes of code of another language in which names of files are looked for.
pub const CODE_BYTES_MAX: usize = 64 * 1024;
/// Names of files that one piece of code may have.
pub const CODE_NAMES_MAX: usize = 64;
/// Variables whose values are followed through one command line.
pub const VARIABLES_MAX: usize = 64;
