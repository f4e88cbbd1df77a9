//! Downloads of pages: kept in a directory of the agent that owns the page, bounded, and never anywhere else.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use comity_browser::{Download, Downloaded};
use comity_core::pools::SlotId;
use comity_core::{AgentId, Principal};

use super::{BrowserService, TABS, quote};
use crate::application::Application;
use crate::catalog::next_call;
use crate::operations::tabs::TabDownloads;

/// In the state directory.
pub(crate) const DOWNLOADS: &str = "downloads";
pub(crate) const SCREENSHOTS: &str = "screenshots";
pub(super) const FILE_BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Per agent.
const FILES_MAX: usize = 50;
/// Per agent.
const BYTES_MAX: u64 = 500 * 1024 * 1024;
const NAME_BYTES_MAX: usize = 100;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeptDownload {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

impl BrowserService {
    /// Keeps a download for the owner of its tab, and tells the owner with the next command.
    pub(super) fn downloaded(&self, app: &Application, download: &Download) {
        let found = self.slot_of_download(app, download);
        let remark = match (&download.outcome, found) {
            (Downloaded::Saved { path, .. }, None) => return drop(std::fs::remove_file(path)),
            (Downloaded::Refused { .. }, None) => return,
            (Downloaded::Saved { path, bytes }, Some((_, owner))) => {
                match keep(app.home(), owner, &download.name, path, *bytes) {
                    Ok(kept) => format!(
                        "the page downloaded a file of {} bytes: {} (see: {})",
                        kept.bytes,
                        quote(&kept.path.to_string_lossy()),
                        next_call::<TabDownloads>([])
                    ),
                    Err(why) => {
                        format!("the page's download of {} was not kept: {why}", quote(&download.name))
                    }
                }
            }
            (Downloaded::Refused { why }, Some(_)) => {
                format!("the page's download of {} was refused: {}", quote(&download.name), quote(why))
            }
        };
        if let Some((slot, _)) = found {
            self.remark(app, slot, remark);
        }
    }

    /// The tab that it came from; if that is gone, a tab with the same cookies, if they have one owner.
    fn slot_of_download(&self, app: &Application, download: &Download) -> Option<(SlotId, Principal)> {
        let running = self.if_running()?;
        let exact = download.tab.as_ref().and_then(|tab| running.slot_of(tab));
        let world = app.engine().world();
        let pool = world.pools.get(TABS)?;
        if let Some(slot) = exact.and_then(|slot| pool.slots().find(|one| one.id == slot)) {
            return Some((slot.id, slot.owner));
        }
        let is_there = |at: &comity_core::pools::TabLocation| *at.container == *download.container.0;
        let mut near = pool.slots().filter(|slot| slot.at.as_deref().is_some_and(is_there));
        let first = near.next()?;
        near.all(|slot| slot.owner == first.owner).then_some((first.id, first.owner))
    }
}

/// The name of somebody's directories.
pub(crate) fn owner_name(owner: Principal) -> String {
    match owner {
        Principal::Agent(agent) => agent.to_string(),
        Principal::Human | Principal::Nobody | Principal::System => "human".to_owned(),
    }
}

/// The directory for somebody's screenshots; created if missing.
pub(crate) fn make_screenshots_dir(home: &Path, owner: Principal) -> std::io::Result<PathBuf> {
    make(home.join(SCREENSHOTS).join(owner_name(owner)))
}

fn dir_of(home: &Path, owner: Principal) -> PathBuf {
    home.join(DOWNLOADS).join(owner_name(owner))
}

fn make(dir: PathBuf) -> std::io::Result<PathBuf> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
    Ok(dir)
}

/// Somebody's downloads, oldest first.
pub(crate) fn kept_of(home: &Path, owner: Principal) -> Vec<KeptDownload> {
    let entries = std::fs::read_dir(dir_of(home, owner)).into_iter().flatten().flatten();
    let kept = entries.filter_map(|entry| {
        let path = entry.path();
        let number = path.file_name()?.to_str()?.split_once('-')?.0.parse().ok()?;
        // Not the target of a link.
        let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(KeptDownload { number, path, bytes: found.len() })
    });
    let mut kept: Vec<KeptDownload> = kept.collect();
    kept.sort_unstable_by_key(|one| one.number);
    kept
}

