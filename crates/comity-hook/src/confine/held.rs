//! What others hold, according to the server, as paths.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use comity_core::paths::Component;
use comity_core::{CaseRule, PathPattern};
use comity_wire::Fault;
use serde_json::Value;

use super::globs::{self, SearchRoot};
use crate::question::HookQuestion;
use crate::server::{self, HookClient};

const TOLD_DIGITS_MAX: usize = 7;

/// What a command of this agent is confined to.
pub(super) struct ConfineRules {
    pub(super) policy: String,
    pub(super) sealed: bool,
    pub(super) network: bool,
    pub(super) own: Vec<PathBuf>,
    pub(super) hidden: Vec<PathBuf>,
    held: Vec<HeldPatterns>,
}

/// What others hold of a project.
struct HeldPatterns {
    roots: Vec<PathBuf>,
    patterns: Vec<PathPattern>,
    case: CaseRule,
}

pub(super) enum NoAnswer {
    /// The server cannot tell who asks.
    Refused(Fault),
    /// It could not be asked.
    Unreachable(String),
    /// The system allows no connections here, as in an agent program's sandbox.
    Forbidden(String),
}

pub(super) fn ask() -> Result<ConfineRules, NoAnswer> {
    let mut server = HookClient::find_from_anywhere().map_err(|problem| match server::is_forbidden() {
        true => NoAnswer::Forbidden(problem),
        false => NoAnswer::Unreachable(problem),
    })?;
    let reply = server.ask(HookQuestion::Confinement, "{}".into()).map_err(NoAnswer::Unreachable)?;
    let unclear = |problem: &dyn std::fmt::Display| {
        NoAnswer::Refused(Fault { code: String::new(), message: problem.to_string(), hint: String::new() })
    };
    if let Some(error) = reply.error {
        return Err(serde_json::from_str(error.get()).map_or_else(|error| unclear(&error), NoAnswer::Refused));
    }
    let said = reply.ok.ok_or_else(|| unclear(&"an answer without output"))?;
    ConfineRules::read(said.get()).map_err(|error| unclear(&error))
}

/// The rules on standard input, before what the command reads there: their length, and then themselves.
pub(super) fn told() -> Result<ConfineRules, String> {
    let describe = |error: io::Error| format!("what it is confined to was not told: {error}");
    // Unbuffered: a buffer would take away what comes after it.
    let input = io::stdin().as_fd().try_clone_to_owned();
    let mut input = File::from(input.map_err(describe)?);
    let mut length = String::new();
    loop {
        let mut byte = [0];
        input.read_exact(&mut byte).map_err(describe)?;
        match byte[0] {
            b'\n' => break,
            digit if length.len() < TOLD_DIGITS_MAX => length.push(digit.into()),
            _ => return Err(describe(io::ErrorKind::InvalidData.into())),
        }
    }
    let length = length.parse().map_err(|_| describe(io::ErrorKind::InvalidData.into()))?;
    let mut answer = vec![0; length];
    input.read_exact(&mut answer).map_err(describe)?;
    ConfineRules::read(&String::from_utf8_lossy(&answer))
}

impl ConfineRules {
    fn read(said: &str) -> Result<ConfineRules, String> {
        let said: Value = serde_json::from_str(said).map_err(|error| error.to_string())?;
        let texts = |value: &Value| -> Vec<String> {
            let all = value.as_array().into_iter().flatten();
            all.filter_map(|text| Some(text.as_str()?.to_owned())).collect()
        };
        let paths = |value: &Value| texts(value).into_iter().map(PathBuf::from).collect();
        let held = |project: &Value| {
            // The text is canonical: it was folded when the lock was taken.
            let pattern = |text: &String| PathPattern::parse(text, CaseRule::Exact);
            let patterns: Result<Vec<PathPattern>, _> =
                texts(&project["patterns"]).iter().map(pattern).collect();
            Ok(HeldPatterns {
                roots: paths(&project["roots"]),
                patterns: patterns.map_err(|no| no.to_string())?,
                case: if project["folded"] == true { CaseRule::Folded } else { CaseRule::Exact },
            })
        };
        Ok(ConfineRules {
            policy: said["policy"].as_str().unwrap_or_default().to_owned(),
            sealed: said["sealed"].as_bool().ok_or("an answer that is not understood")?,
            network: said["network"].as_bool().ok_or("an answer that is not understood")?,
            held: said["held"].as_array().into_iter().flatten().map(held).collect::<Result<_, String>>()?,
            own: paths(&said["own"]),
            hidden: paths(&said["hidden"]),
        })
    }

    /// The worktrees of all projects in which somebody holds something.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        self.held.iter().flat_map(|held| held.roots.iter().cloned()).collect()
    }

    /// All held paths, in all worktrees: a lock covers the name in each of them.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let (mut paths, mut dirs) = (Vec::new(), Dirs::default());
        for HeldPatterns { roots, patterns, case } in &self.held {
            for root in roots {
                let worktree = SearchRoot { root, case: *case };
                patterns.iter().for_each(|pattern| held_below(worktree, pattern, &mut dirs, &mut paths));
            }
        }
        paths
    }
}

fn held_below(worktree: SearchRoot<'_>, pattern: &PathPattern, dirs: &mut Dirs, paths: &mut Vec<PathBuf>) {
    for alternative in pattern.alternatives() {
        let root = worktree.root;
        let at: PathBuf = std::iter::once(root).chain(alternative.prefix().map(Path::new)).collect();
        match alternative.rest() {
            [] => paths.extend(dirs.resolved(at).filter(|(_, is_dir)| !is_dir).map(|(path, _)| path)),
            // Everything but git's own, which other worktrees need, too.
            [Component::AnyDepth] if at == root => paths.extend(globs::top_level(root)),
            [Component::AnyDepth] => paths.extend(dirs.resolved(at).map(|(path, _)| path)),
            _ => globs::expand(worktree, &at, pattern, paths),
        }
    }
}

/// Real paths of directories: many held paths are in one.
#[derive(Default)]
struct Dirs(HashMap<PathBuf, Option<PathBuf>>);

impl Dirs {
    /// The path without symlinks, and whether it is a directory: a name alone does not protect what is below it.
    fn resolved(&mut self, path: PathBuf) -> Option<(PathBuf, bool)> {
        let found = path.symlink_metadata().ok().map(|found| found.file_type());
        if found.is_some_and(|found| found.is_symlink()) {
            let real = path.canonicalize().ok()?;
            let is_dir = real.is_dir();
            return Some((real, is_dir));
        }
        let (parent, name) = (path.parent()?, path.file_name()?);
        if !self.0.contains_key(parent) {
            self.0.insert(parent.to_owned(), parent.canonicalize().ok());
        }
        let real = self.0.get(parent).cloned().flatten().unwrap_or_else(|| parent.to_owned());
        Some((real.join(name), found.is_some_and(|found| found.is_dir())))
    }
}
