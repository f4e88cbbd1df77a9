//! Tests that show nothing as root, to whom nothing is closed: they run once more, as an ordinary user.

use std::path::Path;
use std::process::Command;

use crate::support::{BINARY, Ran, beside, has_program, is_root, skip};

/// A program as an ordinary user.
fn as_nobody(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(program);
    command
}

/// Runs a test of this program again as an ordinary user, if root runs it; says whether that is so. `with` is set for it.
pub(crate) fn again_as_nobody(test: &str, with: &[(&str, &Path)]) -> bool {
    if !is_root() {
        return false;
    }
    if !has_program("setpriv") {
        skip(test, "setpriv is needed to become an ordinary user");
        return true;
    }
    let own = std::env::current_exe().expect("this program");
    let needed = [own.clone(), BINARY.into(), beside("comity-hook"), beside("comity-confine")];
    let can_run = |program: &std::path::PathBuf| {
        let tried = as_nobody("test").arg("-x").arg(program).status();
        tried.expect("setpriv runs").success()
    };
    if !needed.iter().all(can_run) {
        skip(test, "an ordinary user cannot get at the programs that were built");
        return true;
    }
    let mut again = as_nobody(own);
    again.args(["--exact", test, "--nocapture"]).current_dir("/").envs(with.iter().copied());
    let ran = Ran::of(again.output().expect("setpriv runs"));
    print!("{}", ran.out);
    eprint!("{}", ran.err);
    assert!(ran.code == 0 && ran.out.contains("1 passed"), "as an ordinary user: {ran:?}");
    true
}