fn keep(home: &Path, owner: Principal, name: &str, from: &Path, bytes: u64) -> std::io::Result<KeptDownload> {
    let dir = make(dir_of(home, owner))?;
    let mut earlier = kept_of(home, owner);
    let number = earlier.last().map_or(1, |last| last.number + 1);
    // If there are too many, the oldest are removed.
    let is_too_much = |earlier: &[KeptDownload]| {
        earlier.len() >= FILES_MAX || earlier.iter().map(|one| one.bytes).sum::<u64>() + bytes > BYTES_MAX
    };
    while is_too_much(&earlier) && !earlier.is_empty() {
        std::fs::remove_file(earlier.remove(0).path)?;
    }
    let path = dir.join(format!("{number:06}-{}", safe(name)));
    std::fs::rename(from, &path)?;
    Ok(KeptDownload { number, path, bytes })
}

/// Removes files of agents that are gone, unless another server knows them.
pub(super) fn forget_ended(app: &Application) {
    if !app.is_home_in_place() {
        return;
    }
    let dirs = [DOWNLOADS, SCREENSHOTS].map(|dir| std::fs::read_dir(app.home().join(dir)));
    for entry in dirs.into_iter().flatten().flatten().flatten() {
        let agent: Option<AgentId> = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if agent.is_some_and(|agent| app.engine().world().agents.living(agent).is_err()) {
            let _in_use = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A page's name for a file, as a name that is harmless for every program.
fn safe(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let plain: String = last.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let plain = plain.trim_start_matches('.');
    let start = plain.len().saturating_sub(NAME_BYTES_MAX);
    if plain.is_empty() { "file".into() } else { plain[start..].into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pages_are_names_and_nothing_else() {
        for (name, expected) in [
            ("report.pdf", "report.pdf"),
            ("../../.bashrc", "bashrc"),
            ("a b\u{202e}\n$(x).sh", "a_b____x_.sh"),
            ("", "file"),
            ("..", "file"),
        ] {
            assert_eq!(safe(name), expected, "{name:?}");
        }
        assert_eq!(safe(&"x".repeat(500)).len(), NAME_BYTES_MAX);
    }

    #[test]
    fn files_are_bounded_and_numbered() {
        let home = tempfile::tempdir().expect("a directory");
        let from = home.path().join("part");
        for _ in 0..FILES_MAX + 3 {
            std::fs::write(&from, "text").expect("written");
            keep(home.path(), Principal::Human, "a.txt", &from, 4).expect("kept");
        }
        let kept = kept_of(home.path(), Principal::Human);
        assert_eq!((kept.len(), kept[0].number), (FILES_MAX, 4));
        std::fs::write(&from, "text").expect("written");
        keep(home.path(), Principal::Human, "b", &from, BYTES_MAX).expect("kept");
        assert_eq!(kept_of(home.path(), Principal::Human).len(), 1, "a large one takes the place of all");
    }

    #[test]
    fn no_more_go_than_have_to() {
        let home = tempfile::tempdir().expect("a directory");
        let from = home.path().join("part");
        let keep = |bytes: u64| {
            // Nothing of it is written.
            std::fs::File::create(&from).and_then(|file| file.set_len(bytes)).expect("made");
            keep(home.path(), Principal::Human, "a", &from, bytes).expect("kept");
            kept_of(home.path(), Principal::Human).iter().map(|one| one.number).collect::<Vec<u64>>()
        };
        (0..4).for_each(|_| drop(keep(FILE_BYTES_MAX)));
        assert_eq!(keep(FILE_BYTES_MAX), [1, 2, 3, 4, 5], "as many as there may be");
        assert_eq!(keep(1), [2, 3, 4, 5, 6], "a byte more is too much");
        assert_eq!(keep(FILE_BYTES_MAX - 1), [2, 3, 4, 5, 6, 7], "up to the last byte");
        let agents = kept_of(home.path(), Principal::Agent(AgentId::from_bits(1)));
        assert_eq!(agents, [], "each has bounds of its own");
    }
}
