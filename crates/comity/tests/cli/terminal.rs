//! What a person at a terminal sees: colors, its width, a pager, lists that are drawn again; and what is installed for the shell.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::support::{BINARY, HUMAN, Place, Running, eventually, has_program, skip};

/// A line of a shell at a terminal of its own; `None` where there can be none.
fn terminal(test: &str, place: &Place, line: &str) -> Option<Command> {
    if !has_program("script") {
        skip(test, "there is no script");
        return None;
    }
    let mut script = place.program("script");
    script.args(["-qec", &line.replace("comity", &format!("'{BINARY}'")), "/dev/null"]);
    script.env("COMITY_TOKEN", HUMAN).env("TERM", "xterm").env_remove("NO_COLOR");
    script.env_remove("COMITY_PAGER").env_remove("PAGER");
    Some(script)
}

fn seen(script: &mut Command) -> String {
    String::from_utf8_lossy(&script.output().expect("it runs").stdout).replace('\r', "")
}

/// A place with a lock whose reason is longer than a narrow terminal.
fn place() -> Place {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs", "--reason", &"a long reason ".repeat(5)]);
    place
}

const BOLD: &str = "\u{1b}[1m";

#[test]
fn headers_are_bold_at_a_terminal_only() {
    let test = "headers_are_bold_at_a_terminal_only";
    let place = place();
    let Some(mut colored) = terminal(test, &place, "stty rows 50 cols 200; comity locks") else { return };
    let shown = seen(&mut colored);
    assert!(shown.contains(&format!("{BOLD}PATH")), "{shown:?}");
    let Some(mut plain) = terminal(test, &place, "stty rows 50 cols 200; comity locks") else { return };
    plain.env("NO_COLOR", "1");
    let shown = seen(&mut plain);
    assert!(shown.contains("PATH") && !shown.contains('\u{1b}'), "{shown:?}");
    assert!(!place.run(&["locks"]).out.contains('\u{1b}'), "nor in a pipe");
}

#[test]
fn tables_are_as_wide_as_the_terminal() {
    let test = "tables_are_as_wide_as_the_terminal";
    let place = place();
    let Some(mut narrow) = terminal(test, &place, "stty rows 50 cols 40; NO_COLOR=1 comity locks") else {
        return;
    };
    let shown = seen(&mut narrow);
    let row = shown.lines().find(|line| line.starts_with("src/a.rs")).expect("a row");
    assert!(row.chars().count() <= 40 && row.contains("ann") && row.ends_with('…'), "{shown}");
    assert!(shown.lines().any(|line| line.contains("HOLDER")), "a long value hides no column: {shown}");
    assert!(place.run(&["locks"]).out.contains("a long reason a long reason a long"), "a pipe gets all");
}

#[test]
fn what_is_longer_than_the_terminal_goes_to_the_pager() {
    let test = "what_is_longer_than_the_terminal_goes_to_the_pager";
    let place = place();
    let paged = place.dir().join("paged");
    let pager = format!("cat > '{}'", paged.display());
    let Some(mut short) = terminal(test, &place, "stty rows 50 cols 200; comity locks") else { return };
    short.env("COMITY_PAGER", &pager);
    assert!(seen(&mut short).contains("src/a.rs") && !paged.exists(), "it fits");
    let Some(mut long) = terminal(test, &place, "stty rows 3 cols 200; comity locks") else { return };
    long.env("COMITY_PAGER", &pager).env("PAGER", "false");
    let shown = seen(&mut long);
    assert!(!shown.contains("src/a.rs"), "{shown}");
    assert!(fs::read_to_string(&paged).expect("paged").contains("src/a.rs"));
    let Some(mut none) = terminal(test, &place, "stty rows 3 cols 200; comity locks") else { return };
    none.env("COMITY_PAGER", "");
    assert!(seen(&mut none).contains("src/a.rs"), "an empty one is none");
    let Some(mut missing) = terminal(test, &place, "stty rows 3 cols 200; comity locks") else { return };
    missing.env("COMITY_PAGER", "no-such-pager");
    assert!(seen(&mut missing).contains("src/a.rs"), "nor is one that is not there");
}

