//! Where the branches of watched projects were at the last look: kept, so that the next server sees what was
//! committed while none ran.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use comity_core::branch_moves::MoveEvent;
use comity_core::event::Event;
use comity_git::BranchHeads;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::held_dir::HeldDir;
use crate::page_size::PageSize;

/// In the state directory.
const DIR: &str = "tips";
/// Records of the log that are read at a time.
const PAGE: PageSize = PageSize { records: 1_000, bytes: 4 * 1024 * 1024 };

/// The kept branches of all projects: one file each, named by the common git directory.
#[derive(Debug)]
pub(super) struct KeptTips {
    /// Nothing is kept if `None`.
    dir: Option<HeldDir>,
}

/// A project's branches, as an earlier server left them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeftTips {
    /// The last record of the log then.
    head: u64,
    pub(super) tips: BranchHeads,
}

impl KeptTips {
    pub(super) fn below(home: &Path) -> KeptTips {
        KeptTips { dir: HeldDir::open(home).and_then(|home| home.make_inside(DIR)).ok() }
    }

    /// What is kept of a project, if it can be read.
    pub(super) fn of(&self, common_dir: &Path) -> Option<LeftTips> {
        let kept = self.dir.as_ref()?.read(&name(common_dir)).ok()?;
        serde_json::from_slice(&kept).ok()
    }

    /// Keeps the branches as they are. If that fails, at worst a report will be missing.
    pub(super) fn keep(&self, app: &Application, common_dir: &Path, tips: &BranchHeads) {
        let Some(dir) = &self.dir else { return };
        let now = LeftTips { head: app.engine().world().head, tips: tips.clone() };
        let write = || -> io::Result<()> { dir.write(&name(common_dir), &serde_json::to_vec(&now)?) };
        if let Err(error) = write() {
            eprintln!("comity: where branches are can't be kept: {error}");
        }
    }
}

impl LeftTips {
    /// The commits that Comity was about to make since then.
    pub(super) fn own_since(&self, app: &Application) -> Result<BTreeSet<Box<str>>, String> {
        let reader = app.reader().map_err(|failure| failure.to_text(crate::Wording::Commands))?;
        let (mut own, mut cursor) = (BTreeSet::new(), self.head);
        loop {
            let read = reader.read_page(cursor, PAGE)?;
            let Some(last) = read.last() else { return Ok(own) };
            cursor = last.seq;
            own.extend(read.into_iter().filter_map(|record| match record.event {
                Event::Move(MoveEvent::Intended(intended)) => Some(intended.new),
                _ => None,
            }));
        }
    }
}

fn name(common_dir: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    blake3::hash(common_dir.as_os_str().as_bytes()).to_hex()[..16].to_owned()
}
