//! A tool call as the rules see it, parsed before: the rules read no shell and no disk.

use serde::{Deserialize, Serialize};

use crate::ids::{ContentHash, ProjectId};
use crate::limits::{
    PERMISSION_INPUT_BYTES_MAX, PERMISSION_PARTS_MAX, PERMISSION_SUMMARY_BYTES_MAX,
    PERMISSION_TOOL_BYTES_MAX, PERMISSION_WRITES_MAX,
};
use crate::paths::{CaseRule, PathPattern, overlaps};
use crate::refusal::Refusal;

/// One tool call, with the hash of its exact input.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    pub tool: Box<str>,
    pub class: ToolClass,
    /// The hash of the tool's name and its exact input.
    pub hash: ContentHash,
    /// The input as people may see it, without secrets. Empty if it is too long, and once the request is settled.
    pub input: Box<str>,
    pub summary: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<ProjectId>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub writes: Vec<ProjectFile>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reads: Vec<ProjectFile>,
    /// What it would read or write elsewhere, by absolute path without the leading slash.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outside: Vec<PathPattern>,
    /// Whether it is known to write nothing else.
    pub is_all: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commands: Option<Commands>,
    /// Whether it is proven to change nothing.
    pub reads_only: bool,
}

/// A file, a directory or a glob in a project.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    pub project: ProjectId,
    pub path: PathPattern,
}

/// The kind of tool: rules that deny apply to all tools of a kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolClass {
    Shell,
    Edit,
    Read,
    Other,
}

/// The commands of one command line.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// The words, if it is one plain command: nothing else runs, nothing is redirected, nothing needs expansion.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub single: Option<Vec<Box<str>>>,
    /// The words of every command in it, however nested; `None` for a word that only running would tell.
    pub parts: Vec<Vec<Option<Box<str>>>>,
    pub is_all: bool,
}

/// Files with which an agent could free itself, or have somebody else run something: writing them always has to be
/// asked for.
const PROTECTED: [&str; 12] = [
    "**/.git/",
    "**/.claude/",
    "**/.codex/",
    "**/.gemini/",
    "**/.cursor/",
    "**/.opencode/",
    "**/.copilot/",
    "**/.github/hooks/",
    "**/.mcp.json",
    "**/opencode.json",
    "**/comity.toml",
    "**/.envrc",
];

impl ToolCall {
    /// Whether it only edits files of its project, none of which decides what agents may do.
    pub(crate) fn is_plain_edit(&self) -> bool {
        let is_own = |file: &ProjectFile| Some(file.project) == self.project && !is_protected(&file.path);
        self.class == ToolClass::Edit
            && self.is_all
            && self.outside.is_empty()
            && !self.writes.is_empty()
            && self.writes.iter().all(is_own)
    }

    /// The files that a rule for its tool applies to.
    pub(super) fn files(&self) -> &[ProjectFile] {
        match self.class {
            ToolClass::Read => &self.reads,
            ToolClass::Shell | ToolClass::Edit | ToolClass::Other => &self.writes,
        }
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let words = |commands: &Commands| {
            let parts = commands.parts.iter().flatten().flatten().map(|word| word.len()).sum::<usize>();
            parts + commands.single.iter().flatten().map(|word| word.len()).sum::<usize>()
        };
        let parts = self.commands.as_ref().map_or(0, |commands| commands.parts.len());
        let bounds = [
            ("the name of the tool", self.tool.len(), PERMISSION_TOOL_BYTES_MAX),
            ("the input", self.input.len(), PERMISSION_INPUT_BYTES_MAX),
            ("the summary", self.summary.len(), PERMISSION_SUMMARY_BYTES_MAX),
            ("the command line", self.commands.as_ref().map_or(0, words), 4 * PERMISSION_INPUT_BYTES_MAX),
        ];
        if let Some((what, _, max)) = bounds.iter().find(|(_, len, max)| len > max) {
            let problem = format!("{what} is longer than {max} bytes");
            return Err(Refusal::bad_input(problem, "ask for something smaller"));
        }
        if self.writes.len() + self.reads.len() + self.outside.len() > PERMISSION_WRITES_MAX
            || parts > PERMISSION_PARTS_MAX
        {
            let problem = "it does too many things at a time to be judged";
            return Err(Refusal::bad_input(problem, "do it in smaller steps"));
        }
        match self.tool.is_empty() || self.tool.chars().any(char::is_control) {
            true => Err(Refusal::bad_input(format!("{:?} isn't a tool", self.tool), "name the tool")),
            false => Ok(()),
        }
    }
}

fn is_protected(path: &PathPattern) -> bool {
    // Compared as folded text: names that some file system takes for the same are the same here.
    let folded = PathPattern::parse(path.as_str(), CaseRule::Folded).unwrap_or_else(|_| path.clone());
    let patterns = PROTECTED.iter().filter_map(|text| PathPattern::parse(text, CaseRule::Folded).ok());
    patterns.into_iter().any(|protected| overlaps(&protected, &folded))
}
