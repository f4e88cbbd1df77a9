//! What a rule covers: files, or commands.
//!
//! A rule that allows is read narrowly, one that denies broadly. To allow, the command must be exactly this one,
//! plain and alone. To deny, it is enough that one command of a line is this one, or might be.

use serde::{Deserialize, Serialize};

use super::call::{Commands, ProjectFile, ToolCall, ToolClass};
use crate::ids::ProjectId;
use crate::limits::PATTERN_BYTES_MAX;
use crate::paths::{CaseRule, PathPattern, covers, overlaps};
use crate::refusal::Refusal;

/// What a rule covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    Files(ProjectFile),
    /// Files by absolute path, without the leading slash.
    Absolute(PathPattern),
    /// The first words of a command. `*` matches any characters of a word; as the last word, any further words.
    Command(Vec<Box<str>>),
}

/// Whether a rule that denies covers a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Match {
    No,
    /// It cannot be told without running the call.
    Maybe,
    Yes,
}

impl Pattern {
    /// Parses a pattern for tools of this kind.
    pub fn parse(
        class: ToolClass,
        text: &str,
        project: Option<(ProjectId, CaseRule)>,
    ) -> Result<Pattern, Refusal> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(Refusal::bad_pattern(text, "it is too long", "shorten it"));
        }
        match (class, text.strip_prefix('/'), project) {
            (ToolClass::Shell, _, _) => {
                let words: Vec<Box<str>> = text.split_whitespace().map(Into::into).collect();
                match words.is_empty() {
                    true => Err(Refusal::bad_pattern(text, "it has no words", "write it like: cargo test *")),
                    false => Ok(Pattern::Command(words)),
                }
            }
            (ToolClass::Edit | ToolClass::Read, Some(absolute), _) => {
                PathPattern::parse(absolute, CaseRule::Exact).map(Pattern::Absolute)
            }
            (ToolClass::Edit | ToolClass::Read, None, Some((project, case))) => {
                PathPattern::parse(text, case).map(|path| Pattern::Files(ProjectFile { project, path }))
            }
            (ToolClass::Edit | ToolClass::Read, None, None) => Err(Refusal::bad_pattern(
                text,
                "it is not known which repository it is about",
                "go to the repository, or give an absolute path",
            )),
            (ToolClass::Other, _, _) => Err(Refusal::bad_pattern(
                text,
                "a pattern is for tools that edit or read files, or run commands",
                "leave the pattern out: the rule is about every call of the tool",
            )),
        }
    }

    /// Whether a rule with this pattern allows a command. For files, all rules count together.
    pub(super) fn allows_command(&self, call: &ToolCall) -> bool {
        let Pattern::Command(pattern) = self else { return false };
        let single = call.commands.as_ref().and_then(|commands| commands.single.as_ref());
        single.is_some_and(|words| allows(pattern, words))
    }

    /// Whether a rule with this pattern, for tools of this kind, denies a call.
    pub(super) fn forbids(&self, class: ToolClass, call: &ToolCall) -> Match {
        let files = match class {
            ToolClass::Read => &call.reads,
            ToolClass::Shell | ToolClass::Edit | ToolClass::Other => &call.writes,
        };
        // For an unknown tool, everything that may be a path counts as written.
        let is_told = call.is_all || class == ToolClass::Read || call.class == ToolClass::Other;
        let unknown = match is_told {
            true => Match::No,
            false => Match::Maybe,
        };
        let found = |is_there: bool| if is_there { Match::Yes } else { unknown };
        match self {
            Pattern::Files(own) => {
                found(files.iter().any(|file| file.project == own.project && overlaps(&own.path, &file.path)))
            }
            Pattern::Absolute(own) => found(call.outside.iter().any(|path| overlaps(own, path))),
            Pattern::Command(pattern) => {
                call.commands.as_ref().map_or(Match::No, |commands| forbids(pattern, commands))
            }
        }
    }

    pub fn readable(&self) -> String {
        match self {
            Pattern::Files(file) => file.path.readable(),
            Pattern::Absolute(path) => format!("/{}", path.readable()),
            Pattern::Command(words) => words.join(" "),
        }
    }
}

/// Whether these patterns together cover all files of a call.
pub(super) fn allow_files<'a>(patterns: impl Iterator<Item = &'a Pattern> + Clone, call: &ToolCall) -> bool {
    let is_within = |file: &ProjectFile| {
        patterns.clone().any(|pattern| match pattern {
            Pattern::Files(own) => own.project == file.project && covers(&own.path, &file.path),
            Pattern::Absolute(_) | Pattern::Command(_) => false,
        })
    };
    let is_outside_within = |path: &PathPattern| {
        patterns.clone().any(|pattern| match pattern {
            Pattern::Absolute(own) => covers(own, path),
            Pattern::Files(_) | Pattern::Command(_) => false,
        })
    };
    let files = call.files();
    let has_some = !files.is_empty() || !call.outside.is_empty();
    has_some && call.is_all && files.iter().all(is_within) && call.outside.iter().all(is_outside_within)
}

