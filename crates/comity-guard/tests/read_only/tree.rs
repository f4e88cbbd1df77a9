//! A directory with a repository in it, and all that is below it, so that a change is seen.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// How long one command may take; nothing here waits for anything.
const DEADLINE: Duration = Duration::from_secs(60);

/// Files, a repository, a home and a place for temporary files.
pub(crate) struct Tree {
    root: TempDir,
}

/// Every path with its kind, mode, time and content.
pub(crate) type Snapshot = BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>;

impl Tree {
    pub(crate) fn new() -> Tree {
        let tree = Tree { root: tempfile::tempdir().expect("a temporary directory") };
        for directory in ["home", "tmp", "work/src", "work/docs", "work/other"] {
            fs::create_dir_all(tree.root.path().join(directory)).expect("a directory");
        }
        let files = [
            ("a.txt", "foo 1\nbar:2\nx,y,z\n10 20 30\n"),
            ("b.txt", "foo 1\nbaz\n"),
            ("a.json", "{\"a\":[{\"b\":1}]}\n"),
            ("a.b64", "aGVsbG8K\n"),
            ("a.hex", "00000000: 6869 0a\n"),
            ("sums", ""),
            ("x", "x\n"),
            ("y", "y\n"),
            ("-delete", "a file whose name looks like an option\n"),
            ("-oout", "another one\n"),
            ("src/a.rs", "fn main() {}\n"),
            ("src/b.rs", "// foo\n"),
            ("docs/a.txt", "docs\n"),
        ];
        for (name, content) in files {
            fs::write(tree.work().join(name), content).expect("a file");
        }
        for line in [
            "git init -q -b main --template= .",
            "git -c user.name=ann -c user.email=ann@example.org add -A",
            "git -c user.name=ann -c user.email=ann@example.org commit -q -m first",
            "tar -cf a.tar src && tar -czf a.tgz src && gzip -c a.txt > a.gz",
        ] {
            tree.run("bash", line);
        }
        tree
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Where the tree is.
    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// Runs a command line with a shell, and waits for its end.
    pub(crate) fn run(&self, shell: &str, line: &str) {
        self.spawned(Command::new(shell).args(["-c", line]));
    }

    /// Runs a program in the tree, without anything of the environment but where programs are.
    pub(crate) fn spawned(&self, command: &mut Command) {
        let path = std::env::var_os("PATH").expect("a PATH");
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.root.path().join("home"))
            .env("TMPDIR", self.root.path().join("tmp"))
            .env("LC_ALL", "C.UTF-8")
            // Git may write down what it learned about files; that it does so is in the guide.
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(self.work())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("the shell runs");
        let (done, ended) = mpsc::channel();
        thread::spawn(move || done.send(child.wait()));
        ended.recv_timeout(DEADLINE).expect("the command ends").expect("its status");
    }

    /// All that is in the tree.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut found = Snapshot::new();
        let mut open = vec![self.root.path().to_owned()];
        while let Some(path) = open.pop() {
            let about = fs::symlink_metadata(&path).expect("what is listed is there");
            let content = if about.is_file() { fs::read(&path).expect("its content") } else { Vec::new() };
            if about.is_dir() {
                open.extend(
                    fs::read_dir(&path).expect("a list").map(|entry| entry.expect("an entry").path()),
                );
            }
            found.insert(path, (about.mode(), about.mtime(), about.mtime_nsec(), content));
        }
        found
    }
}

/// The paths that are not the same in both.
pub(crate) fn changed(before: &Snapshot, after: &Snapshot) -> Vec<PathBuf> {
    let paths = before.keys().chain(after.keys());
    let mut changed: Vec<PathBuf> =
        paths.filter(|path| before.get(*path) != after.get(*path)).cloned().collect();
    changed.dedup();
    changed
}
