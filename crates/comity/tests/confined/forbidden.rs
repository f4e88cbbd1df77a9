//! Machines on which nobody may make namespaces.

use std::process::Command;

use serde_json::json;

use super::{place, ways};
use crate::support::model::{Call, Model};
use crate::support::{Place, Ran, beside, clients, skip};

/// What allows no namespaces to the command behind it.
const WITHOUT: &str = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";

/// Starts a program where no namespaces can be made; nothing, if that cannot be tried here.
fn apart(test: &str, place: &Place) -> Option<Command> {
    let apart = ["--user", "--map-root-user"];
    if !Command::new("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success()) {
        skip(test, "there are no user namespaces here");
        return None;
    }
    let mut unshare = place.program("unshare");
    unshare.args(apart).args(["sh", "-c", WITHOUT, "sh"]);
    Some(unshare)
}

fn without_namespaces(test: &str, place: &Place, words: &[&str], token: Option<&str>) -> Option<Ran> {
    let mut apart = apart(test, place)?;
    apart.args(words);
    token.map(|token| apart.env("COMITY_TOKEN", token));
    Some(Ran::of(apart.output().expect("it runs")))
}

#[test]
fn doctor_says_what_to_do_about_it() {
    for (setting, level) in [("auto", "warn"), ("required", "BAD")] {
        let place = Place::new();
        place.set(&format!("[guard]\nconfine = \"{setting}\"\n"));
        clients::install(&place);
        let comity = place.dir().join("bin/comity").display().to_string();
        let test = "doctor_says_what_to_do_about_it";
        let Some(ran) = without_namespaces(test, &place, &[&comity, "doctor"], None) else { return };
        let mut lines = ran.out.lines().skip_while(|line| !line.contains(" confinement "));
        let (found, next) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        assert!(found.starts_with(level) && found.contains("not possible here"), "{ran:?}");
        assert!(next.contains("sudo sysctl user.max_user_namespaces=10000"), "{ran:?}");
    }
}

#[test]
fn who_plans_runs_no_command_there() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.json(&["mode", "ann", "plan"]);
    let program = beside("comity-confine").display().to_string();
    let words = [&program, "-c", "touch ran"];
    let Some(ran) = without_namespaces("who_plans_runs_no_command_there", &place, &words, Some(&ann.token))
    else {
        return;
    };
    assert_eq!(ran.code, 126, "{ran:?}");
    assert!(ran.err.contains("this did not run: you are in plan mode"), "{ran:?}");
    assert!(!place.repo.join("ran").exists(), "{ran:?}");
}

#[test]
fn what_must_be_confined_does_not_run_there() {
    for (setting, is_run) in [("required", false), ("auto", true)] {
        let (place, _bob) = place();
        let ann = place.join(&["ann"]);
        place.set(&format!("[guard]\nconfine = \"{setting}\"\n"));
        place.kill_server();
        let program = beside("comity-confine").display().to_string();
        let words = [&program, "-c", "touch ran"];
        let test = "what_must_be_confined_does_not_run_there";
        let Some(ran) = without_namespaces(test, &place, &words, Some(&ann.token)) else { return };
        assert_eq!(place.repo.join("ran").exists(), is_run, "{setting}: {ran:?}");
        assert_eq!(ran.code, if is_run { 0 } else { 126 }, "{setting}: {ran:?}");
        assert_eq!(ran.err.contains("user namespaces are not allowed here"), !is_run, "{setting}: {ran:?}");
        assert!(ways::is_untouched(&place.repo));
    }
}

#[test]
fn an_agent_program_learns_why_its_command_does_not_run_there() {
    let test = "an_agent_program_learns_why_its_command_does_not_run_there";
    let (place, _bob) = place();
    place.set("[guard]\nconfine = \"required\"\n");
    place.kill_server();
    let call = |line: &str| Call::new("Bash", json!({ "command": line, "description": "x" }));
    let model = Model::start(["pwd", "touch ran"].map(call).into());
    let Some(claude) = clients::claude(test, &place, &model) else { return };
    clients::install(&place);
    clients::init(&place, "claude", &claude);
    let Some(mut apart) = apart(test, &place) else { return };
    apart.arg(claude.get_program()).args(claude.get_args()).arg("--strict-mcp-config");
    apart.envs(claude.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = clients::run(&place, apart);
    let told = model.told();
    assert_eq!(told.len(), 2, "{told:?}: {ran:?}");
    assert!(!place.repo.join("ran").exists(), "{told:?}: {ran:?}");
    for (told, said) in told.iter().flat_map(|told| {
        ["this did not run", "user namespaces are not allowed here", "comity doctor"].map(|said| (told, said))
    }) {
        assert!(told.contains(said), "{said}: {told}: {ran:?}");
    }
}
