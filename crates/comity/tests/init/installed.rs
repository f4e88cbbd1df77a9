//! Programs are installed before settings name them; comments stay; and what was never touched is not spoken of.

use std::fs;
use std::path::Path;

use crate::support::HUMAN;
use crate::{CLAUDE, User, changes, client};

#[test]
fn an_undo_says_nothing_of_what_was_never_touched() {
    let user = User::new();
    user.write(".gemini/settings.json", "{\"theme\": \"dark\"\n");
    assert_eq!(user.init(&["--client", "claude"]).code, 0);
    for what in [&["--undo", "--dry-run"][..], &["--undo"]] {
        let undone = user.init(what);
        assert!(undone.out.contains("claude") && undone.out.contains("pre-commit"), "{undone:?}");
        for name in ["codex", "gemini", "copilot", "cursor", "opencode"] {
            assert!(!undone.out.lines().any(|line| line == name), "{name} was never connected: {undone:?}");
        }
        assert!(!undone.out.contains("  same "), "{undone:?}");
    }
    let again = user.init(&["--undo"]);
    assert_eq!(again.out, "nothing of comity init's is left here\n", "{again:?}");
    assert_eq!(user.init(&["--undo", "--json"]).json()["clients"], serde_json::json!([]));
}

#[test]
fn programs_are_installed_before_settings_name_them() {
    let user = User::new();
    let built = user.file("shop/target/release");
    fs::create_dir_all(&built).expect("made");
    fs::write(user.file("shop/target/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n")
        .expect("written");
    for name in ["comity", "comity-hook", "comity-confine"] {
        fs::hard_link(user.file("bin").join(name), built.join(name)).expect("linked");
    }
    let run = |program: &Path, words: &[&str]| {
        user.run(user.place.program(program).args(words).env("COMITY_TOKEN", HUMAN))
    };
    let program = built.join("comity");
    let refused = run(&program, &["init"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let line = format!("first run {} install", program.display());
    assert!(refused.err.contains("is a build directory") && refused.err.contains(&line), "{refused:?}");
    assert_eq!(user.text(".claude/settings.json"), CLAUDE, "nothing was changed");
    assert!(run(&program, &["init", "--dry-run"]).out.contains(&line));

    let installed = run(&program, &["install"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    let there = user.file(".local/bin");
    for name in ["comity", "comity-hook", "comity-confine"] {
        let mode = user.mode(&format!(".local/bin/{name}"));
        assert_eq!(mode, 0o755, "{name}");
    }
    assert!(installed.out.contains("add it to your PATH"), "{installed:?}");
    let next = installed.out.lines().last().expect("what to do next").trim();
    assert_eq!(next, format!("{} init", there.join("comity").display()));
    let again = run(&program, &["install", "--json"]).json();
    assert_eq!(again["dir"], there.to_str().expect("a text"), "an update is the same command");
    let mut shell = user.place.program("sh");
    let done = user.run(shell.args(["-c", next]).env("COMITY_TOKEN", HUMAN));
    assert_eq!(done.code, 0, "{done:?}");
    let settings = user.text(".claude/settings.json");
    assert!(
        settings.contains("/.local/bin/comity-hook'") && !settings.contains("target/release"),
        "{settings}"
    );

    let inside = run(&program, &["install", "--to", built.to_str().expect("a text")]);
    assert!(inside.code == 1 && inside.err.contains("is a build directory"), "{inside:?}");
}

#[test]
fn comments_in_settings_stay() {
    let user = User::new();
    let gemini = "// mine\n{\n  \"ui\": { \"theme\": \"dark\" } // at night\n}\n";
    let opencode = "{\n  \"model\": \"x\", // the best\n}\n";
    user.write(".gemini/settings.json", gemini);
    user.write(".config/opencode/opencode.jsonc", opencode);
    let done = user.init(&["--client", "gemini", "--client", "opencode", "--json"]).document();
    assert_eq!(changes(&done, "gemini"), ["changed", "created"], "{done}");
    assert_eq!(changes(&done, "opencode"), ["changed", "created"], "{done}");
    assert!(!user.file(".config/opencode/opencode.json").exists(), "the file that is there is taken");
    for (file, comments) in [
        (".gemini/settings.json", &["// mine\n{", "}, // at night\n"][..]),
        (".config/opencode/opencode.jsonc", &["\"x\", // the best\n"]),
    ] {
        let text = user.text(file);
        assert!(text.contains("comity") && comments.iter().all(|comment| text.contains(comment)), "{text}");
    }
    assert_eq!(client(&done, "gemini")["connected"], true, "{done}");
    assert_eq!(user.init(&["--undo"]).code, 0);
    assert_eq!(user.text(".gemini/settings.json"), gemini, "byte for byte");
    assert_eq!(user.text(".config/opencode/opencode.jsonc"), opencode, "byte for byte");
}

#[test]
fn nothing_that_names_a_program_is_left_when_it_goes() {
    let user = User::new();
    let done = user.init(&[]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("in your own settings, for all your repositories:"), "{done:?}");
    assert!(done.out.contains("comity init --limits") && !done.out.contains("before 2.1.295"), "{done:?}");
    assert!(user.init(&["--limits"]).out.contains("before 2.1.295"));
    assert!(user.init(&["--dry-run"]).out.ends_with("everything is in place\n"));
    // Without the programs there is a note.
    let note = user.place.home.join("UNINSTALL.txt");
    let by_hand = fs::read_to_string(&note).expect("a note");
    let says = |path: &Path| by_hand.contains(&*path.canonicalize().expect("a file").to_string_lossy());
    assert!(says(&user.file(".claude/settings.json")) && says(&user.pre_commit()), "{by_hand}");

    let run = |words: &[&str]| user.run(user.program().args(words).env("COMITY_TOKEN", HUMAN));
    for words in [&["completions", "bash", "--install"][..], &["man", "--install"]] {
        assert_eq!(run(words).code, 0, "{words:?}");
    }
    let completions = user.file(".local/share/bash-completion/completions/comity");
    let page = user.file(".local/share/man/man1/comity-lock.1");
    assert!(completions.is_file() && page.is_file());
    let shown = run(&["uninstall", "--dry-run"]);
    assert!(shown.code == 0 && shown.out.contains("comity-hook"), "{shown:?}");
    assert!(user.comity.is_file() && user.pre_commit().is_file(), "nothing was changed");

    let gone = run(&["uninstall"]);
    assert_eq!(gone.code, 0, "{gone:?}");
    assert_eq!(user.text(".claude/settings.json"), CLAUDE);
    for file in
        [&user.comity, &user.file("bin/comity-hook"), &user.file("bin/comity-confine"), &completions, &page]
    {
        assert!(!file.exists(), "{}", file.display());
    }
    assert!(!user.pre_commit().exists() && !note.exists());
    assert_eq!(user.place.server(), None, "it is stopped");
    assert!(user.place.home.join("log.db").is_file(), "the log stays");
}
