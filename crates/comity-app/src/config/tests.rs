//! What settings mean, and which are refused.

use super::*;

#[test]
fn later_settings_win() {
    let dir = tempfile::tempdir().expect("a directory");
    let (user, project) = (dir.path().join("user.toml"), dir.path().join("comity.toml"));
    std::fs::write(&user, "[lock]\nttl = \"10m\"\n[agent]\ntimeout = \"1h\"\n").expect("written");
    std::fs::write(&project, "[lock]\nttl = 60\n").expect("written");
    let config = Config::read(&[&user, &project], |name| match name {
        "COMITY_HTTP_PORT" => Some("0".into()),
        "COMITY_GUARD_WATCH" => Some("false".into()),
        _ => None,
    });
    let config = config.expect("good settings");
    assert_eq!(config.lock.ttl.map(|span| span.0), Some(comity_core::Millis::seconds(60)));
    assert_eq!(config.agent.timeout.map(|span| span.0), Some(comity_core::Millis::hours(1)));
    let limit = |text: &str| {
        let env = |name: &str| (name == "MAX_AGENTS").then(|| text.to_owned());
        Config::read(&[&user], env).map(|config| config.agents_max())
    };
    assert_eq!(limit(""), Ok(limits::AGENT_LIMIT));
    assert_eq!(limit("20"), Ok(20));
    assert!(limit("21").is_err() && limit("0").is_err() && limit("many").is_err());
    assert_eq!((config.http.port, config.guard.watch), (Some(0), Some(false)));
    std::fs::write(&project, "[roles.tester]\nprompt = \"Try it.\"\nrights = [\"review-tasks\"]\n")
        .expect("written");
    let roles = Config::read(&[&project], |_| None).expect("good settings").roles();
    let tester = roles.get("tester").expect("a role of the user's");
    assert_eq!(tester.rights, [comity_core::roles::Right::ReviewTasks]);
    assert!(roles.get("lead").is_some_and(|lead| lead.rights.len() == 7), "the others stay");
    std::fs::write(&project, "[lock]\ntll = 60\n").expect("written");
    let problem = Config::read(&[&project], |_| None).expect_err("a misspelled setting");
    assert!(problem.contains("comity.toml:2: ") && problem.contains("tll"), "{problem}");
    std::fs::write(&project, "\n[lock\n").expect("written");
    let problem = Config::read(&[&user, &project], |_| None).expect_err("no TOML");
    assert!(problem.contains("comity.toml:2: ") && !problem.contains('\n'), "{problem}");
    for (name, value) in
        [("COMITY_GUARD_POLICY", "maybe"), ("COMITY_HTTP_PORT", "99999"), ("MAX_AGENTS", "abc")]
    {
        let env = |asked: &str| (asked == name).then(|| value.to_owned());
        let problem = Config::read(&[&user], env).expect_err(name);
        assert!(problem.starts_with(&format!("{name} is \"{value}\": ")), "{problem}");
    }
    let pools = |text: &str| {
        std::fs::write(&project, text).expect("written");
        Config::read(&[&project], |_| None).map(|config| config.pools.len())
    };
    assert_eq!(pools("[pools.build]\ncapacity = 1\n[pools.gpu]\ncapacity = 2\n"), Ok(2));
    for (text, problem) in [
        ("[pools.build]\ncapacity = 0\n", "from 1 to"),
        ("[pools.build]\ncapacity = 1001\n", "from 1 to"),
        ("[pools.build]\ncapacity = -1\n", "invalid value"),
        ("[pools.build]\ncapacity = \"many\"\n", "invalid type"),
        ("[pools.build]\n", "missing field"),
        ("[pools.build]\ncapacity = 1\nsize = 2\n", "unknown field"),
        ("[pools.\"the build\"]\ncapacity = 1\n", "the build"),
        ("[pools.7]\ncapacity = 1\n", "number"),
        ("[pools.run]\ncapacity = 1\n", "run"),
        ("[pools.tabs]\ncapacity = 1\n", "tabs"),
    ] {
        let found = pools(text).expect_err(text);
        assert!(found.contains(problem), "{text}: {found}");
        assert!(found.starts_with("settings: ") || found.contains("comity.toml:"), "{text}: {found}");
    }
}
