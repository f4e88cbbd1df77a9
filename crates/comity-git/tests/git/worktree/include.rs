//! Which ignored files come along: those that `.worktreeinclude` names, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use comity_git::worktree::MadeWorktree;

use super::states::write;
use super::yard::Yard;

/// Ignored files of the main worktree, in which everything below `big` and `conf` is ignored.
const IGNORED: &[&str] = &[
    ".env",
    ".env.local",
    "src/.env",
    "x.log",
    "conf/a.json",
    "conf/b.toml",
    "conf/deep/a.json",
    "conf/deep/er/a.json",
    "big/.env",
    "big/one/index.js",
    "src/conf/a.json",
];

fn copied(made: &MadeWorktree) -> BTreeSet<String> {
    made.setup.copied.iter().map(|copied| copied.path.to_str().expect("text").to_owned()).collect()
}

/// A project with the ignored files and a list.
fn with_list(list: &str) -> Yard {
    let yard = Yard::new();
    write(&yard, "main", ".git/info/exclude", "big/\n");
    IGNORED.iter().for_each(|file| write(&yard, "main", file, &format!("{file}\n")));
    write(&yard, "main", "plain.txt", "untracked, not ignored\n");
    write(&yard, "main", ".worktreeinclude", list);
    yard
}

/// Makes a worktree with a list and compares which files came along.
fn check(list: &str, expected: &[&str]) {
    let yard = with_list(list);
    let made = yard.make("ann");
    let expected: BTreeSet<String> = expected.iter().map(|file| (*file).to_owned()).collect();
    assert_eq!(copied(&made), expected, "{list:?} {:?}", made.setup.skipped);
    for file in &expected {
        assert_eq!(fs::read_to_string(made.path.join(file)).expect("copied"), format!("{file}\n"));
    }
    let there: BTreeSet<String> =
        IGNORED.iter().filter(|file| made.path.join(file).exists()).map(|file| (*file).to_owned()).collect();
    assert_eq!(there, expected, "nothing else came along");
}

#[test]
fn files_that_are_named_and_ignored() {
    check("", &[]);
    check("# .env\n\n", &[]);
    check(".env\n", &[".env", "src/.env"]);
    check("/.env\n", &[".env"]);
    check(".env*\r\n", &[".env", ".env.local", "src/.env"]);
    check("*.log\n.env*\n!.env.local\n", &["x.log", ".env", "src/.env"]);
    check("plain.txt\nsrc/a.rs\n", &[]);
    check(
        "*\n!*.log\n!big\n",
        &[
            ".env",
            ".env.local",
            "src/.env",
            "conf/a.json",
            "conf/b.toml",
            "conf/deep/a.json",
            "conf/deep/er/a.json",
            "src/conf/a.json",
        ],
    );
}

#[test]
fn ignored_directories_where_a_pattern_looks_into_them() {
    check("conf/a.json\n", &["conf/a.json"]);
    check("conf/*.json\n", &["conf/a.json"]);
    check("conf/**/a.json\n", &["conf/a.json", "conf/deep/a.json", "conf/deep/er/a.json"]);
    check("conf/*/a.json\n", &["conf/deep/a.json"]);
    check("/conf/\n", &["conf/a.json", "conf/b.toml", "conf/deep/a.json", "conf/deep/er/a.json"]);
    check("conf/deep\n", &["conf/deep/a.json", "conf/deep/er/a.json"]);
    check(
        "conf\n",
        &["conf/a.json", "conf/b.toml", "conf/deep/a.json", "conf/deep/er/a.json", "src/conf/a.json"],
    );
    // A name that could be anywhere does not lead into directories that are ignored as a whole.
    check("a.json\n**/b.toml\nindex.js\n", &[]);
    check("big/one/*.js\n", &["big/one/index.js"]);
}

