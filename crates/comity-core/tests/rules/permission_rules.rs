//! Permission rules and modes: what is allowed without asking, and to whom.

use comity_core::agents::{AgentAsk, Ending};
use comity_core::permissions::{Pattern, PermissionAsk, RuleEffect, RuleScope, ToolCall, ToolClass, mode_of};
use comity_core::roles::Mode;
use comity_core::{Ask, CaseRule, PathPattern, Refusal};

use crate::permission_world::{
    ANN, BOB, HUMAN, LEAD, PermissionWorld, STRANGER, always, base, below, id, shell, who, write,
};

#[test]
fn deny_beats_ask_beats_allow() {
    use RuleEffect::{Allow, Ask as AskRule, Deny};
    let (status, both) = (shell("git status"), shell("git status; rm -rf /"));
    let hidden = shell("$CMD -rf /");
    let ask = "asks";
    for (rules, call, expected) in [
        (vec![(Allow, "Bash", Some("git status"))], &status, "may"),
        (vec![(Allow, "Bash", Some("git *"))], &both, ask),
        (vec![(Allow, "Bash", None)], &both, "may"),
        (vec![(Allow, "Bash", None), (Deny, "Bash", Some("rm *"))], &both, "says no"),
        (vec![(Deny, "Bash", Some("rm")), (Allow, "Bash", Some("git status"))], &status, "may"),
        (vec![(Deny, "Bash", Some("rm")), (Allow, "Bash", None)], &hidden, ask),
        (vec![(Deny, "shell", Some("git"))], &status, "says no"),
        (vec![(Allow, "shell", Some("git *"))], &status, ask),
        (vec![(AskRule, "Bash", Some("git status")), (Allow, "Bash", Some("git *"))], &status, ask),
        (vec![(AskRule, "*", None), (Allow, "Bash", Some("git *"))], &status, ask),
        (vec![(Deny, "*", None), (Allow, "Bash", Some("git *")), (AskRule, "*", None)], &status, "says no"),
        (vec![(Allow, "*", None)], &status, "may"),
        (vec![(AskRule, "Bash", Some("ls"))], &shell("ls -l"), ask),
        (vec![], &shell("ls -l"), "may"),
        (vec![], &shell("ls; rm x"), ask),
    ] {
        for turned in [false, true] {
            let mut stage = PermissionWorld::new();
            let mut rules = rules.clone();
            if turned {
                rules.reverse();
            }
            for (effect, tool, pattern) in &rules {
                stage.rule(who(LEAD), *effect, tool, *pattern, RuleScope::Below);
            }
            let escalated = stage.request(ANN, call).is_some();
            let said = if escalated { ask.to_owned() } else { stage.tries(ANN, call) };
            assert!(said.contains(expected), "{rules:?} to {}: {said}", call.summary);
        }
    }
}

#[test]
fn files_are_allowed_by_all_rules_together_and_forbidden_by_any() {
    let mut two = write("src/a.rs");
    two.writes.extend(write("docs/b.md").writes);
    let mut by_shell = shell("cp x src/a.rs");
    by_shell.writes = write("src/a.rs").writes;
    let unknown = ToolCall { is_all: false, ..write("src/a.rs") };
    for (rules, call, expected) in [
        (vec![(RuleEffect::Allow, "Write", "src/**")], write("src/a.rs"), "may"),
        (vec![(RuleEffect::Allow, "Edit", "src/**")], write("src/a.rs"), "asks"),
        (vec![(RuleEffect::Allow, "Write", "src/**")], unknown.clone(), "asks"),
        (vec![(RuleEffect::Allow, "Write", "src/**")], two.clone(), "asks"),
        (
            vec![(RuleEffect::Allow, "Write", "src/"), (RuleEffect::Allow, "Write", "docs/*.md")],
            two.clone(),
            "may",
        ),
        (
            vec![(RuleEffect::Allow, "Write", "**"), (RuleEffect::Deny, "Edit", "docs/")],
            two.clone(),
            "says no",
        ),
        (vec![(RuleEffect::Deny, "Write", "src/")], by_shell.clone(), "says no"),
        (vec![(RuleEffect::Allow, "Write", "/etc/**")], write("src/a.rs"), "asks"),
    ] {
        let mut stage = PermissionWorld::new();
        for (effect, tool, pattern) in &rules {
            stage.rule(HUMAN, *effect, tool, Some(pattern), RuleScope::Below);
        }
        let said = if stage.request(ANN, &call).is_some() { "asks".into() } else { stage.tries(ANN, &call) };
        assert!(said.contains(expected), "{rules:?} to {}: {said}", call.summary);
    }
}