#[test]
fn a_watched_list_is_drawn_again_when_something_happens() {
    let test = "a_watched_list_is_drawn_again_when_something_happens";
    let place = place();
    let drawn = place.dir().join("drawn");
    let Some(mut watch) = terminal(test, &place, "stty rows 40 cols 200; comity agents --watch") else {
        return;
    };
    watch.stdout(File::create(&drawn).expect("a file"));
    let _watch = Running(watch.spawn().expect("it starts"));
    let shown = || fs::read_to_string(&drawn).unwrap_or_default();
    eventually("it is drawn", || shown().contains("ann"));
    assert!(!shown().contains("bob"));
    place.join(&["bob"]);
    eventually("it is drawn again", || shown().contains("bob"));
    let again = shown();
    assert!(
        again.matches("\u{1b}[2J").count() >= 2 && again.contains("--watch; Ctrl-C ends it"),
        "{again:?}"
    );
}

#[test]
fn short_help_is_shorter() {
    let place = Place::without_state();
    for words in [&[][..], &["lock"], &["task", "add"]] {
        let help = |flag: &str| place.run(&[words, &[flag]].concat());
        let (short, long) = (help("-h"), help("--help"));
        assert_eq!((short.code, long.code), (0, 0), "{words:?}");
        assert!(short.out.len() < long.out.len(), "{words:?}: {}", short.out);
        assert!(short.out.contains("Usage:"), "{words:?}: {}", short.out);
    }
}

#[test]
fn completions_and_manual_pages_are_installed() {
    let place = Place::without_state();
    let (data, config) = (place.dir().join("data"), place.dir().join("config"));
    let install = |words: &[&str]| {
        let mut command = place.comity(words);
        let done =
            command.env("XDG_DATA_HOME", &data).env("XDG_CONFIG_HOME", &config).output().expect("it runs");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let read =
        |file: &Path| fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    for (shell, file) in [
        ("bash", data.join("bash-completion/completions/comity")),
        ("zsh", data.join("zsh/site-functions/_comity")),
        ("fish", config.join("fish/completions/comity.fish")),
    ] {
        let said = install(&["completions", shell, "--install"]);
        assert!(said.contains(&file.display().to_string()), "{said}");
        assert!(read(&file).contains("worktree"), "{shell}");
    }
    let bash = Command::new("bash").arg("-n").arg(data.join("bash-completion/completions/comity")).status();
    assert!(bash.expect("bash").success());
    let told = install(&["man", "--install"]);
    let pages = data.join("man/man1");
    assert!(fs::read_dir(&pages).expect("pages").count() > 50);
    assert!(read(&pages.join("comity-lock.1")).contains(".TH"));
    if !has_program("man") {
        return skip("completions_and_manual_pages_are_installed", "there is no man");
    }
    // Nothing searches a directory of the test's own, and what it says makes man find them.
    let line = told.lines().find(|line| line.trim_start().starts_with("export MANPATH=")).expect("a line");
    let find = |line: &str| {
        let shell = Command::new("sh").args(["-c", &format!("{line}; man -w comity-lock")]).output();
        String::from_utf8_lossy(&shell.expect("sh").stdout).into_owned()
    };
    assert!(find(line).contains("man1/comity-lock.1"), "{told}");
    assert!(find(":").is_empty(), "it finds nothing without that");
}

#[test]
fn a_manual_page_is_shown_as_one_at_a_terminal() {
    let test = "a_manual_page_is_shown_as_one_at_a_terminal";
    let place = Place::without_state();
    assert!(place.run(&["man", "lock"]).out.contains(".TH"), "in a pipe it is the page itself");
    let Some(mut shown) = terminal(test, &place, "stty rows 90 cols 100; comity man lock") else { return };
    let shown = without_overstrikes(&seen(shown.env("MANPAGER", "cat")));
    assert!(shown.contains("--shared") && !shown.contains(".TH") && !shown.contains("\\fB"), "{shown}");
    // Where there is no man, it is the help.
    let Some(mut shown) = terminal(test, &place, "stty rows 90 cols 100; comity man lock") else { return };
    let bare = place.dir().join("programs");
    fs::create_dir(&bare).expect("made");
    for program in ["sh", "stty", "script"] {
        std::os::unix::fs::symlink(where_is(program), bare.join(program)).expect("linked");
    }
    let shown = seen(shown.env("PATH", &bare));
    assert!(shown.contains("--shared") && !shown.contains(".TH"), "{shown}");
}

/// Bold letters of a page are written twice in one place.
fn without_overstrikes(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        match c {
            '\u{8}' => drop(plain.pop()),
            c => plain.push(c),
        }
    }
    plain
}

/// Where a program is.
fn where_is(name: &str) -> std::path::PathBuf {
    let dirs = std::env::var_os("PATH").expect("a PATH");
    let found = std::env::split_paths(&dirs).map(|dir| dir.join(name)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("there is no {name}"))
}
