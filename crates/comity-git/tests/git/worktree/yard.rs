//! A sandbox with a project, and a driver for its worktrees.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use comity_git::worktree::{
    Branch, Driver, InnerPath, KeepCause, KeepReason, MadeWorktree, NewWorktree, Places, Removable,
    RemovalRules, Setup, Slug,
};

use crate::sandbox::Sandbox;

pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A project with two commits on `trunk`, in which `*.log`, `.env*` and `target/` are ignored.
pub(crate) struct Yard {
    pub(crate) sandbox: Sandbox,
    pub(crate) driver: Driver,
}

impl Yard {
    pub(crate) fn new() -> Yard {
        Yard::with(&["src/a.rs", "src/b.rs", "docs/c.md"])
    }

    pub(crate) fn with(files: &[&str]) -> Yard {
        let sandbox = Sandbox::empty();
        sandbox.init("main");
        sandbox.write("main/.gitignore", "*.log\n.env*\ntarget/\nnode_modules\nconf/\n");
        sandbox.commit_files("main", files);
        sandbox.write("main/src/a.rs", "second\n");
        sandbox.git("main", &["commit", "-q", "-am", "second"]);
        let driver = open(&sandbox);
        Yard { sandbox, driver }
    }

    /// The same project, as after a restart.
    pub(crate) fn reopen(self) -> Yard {
        let driver = open(&self.sandbox);
        Yard { driver, ..self }
    }

    /// The same project with a driver that tells of its steps.
    pub(crate) fn watched(
        self,
        watch: impl Fn(comity_git::worktree::WorktreeStep) + Send + Sync + 'static,
    ) -> Yard {
        let driver = open(&self.sandbox).watched(watch);
        Yard { driver, ..self }
    }

    /// Makes a worktree at `trunk` without anything else.
    pub(crate) fn make(&self, slug: &str) -> MadeWorktree {
        self.make_with(slug, &Setup::default())
    }

    pub(crate) fn make_with(&self, slug: &str, setup: &Setup) -> MadeWorktree {
        let slug = Slug::parse(slug).expect("a slug");
        self.driver
            .create(&NewWorktree { slug: &slug, branch: None, base: "trunk", setup, reserved: None })
            .expect("made")
    }

    /// Makes a worktree for `ann` and gives its path in the sandbox.
    pub(crate) fn ann(&self) -> String {
        let made = self.make("ann");
        assert_eq!(made.path, self.sandbox.path("trees/worktrees/ann"));
        "trees/worktrees/ann".to_owned()
    }

    pub(crate) fn path(&self, dir: &str) -> PathBuf {
        self.sandbox.path(dir)
    }

    /// The git directory of a worktree.
    pub(crate) fn git_dir(&self, dir: &str) -> String {
        let said = self.sandbox.git(dir, &["rev-parse", "--path-format=absolute", "--git-dir"]);
        let path = Path::new(said.trim_end()).strip_prefix(self.sandbox.path("")).expect("inside");
        path.to_str().expect("text").to_owned()
    }

    pub(crate) fn prove(&self, dir: &str) -> Result<Removable<'static>, Vec<KeepReason>> {
        self.driver.prove_removable(&self.path(dir), NOBODY)
    }

    /// The reasons to keep a worktree.
    pub(crate) fn whys(&self, dir: &str) -> Vec<KeepCause> {
        self.prove(dir).err().unwrap_or_default().into_iter().map(|kept| kept.why).collect()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.sandbox.git("main", &["for-each-ref", "--format=%(refname)", name]).trim_end() == name
    }

    /// Every file and link below a directory, with a hash of its contents.
    pub(crate) fn snapshot(&self, dir: &str) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        collect(&self.path(dir), Path::new(""), &mut found);
        found
    }
}

/// Rules under which nobody uses anything and nothing is built.
pub(crate) const NOBODY: RemovalRules<'static> = RemovalRules { build_dirs: &[], in_use: &|_| false };

pub(crate) fn inner(path: &str) -> InnerPath {
    InnerPath::parse(path).expect("a path")
}

pub(crate) fn branch(name: &str) -> Branch {
    Branch::parse(name).expect("a branch")
}

fn open(sandbox: &Sandbox) -> Driver {
    let places = Places::within(&sandbox.path("trees"));
    Driver::open(&sandbox.path("main/.git"), &places, PATIENCE).expect("a driver")
}

fn collect(top: &Path, below: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(top.join(below)).expect("a directory") {
        let entry = entry.expect("an entry");
        let path = below.join(entry.file_name());
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            collect(top, &path, found);
            continue;
        }
        let bytes = match () {
            () if kind.is_symlink() => {
                fs::read_link(entry.path()).expect("a link").into_os_string().into_encoded_bytes()
            }
            () if kind.is_file() => fs::read(entry.path()).expect("readable"),
            () => Vec::new(),
        };
        found.insert(path, blake3::hash(&bytes).to_hex()[..12].to_owned());
    }
}

/// A process that does nothing, until it is dropped.
pub(crate) struct Idle(Child);

impl Idle {
    /// Starts it in a directory, perhaps with a file as its error output.
    pub(crate) fn start(dir: &Path, open: Option<&Path>) -> Idle {
        let mut command = Command::new("cat");
        command.current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(open) = open {
            command.stderr(fs::File::options().append(true).open(open).expect("a file"));
        }
        Idle(command.spawn().expect("cat"))
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("it ends");
    }
}
