//! Shells other than bash that real agent programs start.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::clients::{FREE, HIDDEN, READS, init};
use super::{place, place_with, ways};
use crate::support::clients::{self, CODEX_PLAIN};
use crate::support::model::{Call, Model};
use crate::support::{Place, Ran, has_program, skip};

/// The model may name another shell, which does not read the variable by which bash starts through us. Codex starts it
/// from a bash, as long as what that one reads first is there.
#[test]
fn another_shell_that_a_model_names_in_codex_is_confined() {
    let test = "another_shell_that_a_model_names_in_codex_is_confined";
    let (place, _bob) = place();
    let forget = "import os\nfor at, _, names in os.walk(os.environ['HOME'] + '/codex/shell_snapshots'):\n    for name in names: os.unlink(at + '/' + name)\n";
    fs::write(place.repo.join("forget.py"), forget).expect("written");
    let call =
        |(line, shell): (&str, &str)| Call::new("exec_command", json!({ "cmd": line, "shell": shell }));
    let tried = [
        (HIDDEN, "/bin/sh"),
        ("python3 forget.py; rm -f ~/codex/shell_snapshots/*; mv ~/codex/shell_snapshots x", "/bin/bash"),
        (HIDDEN, "/bin/sh"),
        ("python3 forget.py", "/bin/bash"),
        (HIDDEN, "/usr/bin/zsh"),
    ];
    let model = Model::start(tried.map(call).into());
    let Some(codex) = clients::codex(test, &place, &model, CODEX_PLAIN, "") else { return };
    init(&place, "codex", &codex);
    let ran = clients::run(&place, codex);
    let told = model.told();
    assert_eq!(told.len(), tried.len(), "{told:?}: {ran:?}");
    assert!(ways::is_untouched(&place.repo), "{told:?}: {ran:?}");
    let is_read_only = |told: &String| told.contains("Read-only file system");
    assert!(is_read_only(&told[0]) && is_read_only(&told[2]), "{told:?}: {ran:?}");
}

/// What is tried where zsh is the user's shell: it is zsh that runs it, with its user's own files, and confined.
const IN_ZSH: [&str; 5] =
    [READS, "echo \"zsh ${ZSH_VERSION:+is it} $FROM_ZSHENV $ZDOTDIR\"", "echo x >src/a.rs", HIDDEN, FREE];

fn check_zsh(policy: &str, place: &Place, model: &Model, ran: &Ran) {
    let told = model.told();
    let [reads, is_it, seen, hidden, free] = &told[..] else { panic!("{policy}: {told:?}: {ran:?}") };
    assert!(reads.contains(place.repo.to_str().expect("a text")), "{policy}: {reads}: {ran:?}");
    let own = format!("zsh is it read {}", place.dir().join("zsh").display());
    assert!(is_it.contains(&own), "{policy}: {is_it}: {ran:?}");
    assert!(seen.contains("src/a.rs is locked by bob"), "{policy}: {seen}");
    assert!(ways::is_untouched(&place.repo), "{policy}: {hidden}: {ran:?}");
    assert!(hidden.contains("Read-only file system"), "{policy}: {hidden}: {ran:?}");
    assert!(free.contains("free") && place.repo.join("free.txt").exists(), "{policy}: {free}: {ran:?}");
}

/// The user's own directory of zsh's files.
fn own_zshenv(place: &Place, client: &mut Command) {
    clients::write(&place.dir().join("zsh/.zshenv"), "FROM_ZSHENV=read\n");
    client.env("ZDOTDIR", place.dir().join("zsh"));
}

#[test]
fn codex_with_zsh_as_the_shell_is_confined() {
    let test = "codex_with_zsh_as_the_shell_is_confined";
    let apart = ["--user", "--map-root-user", "--mount"];
    let can_be_tried = has_program("zsh")
        && Command::new("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success());
    if !can_be_tried {
        return skip(test, "there is no zsh, or there are no user namespaces");
    }
    for policy in ["auto", "required"] {
        let (place, _bob) = place_with(&format!("[guard]\nconfine = \"{policy}\"\n"));
        let call = |line: &str| Call::new("exec_command", json!({ "cmd": line }));
        let model = Model::start(IN_ZSH.map(call).into());
        let Some(codex) = clients::codex(test, &place, &model, CODEX_PLAIN, "") else { return };
        init(&place, "codex", &codex);
        // Codex asks the system which shell its user has.
        let users = place.dir().join("passwd");
        fs::write(&users, "root:x:0:0:root:/root:/usr/bin/zsh\n").expect("written");
        let line = format!("mount --bind '{}' /etc/passwd && exec \"$@\"", users.display());
        let mut with_zsh = place.program("unshare");
        with_zsh.args(apart).args(["sh", "-c", &line, "sh"]).arg(codex.get_program()).args(codex.get_args());
        with_zsh.envs(codex.get_envs().filter_map(|(name, value)| Some((name, value?))));
        own_zshenv(&place, &mut with_zsh);
        let ran = clients::run(&place, with_zsh);
        check_zsh(policy, &place, &model, &ran);
    }
}

#[test]
fn opencode_with_zsh_as_the_shell_is_confined() {
    let test = "opencode_with_zsh_as_the_shell_is_confined";
    if !has_program("zsh") {
        return skip(test, "there is no zsh");
    }
    for policy in ["auto", "required"] {
        let (place, _bob) = place_with(&format!("[guard]\nconfine = \"{policy}\"\n"));
        let call = |line: &str| Call::new("bash", json!({ "command": line, "description": "x" }));
        let model = Model::start(IN_ZSH.map(call).into());
        let Some(mut opencode) = clients::opencode(test, &place, &model, "") else { return };
        fs::remove_file(place.dir().join(".config/opencode/plugins/comity.js")).expect("removed");
        init(&place, "opencode", &opencode);
        opencode.env("SHELL", "/usr/bin/zsh");
        own_zshenv(&place, &mut opencode);
        let ran = clients::run(&place, opencode);
        check_zsh(policy, &place, &model, &ran);
    }
}
