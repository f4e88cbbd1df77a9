//! PE8: what a sandboxed agent reaches: hosts by rules of the human, and others once the human says so.

use comity_core::Refusal;
use comity_core::permissions::{
    Answer, KeptAnswer, Pattern, PermissionAsk, RuleEffect, RuleScope, ToolClass, host_is_let, host_matches,
};
use comity_core::roles::Mode;

use crate::permission_world::{ANN, BOB, HUMAN, LEAD, PermissionWorld, allow, reach, who};

#[test]
fn deny_beats_ask_beats_allow_for_hosts() {
    use RuleEffect::{Allow, Ask, Deny};
    for (rules, host, expected) in [
        (vec![], "example.com", "asks"),
        (vec![(Allow, "example.com")], "example.com", "may"),
        (vec![(Allow, "*.example.com")], "a.b.example.com", "may"),
        (vec![(Allow, "*.example.com")], "example.com", "asks"),
        (vec![(Allow, "*.example.com")], "evilexample.com", "asks"),
        (vec![(Allow, "*")], "example.com", "may"),
        (vec![(Allow, "*")], "127.0.0.1", "asks"),
        (vec![(Allow, "*")], "::1", "asks"),
        (vec![(Allow, "127.0.0.1")], "127.0.0.1", "may"),
        (vec![(Allow, "*"), (Ask, "example.com")], "example.com", "asks"),
        (vec![(Allow, "example.com"), (Ask, "*"), (Deny, "*.com")], "example.com", "says no"),
        (vec![(Deny, "*")], "127.0.0.1", "says no"),
    ] {
        for turned in [false, true] {
            let mut stage = PermissionWorld::new();
            let mut rules = rules.clone();
            if turned {
                rules.reverse();
            }
            for (effect, pattern) in &rules {
                stage.rule(HUMAN, *effect, "Network", Some(*pattern), RuleScope::Below);
            }
            let asks = stage.request(ANN, &reach(host)).is_some();
            let said = if asks { "asks".to_owned() } else { stage.tries(ANN, &reach(host)) };
            assert!(said.contains(expected), "{rules:?} to {host}: {said}");
        }
    }
}

#[test]
fn no_agent_and_no_mode_lets_anybody_reach_a_host() {
    let mut stage = PermissionWorld::new();
    stage.mode(HUMAN, ANN, Mode::Full).expect("set");
    stage.rule(who(LEAD), RuleEffect::Allow, "Network", None, RuleScope::Below);
    stage.rule(who(LEAD), RuleEffect::Allow, "*", None, RuleScope::Below);
    let call = reach("example.com");
    let request = stage.request(ANN, &call).expect("asked, whatever the mode is and agents allow");
    assert_eq!(stage.asked_of(request), HUMAN, "and not its leader");
    let answer = |answer| PermissionAsk::Answer { request, tool: "Network".into(), hash: call.hash, answer };
    for agent in [LEAD, ANN, BOB] {
        let refused = stage.ask(who(agent), answer(allow())).expect_err("only the human");
        assert!(matches!(refused, Refusal::NotAllowed { .. }), "{refused:?}");
    }
    // Allowed for ever, it is a rule about this host for this agent.
    stage
        .ask(HUMAN, answer(Answer::Allow { kept: Some(KeptAnswer { for_team: false, pattern: None }) }))
        .expect("allowed");
    assert_eq!(stage.tries(ANN, &call), "may");
    assert_eq!(stage.tries(ANN, &call), "may");
    assert!(stage.request(BOB, &call).is_some(), "nobody else may more than before");
    assert!(stage.request(ANN, &reach("www.example.com")).is_some());
    // What an agent forbids holds for those below it.
    stage.rule(who(LEAD), RuleEffect::Deny, "Network", Some("example.com"), RuleScope::Below);
    assert!(stage.tries(ANN, &call).contains("says no"));
    stage.folds();
}

#[test]
fn in_plan_mode_a_host_is_asked_about_too() {
    let mut stage = PermissionWorld::new();
    stage.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert!(stage.request(ANN, &reach("example.com")).is_some());
}

#[test]
fn hosts_are_patterns_of_names() {
    for (rule, host, matches, is_let) in [
        ("*.example.com", "a.example.com", true, true),
        ("*.example.com", ".example.com", false, false),
        ("*.1", "127.0.0.1", true, false),
        ("*", "10.0.0.1", true, false),
    ] {
        assert_eq!((host_matches(rule, host), host_is_let(rule, host)), (matches, is_let), "{rule} {host}");
    }
    let parse = |text: &str| Pattern::parse(ToolClass::Network, text, None).map(|pattern| pattern.readable());
    assert_eq!(parse(" *.Example.COM. ").expect("a host"), "*.example.com");
    for bad in ["", "http://example.com", "example.com/path", "a b", "*.", "ex*mple.com", "a\u{e9}.com"] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}
