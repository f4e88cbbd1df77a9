//! How programs are set up to start their shell through us, and what is said where that does not reach.

use std::fs;

use serde_json::Value;

use crate::{User, client};

#[test]
fn nothing_is_written_beside_the_programs() {
    let user = User::new();
    let programs = || {
        let found = fs::read_dir(user.file("bin")).expect("programs");
        let mut names: Vec<_> = found.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    let before = programs();
    let done = user.init(&["--json"]).json();
    assert_eq!(programs(), before, "only root may write where they are installed");
    let script = user.place.home.join("comity-confine.sh");
    assert!(script.is_file(), "it lies among the user's own: {done}");
    assert!(user.text(".codex/config.toml").contains(script.to_str().expect("a text")));
    if done["can_confine"] == true {
        for name in ["claude", "codex"] {
            assert_eq!(client(&done, name)["confined"], true, "{done}");
        }
        let text = user.text(".codex/config.toml");
        for (mode, shell, named) in [
            ("", "bash", "codex (not in its own sandbox: sandbox_mode is not set)\n"),
            ("sandbox_mode = \"danger-full-access\"\n", "zsh", "works here, for claude, codex\n"),
            (
                "sandbox_mode = \"danger-full-access\"\n",
                "fish",
                "codex (not in your shell, fish: only in bash and zsh)\n",
            ),
            ("sandbox_mode = \"danger-full-access\"\n", "bash", "works here, for claude, codex\n"),
        ] {
            user.write(".codex/config.toml", &format!("{mode}{text}"));
            let doctor = user.run(user.place.program(&user.comity).arg("doctor").env("SHELL", shell));
            assert!(doctor.out.contains(named), "{doctor:?}");
        }
        // As an earlier version wrote it.
        let kept = text.lines().filter(|line| !line.starts_with("ZDOTDIR")).collect::<Vec<_>>().join("\n");
        user.write(".codex/config.toml", &format!("sandbox_mode = \"danger-full-access\"\n{kept}\n"));
        let doctor = user.run(user.place.program(&user.comity).arg("doctor").env("SHELL", "/bin/zsh"));
        assert!(
            doctor.out.contains("codex (not in your shell, /bin/zsh: run comity init again)"),
            "{doctor:?}"
        );
        user.write(".codex/config.toml", &text);

        // What the settings name is missing: nobody says that it works.
        fs::remove_file(&script).expect("removed");
        let doctor = user.doctor();
        let missing = format!("names {}, which is missing", script.display());
        let found = doctor.out.lines().find(|line| line.contains("confinement")).expect("a finding");
        assert!(found.starts_with("warn") && found.contains(&missing), "{doctor:?}");
        assert!(found.contains("works here, for claude, but not for codex"), "{doctor:?}");
        assert_eq!(client(&user.init(&["--json"]).json(), "codex")["confined"], true, "it is made again");
    }
    assert_eq!(user.init(&["--undo", "--client", "claude"]).code, 0);
    assert!(script.is_file(), "the settings of codex still name it");
    let zshenv = user.place.home.join("comity-zsh/.zshenv");
    assert!(zshenv.is_file());
    assert_eq!(user.init(&["--undo"]).code, 0);
    assert!(!script.exists() && !zshenv.exists(), "they go with them");
}

#[test]
fn a_setting_of_ones_own_is_left_alone_and_said() {
    let user = User::new();
    user.write(".claude/settings.json", "{\"env\":{\"CLAUDE_CODE_SHELL_PREFIX\":\"/usr/bin/env\"}}\n");
    user.write(".codex/config.toml", "[shell_environment_policy]\nset = { FOO = \"1\" }\n");
    let shown = user.init(&["--dry-run"]);
    assert!(shown.out.contains("by hand  CLAUDE_CODE_SHELL_PREFIX in"), "{shown:?}");
    let done = user.init(&["--json"]).json();
    let by_hand = client(&done, "claude")["by_hand"].as_str().expect("something to do");
    assert!(by_hand.contains("is your own (/usr/bin/env)"), "{by_hand}");
    assert_eq!(client(&done, "claude")["confined"], false, "{done}");
    assert_eq!(client(&done, "codex")["by_hand"], Value::Null, "{done}");
    let policy = user.text(".codex/config.toml");
    assert!(policy.contains("set = { FOO = \"1\", BASH_ENV = "), "{policy}");
    if done["can_confine"] == true {
        assert_eq!(client(&done, "codex")["confined"], true, "{done}");
        let doctor = user.doctor();
        let found = doctor.out.lines().find(|line| line.contains("confinement")).expect("a finding");
        assert!(
            found.starts_with("warn")
                && found.contains(
                    "for codex (not in its own sandbox: sandbox_mode is not set), but not for claude"
                ),
            "{doctor:?}"
        );
    }
    // A form that cannot be added to.
    user.write(".codex/config.toml", "[shell_environment_policy]\nset.FOO = \"1\"\n");
    let done = user.init(&["--json"]).json();
    let by_hand = client(&done, "codex")["by_hand"].as_str().expect("something to do");
    assert!(by_hand.contains("set BASH_ENV to"), "{by_hand}");
    assert_eq!(client(&done, "codex")["confined"], false, "{done}");
}
