//! A file system that folds case and gives each spelling an inode of its own.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use comity_core::CaseRule;
use comity_core::paths::overlaps;
use comity_git::Repository;

use crate::sandbox::{Sandbox, canonical};

/// Why a test is left out.
const NO_MOUNT: &str = "python3 can't mount a file system here";

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

/// Whether this is a process that may mount; else the test runs once more in one, and is done.
fn may_mount(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let mut again = Command::new("unshare");
    again.args(["-rmpf", "--mount-proc"]).arg(std::env::current_exe().expect("this program"));
    again.args(["--exact", &format!("own_inodes::{test}"), "--nocapture"]).env(INSIDE, "1");
    let said = again.output().expect("it runs");
    let told = String::from_utf8_lossy(&said.stdout);
    print!("{told}");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(told.contains("1 passed"), "no test {test}");
    false
}

#[test]
fn spellings_with_inodes_of_their_own_are_one_name() {
    if !may_mount("spellings_with_inodes_of_their_own_are_one_name") {
        return;
    }
    let sandbox = Sandbox::empty();
    sandbox.init("real/Main");
    sandbox.commit_files("real/Main", &["Src/Login.rs"]);
    sandbox.make_dir("folding");
    let top = sandbox.path("folding");
    let Some(_mounted) = mount(&sandbox.path("real"), &top) else {
        return comity_skip::skip("spellings_with_inodes_of_their_own_are_one_name", NO_MOUNT);
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

#[test]
fn a_single_directory_may_fold_case() {
    if !may_mount("a_single_directory_may_fold_case") {
        return;
    }
    let sandbox = Sandbox::empty();
    sandbox.init("Main");
    sandbox.commit_files("Main", &["Makefile", "assets/kept"]);
    sandbox.make_dir("real/Deep/empty");
    sandbox.write("real/Logo.png", "");
    sandbox.write("real/Deep/Icon.png", "");
    let top = sandbox.path("Main");
    let Some(_mounted) = mount(&sandbox.path("real"), &top.join("assets")) else {
        return comity_skip::skip("a_single_directory_may_fold_case", NO_MOUNT);
    };
    let repository = Repository::containing(&top).expect("a directory").expect("a repository");
    assert_eq!(repository.case(), CaseRule::Exact);
    let check = |written: &str, expected: &str| {
        assert_eq!(canonical(&repository, &top, written), expected, "{written}");
    };
    check("Makefile", "Makefile");
    check("makefile", "makefile");
    check("ASSETS/x", "ASSETS/x");
    for spelling in ["assets/Logo.png", "assets/LOGO.PNG", "assets/logo.png", "assets/deep/../LOGO.png"] {
        check(spelling, "{assets/Logo.png,assets/logo.png}");
    }
    check("assets/DEEP/icon.png", "{assets/Deep/Icon.png,assets/deep/icon.png}");
    check("assets/deep", "{assets/Deep/,assets/deep/}");
    check("assets/New.png", "{assets/New.png,assets/new.png}");
    check("assets/*.PNG", "{assets/*.PNG,assets/*.png}");
    check("assets/deep/empty/New.png", "{assets/Deep/empty/New.png,assets/deep/empty/new.png}");
    check("assets", "assets/");
    let no = repository.resolve(&top, "assets/.GIT/config").expect_err("git's own");
    assert_eq!(no.to_string(), "\"assets/.GIT/config\" is in git's own directory");

    let pattern = |written: &str| repository.resolve(&top, written).expect(written);
    assert!(overlaps(&pattern("assets/NEW.png"), &pattern("assets/new.PNG")), "one file, not yet there");
    assert!(overlaps(&pattern("**/Logo.png"), &pattern("assets/LOGO.png")), "a glob from above");
    assert!(!overlaps(&pattern("Makefile"), &pattern("makefile")));
}

#[test]
fn a_worktree_may_be_where_case_is_folded() {
    if !may_mount("a_worktree_may_be_where_case_is_folded") {
        return;
    }
    let sandbox = Sandbox::empty();
    sandbox.init("Main");
    sandbox.commit_files("Main", &["Src/Login.rs"]);
    sandbox.git("Main", &["worktree", "add", "--quiet", "../real"]);
    sandbox.make_dir("stick");
    let (top, stick) = (sandbox.path("Main"), sandbox.path("stick"));
    let Some(_mounted) = mount(&sandbox.path("real"), &stick) else {
        return comity_skip::skip("a_worktree_may_be_where_case_is_folded", NO_MOUNT);
    };
    let found = |dir: &Path| Repository::containing(dir).expect("a directory").expect("a repository");
    let (main, other) = (found(&top), found(&stick));
    assert_eq!((other.project(), other.case()), (main.project(), CaseRule::Exact));
    let expected = "{Src/Login.rs,src/login.rs}";
    assert_eq!(canonical(&other, &stick, "SRC/login.rs"), expected);
    let from_main = main.resolve(&top, &format!("{}/SRC/login.rs", stick.display())).expect("a path");
    assert_eq!(from_main.as_str(), expected);
    let own = main.resolve(&top, "Src/Login.rs").expect("a path");
    assert!(overlaps(&own, &from_main), "the same file of the project");
}
