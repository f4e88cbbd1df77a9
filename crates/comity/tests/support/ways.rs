//! The ways of writing into a file that are tried, with and without a guard.

use std::path::Path;
use std::process::{Command, Stdio};

/// The file that is written to.
pub(crate) const FILE: &str = "src/a.rs";
/// What is in it.
pub(crate) const BEFORE: &str = "fn main() {}\n";

/// All ways; each has a directory for itself.
pub(crate) fn lines() -> Vec<String> {
    let all = include_str!("../../../../benches/ways.txt").lines();
    let ways = all.filter(|line| !line.is_empty() && !line.starts_with('#'));
    ways.enumerate().map(|(number, way)| way.replace("$T", &format!("scratch/{number}"))).collect()
}

/// Makes the directory that a way has for itself.
pub(crate) fn make_own(repo: &Path, way: &str) {
    std::fs::create_dir_all(repo.join(own(way))).expect("made");
}

/// The directory that a way has for itself.
pub(crate) fn own(way: &str) -> String {
    let number = lines().iter().position(|line| line == way).expect("one of them");
    format!("scratch/{number}")
}

/// Makes a directory like another one, whatever was in it.
pub(crate) fn restore(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to.join("scratch"));
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(to).expect("a directory").flatten() {
        let _ = std::fs::remove_dir_all(entry.path()).or_else(|_| std::fs::remove_file(entry.path()));
    }
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
    assert!(copied.expect("cp runs").success(), "{}", to.display());
}

/// A repository with the file and what the ways need, of two commits.
pub(crate) fn repository(repo: &Path) {
    let write = |file: &str, text: &str| {
        let file = repo.join(file);
        std::fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        std::fs::write(file, text).expect("written");
    };
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(words).current_dir(repo);
        assert!(git.stdin(Stdio::null()).status().expect("git runs").success(), "{words:?}");
    };
    write(FILE, "fn old() {}\n");
    write("src/b.rs", &"fn other() { something() }\n".repeat(8));
    write("Cargo.toml", "[package]\n");
    if !repo.join(".git").exists() {
        git(&["init", "--quiet"]);
    }
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "1"]);
    write(FILE, BEFORE);
    git(&["commit", "--quiet", "-a", "-m", "2"]);
}

/// Whether the file is as it was.
pub(crate) fn is_untouched(repo: &Path) -> bool {
    std::fs::read_to_string(repo.join(FILE)).is_ok_and(|text| text == BEFORE)
}
