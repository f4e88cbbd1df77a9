//! Case on a file system that folds it, if the machine lets us mount one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use comity_core::{CaseRule, PathPattern};
use comity_git::{Repository, has_uncommitted_work};

use crate::sandbox::{Sandbox, canonical};

const IMAGE_BYTES: u64 = 64 << 20;

/// A mounted file system that folds case; it is unmounted at the end.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        ran("umount", &[self.0.as_os_str()]);
    }
}

fn ran(program: &str, args: &[impl AsRef<std::ffi::OsStr>]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Why the test is left out.
const NONE_FOLDS: &str =
    "no file system that folds case can be mounted here (root, and vfat, ext4 or ntfs-3g)";

/// A way to get such a file system: how to format an image, and how to mount it.
struct Way {
    format: &'static [&'static str],
    mount: &'static [&'static str],
}

const WAYS: &[Way] = &[
    Way { format: &["mkfs.vfat"], mount: &["mount", "-t", "vfat", "-o", "loop"] },
    Way { format: &["mkfs.ext4", "-q", "-O", "casefold"], mount: &["mount", "-t", "ext4", "-o", "loop"] },
    Way { format: &["mkntfs", "-q", "-f", "-F"], mount: &["lowntfs-3g", "-o", "ignore_case"] },
];

fn mount(sandbox: &Sandbox) -> Option<Mounted> {
    sandbox.make_dir("folding");
    let dir = sandbox.path("folding");
    for (number, way) in WAYS.iter().enumerate() {
        let image = sandbox.path(&format!("image{number}"));
        fs::File::create(&image).ok()?.set_len(IMAGE_BYTES).ok()?;
        let image = image.to_str()?;
        if !ran(way.format[0], &[&way.format[1..], &[image]].concat()) {
            continue;
        }
        if ran(way.mount[0], &[&way.mount[1..], &[image, dir.to_str()?]].concat()) {
            let mounted = Mounted(dir);
            fs::create_dir(mounted.0.join("Top")).ok()?;
            // Only ext4 wants to be told.
            ran("chattr", &["+F", mounted.0.join("Top").to_str()?]);
            return Some(mounted);
        }
    }
    None
}

fn is_folding(dir: &Path) -> bool {
    fs::write(dir.join("probe"), "").is_ok() && dir.join("PROBE").exists()
}

#[test]
fn names_that_the_file_system_folds_are_one() {
    let sandbox = Sandbox::empty();
    let mounted = if is_folding(&sandbox.path("")) { None } else { mount(&sandbox) };
    let below = if mounted.is_some() { "folding/Top" } else { "Top" };
    sandbox.make_dir(below);
    if !is_folding(&sandbox.path(below)) {
        return comity_skip::skip("names_that_the_file_system_folds_are_one", NONE_FOLDS);
    }
    sandbox.init(&format!("{below}/Main"));
    sandbox.commit_files(&format!("{below}/Main"), &["Src/Login.rs"]);
    let top = sandbox.path(below);
    let spelled =
        |name: &str| Repository::containing(&top.join(name)).expect("a directory").expect("a repository");
    let (repository, shouted) = (spelled("Main"), spelled("MAIN"));
    assert_eq!(repository.case(), CaseRule::Folded);
    assert_eq!((shouted.project(), shouted.root()), (repository.project(), repository.root()));
    let check = |spelling: &str, expected: &str| {
        assert_eq!(canonical(&repository, &top.join("Main"), spelling), expected, "{spelling}");
    };
    check("src/LOGIN.rs", "src/login.rs");
    check("SRC/login.rs", "src/login.rs");
    check("SRC", "src/");
    check("Src/*.RS", "src/*.rs");
    check("New/File.rs", "new/file.rs");
    check(&format!("{}/MAIN/Src/Login.rs", top.display()), "src/login.rs");
    let no = repository.resolve(&top.join("Main"), ".GIT/config").expect_err("git's own");
    assert_eq!(no.to_string(), "\".GIT/config\" is in git's own directory");

    let has_work = |pattern: &str| {
        let pattern = PathPattern::parse(pattern, CaseRule::Folded).expect(pattern);
        has_uncommitted_work(repository.common_dir(), &pattern, CaseRule::Folded, Duration::from_secs(60))
    };
    assert_eq!(has_work("src/login.rs"), Ok(false));
    sandbox.write(&format!("{below}/Main/Src/Login.rs"), "second, and longer\n");
    assert_eq!(has_work("src/login.rs"), Ok(true));
    assert_eq!(has_work("src/other.rs"), Ok(false));
}

#[test]
fn where_it_cannot_be_told_both_spellings_are_one() {
    let test = "where_it_cannot_be_told_both_spellings_are_one";
    let sandbox = Sandbox::empty();
    sandbox.init("main");
    sandbox.commit_files("main", &["src/a.rs"]);
    sandbox.make_dir("main/mounted");
    let dir = sandbox.path("main/mounted");
    // Another device, and no name in it to try.
    if !ran("mount", &["-t".as_ref(), "tmpfs".as_ref(), "none".as_ref(), dir.as_os_str()]) {
        return comity_skip::skip(test, "nothing can be mounted here (root)");
    }
    let _mounted = Mounted(dir);
    let main = sandbox.path("main");
    let repository = Repository::containing(&main).expect("a directory").expect("a repository");
    let resolve = |text: &str| repository.resolve(&main, text).expect(text);
    let are_one = |one: &str, other: &str| comity_core::paths::overlaps(&resolve(one), &resolve(other));
    assert!(are_one("mounted/New.rs", "mounted/new.rs"), "nobody knows whether these are two files");
    assert_eq!(
        are_one("src/New.rs", "src/new.rs"),
        repository.case() == CaseRule::Folded,
        "here it is known"
    );
}
