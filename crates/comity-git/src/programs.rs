//! Which program the server runs by a name: what agents can put on the PATH comes last.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Write permission for others than the owner.
const OTHERS_WRITE: u32 = 0o022;

static GIT: OnceLock<PathBuf> = OnceLock::new();

/// Lets this process run this git, or else the one that is found now; no later one.
pub fn use_git(program: Option<PathBuf>) {
    if let Some(git) = program.or_else(|| find_program("git")) {
        let _is_set_already = GIT.set(git);
    }
}

/// The git that this process runs.
pub fn git_program() -> &'static Path {
    GIT.get_or_init(|| find_program("git").unwrap_or_else(|| "git".into()))
}

/// The program of this name on the PATH: the first in a directory that is the system's, else the first. What the user may write
/// to, the user's agents may, too.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    find(name, &std::env::var_os("PATH")?, home.as_deref())
}

fn find(name: &str, path: &std::ffi::OsStr, home: Option<&Path>) -> Option<PathBuf> {
    let files = std::env::split_paths(path).map(|dir| dir.join(name));
    let files: Vec<PathBuf> = files.filter(|file| file.is_file()).collect();
    files.iter().find(|file| is_the_systems(file, home)).or(files.first()).cloned()
}

/// Whether neither the file nor what leads to it is the user's to change.
pub fn is_the_systems(file: &Path, home: Option<&Path>) -> bool {
    let real_home = home.and_then(|home| home.canonicalize().ok());
    let is_below_home = |path: &Path| {
        home.is_some_and(|home| path.starts_with(home))
            || real_home.as_ref().is_some_and(|home| path.starts_with(home))
    };
    let own = rustix::process::geteuid();
    let is_others =
        |found: &Metadata| (own.is_root() || found.uid() != own.as_raw()) && found.mode() & OTHERS_WRITE == 0;
    let is_kept = |path: &Path| !is_below_home(path) && path.metadata().is_ok_and(|found| is_others(&found));
    let Ok(real) = file.canonicalize() else { return false };
    let dirs = [file.parent(), real.parent()].into_iter().flatten();
    file.is_absolute() && is_kept(&real) && dirs.into_iter().all(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_can_put_there_comes_last() {
        let dir = tempfile::tempdir().expect("a directory");
        let (home, elsewhere) = (dir.path().join("home"), dir.path().join("open"));
        for place in [&home, &elsewhere] {
            std::fs::create_dir(place).expect("made");
            std::fs::write(place.join("sh"), "").expect("written");
            std::fs::write(place.join("only-here"), "").expect("written");
        }
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(&elsewhere, open).expect("set");
        let all = std::env::join_paths([&*home, &elsewhere, Path::new("/bin")]).expect("a path");
        let found = |name: &str| find(name, &all, Some(&home));
        assert_eq!(found("sh").as_deref(), Some(Path::new("/bin/sh")));
        assert_eq!(found("only-here"), Some(home.join("only-here")));
        assert_eq!(found("nowhere"), None);
        let link = elsewhere.join("link");
        std::os::unix::fs::symlink("/bin/sh", &link).expect("a link");
        assert!(!is_the_systems(&link, Some(&home)), "who may change the link may lead it elsewhere");
        assert!(!is_the_systems(Path::new("bin/sh"), None));
    }
}
