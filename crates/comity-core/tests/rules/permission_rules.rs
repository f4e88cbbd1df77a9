//! Permission rules and modes: what is allowed without asking, and to whom.

use comity_core::agents::Ending;
use comity_core::permissions::{Call, Class, Effect, Pattern, PermissionAsk, Scope, mode_of};
use comity_core::roles::Mode;
use comity_core::{Ask, CaseRule, PathPattern, Refusal};

use crate::desk::{ANN, BOB, Desk, HUMAN, LEAD, STRANGER, always, base, below, id, shell, who, write};

#[test]
fn deny_beats_ask_beats_allow() {
    use Effect::{Allow, Ask as AskRule, Deny};
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
            let mut desk = Desk::new();
            let mut rules = rules.clone();
            if turned {
                rules.reverse();
            }
            for (effect, tool, pattern) in &rules {
                desk.rule(who(LEAD), *effect, tool, *pattern, Scope::Below);
            }
            let escalated = desk.request(ANN, call).is_some();
            let said = if escalated { ask.to_owned() } else { desk.tries(ANN, call) };
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
    let unknown = Call { is_all: false, ..write("src/a.rs") };
    for (rules, call, expected) in [
        (vec![(Effect::Allow, "Write", "src/**")], write("src/a.rs"), "may"),
        (vec![(Effect::Allow, "Edit", "src/**")], write("src/a.rs"), "asks"),
        (vec![(Effect::Allow, "Write", "src/**")], unknown.clone(), "asks"),
        (vec![(Effect::Allow, "Write", "src/**")], two.clone(), "asks"),
        (vec![(Effect::Allow, "Write", "src/"), (Effect::Allow, "Write", "docs/*.md")], two.clone(), "may"),
        (vec![(Effect::Allow, "Write", "**"), (Effect::Deny, "Edit", "docs/")], two.clone(), "says no"),
        (vec![(Effect::Deny, "Write", "src/")], by_shell.clone(), "says no"),
        (vec![(Effect::Allow, "Write", "/etc/**")], write("src/a.rs"), "asks"),
    ] {
        let mut desk = Desk::new();
        for (effect, tool, pattern) in &rules {
            desk.rule(HUMAN, *effect, tool, Some(pattern), Scope::Below);
        }
        let said = if desk.request(ANN, &call).is_some() { "asks".into() } else { desk.tries(ANN, &call) };
        assert!(said.contains(expected), "{rules:?} to {}: {said}", call.summary);
    }
}

#[test]
fn what_a_mode_says() {
    let outside = Call {
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
            let mut desk = Desk::new();
            desk.mode(HUMAN, ANN, mode).expect("set");
            let found =
                if desk.request(ANN, &call).is_some() { "asks".into() } else { desk.tries(ANN, &call) };
            assert!(found.contains(expected), "{} in {}: {found}", call.summary, mode.word());
        }
    }
    let mut desk = Desk::new();
    desk.rule(HUMAN, Effect::Allow, "*", None, Scope::Below);
    desk.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert!(desk.tries(ANN, &shell("make")).contains("plan mode"), "no rule lets a planner act");
    let mut desk = Desk::new();
    desk.rule(HUMAN, Effect::Deny, "Bash", Some("make"), Scope::Below);
    desk.mode(HUMAN, ANN, Mode::Full).expect("set");
    assert!(desk.tries(ANN, &shell("make")).contains("says no"), "no mode lets pass what is denied");
}