#[test]
fn what_a_mode_says() {
    let outside = ToolCall {
        writes: vec![],
        outside: vec![PathPattern::parse("etc/passwd", CaseRule::Exact).expect("a path")],
        ..base("Write", "/etc/passwd")
    };
    for (call, said) in [
        (shell("ls"), ["may", "may", "may", "may"]),
        (shell("make"), ["plan mode", "asks", "asks", "may"]),
        (write("src/a.rs"), ["plan mode", "asks", "may", "may"]),
        (write(".git/hooks/pre-commit"), ["plan mode", "asks", "asks", "may"]),
        (write("sub/.Claude/settings.json"), ["plan mode", "asks", "asks", "may"]),
        (outside, ["plan mode", "asks", "asks", "may"]),
        (base("mcp__x__y", "{}"), ["plan mode", "asks", "asks", "may"]),
    ] {
        for (mode, expected) in [Mode::Plan, Mode::Ask, Mode::AcceptEdits, Mode::Full].into_iter().zip(said) {
            let mut stage = PermissionWorld::new();
            stage.mode(HUMAN, ANN, mode).expect("set");
            let found =
                if stage.request(ANN, &call).is_some() { "asks".into() } else { stage.tries(ANN, &call) };
            assert!(found.contains(expected), "{} in {}: {found}", call.summary, mode.word());
        }
    }
    let mut stage = PermissionWorld::new();
    stage.rule(HUMAN, RuleEffect::Allow, "*", None, RuleScope::Below);
    stage.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert!(stage.tries(ANN, &shell("make")).contains("plan mode"), "no rule lets a planner act");
    let mut stage = PermissionWorld::new();
    stage.rule(HUMAN, RuleEffect::Deny, "Bash", Some("make"), RuleScope::Below);
    stage.mode(HUMAN, ANN, Mode::Full).expect("set");
    assert!(stage.tries(ANN, &shell("make")).contains("says no"), "no mode lets pass what is denied");
}

#[test]
fn a_mode_is_widened_by_who_is_above_and_not_beyond_its_own() {
    let mut stage = PermissionWorld::new();
    let refusal = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(refusal(stage.mode(who(ANN), ANN, Mode::Full)).contains("may not widen it yourself"));
    stage.mode(who(ANN), ANN, Mode::Plan).expect("narrower");
    assert!(refusal(stage.mode(who(ANN), ANN, Mode::Ask)).contains("may not widen"), "not even back");
    assert!(refusal(stage.mode(who(BOB), ANN, Mode::Ask)).contains("does not lead"));
    assert!(refusal(stage.mode(who(LEAD), ANN, Mode::Full)).contains("you are in ask mode yourself"));
    stage.mode(who(LEAD), ANN, Mode::Ask).expect("as wide as its own");
    stage.mode(HUMAN, ANN, Mode::Full).expect("the human may");
    assert_eq!(mode_of(&stage.world, id(ANN)), Mode::Full);
    stage.mode(HUMAN, BOB, Mode::Plan).expect("narrowed");
    let freed = stage.join(who(BOB), "freed", Some("free"), None);
    assert_eq!(mode_of(&stage.world, freed), Mode::Plan, "a child has no wider mode than who started it");
    let by_human = stage.join(HUMAN, "by-human", Some("free"), None);
    assert_eq!(mode_of(&stage.world, by_human), Mode::Full);
    stage.folds_with_roles();
}

