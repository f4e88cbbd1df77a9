//! Permissions: what is allowed, by whom, for what exactly, and how often.

use comity_core::agents::Ending;
use comity_core::limits::{PERMISSION_KEPT, PERMISSION_WAIT};
use comity_core::permissions::{
    Answer, Call, Effect, Hearing, PermissionAsk, PermissionEvent, PlanAnswer, RequestId, Scope, State,
    answerer_of, mode_of,
};
use comity_core::roles::Mode;
use comity_core::{Ask, Principal, Refusal};

use crate::desk::{ANN, BOB, Desk, HUMAN, LEAD, STRANGER, allow, base, id, shell, who};

#[test]
fn an_answer_allows_this_input_once() {
    let mut desk = Desk::new();
    let (build, publish) = (shell("cargo build"), shell("cargo publish"));
    let first = desk.request(ANN, &build).expect("asked");
    let second = desk.request(ANN, &publish).expect("asked as well");
    assert_eq!(desk.request(ANN, &build), None, "it is asked once");
    assert!(desk.tries(ANN, &build).contains("asked lead (request 1), and there is no answer yet"));
    desk.answer(who(LEAD), first, &build, allow()).expect("answered");
    assert!(desk.tries(BOB, &build).contains("nobody allowed this"), "it is not bob's");
    assert!(desk.tries(ANN, &publish).contains("no answer yet"), "each answer finds its own request");
    assert_eq!(desk.tries(ANN, &build), "may");
    assert!(desk.tries(ANN, &build).contains("is used up"), "once");
    desk.answer(who(LEAD), second, &publish, Answer::Deny { reason: Some("not today".into()) })
        .expect("answered");
    assert!(desk.tries(ANN, &publish).contains("lead denied request 2: not today"));
    assert_eq!(desk.request(ANN, &publish), None, "a denial counts for a while");
    desk.pass(PERMISSION_KEPT);
    assert!(desk.request(ANN, &publish).is_some(), "then it may be asked again");
    desk.folds();
}

#[test]
fn another_input_is_another_call() {
    let mut desk = Desk::new();
    let asked = shell("cargo build");
    let request = desk.request(ANN, &asked).expect("asked");
    desk.answer(who(LEAD), request, &asked, allow()).expect("answered");
    assert!(desk.tries(ANN, &shell("cargo publish")).contains("nobody allowed this"));
    let same_hash = Call { hash: asked.hash, ..base("Other", "cargo build") };
    assert!(
        desk.tries(ANN, &same_hash).contains("request 1"),
        "the same hash under another tool is no allow"
    );
    assert_eq!(desk.state(request), "allowed", "and nothing was used");
}

#[test]
fn late_second_wrong_and_unknown_answers_change_nothing() {
    let mut desk = Desk::new();
    let (call, other) = (shell("make"), shell("make install"));
    let request = desk.request(ANN, &call).expect("asked");
    let said = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(said(desk.answer(HUMAN, RequestId(99), &call, allow())).contains("no request 99"));
    assert!(said(desk.answer(HUMAN, request, &other, allow())).contains("about another call"));
    assert_eq!(desk.state(request), "waiting");
    desk.answer(HUMAN, request, &call, Answer::Deny { reason: None }).expect("answered");
    assert!(
        said(desk.answer(who(LEAD), request, &call, allow())).contains("was denied by the human already")
    );
    assert!(desk.tries(ANN, &call).contains("denied"));
    let late = desk.request(ANN, &other).expect("asked");
    desk.pass(PERMISSION_WAIT);
    assert!(said(desk.answer(HUMAN, late, &other, allow())).contains("too late"));
    assert!(desk.tries(ANN, &other).contains("nobody answered request 2 in time"));
    desk.folds();
}

#[test]
fn an_allow_that_is_not_used_lapses() {
    let mut desk = Desk::new();
    let call = shell("make");
    let request = desk.request(ANN, &call).expect("asked");
    desk.answer(HUMAN, request, &call, allow()).expect("answered");
    desk.pass(PERMISSION_KEPT);
    assert_eq!(desk.state(request), "lapsed");
    assert!(desk.tries(ANN, &call).contains("not used in time"));
}

