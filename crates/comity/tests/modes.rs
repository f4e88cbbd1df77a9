//! Modes of files: a repository that Comity works in has those that git gives it when the user runs git.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use support::program::Program;
use support::{Agent, BINARY, HUMAN, Place, Ran, eventually};

/// A repository that is worked in with a umask.
struct Stage<'a> {
    place: &'a Place,
    umask: &'a str,
    repo: PathBuf,
}

impl Stage<'_> {
    fn shell(&self, dir: &Path, line: &str) -> Ran {
        let mut shell = self.place.program("sh");
        shell.args(["-ec", &format!("umask {}; {line}", self.umask)]).current_dir(dir);
        let ran = Ran::of(shell.env("COMITY_TOKEN", HUMAN).env("comity", BINARY).output().expect("a shell"));
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran
    }

    /// `comity` in some directory, with a umask of its own: it is the server's that counts.
    fn comity(&self, agent: &Agent, dir: &Path, line: &str) -> Ran {
        self.shell(dir, &format!("umask 077; export COMITY_TOKEN={}; $comity {line}", agent.token))
    }
}

fn init(stage: &Stage<'_>, shared: &str) {
    fs::create_dir(&stage.repo).expect("made");
    let line = format!(
        "git init -q --shared={shared} --initial-branch=main; git config user.name t; git config user.email t; \
         mkdir src; echo a >src/a.rs; echo run >src/run; chmod +x src/run; git add .; git commit -qm first"
    );
    stage.shell(&stage.repo, &line);
}

/// All modes below a directory, by path; objects are all the same.
fn modes(dir: &Path) -> BTreeMap<PathBuf, BTreeSet<u32>> {
    let mut all: BTreeMap<PathBuf, BTreeSet<u32>> = BTreeMap::new();
    let mut left = vec![(dir.to_owned(), PathBuf::new())];
    while let Some((path, name)) = left.pop() {
        let found = fs::symlink_metadata(&path).expect("it is there");
        all.entry(name.clone()).or_default().insert(found.permissions().mode() & 0o7777);
        let is_dir = found.is_dir();
        for entry in is_dir.then(|| fs::read_dir(&path).expect("a list")).into_iter().flatten() {
            let entry = entry.expect("an entry");
            let own = entry.file_name().into_string().expect("text");
            let is_hash = matches!(own.len(), 2 | 38) && own.bytes().all(|byte| byte.is_ascii_hexdigit());
            let own = match () {
                () if is_hash => "#".repeat(own.len()),
                // Git's entry for one that was made ready is called so still.
                () if own.starts_with("pool-") => "one".to_owned(),
                () => own,
            };
            left.push((entry.path(), name.join(own)));
        }
    }
    all
}

fn octal(modes: &BTreeSet<u32>) -> String {
    modes.iter().map(|mode| format!("{mode:o}")).collect::<Vec<String>>().join(" ")
}

/// What a umask makes of a file or directory.
fn plain_mode(is_dir: bool, mode: u32, umask: u32) -> u32 {
    let full = if is_dir || mode & 0o100 != 0 { 0o777 } else { 0o666 };
    full & !umask
}

/// What git makes of that in a repository that is shared so.
fn shared_mode(is_dir: bool, plain: u32, shared: &str) -> u32 {
    let (is_exact, bits) = match shared {
        "group" => (false, 0o660),
        "all" => (false, 0o664),
        "0640" => (true, 0o640),
        _ => return plain,
    };
    let runs = if is_dir || plain & 0o100 != 0 { (bits & 0o444) >> 2 } else { 0 };
    let kept = if is_exact { plain & !0o777 } else { plain };
    kept | bits | runs | if is_dir { 0o2000 } else { 0 }
}