#[test]
fn a_large_ignored_directory_is_not_walked_through() {
    let yard = with_list(".env\nconf/*.json\n");
    let (big, conf) = (yard.path("main/big/one"), yard.path("main/conf"));
    let long_ago = SystemTime::now() - Duration::from_secs(400_000);
    let age = |dir: &Path| {
        let times = fs::FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
        fs::File::open(dir).expect("a directory").set_times(times).expect("an old time");
    };
    let was_read = |dir: &Path| {
        let read = fs::metadata(dir).expect("there").accessed().expect("a time");
        read > long_ago + Duration::from_secs(1_000)
    };
    [&big, &conf].into_iter().for_each(|dir| age(dir));
    yard.make("ann");
    if !was_read(&conf) {
        let why = "this file system does not tell when a directory was read";
        return comity_skip::skip("a_large_ignored_directory_is_not_walked_through", why);
    }
    assert!(!was_read(&big), "somebody looked into a directory that no pattern reaches");
}

#[test]
fn links_pipes_and_large_files_are_refused() {
    let yard = with_list(".env*\nconf/\nkeys\n");
    write(&yard, "main", ".git/info/exclude", "big/\nkeys\n");
    yard.sandbox.write("outside", "secret of the machine\n");
    yard.sandbox.link(yard.path("outside"), "main/.env.out");
    yard.sandbox.link(".env", "main/.env.in");
    yard.sandbox.make_dir("elsewhere");
    yard.sandbox.write("elsewhere/key", "secret of the machine\n");
    yard.sandbox.link(yard.path("elsewhere"), "main/conf/away");
    yard.sandbox.link(yard.path("elsewhere"), "main/keys");
    let pipe = yard.path("main/conf/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .expect("a pipe");
    fs::File::create(yard.path("main/conf/huge")).expect("made").set_len((16 << 20) + 1).expect("long");
    write(&yard, "main", "conf/inner/.git/config", "of another repository\n");
    let made = yard.make("ann");
    let skipped: BTreeSet<&str> =
        made.setup.skipped.iter().map(|it| it.path.to_str().expect("text")).collect();
    let expected = [".env.in", ".env.out", "conf/away", "conf/huge", "conf/pipe", "keys"];
    assert_eq!(skipped, expected.into(), "{:?}", made.setup.skipped);
    for path in expected.iter().chain(&["conf/inner"]) {
        assert!(made.path.join(path).symlink_metadata().is_err(), "{path}");
    }
}

#[test]
fn what_the_commit_has_is_not_overwritten() {
    let yard = with_list(".env\nconf/\n");
    // On another branch the same path is a file of the commit, and a directory leads out of the worktree.
    yard.sandbox.git("main", &["worktree", "add", "-q", "../side", "-b", "side"]);
    yard.sandbox.write("side/.env", "of the commit\n");
    yard.sandbox.make_dir("outside");
    yard.sandbox.link(yard.path("outside"), "side/conf");
    yard.sandbox.git("side", &["add", "--force", ".env", "conf"]);
    yard.sandbox.git("side", &["commit", "-q", "-m", "side"]);
    let slug = comity_git::worktree::Slug::parse("ann").expect("a slug");
    let setup = comity_git::worktree::Setup::default();
    let new = comity_git::worktree::NewWorktree {
        slug: &slug,
        branch: None,
        base: "side",
        setup: &setup,
        reserved: None,
    };
    let made = yard.driver.create(&new).expect("made");
    assert_eq!(fs::read_to_string(made.path.join(".env")).expect("there"), "of the commit\n");
    assert_eq!(fs::read_dir(yard.path("outside")).expect("there").count(), 0, "nothing was written outside");
}

#[test]
fn a_list_that_is_a_link_is_not_read() {
    let yard = with_list("");
    fs::remove_file(yard.path("main/.worktreeinclude")).expect("removed");
    yard.sandbox.write("list", ".env\n");
    yard.sandbox.link(yard.path("list"), "main/.worktreeinclude");
    let made = yard.make("ann");
    assert_eq!(copied(&made), BTreeSet::new());
    assert_eq!(made.setup.skipped.len(), 1);
}
