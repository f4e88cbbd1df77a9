//! Merge conflicts, and who changed what on each side.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::git::Git;
use crate::worktree::commit::CommitId;
use crate::worktree::failure::WorktreeError;

/// Conflicts whose sides are named.
const DESCRIBED_MAX: usize = 100;
/// Conflicts whose lines are shown.
const SHOWN_MAX: usize = 5;
/// Lines that are shown of one.
const HUNK_LINES_MAX: usize = 60;
/// Commits of one side that are searched.
const COMMITS_MAX: &str = "--max-count=1000";
const COMMIT: u8 = 0x01;
/// The trailer with the name of the agent that made a commit.
const AGENT: &str = "Agent";
const FIELD: char = '\u{1f}';

/// A path that both sides changed so that git cannot merge it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// From the top of the worktree.
    pub path: PathBuf,
    pub what: String,
    /// The conflicting parts with git's markers; empty if git does not show them.
    pub hunks: String,
    /// The last commit to it on the branch that is merged into.
    pub target: Option<Side>,
    /// The last commit to it on the branch that is merged.
    pub source: Option<Side>,
}

/// A commit on one side of a conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    pub commit: CommitId,
    /// The agent's name if the commit has it, otherwise git's author.
    pub author: String,
    pub subject: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |side: &Option<Side>| match side {
            Some(side) => format!("{} ({:?})", side.author, side.subject),
            None => "somebody".to_owned(),
        };
        write!(
            f,
            "{} was changed by {} and by {}",
            self.path.display(),
            side(&self.target),
            side(&self.source)
        )
    }
}

/// Parses the output of `git merge-tree`: the tree, and the conflicting paths with git's message about each.
pub(super) fn parse(output: &[u8]) -> Result<(String, Vec<(PathBuf, String)>), WorktreeError> {
    let mut fields = output.split(|byte| *byte == 0);
    let tree = CommitId::printed(fields.next().unwrap_or_default())?.to_string();
    let path = |field: &[u8]| PathBuf::from(OsString::from_vec(field.to_owned()));
    let mut found: Vec<(PathBuf, String)> = fields
        .by_ref()
        .take_while(|field| !field.is_empty())
        .map(|field| (path(field), String::new()))
        .collect();
    // <number of paths> <path>... <kind> <message>, again and again
    while let Some(count) = fields.next().filter(|count| !count.is_empty()) {
        let count = str::from_utf8(count).ok().and_then(|count| count.parse::<usize>().ok());
        let count =
            count.ok_or_else(|| WorktreeError::git("git merge-tree printed what Comity can't read"))?;
        let paths: Vec<PathBuf> = fields.by_ref().take(count).map(path).collect();
        let (kind, message) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        if !kind.starts_with(b"CONFLICT") {
            continue;
        }
        let message = String::from_utf8_lossy(message).trim().to_owned();
        for path in paths {
            match found.iter_mut().find(|(known, _)| *known == path) {
                Some((_, what)) if what.is_empty() => what.clone_from(&message),
                Some(_) => {}
                None => found.push((path, message.clone())),
            }
        }
    }
    Ok((tree, found))
}

#[derive(Clone, Copy)]
pub(super) struct MergeSide<'a> {
    pub(super) commit: &'a CommitId,
    pub(super) branch: &'a str,
}

/// Names the last commit to each conflicting path, on both sides.
pub(super) fn describe(
    git: &Git<'_>,
    tree: &str,
    found: Vec<(PathBuf, String)>,
    target: MergeSide<'_>,
    source: MergeSide<'_>,
) -> Result<Vec<Conflict>, WorktreeError> {
    let paths: Vec<&Path> = found.iter().take(DESCRIBED_MAX).map(|(path, _)| path.as_path()).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let on_target = last_commits(git, &paths, target.commit, source.commit)?;
    let on_source = last_commits(git, &paths, source.commit, target.commit)?;
    let side = |commits: &[(PathBuf, Side)], path: &Path| {
        commits.iter().find(|(known, _)| known == path).map(|(_, side)| side.clone())
    };
    let conflict = |(at, (path, what)): (usize, (PathBuf, String))| Conflict {
        target: side(&on_target, &path),
        source: side(&on_source, &path),
        hunks: if at < SHOWN_MAX { hunks(git, tree, &path, [target, source]) } else { String::new() },
        path,
        what,
    };
    Ok(found.into_iter().enumerate().map(conflict).collect())
}

/// The parts of a file that git has marked, each with its first line number.
fn hunks(git: &Git<'_>, tree: &str, path: &Path, sides: [MergeSide<'_>; 2]) -> String {
    let name = [tree.as_bytes(), b":", path.as_os_str().as_bytes()].concat();
    let Ok(blob) = git.call("cat-file").arg("blob").arg(OsString::from_vec(name)).done() else {
        return String::new();
    };
    let text = String::from_utf8_lossy(&blob);
    let (mut shown, mut is_inside, mut count) = (String::new(), false, 0);
    for (at, line) in text.lines().enumerate() {
        if line.starts_with("<<<<<<< ") {
            is_inside = true;
            shown += &format!("@@ line {}\n", at + 1);
        }
        if is_inside {
            count += 1;
            if count > HUNK_LINES_MAX {
                return shown + "...\n";
            }
            let is_mark = line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
            let side = sides.iter().find(|side| is_mark && line.contains(side.commit.as_str()));
            // Git was given commits, and people know branches.
            match side {
                Some(side) => shown += &format!("{}\n", line.replace(side.commit.as_str(), side.branch)),
                None => shown += &format!("{line}\n"),
            }
        }
        is_inside &= !line.starts_with(">>>>>>> ");
    }
    shown
}

/// The latest commits to some paths that one side has and the other has not.
fn last_commits(
    git: &Git<'_>,
    paths: &[&Path],
    of: &CommitId,
    not_of: &CommitId,
) -> Result<Vec<(PathBuf, Side)>, WorktreeError> {
    let specs: Vec<OsString> = paths
        .iter()
        .map(|path| OsString::from_vec([b":(top,literal)", path.as_os_str().as_bytes()].concat()))
        .collect();
    let agent = format!("%(trailers:key={AGENT},valueonly,separator=%x2C)");
    let format = format!("--format=tformat:%x01%H{FIELD}%an{FIELD}{agent}{FIELD}%s");
    let (of, not_of) = (of.as_str(), format!("^{not_of}"));
    let options = [
        "--no-show-signature",
        "--no-renames",
        "--name-only",
        "--no-ext-diff",
        "-z",
        COMMITS_MAX,
        &format,
        of,
        &not_of,
    ];
    let output = git.ask("log", &options, &specs)?;
    let mut last: Vec<(PathBuf, Side)> = Vec::new();
    let mut current: Option<Side> = None;
    for field in output.split(|byte| *byte == 0) {
        let field = field.strip_prefix(b"\n").unwrap_or(field);
        match (field, &current) {
            ([], _) => {}
            ([COMMIT, header @ ..], _) => current = side(&String::from_utf8_lossy(header)),
            (path, Some(side)) => {
                let path = PathBuf::from(OsString::from_vec(path.to_owned()));
                if !last.iter().any(|(known, _)| *known == path) {
                    last.push((path, side.clone()));
                }
            }
            (_, None) => {}
        }
    }
    Ok(last)
}

fn side(header: &str) -> Option<Side> {
    let mut fields = header.splitn(4, FIELD);
    let (commit, author, agent, subject) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let author = if agent.is_empty() { author } else { agent };
    Some(Side {
        commit: CommitId::parse(commit).ok()?,
        author: author.to_owned(),
        subject: subject.to_owned(),
    })
}