fn check(umask: &str, shared: &str) {
    let place = Place::with(&[("COMITY_WORKTREE_READY", "1")]);
    let at = |name: &str| place.dir().join(name);
    let ours = Stage { place: &place, umask, repo: at("ours") };
    let plain = Stage { place: &place, umask, repo: at("plain") };
    init(&ours, shared);
    init(&plain, shared);
    let (change, trees) = ("echo b >src/a.rs; mkdir more; echo c >more/c.rs", at("ours.comity/worktrees"));

    ours.shell(&ours.repo, "$comity up");
    let ann = Agent::of(&ours.shell(&ours.repo, "$comity agent join ann --json").json());
    ours.shell(&ours.repo, change);
    ours.comity(&ann, &ours.repo, "lock src/a.rs more/c.rs");
    ours.comity(&ann, &ours.repo, "commit -m second");
    ours.comity(&ann, &ours.repo, "worktree add one");
    let ready = || ours.comity(&ann, &ours.repo, "worktree list --json").json()["ready"] == 1;
    eventually("one is ready", ready);
    ours.comity(&ann, &ours.repo, "worktree add two");
    for name in ["one", "two"] {
        let tree = trees.join(name);
        ours.shell(&tree, &format!("echo {name} >{name}.rs"));
        ours.comity(&ann, &tree, &format!("lock {name}.rs"));
        ours.comity(&ann, &tree, &format!("commit -m {name}"));
        ours.comity(&ann, &tree, &format!("worktree merge {name}"));
    }
    ours.comity(&ann, &ours.repo, "worktree remove two --wait");
    ours.comity(&ann, &ours.repo, "worktree restore two");

    plain.shell(&plain.repo, &format!("{change}; git add .; git commit -qm second"));
    plain.shell(
        &plain.repo,
        "for name in one two; do git worktree add -q -b comity/$name ../plain.comity/worktrees/$name; \
         (cd ../plain.comity/worktrees/$name; echo $name >$name.rs; git add .; git commit -qm $name); done; \
         git merge -q comity/one; git merge -q -m merged comity/two; git update-ref refs/comity/merged/main HEAD",
    );

    let bits = u32::from_str_radix(umask, 8).expect("a umask");
    let (git, by_git) = (modes(&ours.repo.join(".git")), modes(&plain.repo.join(".git")));
    for (path, modes) in &git {
        let expected = |mode: u32| {
            let is_dir = ours.repo.join(".git").join(path).is_dir();
            shared_mode(is_dir, plain_mode(is_dir, mode, bits), shared)
        };
        match by_git.get(path) {
            Some(by_git) => assert_eq!(modes, by_git, "{} with {umask} {shared}", path.display()),
            // Git itself does not share what it writes down about worktrees: `locked` is its own.
            None if path.starts_with("worktrees") => {
                let is_gits = path.ends_with("locked");
                let is_fit = modes.iter().all(|mode| match is_gits {
                    true => *mode == plain_mode(false, *mode, bits),
                    false => mode & 0o777 & !expected(*mode) == 0,
                });
                assert!(is_fit, "{}: {} with {umask} {shared}", path.display(), octal(modes));
            }
            None => assert!(
                modes.iter().all(|mode| *mode == expected(*mode)),
                "{}: {} with {umask} {shared}",
                path.display(),
                octal(modes)
            ),
        }
    }
    let (files, by_git) = (modes(&at("ours.comity")), modes(&at("plain.comity")));
    assert!(by_git.contains_key(Path::new("worktrees/two/src/run")), "{by_git:?}");
    for (path, modes) in &files {
        let is_dir = at("ours.comity").join(path).is_dir();
        // Git itself does not share the files of worktrees; their directories may be shared.
        let is_ours = |mode: u32| {
            let plain = plain_mode(is_dir, mode, bits);
            mode & 0o777 == plain || mode | 0o2000 == shared_mode(is_dir, plain, shared) | 0o2000
        };
        let is_fit = match by_git.get(path) {
            Some(by_git) => modes == by_git,
            None => modes.iter().all(|mode| is_ours(*mode)),
        };
        assert!(is_fit, "{}: {} with {umask} {shared}", path.display(), octal(modes));
    }
    let private = modes(&place.home);
    let is_private = |mode: &u32| mode & 0o077 == 0;
    // Files that a test wrote aside.
    let open = private
        .iter()
        .filter(|(path, modes)| !path.ends_with("comity.toml") && !modes.iter().all(is_private));
    assert_eq!(open.collect::<Vec<_>>(), [], "what the server keeps for itself is for its user alone");
}

