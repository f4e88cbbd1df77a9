//! Contents, messages, names and people, such that git has exactly what was meant.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use comity_git::commit::{CommitRequest, CommitScope, FileMode, SearchScope};

use crate::committing::{BOB, ask_for, below, commit_below, lines, nothing_below, request, shown, skipped};
use crate::sandbox::Sandbox;

/// Everything there is.
struct All;

impl CommitScope for All {
    fn look(&self) -> SearchScope {
        SearchScope::Everywhere
    }

    fn covers(&self, _path: &Path) -> bool {
        true
    }
}

#[test]
fn line_ends_are_normalised_as_by_git_add() {
    let texts = [("lf", "a\nb\n"), ("crlf", "a\r\nb\r\n"), ("mixed", "a\r\nb\n"), ("binary", "a\r\n\0b\r\n")];
    for attributes in ["* text=auto\n", "* text\n", "* -text\n", "* text eol=crlf\n", "*.x ident\n"] {
        for autocrlf in ["true", "input", "false"] {
            let make = || {
                let sandbox = Sandbox::with(&["old-crlf.x"]);
                sandbox.git("main", &["config", "core.autocrlf", "false"]);
                sandbox.write("main/old-crlf.x", "one\r\n");
                sandbox.git("main", &["commit", "-q", "-am", "with carriage returns"]);
                sandbox.git("main", &["config", "core.autocrlf", autocrlf]);
                sandbox.write("main/.gitattributes", attributes);
                sandbox.write("main/old-crlf.x", "two\r\n$Id: 1$\r\n");
                texts.iter().for_each(|(name, text)| sandbox.write(&format!("main/{name}.x"), text));
                sandbox
            };
            let (plain, ours) = (make(), make());
            plain.git("main", &["add", "--all"]);
            plain.git("main", &["commit", "-q", "-m", "plain"]);
            ask_for(&ours, "main", &request(&All));
            let tree = |it: &Sandbox| it.git("main", &["ls-tree", "-r", "HEAD"]);
            assert_eq!(tree(&ours), tree(&plain), "{attributes:?} {autocrlf}");
            assert_eq!(lines(&ours, "main", &["status", "--porcelain", "-z"]), [""; 0]);
        }
    }
}

#[test]
fn contents_that_a_filter_would_change_are_not_committed() {
    let sandbox = Sandbox::with(&["a.bin", "b.txt", "gone.bin"]);
    sandbox.git("main", &["config", "filter.lfs.clean", "no-such-program"]);
    sandbox.git("main", &["config", "filter.lfs.required", "true"]);
    sandbox.write("main/.gitattributes", "*.bin filter=lfs\nunset.bin -filter\nset.bin filter\n");
    for file in ["a.bin", "b.txt", "new.bin", "unset.bin", "set.bin"] {
        sandbox.write(&format!("main/{file}"), "second\n");
    }
    sandbox.link("anywhere", "main/link.bin");
    fs::remove_file(sandbox.path("main/gone.bin")).expect("removed");
    let committed = ask_for(&sandbox, "main", &request(&All));
    assert_eq!(
        shown(&committed.changes),
        ["A .gitattributes", "M b.txt", "D gone.bin", "A link.bin", "A set.bin", "A unset.bin"]
    );
    let filtered = |path: &str| format!("{path}: Filtered {{ filter: \"lfs\" }}");
    assert_eq!(skipped(&committed.report), [filtered("a.bin"), filtered("new.bin")]);
    assert_eq!(skipped(&nothing_below(&sandbox, &["a.bin"])), [filtered("a.bin")]);
}

#[test]
fn modes_are_git_s() {
    let sandbox = Sandbox::with(&["a", "b"]);
    let run = |path: &str| {
        let path = sandbox.path(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("a mode");
    };
    run("main/a");
    sandbox.write("main/new", "x\n");
    run("main/new");
    let committed = ask_for(&sandbox, "main", &request(&All));
    let modes: Vec<_> =
        committed.changes.iter().map(|change| change.new.as_ref().map(|new| new.mode)).collect();
    assert_eq!(modes, [Some(FileMode::Executable); 2]);
    // Where the file system's modes mean nothing, a change of them is none.
    sandbox.git("main", &["config", "core.fileMode", "false"]);
    run("main/b");
    sandbox.write("main/a", "second\n");
    let committed = ask_for(&sandbox, "main", &request(&All));
    assert_eq!(shown(&committed.changes), ["M a"]);
    assert_eq!(committed.changes[0].new.as_ref().map(|new| new.mode), Some(FileMode::Executable));
}

#[test]
fn what_the_answer_says_is_what_git_has() {
    let sandbox = Sandbox::with(&["src/a.rs", "src/b.rs"]);
    sandbox.write("main/src/a.rs", "second\n");
    sandbox.write("main/src/n.rs", "new\n");
    let committed = commit_below(&sandbox, &["src"]);
    for change in &committed.changes {
        let path = change.path.to_str().expect("text");
        let hash = |commit: &str| sandbox.git("main", &["rev-parse", &format!("{commit}:{path}")]);
        let new = change.new.as_ref().map(|new| new.hash.as_str());
        assert_eq!(new, Some(hash("HEAD").trim()));
        if let Some(old) = &change.old {
            assert_eq!(old.hash, hash("HEAD~1").trim());
        }
    }
}

#[test]
fn messages_are_committed_as_they_are() {
    let sandbox = Sandbox::with(&["a"]);
    let messages = [
        "plain\n",
        "subject\n\nbody\n\n# not a comment\n\n\ntrailing blanks   \n",
        "$(touch canary) `touch canary`; touch canary\n",
        "--amend\n",
        "-F/etc/hostname\n",
        "'quotes' \"and\" more\\\n",
        "caf\u{e9} \u{202e}\u{1f980}\n",
        "  indented\ttab\r\nwindows\r\n",
    ];
    for (number, message) in messages.into_iter().enumerate() {
        sandbox.write("main/a", &format!("{number}\n"));
        let committed = ask_for(&sandbox, "main", &CommitRequest { message, ..request(&All) });
        let raw = sandbox.git("main", &["cat-file", "commit", &committed.commit]);
        assert_eq!(raw.split_once("\n\n").expect("a message").1, message);
    }
    sandbox.write("main/a", "no line end\n");
    ask_for(&sandbox, "main", &CommitRequest { message: "no line end", ..request(&All) });
    assert_eq!(sandbox.git("main", &["log", "-1", "--format=%B"]), "no line end\n\n");
    let log = sandbox.git("main", &["log", "-g", "--format=%gs"]);
    assert!(log.contains("commit: $(touch canary) `touch canary`; touch canary\n"), "{log}");
    assert!(!sandbox.path("main/canary").exists());
}

#[test]
fn a_setting_for_another_encoding_does_not_make_text_unreadable() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.git("main", &["config", "i18n.commitEncoding", "ISO-8859-1"]);
    sandbox.write("main/a", "second\n");
    ask_for(&sandbox, "main", &CommitRequest { message: "caf\u{e9}\n", ..request(&All) });
    assert_eq!(sandbox.git("main", &["log", "-1", "--encoding=UTF-8", "--format=%s"]), "caf\u{e9}\n");
}