/// Every word must match, with none missing and none left over.
fn allows(pattern: &[Box<str>], words: &[Box<str>]) -> bool {
    let (pattern, open) = match pattern {
        [first @ .., last] if **last == *"*" => (first, true),
        _ => (pattern, false),
    };
    let enough = if open { words.len() >= pattern.len() } else { words.len() == pattern.len() };
    // `*` alone would allow every command; that takes a rule without a pattern.
    !pattern.is_empty() && enough && pattern.iter().zip(words).all(|(pattern, word)| glob(pattern, word))
}

/// Whether one of the commands begins like this, or might.
fn forbids(pattern: &[Box<str>], commands: &Commands) -> Match {
    let pattern = match pattern {
        [first @ .., last] if **last == *"*" => first,
        _ => pattern,
    };
    let found = commands.parts.iter().map(|part| begins(pattern, part)).max().unwrap_or(Match::No);
    match commands.is_all {
        true => found,
        false => found.max(Match::Maybe),
    }
}

fn begins(pattern: &[Box<str>], words: &[Option<Box<str>>]) -> Match {
    let mut words = words.iter();
    for (at, pattern) in pattern.iter().enumerate() {
        match words.next() {
            None => return Match::No,
            // An unknown word may stand for any number of words.
            Some(None) => return Match::Maybe,
            Some(Some(word)) if glob(pattern, word) => {}
            Some(Some(word)) if at == 0 && glob(pattern, base_name(word)) => {}
            Some(Some(_)) => return Match::No,
        }
    }
    Match::Yes
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether the pattern's stars can match the word. Only the last star is ever retried.
fn glob(pattern: &str, word: &str) -> bool {
    let (pattern, word) = (pattern.as_bytes(), word.as_bytes());
    let (mut at, mut in_word) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_word < word.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, in_word));
                at += 1;
            }
            Some(byte) if *byte == word[in_word] => (at, in_word) = (at + 1, in_word + 1),
            _ => match star {
                Some((after, tried)) => {
                    star = Some((after, tried + 1));
                    (at, in_word) = (after, tried + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Box<str>> {
        text.split(' ').map(Into::into).collect()
    }

    #[test]
    fn an_allowed_command_is_that_command() {
        for (pattern, command, expected) in [
            ("git status", "git status", true),
            ("git status", "git status -s", false),
            ("git status *", "git status", true),
            ("git status *", "git status -s .", true),
            ("git status *", "git statusx", false),
            ("git *", "git", true),
            ("*", "ls", false),
            ("cargo test --*", "cargo test --all", true),
            ("cargo test --*", "cargo test --all --release", false),
            ("git status", "/usr/bin/git status", false),
            ("npm run t*t", "npm run test", true),
            ("npm run t*t", "npm run testing", false),
        ] {
            assert_eq!(allows(&words(pattern), &words(command)), expected, "{pattern} for {command}");
        }
    }

    #[test]
    fn a_forbidden_command_is_found_wherever_it_stands() {
        let commands = |parts: &[&[Option<&str>]], is_all| Commands {
            single: None,
            parts: parts.iter().map(|part| part.iter().map(|word| word.map(Into::into)).collect()).collect(),
            is_all,
        };
        let rm = [Some("rm"), Some("-rf"), Some("/")];
        let status = [Some("git"), Some("status")];
        for (pattern, parts, is_all, expected) in [
            ("rm *", vec![&status[..], &rm[..]], true, Match::Yes),
            ("rm", vec![&status[..], &rm[..]], true, Match::Yes),
            ("rm *", vec![&[Some("/bin/rm"), Some("x")][..]], true, Match::Yes),
            ("rm *", vec![&status[..]], true, Match::No),
            ("rm *", vec![&status[..]], false, Match::Maybe),
            ("rm *", vec![&[None, Some("x")][..]], true, Match::Maybe),
            ("git push *", vec![&[Some("git"), None, Some("x")][..]], true, Match::Maybe),
            ("git push *", vec![&[Some("git")][..]], true, Match::No),
            ("git status x", vec![&status[..]], true, Match::No),
        ] {
            assert_eq!(
                forbids(&words(pattern), &commands(&parts, is_all)),
                expected,
                "{pattern} in {parts:?}"
            );
        }
    }

    #[test]
    fn many_stars_take_no_longer() {
        let word = "a".repeat(100_000);
        assert!(!glob("*a*a*a*a*a*b", &word));
    }
}
