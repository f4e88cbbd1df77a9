//! Whether git would start a program that a repository's settings name.
//!
//! Git looks for a repository in the call's directory and above, in `.git` or the directory itself. Which one it
//! takes depends on details; here all of them must run nothing.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use comity_guard::{index_has_no_repositories, settings_run_nothing};

use crate::plain_file;

/// Larger settings files are not read.
const SETTINGS_BYTES_MAX: u64 = 256 * 1024;
/// Larger indexes are not read.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Whether git, started in this directory, runs nothing that a repository names.
pub(super) fn run_nothing(start: &Path) -> bool {
    let Ok(start) = start.canonicalize() else { return false };
    start.ancestors().all(|directory| match repositories(directory) {
        Ok(found) => found.iter().all(|repository| runs_nothing(repository)),
        Err(UnreadableRepo) => false,
    })
}

/// Something that should be there cannot be read.
struct UnreadableRepo;

/// What git may take for this directory's repository.
fn repositories(directory: &Path) -> Result<Vec<PathBuf>, UnreadableRepo> {
    let marker = directory.join(".git");
    let mut found = Vec::new();
    match fs::metadata(&marker) {
        Ok(about) if about.is_dir() => found.push(marker),
        Ok(_) => {
            let text = read(&marker, SETTINGS_BYTES_MAX)?.ok_or(UnreadableRepo)?;
            let text = String::from_utf8(text).map_err(|_| UnreadableRepo)?;
            let path = text.strip_prefix("gitdir:").ok_or(UnreadableRepo)?;
            found.push(directory.join(path.trim()));
        }
        // A dangling link may lead somewhere later.
        Err(_) if marker.is_symlink() => return Err(UnreadableRepo),
        Err(_) => {}
    }
    if directory.join("HEAD").exists() && directory.join("objects").exists() {
        found.push(directory.to_owned());
    }
    Ok(found)
}

fn runs_nothing(repository: &Path) -> bool {
    let Ok(common) = common(repository) else { return false };
    [repository, common.as_path()].into_iter().all(|directory| {
        let settings = ["config", "config.worktree"].iter().all(|name| {
            match read(&directory.join(name), SETTINGS_BYTES_MAX) {
                Ok(None) => true,
                Ok(Some(text)) => {
                    String::from_utf8(text).is_ok_and(|text| settings_run_nothing(&text).is_ok())
                }
                Err(UnreadableRepo) => false,
            }
        });
        let index = match read(&directory.join("index"), INDEX_BYTES_MAX) {
            Ok(None) => true,
            Ok(Some(index)) => index_has_no_repositories(&index),
            Err(UnreadableRepo) => false,
        };
        // The one hook that a reading command may trigger: it refreshes the index.
        let hook = directory.join("hooks/post-index-change");
        settings && index && fs::symlink_metadata(hook).is_err()
    })
}

/// Where settings are that several work trees share.
fn common(repository: &Path) -> Result<PathBuf, UnreadableRepo> {
    match read(&repository.join("commondir"), SETTINGS_BYTES_MAX)? {
        None => Ok(repository.to_owned()),
        Some(path) => {
            let path = String::from_utf8(path).map_err(|_| UnreadableRepo)?;
            Ok(repository.join(path.trim()))
        }
    }
}

/// The contents of a file, if it exists.
fn read(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, UnreadableRepo> {
    let file = match plain_file::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        Err(_) => return Err(UnreadableRepo),
    };
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|_| UnreadableRepo)?;
    if bytes.len() as u64 > bytes_max { Err(UnreadableRepo) } else { Ok(Some(bytes)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(at: &Path, words: &str) {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=ann",
            "-c",
            "user.email=ann@example.org",
            "-c",
            "protocol.file.allow=always",
        ]);
        let status =
            command.args(words.split(' ')).current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null").status();
        assert!(status.expect("git runs").success(), "{words}");
    }

    /// A directory with a repository `work`, in which the words are done.
    fn check(commands: &[&str], at: &str, expected: bool) {
        let root = tempfile::tempdir().expect("a directory");
        let work = root.path().join("work");
        fs::create_dir_all(work.join("sub")).expect("a directory");
        fs::write(work.join("a.txt"), "a").expect("a file");
        git(&work, "init -q --template= .");
        git(&work, "add a.txt");
        git(&work, "commit -q -m first");
        commands.iter().for_each(|words| git(&work, words));
        assert_eq!(run_nothing(&root.path().join(at)), expected, "{commands:?} in {at}");
    }

    #[test]
    fn settings_that_start_nothing_are_fine() {
        check(&[], "work", true);
        check(&[], "work/sub", true);
        check(&[], "", true);
        check(
            &["remote add origin https://example.org/x", "config user.name bob", "config color.ui auto"],
            "work",
            true,
        );
        check(&["worktree add -q ../tree"], "tree", true);
        check(&["update-index --index-version 4"], "work", true);
    }

    #[test]
    fn a_setting_that_may_start_a_program_is_found() {
        for setting in [
            "core.fsmonitor x",
            "diff.external x",
            "core.pager x",
            "diff.a.textconv x",
            "filter.a.clean x",
            "include.path x",
            "core.hooksPath x",
            "gpg.program x",
            "remote.a.promisor true",
            "alias.status x",
        ] {
            check(&[&format!("config {setting}")], "work", false);
            check(&[&format!("config {setting}")], "work/sub", false);
        }
        check(&["worktree add -q ../tree", "config core.fsmonitor x"], "tree", false);
        check(
            &["config extensions.worktreeConfig true", "config --worktree core.fsmonitor x"],
            "work",
            false,
        );
    }

    #[test]
    fn the_repository_that_the_call_would_use_is_judged() {
        let nested = ["init -q --template= sub", "-C sub config core.fsmonitor x"];
        check(&nested, "work/sub", false);
        check(&nested, "work", true);
        check(
            &["init -q --bare --template= sub/bare", "-C sub/bare config core.fsmonitor x"],
            "work/sub/bare",
            false,
        );
        check(
            &["init -q --template= --separate-git-dir=../far sub", "-C sub config core.fsmonitor x"],
            "work/sub",
            false,
        );
    }

    /// Git asks a repository that is in the index about its state, with that one's settings.
    #[test]
    fn a_repository_in_the_index_is_found() {
        let inner = ["init -q --template= sub", "-C sub commit -q --allow-empty -m inner", "add sub"];
        check(&inner, "work", false);
        check(&[inner[0], inner[1], inner[2], "update-index --index-version 4"], "work", false);
    }

    #[test]
    fn a_hook_that_looking_runs_is_found() {
        let root = tempfile::tempdir().expect("a directory");
        git(root.path(), "init -q --template= .");
        assert!(run_nothing(root.path()));
        fs::create_dir_all(root.path().join(".git/hooks")).expect("a directory");
        fs::write(root.path().join(".git/hooks/post-index-change"), "#!/bin/sh\n").expect("a hook");
        assert!(!run_nothing(root.path()));
    }
}
