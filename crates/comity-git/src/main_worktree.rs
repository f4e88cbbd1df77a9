//! Where a repository's main worktree is, if it has one.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::dot_git::open_plain;

/// Bytes of a repository's `config` that are read; a larger one counts as unknown.
const CONFIG_BYTES_MAX: u64 = 1_048_576;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MainWorktree {
    None,
    /// Here, if its `.git` leads back.
    At(PathBuf),
    /// The git directory does not tell, as after `git init --separate-git-dir`.
    Unknown,
}

pub(crate) fn main_worktree(common_dir: &Path) -> io::Result<MainWorktree> {
    let mut core = Core::default();
    for name in ["config", "config.worktree"] {
        let Some(file) = open_plain(&common_dir.join(name))? else { continue };
        let mut text = Vec::new();
        file.take(CONFIG_BYTES_MAX).read_to_end(&mut text)?;
        if text.len() as u64 == CONFIG_BYTES_MAX {
            return Ok(MainWorktree::Unknown);
        }
        core.read(&String::from_utf8_lossy(&text));
    }
    // An index means files, whatever the setting says; tools have set it by mistake.
    if core.is_bare && !common_dir.join("index").exists() {
        return Ok(MainWorktree::None);
    }
    let parent = common_dir.parent().filter(|_| common_dir.file_name().is_some_and(|name| name == ".git"));
    let set = || core.worktree.map(|worktree| common_dir.join(worktree));
    Ok(parent.map(Path::to_owned).or_else(set).map_or(MainWorktree::Unknown, MainWorktree::At))
}

/// The two settings in `[core]` that say where the files are.
#[derive(Default, PartialEq, Eq, Debug)]
struct Core {
    is_bare: bool,
    worktree: Option<String>,
}

impl Core {
    /// Reads a configuration file; its settings override earlier ones.
    fn read(&mut self, text: &str) {
        let mut in_core = false;
        for line in text.lines().map(str::trim) {
            let line = match line.strip_prefix('[').and_then(|line| line.split_once(']')) {
                Some((section, rest)) => {
                    in_core = section.trim().eq_ignore_ascii_case("core");
                    rest.trim()
                }
                None => line,
            };
            if !in_core || line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "true"));
            let (key, value) = (key.trim().to_ascii_lowercase(), unquoted(value.trim()));
            match key.as_str() {
                "bare" => {
                    self.is_bare = matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1");
                }
                "worktree" => self.worktree = Some(value),
                _ => {}
            }
        }
    }
}

/// The value of a setting without quotes, escapes and comment.
fn unquoted(value: &str) -> String {
    let mut plain = String::new();
    let mut is_quoted = false;
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' => plain.extend(characters.next()),
            '#' | ';' if !is_quoted => break,
            c => plain.push(c),
        }
    }
    if is_quoted || value.ends_with('"') { plain } else { plain.trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_core_section() {
        let check = |text: &str, is_bare: bool, worktree: Option<&str>| {
            let mut core = Core::default();
            core.read(text);
            assert_eq!(core, Core { is_bare, worktree: worktree.map(Into::into) }, "{text}");
        };
        check("[core]\n\tbare = false\n\tfilemode = true\n", false, None);
        check("[CORE]\n\tBare = TRUE ; why\n", true, None);
        check("[core] bare\n", true, None);
        check("[core \"x\"]\n\tbare = true\n[other]\nbare = true\n", false, None);
        check("[core]\n\tworktree = ../../../sub # here\n", false, Some("../../../sub"));
        check("[core]\n\tworktree = \"../a \\\"b\\\" #c\"\n", false, Some("../a \"b\" #c"));
        check("[core]\n# bare = true\nbare = yes\n[core]\nbare = no\n", false, None);
    }
}