#[test]
fn files_of_a_repository_have_the_users_modes() {
    check("022", "umask");
    check("002", "umask");
}

#[test]
fn a_shared_repository_stays_shared() {
    check("022", "group");
    check("077", "group");
    check("022", "all");
    check("077", "all");
    check("022", "0640");
    check("077", "0640");
}

#[test]
fn what_is_rescued_adopted_and_merged_by_hand_has_the_users_modes() {
    for umask in ["022", "002"] {
        let place = Place::new();
        let stage = Stage { place: &place, umask, repo: place.dir().join("ours") };
        init(&stage, "umask");
        stage.shell(&stage.repo, "$comity up");
        for (name, command) in [("ann", "rescue"), ("bob", "adopt")] {
            let join = format!("$comity agent join {name} --json");
            let agent = Agent::of(&stage.shell(&stage.repo, &join).json());
            stage.comity(&agent, &stage.repo, "lock src/a.rs");
            stage.shell(&stage.repo, "echo half >src/a.rs");
            stage.comity(&agent, &stage.repo, "agent bye");
            let is_left = || {
                let locks = stage.shell(&stage.repo, "$comity locks --json").json();
                locks["locks"][0]["state"] == "orphaned"
            };
            eventually("work is left", is_left);
            stage.shell(&stage.repo, &format!("$comity {command} src/a.rs"));
        }
        stage.shell(
            &stage.repo,
            "$comity unlock --all; git checkout -q -- src/a.rs; git checkout -q -b side; echo theirs >src/a.rs; \
             echo new >src/new.rs; git add .; git commit -qm theirs; git checkout -q main; echo ours >src/a.rs; \
             git commit -qam ours; git merge -q side || true",
        );
        let carl = Agent::of(&stage.shell(&stage.repo, "$comity agent join carl --json").json());
        stage.comity(&carl, &stage.repo, "lock src/a.rs");
        stage.shell(&stage.repo, "echo both >src/a.rs");
        stage.comity(&carl, &stage.repo, "commit -m merged");
        assert_eq!(stage.shell(&stage.repo, "git log -1 --format=%P").out.trim().split(' ').count(), 2);
        let bits = u32::from_str_radix(umask, 8).expect("a umask");
        // The test itself has made the directory.
        for (path, modes) in modes(&stage.repo).into_iter().filter(|(path, _)| !path.as_os_str().is_empty()) {
            let is_dir = stage.repo.join(&path).is_dir();
            let is_gits = |mode: u32| {
                // Objects are for reading.
                mode == plain_mode(is_dir, mode, bits) || (!is_dir && mode == 0o444 & !bits)
            };
            let is_fit = modes.iter().all(|mode| is_gits(*mode));
            assert!(is_fit, "{}: {} with {umask}", path.display(), octal(&modes));
        }
    }
}

#[test]
fn an_agent_that_restarts_the_server_does_not_bring_its_umask() {
    let place = Place::new();
    place.json(&["up"]);
    let users = fs::metadata(place.repo.join("src")).expect("made by the test").permissions().mode() & 0o777;
    let mut ann = Program::start(&place, "ann");
    place.kill_server();
    ann.run(&format!("umask 000; {BINARY} locks"));
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["worktree", "add"]);
    let made = place.dir().join("repo.comity/worktrees/bob/src");
    assert_eq!(fs::metadata(made).expect("made").permissions().mode() & 0o777, users);
}