#[test]
fn a_mode_is_widened_by_who_is_above_and_not_beyond_its_own() {
    let mut desk = Desk::new();
    let said = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(said(desk.mode(who(ANN), ANN, Mode::Full)).contains("may not widen it yourself"));
    desk.mode(who(ANN), ANN, Mode::Plan).expect("narrower");
    assert!(said(desk.mode(who(ANN), ANN, Mode::Ask)).contains("may not widen"), "not even back");
    assert!(said(desk.mode(who(BOB), ANN, Mode::Ask)).contains("does not lead"));
    assert!(said(desk.mode(who(LEAD), ANN, Mode::Full)).contains("you are in the mode ask yourself"));
    desk.mode(who(LEAD), ANN, Mode::Ask).expect("as wide as its own");
    desk.mode(HUMAN, ANN, Mode::Full).expect("the human may");
    assert_eq!(mode_of(&desk.world, id(ANN)), Mode::Full);
    desk.mode(HUMAN, BOB, Mode::Plan).expect("narrowed");
    let freed = desk.join(who(BOB), "freed", Some("free"), None);
    assert_eq!(mode_of(&desk.world, freed), Mode::Plan, "a child has no wider mode than who started it");
    let by_human = desk.join(HUMAN, "by-human", Some("free"), None);
    assert_eq!(mode_of(&desk.world, by_human), Mode::Full);
    desk.folds_with_roles();
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
        let mut desk = Desk::new();
        let bobs = desk.request(BOB, &call).expect("asked");
        let request = desk.request(ANN, &call).expect("asked");
        let modes = |desk: &Desk| [LEAD, ANN, BOB, STRANGER].map(|agent| mode_of(&desk.world, id(agent)));
        let before = modes(&desk);
        desk.answer(who(LEAD), request, &call, answer.clone()).expect("answered");
        assert_eq!(modes(&desk), before, "no mode changes");
        assert_eq!(desk.state(bobs), if bob { "allowed" } else { "waiting" }, "who waits is looked at again");
        assert_eq!(desk.tries(ANN, &call), "may");
        assert_eq!(desk.tries(ANN, &call) == "may", ann, "and another time: {answer:?}");
        assert_eq!(desk.tries(ANN, &elsewhere) == "may", ann_elsewhere, "{answer:?}");
        assert_eq!(desk.tries(BOB, &call) == "may", bob, "{answer:?}");
        assert!(
            desk.tries(STRANGER, &call) != "may" && desk.tries(LEAD, &call) != "may",
            "nobody else: {answer:?}"
        );
        desk.folds();
    }
    let mut desk = Desk::new();
    let both = shell("make; make install");
    let request = desk.request(ANN, &both).expect("asked");
    let no = desk.answer(HUMAN, request, &both, always(false, None)).expect_err("no rule can be made of it");
    assert!(no.to_string().contains("not one plain command"), "{no}");
    let wrong = always(false, Pattern::parse(Class::Shell, "ls *", None).ok());
    let no = desk.answer(HUMAN, request, &both, wrong).expect_err("another command");
    assert!(no.to_string().contains("does not allow what was asked for"), "{no}");
    assert_eq!(desk.state(request), "waiting");
}

#[test]
fn who_waits_is_looked_at_again_when_rules_or_modes_change() {
    let call = shell("make");
    let mut desk = Desk::new();
    let request = desk.request(ANN, &call).expect("asked");
    let rule = desk.rule(who(LEAD), Effect::Allow, "Bash", Some("make"), Scope::Agent(id(ANN)));
    assert_eq!(desk.state(request), "allowed");
    desk.ask(who(LEAD), PermissionAsk::RemoveRule { rule }).expect("removed");
    assert!(desk.tries(ANN, &call).contains("allowed no more"), "what the rule allowed went with it");
    let request = desk.request(ANN, &call).expect("asked again");
    desk.rule(HUMAN, Effect::Deny, "Bash", Some("make"), Scope::Below);
    assert_eq!(desk.state(request), "denied");
    let other = shell("cargo run");
    let request = desk.request(ANN, &other).expect("asked");
    desk.mode(HUMAN, ANN, Mode::Full).expect("set");
    assert_eq!(desk.state(request), "allowed");
    assert_eq!(desk.tries(ANN, &other), "may");
    let third = shell("cargo bench");
    desk.mode(HUMAN, ANN, Mode::Ask).expect("set");
    let request = desk.request(ANN, &third).expect("asked");
    desk.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert_eq!(desk.state(request), "denied");
    desk.folds();
}

#[test]
fn rules_are_for_those_below_and_end_with_their_owner() {
    let mut desk = Desk::new();
    let make = shell("make");
    desk.rule(who(STRANGER), Effect::Allow, "Bash", None, Scope::Below);
    assert!(desk.request(ANN, &make).is_some(), "the stranger does not lead ann");
    for by in [ANN, BOB] {
        let (tool, class) = ("Bash".into(), Class::Shell);
        let (scope, effect, pattern) = (Scope::Below, Effect::Allow, None);
        let ask = PermissionAsk::AddRule { scope, effect, tool, class, pattern };
        desk.ask(who(by), ask).expect_err("a worker makes no rules");
    }
    let loner = desk.join(HUMAN, "loner", Some("free"), Some("red"));
    let denied = desk.rule(who(LEAD), Effect::Deny, "Bash", Some("rm"), Scope::Team("red".into()));
    desk.rule(who(LEAD), Effect::Allow, "Bash", Some("make"), Scope::Team("red".into()));
    assert!(desk.tries(5, &shell("rm x")).contains("says no"));
    let end = Ask::End { agent: id(LEAD), ending: Ending::Exited, cause: "done".into() };
    desk.run(HUMAN, &end).expect("ended");
    assert_eq!(mode_of(&desk.world, loner), Mode::Full);
    assert!(
        desk.tries(5, &shell("rm x")).contains("a rule of the human says no"),
        "what was forbidden stays so"
    );
    assert_eq!(desk.world.permissions.rule(denied).map(|rule| rule.owner), Some(HUMAN));
    assert_eq!(desk.world.permissions.rules().filter(|rule| rule.effect == Effect::Allow).count(), 1);
    desk.ask(who(STRANGER), PermissionAsk::RemoveRule { rule: denied }).expect_err("the human's");
    desk.folds_with_roles();
}