#[test]
fn only_who_stands_above_answers() {
    let mut desk = Desk::new();
    let call = shell("make");
    let request = desk.request(ANN, &call).expect("asked");
    let said = |result: Result<(), Refusal>| result.expect_err("refused").to_string();
    assert!(said(desk.answer(who(ANN), request, &call, allow())).contains("decides about itself"));
    assert!(
        said(desk.answer(who(BOB), request, &call, allow())).contains("bob does not lead ann"),
        "a sibling"
    );
    assert!(
        said(desk.answer(who(STRANGER), request, &call, allow())).contains("does not lead"),
        "another lead"
    );
    assert!(said(desk.answer(Principal::System, request, &call, allow())).contains("nothing by itself"));
    // What ann has not got, nobody that she starts has.
    let child = desk.join(who(ANN), "child", Some("lead"), None);
    let below = desk.join(Principal::Agent(child), "below", None, None);
    let theirs = desk.request(6, &call).expect("asked");
    let no = said(desk.answer(Principal::Agent(child), theirs, &call, allow()));
    assert!(no.contains("was started by ann, which has no right to that"), "{no}");
    assert_eq!(answerer_of(&desk.world, below), who(LEAD), "it goes to the first who may answer");
    assert_eq!(desk.state(request), "waiting");
    desk.answer(who(LEAD), theirs, &call, allow()).expect("a leader's leader");
}

#[test]
fn with_its_asker_a_request_goes_and_without_its_leader_it_is_the_humans() {
    let mut desk = Desk::new();
    let loner = desk.join(HUMAN, "loner", None, Some("red"));
    let call = shell("make");
    let theirs = desk.request(5, &call).expect("asked");
    let anns = desk.request(ANN, &call).expect("asked");
    let bobs = desk.request(BOB, &call).expect("asked");
    assert_eq!(answerer_of(&desk.world, loner), who(LEAD), "by the team");
    desk.answer(HUMAN, bobs, &call, allow()).expect("answered");
    let end = |agent: u64| Ask::End { agent: id(agent), ending: Ending::Failed, cause: "crashed".into() };
    desk.run(HUMAN, &end(BOB)).expect("ended");
    assert_eq!(desk.state(bobs), "withdrawn", "what was allowed goes with who asked");
    let deadline = desk.world.permissions.get(theirs).expect("there").deadline;
    desk.run(HUMAN, &end(LEAD)).expect("ended");
    assert_eq!(desk.state(anns), "withdrawn", "ann ended with its leader");
    let request = desk.world.permissions.get(theirs).expect("there");
    assert_eq!((&request.state, request.deadline), (&State::Waiting { to: HUMAN }, deadline));
    desk.answer(HUMAN, theirs, &call, allow()).expect("answered");
    assert_eq!(desk.tries(5, &call), "may");
    desk.folds();
}

#[test]
fn a_denial_that_comes_after_an_allow_counts() {
    let mut desk = Desk::new();
    let call = shell("make");
    let request = desk.request(ANN, &call).expect("asked");
    desk.answer(who(LEAD), request, &call, allow()).expect("answered");
    desk.rule(HUMAN, Effect::Deny, "Bash", Some("make"), Scope::Below);
    assert!(desk.tries(ANN, &call).contains("says no"));
}