#[test]
fn always_is_for_the_asker_alone_unless_it_is_broadcast() {
    let call = write("src/ui/a.rs");
    let elsewhere = write("src/ui/b.rs");
    for (answer, ann, ann_elsewhere, bob) in [
        (always(false, None), true, false, false),
        (always(false, Some(below("src/ui/"))), true, true, false),
        (always(true, Some(below("src/ui/"))), true, true, true),
    ] {
        let mut stage = PermissionWorld::new();
        let bobs = stage.request(BOB, &call).expect("asked");
        let request = stage.request(ANN, &call).expect("asked");
        let modes = |stage: &PermissionWorld| {
            [LEAD, ANN, BOB, STRANGER].map(|agent| mode_of(&stage.world, id(agent)))
        };
        let before = modes(&stage);
        stage.answer(who(LEAD), request, &call, answer.clone()).expect("answered");
        assert_eq!(modes(&stage), before, "no mode changes");
        assert_eq!(
            stage.state(bobs),
            if bob { "allowed" } else { "waiting" },
            "who waits is looked at again"
        );
        assert_eq!(stage.tries(ANN, &call), "may");
        assert_eq!(stage.tries(ANN, &call) == "may", ann, "and another time: {answer:?}");
        assert_eq!(stage.tries(ANN, &elsewhere) == "may", ann_elsewhere, "{answer:?}");
        assert_eq!(stage.tries(BOB, &call) == "may", bob, "{answer:?}");
        assert!(
            stage.tries(STRANGER, &call) != "may" && stage.tries(LEAD, &call) != "may",
            "nobody else: {answer:?}"
        );
        stage.folds();
    }
    let mut stage = PermissionWorld::new();
    let both = shell("make; make install");
    let request = stage.request(ANN, &both).expect("asked");
    let no = stage.answer(HUMAN, request, &both, always(false, None)).expect_err("no rule can be made of it");
    assert!(no.to_string().contains("not one plain command"), "{no}");
    let wrong = always(false, Pattern::parse(ToolClass::Shell, "ls *", None).ok());
    let no = stage.answer(HUMAN, request, &both, wrong).expect_err("another command");
    assert!(no.to_string().contains("does not allow what was asked for"), "{no}");
    assert_eq!(stage.state(request), "waiting");
}

#[test]
fn who_waits_is_looked_at_again_when_rules_or_modes_change() {
    let call = shell("make");
    let mut stage = PermissionWorld::new();
    let request = stage.request(ANN, &call).expect("asked");
    let rule = stage.rule(who(LEAD), RuleEffect::Allow, "Bash", Some("make"), RuleScope::Agent(id(ANN)));
    assert_eq!(stage.state(request), "allowed");
    stage.ask(who(LEAD), PermissionAsk::RemoveRule { rule }).expect("removed");
    assert!(stage.tries(ANN, &call).contains("is no longer allowed"), "what the rule allowed went with it");
    let request = stage.request(ANN, &call).expect("asked again");
    stage.rule(HUMAN, RuleEffect::Deny, "Bash", Some("make"), RuleScope::Below);
    assert_eq!(stage.state(request), "denied");
    let other = shell("cargo run");
    let request = stage.request(ANN, &other).expect("asked");
    stage.mode(HUMAN, ANN, Mode::Full).expect("set");
    assert_eq!(stage.state(request), "allowed");
    assert_eq!(stage.tries(ANN, &other), "may");
    let third = shell("cargo bench");
    stage.mode(HUMAN, ANN, Mode::Ask).expect("set");
    let request = stage.request(ANN, &third).expect("asked");
    stage.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert_eq!(stage.state(request), "denied");
    stage.folds();
}

#[test]
fn rules_are_for_those_below_and_end_with_their_owner() {
    let mut stage = PermissionWorld::new();
    let make = shell("make");
    stage.rule(who(STRANGER), RuleEffect::Allow, "Bash", None, RuleScope::Below);
    assert!(stage.request(ANN, &make).is_some(), "the stranger does not lead ann");
    for by in [ANN, BOB] {
        let (tool, class) = ("Bash".into(), ToolClass::Shell);
        let (scope, effect, pattern) = (RuleScope::Below, RuleEffect::Allow, None);
        let ask = PermissionAsk::AddRule { scope, effect, tool, class, pattern };
        stage.ask(who(by), ask).expect_err("a worker makes no rules");
    }
    let loner = stage.join(HUMAN, "loner", Some("free"), Some("red"));
    let denied = stage.rule(who(LEAD), RuleEffect::Deny, "Bash", Some("rm"), RuleScope::Team("red".into()));
    stage.rule(who(LEAD), RuleEffect::Allow, "Bash", Some("make"), RuleScope::Team("red".into()));
    assert!(stage.tries(5, &shell("rm x")).contains("says no"));
    let end = Ask::Agent(AgentAsk::End { agent: id(LEAD), ending: Ending::Exited, cause: "done".into() });
    stage.run(HUMAN, &end).expect("ended");
    assert_eq!(mode_of(&stage.world, loner), Mode::Full);
    assert!(
        stage.tries(5, &shell("rm x")).contains("a rule of the human says no"),
        "what was forbidden stays so"
    );
    assert_eq!(stage.world.permissions.rule(denied).map(|rule| rule.owner), Some(HUMAN));
    assert_eq!(stage.world.permissions.rules().filter(|rule| rule.effect == RuleEffect::Allow).count(), 1);
    stage.ask(who(STRANGER), PermissionAsk::RemoveRule { rule: denied }).expect_err("the human's");
    stage.folds_with_roles();
}
