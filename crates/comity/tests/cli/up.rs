//! What `comity up` gives: a link for the browser, and commands to paste.

use std::process::Command;

use crate::support::{Place, http};

/// The commands that `up` says come next.
fn steps(said: &str) -> Vec<String> {
    let next = said.lines().skip_while(|line| !line.starts_with("Next, ")).skip(1);
    next.filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

#[test]
fn the_link_logs_in_once_and_the_page_is_there() {
    let place = Place::new();
    let up = place.run(&["up"]);
    let link = up.out.lines().find(|line| line.contains("#login=")).expect("a link");
    let page = http::request(&place, None, "GET", "/", None);
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.contains("<title>Comity</title>") && page.body.contains("/api/session"), "{page:?}");
    let opened = http::open_link(&place, link);
    let token = opened.json()["token"].as_str().expect("a token").to_owned();
    for path in ["/api/status", "/api/inbox", "/api/agents", "/api/coordination/locks?all_projects=true"] {
        assert!(page.body.contains(path), "{path}");
        assert_eq!(http::request(&place, Some(&token), "GET", path, None).status, 200, "{path}");
    }
    let again = http::open_link(&place, link);
    assert_eq!(
        (again.status, &again.json()["error"]["hint"]),
        (403, &"get a new one with: comity login".into())
    );
    let code = link.split_once("#login=").expect("a code").1.trim();
    assert_eq!(
        http::request(&place, Some(code), "GET", "/api/status", None).status,
        401,
        "a code isn't a token"
    );
    let without = http::request(&place, None, "POST", "/api/session", None);
    assert_eq!(without.status, 401, "{without:?}");
    let problem = without.json()["error"]["message"].as_str().expect("words").to_owned();
    assert!(problem.contains("behind #login= in the link"), "{problem}");
}

#[test]
fn a_request_without_a_token_is_told_so() {
    let place = Place::new();
    place.json(&["up"]);
    let refused = http::request(&place, None, "GET", "/api/status", None);
    assert_eq!(refused.status, 401, "{refused:?}");
    let wrong =
        http::request(&place, Some("cmty_nobody_xxxxxxxxxxxxxxxxxxxxxxxx"), "GET", "/api/status", None);
    assert_eq!(wrong.status, 401, "{wrong:?}");
    let hint = wrong.json()["error"]["hint"].as_str().expect("a hint").to_owned();
    assert_eq!(hint, "send what POST /api/agents gave as the header Authorization: Bearer TOKEN");
}

#[test]
fn a_server_that_was_stopped_is_not_started_silently() {
    let place = Place::new();
    place.json(&["up"]);
    let stopped = place.run(&["down"]);
    assert!(stopped.out.contains("Most commands start a server if they need one"), "{stopped:?}");
    let looked = place.run(&["locks"]);
    let note = "this command has started the server, which you had stopped with comity down";
    assert!(looked.code == 0 && looked.err.contains(note), "{looked:?}");
    assert!(!place.run(&["locks"]).err.contains(note), "it runs");
    place.run(&["down"]);
    place.json(&["up"]);
    assert!(!place.run(&["locks"]).err.contains(note), "up says so itself");
}

#[test]
fn the_next_steps_can_be_pasted() {
    let place = Place::new();
    let up = place.run(&["up"]);
    let steps = steps(&up.out);
    assert_eq!(steps.len(), 5, "{up:?}");
    for step in steps {
        // As it is, but for what changes the machine or does not end. The programs of this test are not installed.
        let line = step.replace(" init", " init --dry-run").replace(" --follow", "");
        let mut shell: Command = place.program("sh");
        let ran = shell.args(["-c", &line]).env("COMITY_TOKEN", crate::support::HUMAN).output().expect("sh");
        assert!(ran.status.success(), "{line}: {ran:?}");
    }
}

#[test]
fn the_port_stays_the_same() {
    let place = Place::new();
    let url = || place.json(&["status"])["url"].as_str().expect("an address").to_owned();
    place.json(&["up"]);
    let first = url();
    for _ in 0..3 {
        place.json(&["restart"]);
        assert_eq!(url(), first);
    }
    place.kill_server();
    place.json(&["up"]);
    assert_eq!(url(), first, "after a kill, too");
}