#[test]
fn a_plan_is_approved_or_rejected_by_who_is_above() {
    let mut desk = Desk::new();
    let submit =
        |content: &str| PermissionAsk::SubmitPlan { file: "plan.md".into(), content: content.into() };
    let said = |result: Result<Vec<PermissionEvent>, Refusal>| result.expect_err("refused").to_string();
    assert!(said(desk.ask(who(ANN), submit("do it"))).contains("you are in the mode ask"));
    desk.mode(HUMAN, ANN, Mode::Plan).expect("set");
    assert!(said(desk.ask(who(ANN), submit("  "))).contains("empty"));
    desk.ask(who(ANN), submit("first")).expect("submitted");
    desk.ask(who(ANN), submit("second")).expect("submitted");
    let plans: Vec<(RequestId, &str)> =
        desk.world.permissions.plans().map(|plan| (plan.id, plan.state.word())).collect();
    assert_eq!(plans.iter().map(|plan| plan.1).collect::<Vec<_>>(), ["withdrawn", "waiting"]);
    let plan = plans[1].0;
    let approve =
        |mode| PermissionAsk::AnswerPlan { plan, answer: PlanAnswer::Approve { mode, feedback: None } };
    assert!(said(desk.ask(who(ANN), approve(Mode::Ask))).contains("decides about itself"));
    assert!(said(desk.ask(who(BOB), approve(Mode::Ask))).contains("does not lead"));
    assert!(said(desk.ask(who(LEAD), approve(Mode::Full))).contains("full is wider"));
    let reject =
        |text: &str| PermissionAsk::AnswerPlan { plan, answer: PlanAnswer::Reject { feedback: text.into() } };
    assert!(said(desk.ask(who(LEAD), reject(" "))).contains("needs feedback"));
    assert_eq!(mode_of(&desk.world, id(ANN)), Mode::Plan);
    desk.ask(who(LEAD), approve(Mode::Ask)).expect("approved");
    assert_eq!(mode_of(&desk.world, id(ANN)), Mode::Ask);
    assert!(said(desk.ask(who(LEAD), reject("no"))).contains("was approved already"));
    desk.hears(
        ANN,
        &["you are in the mode plan now, by the human", "your plan was approved; go on in the mode ask"],
    );
    let shown = "ann shows you a plan; answer with: comity plan approve";
    assert_eq!(desk.heard(LEAD).iter().filter(|text| text.starts_with(shown)).count(), 2);
    desk.folds();
}

#[test]
fn who_went_on_is_told() {
    let mut desk = Desk::new();
    let call = shell("make");
    let ask = PermissionAsk::Request {
        call: Box::new(call.clone()),
        wait: PERMISSION_WAIT,
        hearing: Hearing::Told,
    };
    desk.ask(who(ANN), ask).expect("asked");
    desk.hears(
        LEAD,
        &["ann asks for permission (Bash: make); answer with: comity permissions allow 1, or deny 1 --reason WHY"],
    );
    desk.answer(who(LEAD), RequestId(1), &call, allow()).expect("answered");
    desk.hears(ANN, &["request 1 (Bash: make) was allowed; try again"]);
}

#[test]
fn a_rule_for_a_team_is_told_to_each_of_it() {
    let mut desk = Desk::new();
    desk.rule(HUMAN, Effect::Allow, "Write", Some("docs/**"), Scope::Team("red".into()));
    desk.rule(HUMAN, Effect::Allow, "Write", Some("src/**"), Scope::Agent(id(BOB)));
    for member in [ANN, BOB] {
        desk.hears(member, &["a rule for all of red: allow Write docs/"]);
    }
}

#[test]
fn everything_has_a_bound() {
    let mut desk = Desk::new();
    let huge = Call { input: "x".repeat(256 * 1024 + 1).into(), ..shell("make") };
    let ask = |call: &Call| PermissionAsk::Request {
        call: Box::new(call.clone()),
        wait: PERMISSION_WAIT,
        hearing: Hearing::Waits,
    };
    desk.ask(who(ANN), ask(&huge)).expect_err("too long");
    for number in 0..32 {
        desk.ask(who(ANN), ask(&shell(&format!("make {number}")))).expect("asked");
    }
    let no = desk.ask(who(ANN), ask(&shell("make more"))).expect_err("too many");
    assert_eq!(no.code(), "limit_reached");
    desk.ask(who(BOB), ask(&shell("make"))).expect("bob is not in ann's way");
    desk.ask(HUMAN, ask(&shell("make"))).expect_err("the human asks nobody");
}
