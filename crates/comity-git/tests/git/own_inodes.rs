//! A file system that folds case and gives each spelling an inode of its own.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use comity_core::CaseRule;
use comity_git::Repository;

use crate::sandbox::{Sandbox, canonical};

const TEST: &str = "own_inodes::spellings_with_inodes_of_their_own_are_one_name";
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/git/own_inodes.py");
/// Set where the test runs in namespaces of its own, and may mount.
const INSIDE: &str = "COMITY_TEST_MAY_MOUNT";

struct Mounted(Child);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _has_ended = self.0.kill();
        let _is_gone = self.0.wait();
    }
}

fn mount(source: &Path, at: &Path) -> Option<Mounted> {
    let mut program = Command::new("python3");
    program.arg(PROGRAM).args([source, at]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut mounted = Mounted(program.spawn().ok()?);
    let mut line = String::new();
    BufReader::new(mounted.0.stdout.take()?).read_line(&mut line).ok()?;
    (line == "mounted\n").then_some(mounted)
}

#[test]
fn spellings_with_inodes_of_their_own_are_one_name() {
    if std::env::var_os(INSIDE).is_none() {
        let mut again = Command::new("unshare");
        again.args(["-rmpf", "--mount-proc"]).arg(std::env::current_exe().expect("this program"));
        again.args(["--exact", TEST, "--nocapture"]).env(INSIDE, "1");
        let said = again.output().expect("it runs");
        print!("{}", String::from_utf8_lossy(&said.stdout));
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        return;
    }
    let sandbox = Sandbox::empty();
    sandbox.init("real/Main");
    sandbox.commit_files("real/Main", &["Src/Login.rs"]);
    sandbox.make_dir("folding");
    let top = sandbox.path("folding");
    let Some(_mounted) = mount(&sandbox.path("real"), &top) else {
        return println!("skipped: python3 cannot mount a file system here");
    };
    let inode = |path: &str| top.join(path).symlink_metadata().expect(path).ino();
    assert_ne!(inode("Main/.git"), inode("Main/.GIT"), "each spelling has its own");

    let found =
        |name: &str| Repository::containing(&top.join(name)).expect("a directory").expect("a repository");
    let (repository, shouted) = (found("Main"), found("MAIN"));
    assert_eq!(repository.case(), CaseRule::Folded);
    assert_eq!((shouted.project(), shouted.root()), (repository.project(), repository.root()));
    for spelling in ["src/LOGIN.rs", "SRC/login.rs", "Src/Login.rs"] {
        assert_eq!(canonical(&repository, &top.join("Main"), spelling), "src/login.rs", "{spelling}");
        assert_eq!(canonical(&shouted, &top.join("MAIN"), spelling), "src/login.rs", "{spelling}");
    }
}
