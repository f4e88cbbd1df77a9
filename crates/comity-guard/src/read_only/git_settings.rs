//! Whether a repository's settings and index can make git start a program.
//!
//! A setting that is not in the list may name one: a pager, a file monitor, a filter, an external diff, a remote
//! helper, another settings file. A submodule has settings of its own, and git asks it.

use super::doubt::shown;

/// Settings that start nothing. `*` matches any key of the section.
const HARMLESS: &str = "core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode \
    core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.compression core.untrackedcache core.preloadindex \
    core.longpaths core.worktree user.* author.* committer.* remote.url remote.pushurl remote.fetch remote.gh-resolved branch.* \
    init.defaultbranch pull.rebase pull.ff push.default push.autosetupremote merge.conflictstyle merge.ff fetch.prune color.* advice.* gc.* \
    index.version rerere.enabled extensions.worktreeconfig extensions.objectformat extensions.refstorage commit.gpgsign tag.gpgsign \
    log.date log.decorate diff.algorithm diff.renames diff.colormoved diff.context blame.date status.short status.branch rebase.autostash";
/// The mode of a submodule in the index.
const GITLINK: u32 = 0o160000;

/// The setting of a configuration file that may start a program, as an error.
pub fn runs_nothing(settings: &str) -> Result<(), String> {
    let mut section = String::new();
    for line in
        settings.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
    {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            let (name, rest) = header.split_at(header.bytes().take_while(|byte| is_name(*byte)).count());
            let is_quoted = rest.starts_with(" \"") && rest.ends_with('"');
            if !rest.is_empty() && !is_quoted {
                return Err(format!("`{}` can't be read", shown(line)));
            }
            section = name.to_ascii_lowercase();
            continue;
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_harmless =
            |known: &str| known == format!("{section}.{key}") || known == format!("{section}.*");
        let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if line.ends_with('\\') || !is_key || !HARMLESS.split_ascii_whitespace().any(is_harmless) {
            return Err(format!("`{}` may start a program", shown(&format!("{section}.{key}"))));
        }
    }
    Ok(())
}

/// Whether an index surely contains no submodules.
pub fn index_has_no_repositories(index: &[u8]) -> bool {
    has_no_gitlink(index).unwrap_or(false)
}

fn has_no_gitlink(index: &[u8]) -> Option<bool> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let version = number(4).filter(|version| index.starts_with(b"DIRC") && (2..=4).contains(version))?;
    let mut at = 12;
    for _ in 0..number(8)? {
        if number(at + 24)? == GITLINK {
            return Some(false);
        }
        let flags = u16::from_be_bytes(index.get(at + 60..at + 62)?.try_into().ok()?);
        let fixed = if flags & 0x4000 != 0 { 64 } else { 62 };
        let rest = index.get(at + fixed..)?;
        at += match version {
            // The name follows a number of which each byte but the last has its highest bit set.
            4 => {
                let number = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
                fixed + number + rest.get(number..)?.iter().position(|byte| *byte == 0)? + 1
            }
            // Padded with one to eight zeros.
            _ => (fixed + rest.iter().position(|byte| *byte == 0)? + 8) / 8 * 8,
        };
    }
    // What follows belongs to the index; entries kept elsewhere, or as a directory, are not seen here.
    let extensions = index.get(at..)?;
    let is_elsewhere = |name: &[u8]| extensions.windows(4).any(|window| window == name);
    Some(!is_elsewhere(b"link") && !is_elsewhere(b"sdir"))
}