#[test]
fn who_made_it_and_who_committed_it() {
    let sandbox = Sandbox::with(&["a"]);
    let people = || sandbox.git("main", &["log", "-1", "--format=%an <%ae> %cn <%ce>"]);
    let committer = |name: &str, email: &str| {
        sandbox.git("main", &["config", "user.name", name]);
        sandbox.git("main", &["config", "user.email", email]);
    };
    committer("ann", "ann@example.org");
    sandbox.write("main/a", "second\n");
    ask_for(&sandbox, "main", &CommitRequest { author: Some(BOB), ..request(&All) });
    assert_eq!(people(), "bob <bob@example.org> ann <ann@example.org>\n");
    sandbox.write("main/a", "third\n");
    ask_for(&sandbox, "main", &CommitRequest { author: None, ..request(&All) });
    assert_eq!(people(), "ann <ann@example.org> ann <ann@example.org>\n");
}

#[test]
fn names_with_a_meaning_elsewhere_are_only_names() {
    let names: &[&[u8]] = &[
        b"$(touch canary)",
        b"`touch canary`",
        b"-a",
        b"--help",
        b":(glob)**",
        b":!a",
        b":(top)",
        b"*",
        b"[a]",
        b"line\nend",
        b"tab\tin",
        b" blank ",
        b"quote\"s'",
        b"back\\slash",
        b"\xff\xfe",
        "caf\u{e9}".as_bytes(),
        "cafe\u{301}".as_bytes(),
        b"dir with\nline/-x",
        b"end",
        b"0 deadbeef\tx",
    ];
    let sandbox = Sandbox::with(&["a", "other"]);
    let path = |name: &[u8]| sandbox.main().join(OsStr::from_bytes(name));
    let write = |name: &[u8], text: &str| {
        fs::create_dir_all(path(name).parent().expect("a parent")).expect("a directory");
        fs::write(path(name), text).expect("a file");
    };
    for round in ["first\n", "second, and longer\n"] {
        for name in names {
            write(name, round);
            sandbox.write("main/other", &format!("{name:?} {round}"));
            let scope = OneFile(PathBuf::from(OsStr::from_bytes(name)));
            let committed = ask_for(&sandbox, "main", &request(&scope));
            let paths: Vec<&[u8]> =
                committed.changes.iter().map(|it| it.path.as_os_str().as_bytes()).collect();
            assert_eq!(paths, [*name]);
        }
    }
    names.iter().for_each(|name| fs::remove_file(path(name)).expect("removed"));
    let all = ask_for(&sandbox, "main", &request(&All));
    assert_eq!(all.changes.len(), names.len() + 1);
    assert!(!sandbox.path("main/canary").exists());
    sandbox.git("main", &["fsck", "--strict"]);
}

/// One file, and nothing below it.
struct OneFile(PathBuf);

impl CommitScope for OneFile {
    fn look(&self) -> SearchScope {
        SearchScope::At(vec![self.0.clone()])
    }

    fn covers(&self, path: &Path) -> bool {
        path == self.0
    }
}

#[test]
fn a_scope_with_more_paths_than_git_can_be_told() {
    let sandbox = Sandbox::with(&["src/a.rs"]);
    sandbox.write("main/src/a.rs", "second\n");
    let many: Vec<String> = (0..3_000).map(|number| format!("{}/{number}", "long".repeat(40))).collect();
    let mut paths: Vec<&str> = many.iter().map(String::as_str).collect();
    paths.push("src");
    let committed = ask_for(&sandbox, "main", &request(&below(&paths)));
    assert_eq!(shown(&committed.changes), ["M src/a.rs"]);
}
